"""What least squares leave of their rows, and functions that are chosen to leave less.

Some functions may belong to no leaf: they are of all leaves together, such as those of a corner.
Their rows stand on the right-hand side, with a column each. What is left of these columns and of
the first one, the problem's own, is kept as rows over them; of all rows together then the best sum
of the columns is a small least-squares problem.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import lstsq

from sharpfront.arrays import FloatArray

# Functions of which leaves' own columns leave less than this share of the largest are resolved by
# these: what is left is rounding.
RANK = 1e-12


def remainder(rows: Sequence[FloatArray], shared: int) -> FloatArray:
    """Return what is left of right-hand sides as few rows with the same squares.

    Parameters
    ----------
    rows
        Over all right-hand sides, (m_i, k).
    shared
        How many of the last columns are those of shared functions. The first one counts too, those
        between are probes and do not.
    """
    if not shared:
        return np.array([[np.sqrt(sum(float(np.sum(part[:, 0] ** 2)) for part in rows))]])
    columns = [0, *range(rows[0].shape[1] - shared, rows[0].shape[1])]
    kept = np.concatenate([part[:, columns] for part in rows])
    return kept if len(kept) <= kept.shape[1] else np.asarray(np.linalg.qr(kept, mode="r"))


def joined(rows: Sequence[FloatArray]) -> FloatArray:
    """Return remainders as one."""
    return remainder(rows, rows[0].shape[1] - 1)


def least(left: FloatArray) -> tuple[FloatArray, float]:
    """Return how much of each shared function leaves least, and what is left then."""
    if left.shape[1] == 1:
        return np.zeros(0), float(np.linalg.norm(left[:, 0]))
    strengths = np.asarray(lstsq(left[:, 1:], -left[:, 0], cond=RANK)[0])
    return strengths, float(np.linalg.norm(left[:, 0] + left[:, 1:] @ strengths))
