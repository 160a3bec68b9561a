"""How much more the rows of good conductors count than others.

The height of a good conductor that no condition holds follows from what flows through its edges,
which is next to nothing in units of its own fluxes: rows of one weight for all would rather have
less of the singularities at its corners. So its rows are weighed in units of the flux beside it.
From where values are given the weights grow with the conductivity wherever that climbs across an
edge, and stay where it falls: what conducts badly hangs on others by its values, and its own errors
would be hidden by theirs. Of all ways to a patch the one with the least climb counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from sharpfront.arrays import FloatArray
from sharpfront.bases.joint import Ints
from sharpfront.bases.patch import Patch
from sharpfront.problem import PointCondition, Problem
from sharpfront.rows.faces import Faces, Side
from sharpfront.rows.sides import nearest_patch
from sharpfront.rows.values import form_at


def climbs(
    problem: Problem, faces: Faces, torn: NDArray[np.bool_], sides: Mapping[Side, str]
) -> dict[Patch, float]:
    """Return the factors of patches' rows, powers of two; none where all are one.

    Something may jump across the faces that are torn; sides are those on parts of the boundary.
    """
    patches = faces.boxes.patches
    held = _held(problem, patches, sides)
    if not torn.any() or not held:
        return {}
    (one, other), across = faces.pairs[~torn].T, faces.pairs[torn]
    joined = coo_matrix((np.ones(len(one)), (one, other)), shape=(len(patches),) * 2)
    count, found_in = connected_components(joined, directed=False)
    region = found_in.astype(np.int64)
    size = np.log2(_conductivity(problem, patches))
    low, high = np.concatenate([across, across[:, ::-1]]).T
    found = _least(count, region[sorted(held)], region[low], region[high], size[high] - size[low])
    factors = np.exp2(np.round(found))[region]
    if np.all(factors == 1.0):
        return {}
    return dict(zip(patches, factors.tolist(), strict=True))


def _least(count: int, held: Ints, low: Ints, high: Ints, rises: FloatArray) -> FloatArray:
    """Return the least sum of rises from regions that are held to all others, (regions,)."""
    out = np.full(count, math.inf)
    out[held] = 0.0
    for _ in range(count):
        before = out.copy()
        np.minimum.at(out, high, before[low] + np.maximum(rises, 0.0))
        if np.array_equal(before, out):
            break
    return np.where(np.isfinite(out), out, 0.0)


def _held(problem: Problem, patches: Sequence[Patch], sides: Mapping[Side, str]) -> set[int]:
    """Return the patches on which a condition tells a value of some unknown."""
    values = {
        c.part for c in problem.conditions if any(not t.order for f in c.forms for t in f.terms)
    }
    points = [
        c.point
        for c in problem.further
        if isinstance(c, PointCondition) and any(not t.order for f in c.forms for t in f.terms)
    ]
    found = {nearest_patch(patches, np.array(point)) for point in points}
    return found | {side.patch for side, part in sides.items() if part in values}


def _conductivity(problem: Problem, patches: Sequence[Patch]) -> FloatArray:
    """Return the largest coefficient of highest derivatives in the middle of patches, (n,)."""
    points = np.concatenate([patch.middle for patch in patches])
    most = max(form.order for form in problem.forms)
    out = np.zeros(len(points))
    for form in problem.forms:
        found = form_at(form, problem.coordinates, points)
        for term, c in zip(found.terms, found.coefficients, strict=True):
            if sum(term.orders) == most:
                out = np.maximum(out, np.abs(c))
    return np.maximum(out, 1e-300)
