"""Boundary values that jump at fixed places: functions that jump with them, known at all times.

Where two sides of a corner, or of a point of a side, hold an unknown at values that differ by J(t),
it is J(t) times the angle about that place, in shares of the angle between the sides, and a rest
that does not jump, which patches hold. At a start the unknown may not jump yet: what stands beside
the angle goes from nothing to J in the first step, as values on sides do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from sharpfront.adapt.patchwork.alone import alone, stands_alone
from sharpfront.adapt.patchwork.compatibility import Side
from sharpfront.adapt.patchwork.jumps import CLOSE, UNTOLD, Jumps, Place, given_values, in_words
from sharpfront.adapt.patchwork.plane_corners import MainFunctions, PlaneCorners
from sharpfront.arrays import FloatArray
from sharpfront.bases.corner_functions import CornerFunctions
from sharpfront.errors import OutcomeKind
from sharpfront.evolve.ending import StuckError
from sharpfront.evolve.patchwork.system import PlaneSystem
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.problem import Problem

# Data are looked at so many moments, and after those at which they change at once by this share of
# the span.
LOOKED_WHEN, AFTER = 9, 1e-6
# A jump counts from this share of the tolerance on.
COUNTS = 1e-3
# Where between the two sides a start is looked at, as shares of the angle.
ACROSS = np.array([0.1, 0.3, 0.5, 0.7, 0.9])


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
        own = alone(problem, self.unknown, t)
        before, after = (given_values(own, side)[self.unknown] for side in self.sides)
        angles = self.function.values(np.stack([s.point for s in self.sides]), (0, 0))[:, 0]
        return float((after - before) / (angles[1] - angles[0]))

    def begun(self, values: FloatArray) -> float:
        """Return the weight in a state that has given values at the inner points."""
        angles = self.function.values(self.inner, (0, 0))[:, 0]
        return float(np.polyfit(angles - angles.mean(), values, 1)[0])


@dataclass(frozen=True, eq=False)
class JumpingValues:
    """All jumps of a problem's boundary values."""

    system: PlaneSystem
    held: tuple[HeldJump, ...] = ()
    # Places at which none of the functions that are known jumps, with what is known of them.
    left: Mapping[Place, str] = field(default_factory=dict)

    @classmethod
    def of(cls, system: PlaneSystem, tiling: Tiling, stops: Sequence[float], tol: float) -> Self:
        """Return the jumps of a problem whose conditions change at once at some moments."""
        span = system.problem.time
        assert span is not None
        even = np.linspace(*span, 2 * LOOKED_WHEN + 1)
        later = np.array([span[0], *stops]) + AFTER * (span[1] - span[0])
        first, second = np.concatenate([even[1::2], later]), even[2::2]
        held: list[HeldJump] = []
        left: dict[Place, str] = {}
        for unknown in system.unknowns:
            places, moved = (
                _places(system.problem, unknown, tiling, moments.tolist(), COUNTS * tol)
                for moments in (first, second)
            )
            stay = moved.keys() <= places.keys()
            known = list(places) if stay else []
            found = _functions(system.problem, unknown, tiling, known, tol, even)
            held += found
            known = [own.function.place for own in found]
            if not (places.keys() | moved.keys()) <= set(known):
                # What is smaller than the tolerance may be left to patches.
                large = _places(system.problem, unknown, tiling, [*first, *second], tol)
                left |= {p: told for p, told in large.items() if p not in known}
        return cls(system, tuple(held), left)

    @property
    def functions(self) -> tuple[CornerFunctions, ...]:
        """What jumps."""
        return tuple(own.function for own in self.held)

    @property
    def places(self) -> tuple[Place, ...]:
        """Where."""
        return tuple(dict.fromkeys(own.function.place for own in self.held))

    def require_held(self) -> None:
        """Raise `StuckError` where values jump and no function does."""
        if self.left:
            (place, told), *_ = self.left.items()
            words = f"at {in_words([place])} {told}, and no function is known that jumps with it"
            raise StuckError(words, OutcomeKind.CONTRADICTION)

    def strengths(self, t: FloatArray) -> FloatArray:
        """Return the weights of the functions at some moments, (S, K, functions)."""
        out = np.zeros((len(t), len(self.system.unknowns), len(self.held)))
        for j, own in enumerate(self.held):
            k = self.system.unknowns.index(own.unknown)
            out[:, k, j] = [own.strength(self.system.problem, moment) for moment in t.tolist()]
        return out

    def begun(self) -> FloatArray:
        """Return the weights of the functions in the initial state and its rates, (2, K, n)."""
        out = np.zeros((2, len(self.system.unknowns), len(self.held)))
        for j, own in enumerate(self.held):
            k = self.system.unknowns.index(own.unknown)
            out[:, k, j] = [own.begun(values[k]) for values in self.system.initial(own.inner)]
        return out

    def initial(self, points: FloatArray) -> FloatArray:
        """Return what patches hold of the initial state and of its rates, (2, K, m)."""
        state = self.system.initial(points)
        for j, function in enumerate(self.functions):
            state -= self.begun()[:, :, j, None] * function.values(points, (0, 0))[:, 0]
        return state


def _places(
    problem: Problem, unknown: str, tiling: Tiling, moments: Sequence[float], least: float
) -> dict[Place, str]:
    """Return the places at which values of an unknown jump at one of some moments, with words."""
    found: dict[Place, str] = {}
    for t in moments:
        own = alone(problem, unknown, t)
        if own.conditions:
            found |= Jumps.of(own, tiling, least).told
    return found


def _functions(
    problem: Problem,
    unknown: str,
    tiling: Tiling,
    places: Sequence[Place],
    tol: float,
    moments: FloatArray,
) -> list[HeldJump]:
    """Return the functions of an unknown that jump at some places, where they are known.

    What lower terms add to them is that of the middle of time; the angle must be that of all times.
    """
    if not places or not stands_alone(problem, unknown):
        return []
    every = [alone(problem, unknown, t) for t in moments.tolist()]
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
    return HeldJump(unknown, function, (sides[0], sides[1]), beside(ACROSS, UNTOLD))
