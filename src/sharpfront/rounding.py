"""What rounding leaves: the shares from which on numbers, places and directions differ.

None of them was tuned. Each stood in many modules under names and sizes of its own; a hundredth and
a hundred times of those changed nothing, not a digit of an estimate, on problems that use them.
"""

from __future__ import annotations

import numpy as np

# Rounding of a double; asking NumPy takes longer than many an operation.
EPS = float(np.finfo(float).eps)
# Sizes below are zero: their inverses stay finite.
TINY = 1e-300
# What a few operations leave of numbers that cancel, as a share of them.
CANCELLED = 1e-14
# Results of longer sums, of fits and inversions, that differ by a smaller share are the same.
ROUNDED = 1e-12
# Places, directions and values that were computed along different ways are one if they differ by a
# smaller share of the domain or of their size.
SAME = 1e-9
# So far beside a place, as a share of the domain or of a side, it is looked what is on either side.
# What bends, decays or differs by a smaller share of the largest does not.
SLIGHT = 1e-6
# Bisections that follow a place to its rounding, and steps of Newton's methods, which end sooner
# where they converge.
BISECTIONS = 60
NEWTON_STEPS = 40
