"""What least squares leave of their rows, and functions that are chosen to leave less.

Some functions may belong to no leaf: they are of all leaves together, such as those of a corner.
Their rows stand on the right-hand side, with a column each. What is left of these columns and of
a side that is solved for is kept as rows over them; of all rows together then the best sum of the
columns is a small least-squares problem.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.linalg import lstsq

from sharpfront.arrays import FloatArray

# Functions of which leaves' own columns leave less than this share of the largest are resolved by
# these: what is left is rounding.
RESOLVED = 1e-12


# For each side that is solved for, what is left of it and of the shared functions as rows over
# these.
Remainder = tuple[FloatArray, ...]


def remainder(rows: FloatArray, shared: int, sides: int = 1) -> Remainder:
    """Return what is left of right-hand sides as few rows with the same squares, for each side.

    Parameters
    ----------
    rows
        Over all right-hand sides, (m, k).
    shared
        How many of the last columns are those of shared functions.
    sides
        How many of the first ones are solved for. Those between are probes and do not count.
    """
    functions = range(rows.shape[1] - shared, rows.shape[1])
    return tuple(_fewer([rows[:, [j, *functions]]]) for j in range(sides))


def joined(parts: Sequence[Remainder]) -> Remainder:
    """Return remainders as one."""
    return tuple(_fewer(own) for own in zip(*parts, strict=True))


def _fewer(rows: Sequence[FloatArray]) -> FloatArray:
    if rows[0].shape[1] == 1:
        return np.array([[math.sqrt(sum(float(np.vdot(part, part)) for part in rows))]])
    kept = np.concatenate(rows)
    return kept if len(kept) <= kept.shape[1] else np.asarray(np.linalg.qr(kept, mode="r"))


def least(left: FloatArray) -> tuple[FloatArray, float]:
    """Return how much of each shared function leaves least, and what is left then."""
    if left.shape[1] == 1:
        return np.zeros(0), float(np.linalg.norm(left[:, 0]))
    strengths = np.asarray(lstsq(left[:, 1:], -left[:, 0], cond=RESOLVED)[0])
    return strengths, float(np.linalg.norm(left[:, 0] + left[:, 1:] @ strengths))
