"""Data inside the domain that no patch of a solution has seen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.patch import Patch
from sharpfront.place.patches.looks import BESIDE, SPREAD, Looks, gaps_along, inside
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.problem import Problem

# A solution is not trusted if data stand out from what a patch sees by this many times more than
# what it would be cut for.
UNSEEN = 10.0


def unseen_inside(
    problem: Problem, tiling: Tiling, patches: Sequence[Patch], tol: float
) -> FloatArray | None:
    """Return a place that formulas tell of at which data stand that no patch sees, (d,)."""
    looks = Looks(problem, tiling.marked, tol)
    for patch in patches:
        if not len(inside(patch, looks.told[:-SPREAD])):
            continue
        look = looks(patch)
        told = look.places[: look.told[0]]
        inner = np.all(np.abs(patch.inverse(told)) < 1.0 - 4.0 * BESIDE, axis=1)
        for (tail, _), gap in zip(look.seen, look.gaps, strict=True):
            most = UNSEEN * max(1.0, SETTINGS.missed * float(tail.max()))
            for i in np.argsort(-gap[: len(told)]).tolist():
                if gap[i] <= most:
                    break
                # On a side data may be infinite, and enter by their means; a spike is narrow along
                # all axes.
                if inner[i] or gaps_along(looks, patch, told[i], 0.0).min() > 0.1 * gap[i]:
                    return np.asarray(told[i])
    return None
