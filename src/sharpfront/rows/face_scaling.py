"""What the data on a face between two patches are measured by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sharpfront.bases.patch import Patch, to_rounding
from sharpfront.rows.faces import Face
from sharpfront.rows.row_scaling import Measure
from sharpfront.rows.side_quadrature import face_depth

# Traces have so many moments fewer along an axis than the richer neighbour has functions; with one
# more the count of rows and unknowns is even, with three fewer rough solutions go unnoticed.
FEWER_MOMENTS = 2


@dataclass(frozen=True)
class FaceMeasure:
    """Of a face: moments along it, lengths data are measured in, and weights of its patches."""

    counts: tuple[int, ...]
    decays: tuple[float, ...]  # along it, where both patches have functions that decay
    depth: float
    least: float
    weights: tuple[float, float]

    @property
    def vote(self) -> float:
        """The weight of what both patches have alike."""
        return min(self.weights)


def face_measure(measure: Measure, face: Face, patches: Sequence[Patch]) -> FaceMeasure:
    """Return what data on a face are measured by."""
    here, there = face.contacts
    a, b = patches[here.patch], patches[there.patch]
    normal = None if face.strip else face.normal
    depth = min(face_depth(a, here, normal), face_depth(b, there, normal))
    reach = min(measure.reach(a)[here.axis], measure.reach(b)[there.axis])
    depth = max(depth, float(reach))
    least = min(depth, a.shortest, b.shortest)
    vote = measure.vote(min(a.longest, b.longest))
    depth, least, one, other = map(
        to_rounding, (depth, least, *(vote * measure.climb(p) for p in (a, b)))
    )
    return FaceMeasure(
        moments_along(face, patches), decays_along(face, patches), depth, least, (one, other)
    )


def moments_along(face: Face, patches: Sequence[Patch]) -> tuple[int, ...]:
    """Return how many moments traces have along a face."""
    below, above = face.below, face.above
    a, b = patches[below.patch].functions, patches[above.patch].functions
    pairs = zip(below.rest, above.rest, strict=True)
    return tuple([max(1, max(a[i], b[j]) - FEWER_MOMENTS) for i, j in pairs])


def decays_along(face: Face, patches: Sequence[Patch]) -> tuple[float, ...]:
    """Return by how much functions decay along a face, which both patches have all of."""
    out = []
    for a, b in zip(face.below.rest, face.above.rest, strict=True):
        one, other = patches[face.below.patch].maps[a], patches[face.above.patch].maps[b]
        out.append(one.decays if one == other else 0.0)
    return tuple(out)
