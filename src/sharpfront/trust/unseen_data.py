"""Whether a solution on patches has seen all of its data, inside and on the boundary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.bases.patch import Patch
from sharpfront.place.patches.data_probes import DataProbes, beside, gaps_along, inside
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.solution.approximation import Approximation
from sharpfront.trust.plane_boundary_points import PlaneBoundaryPoints
from sharpfront.trust.settings import TRUST
from sharpfront.trust.solid_boundary_points import Faces
from sharpfront.trust.unseen_boundary_data import unseen_on_boundary

_WIDER_INSIDE = "Make it wider, or allow more functions with a larger max_kernels."
_WIDER = "Make it wider, or solve in a small domain about it."
# Off a line on which data are infinite, in units of how far places on a side are looked at inside:
# there rounding of the distance from it is a small part of that.
OFF = 256.0


class UnseenData(NamedTuple):
    """Where data stand that a solution has not seen, and what would help, in words."""

    where: str
    remedy: str


def unseen_data(
    looks: DataProbes,
    tiling: Tiling,
    patches: Sequence[Patch],
    solution: Approximation,
    away: Callable[[FloatArray], NDArray[np.bool_]],
) -> UnseenData | None:
    """Return what a solution has not seen, if there is something.

    `looks` are those at the data of its patches; `away` tells which points are far enough from
    places at which it jumps.
    """
    place = unseen_inside(looks, patches, away)
    if place is not None:
        return UnseenData(written(place), _WIDER_INSIDE)
    problem = looks.problem
    if problem.domain.dimension not in (2, 3):
        return None
    flat = problem.domain.dimension == 2
    watching = PlaneBoundaryPoints(problem, tiling, away) if flat else Faces(problem)
    place = unseen_on_boundary(problem, solution, looks.tol, watching)
    return None if place is None else UnseenData(written(place), _WIDER)


def written(place: FloatArray) -> str:
    """Return a place in words."""
    return f"({', '.join(f'{x:.4g}' for x in place)})"


def unseen_inside(
    looks: DataProbes, patches: Sequence[Patch], away: Callable[[FloatArray], NDArray[np.bool_]]
) -> FloatArray | None:
    """Return a place that formulas tell of at which data stand that no patch sees, (d,).

    About an iterate that jumps they do with it: `away` tells which places are far enough from that.
    """
    for patch in patches:
        if not len(inside(patch, looks.told[: -SETTINGS.spread])):
            continue
        look = looks(patch)
        told = look.places[: look.told[0]]
        at, room = patch.in_chart(told), 4.0 * beside(looks.told, patch.sides)
        inner = np.all((at > patch.low + room) & (at < patch.high - room), axis=1)
        far = away(told)
        room = np.minimum(OFF * room, 0.01 * patch.sides)
        off = patch.in_space(np.clip(at, patch.low + room, patch.high - room))
        for (tail, _), gap in zip(look.seen, look.gaps, strict=True):
            most = TRUST.unseen * max(1.0, SETTINGS.missed * float(tail.max()))
            for i in np.argsort(-gap[: len(told)]).tolist():
                if gap[i] <= most:
                    break
                # On a side data may be infinite, and enter by their means; a spike is narrow along
                # all axes. Along a line on which they are infinite rounding decides on which side
                # of it places are: they are looked at a little off it.
                narrow = inner[i] or gaps_along(looks, patch, off[i], 0.0).min() > 0.1 * gap[i]
                if far[i] and narrow:
                    return np.asarray(told[i])
    return None
