"""Functions that jump as given values of one unknown do, each with the weight that these tell.

Where two sides of a corner, or of a point of a side, hold an unknown at values that differ by J, it
is J times the angle about that place, in shares of the angle between the sides, and a rest that
does not jump.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sharpfront.adapt.patchwork.compatibility import Side
from sharpfront.adapt.patchwork.decoupled_unknowns import decoupled, is_decoupled
from sharpfront.adapt.patchwork.jumps import CLOSE, Jumps, Place, given_values
from sharpfront.adapt.patchwork.plane_corners import MainFunctions, PlaneCorners
from sharpfront.arrays import FloatArray
from sharpfront.bases.corner_functions import CornerFunctions
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.problem import Problem
from sharpfront.rounding import SAME

# A jump counts from this share of the tolerance on.
COUNTS = 1e-3
# Where between the two sides a state is looked at, as shares of the angle.
BETWEEN = np.array([0.1, 0.3, 0.5, 0.7, 0.9])


@dataclass(frozen=True, eq=False)
class HeldJump:
    """An unknown's values that jump at one place.

    Parameters
    ----------
    unknown
        Its name.
    function
        The one that jumps.
    sides
        Points beside the place, before and after it.
    inner
        Points about the place inside the domain, (m, 2).
    """

    unknown: str
    function: CornerFunctions
    sides: tuple[Side, Side]
    inner: FloatArray

    def strength(self, problem: Problem, t: float) -> float:
        """Return the weight of the function at a moment."""
        own = decoupled(problem, self.unknown, t)
        before, after = (given_values(own, side).get(self.unknown, 0.0) for side in self.sides)
        angles = self.function.values(np.stack([s.point for s in self.sides]), (0, 0))[:, 0]
        return float((after - before) / (angles[1] - angles[0]))

    def begun(self, values: FloatArray) -> float:
        """Return the weight in a state that has given values at the inner points."""
        angles = self.function.values(self.inner, (0, 0))[:, 0]
        return float(np.polyfit(angles - angles.mean(), values, 1)[0])


def jumping_places(
    problem: Problem, unknown: str, tiling: Tiling, moments: Sequence[float], least: float
) -> dict[Place, str]:
    """Return the places at which values of an unknown jump at one of some moments, with words."""
    found: dict[Place, str] = {}
    for t in moments:
        own = decoupled(problem, unknown, t)
        if own.conditions:
            found |= Jumps.of(own, tiling, least).told
    return found


def held_jumps(
    problem: Problem,
    unknown: str,
    tiling: Tiling,
    places: Sequence[Place],
    tol: float,
    moments: Sequence[float],
) -> list[HeldJump]:
    """Return the functions of an unknown that jump at some places, where they are known.

    What lower terms add to them is that of the middle of time; the angle must be that of all times.
    Where sides are joined it would not be.
    """
    joined = any(problem.domain.periodic_axes)
    if joined or not places or not is_decoupled(problem, unknown):
        return []
    every = [decoupled(problem, unknown, t) for t in moments]
    middle, out = every[len(every) // 2], []
    extent = float(np.ptp(problem.domain.bounds, axis=0).max())
    corners = [PlaneCorners(p, tiling, tol, jumps=places) for p in every]
    slopes = [{m.functions.place: m.functions.slopes for m in c.main if m.jumps} for c in corners]
    for main in corners[len(corners) // 2].main:
        place = main.functions.place
        if main.jumps and all(
            place in own and np.allclose(own[place], main.functions.slopes) for own in slopes
        ):
            out.append(_held(unknown, main, main.completed(middle), extent))
    return out


def _held(unknown: str, main: MainFunctions, found: CornerFunctions, extent: float) -> HeldJump:
    """Return the function that jumps of those of a place."""
    own = found.factors[0] != 0.0
    terms = tuple(term for term, used in zip(found.terms, own, strict=True) if used)
    function = replace(found, terms=terms, factors=found.factors[:1, own])
    back = np.linalg.inv(np.array([[s.real, s.imag] for s in function.slopes]).T)

    def beside(shares: FloatArray, far: float) -> FloatArray:
        angles = main.angle * shares
        ways = back @ np.stack([np.cos(angles), np.sin(angles)])
        return np.asarray(np.array(function.place) + far * extent * (ways / np.hypot(*ways)).T)

    ends = beside(np.array([0.0, 1.0]), CLOSE[1])
    sides = [Side(p, x, np.zeros(2), x) for p, x in zip(main.parts, ends, strict=True)]
    return HeldJump(unknown, function, (sides[0], sides[1]), beside(BETWEEN, SAME))
