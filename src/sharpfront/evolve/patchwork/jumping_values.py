"""Boundary values that jump at fixed places: functions that jump with them, known at all times.

Patches hold the rest, which does not jump. At a start the unknown may not jump yet: what stands
beside such a function goes from nothing to what it is in the first step, as values on sides do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from sharpfront.adapt.patchwork.jump_functions import COUNTS, HeldJump, held_jumps, jumping_places
from sharpfront.adapt.patchwork.jumps import Place, in_words
from sharpfront.arrays import FloatArray
from sharpfront.bases.corner_functions import CornerFunctions
from sharpfront.errors import OutcomeKind
from sharpfront.evolve.patchwork.system import PlaneSystem
from sharpfront.evolve.termination import StuckError
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.problem import Problem
from sharpfront.rounding import SAME, SLIGHT

# Data are looked at so many moments.
LOOKED_WHEN = 9


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
        first, second = _moments(system.problem, stops)
        held: list[HeldJump] = []
        left: dict[Place, str] = {}
        for unknown in system.unknowns:
            places, moved = (
                jumping_places(system.problem, unknown, tiling, moments, COUNTS * tol)
                for moments in (first, second)
            )
            stay = moved.keys() <= places.keys()
            known = list(places) if stay else []
            found = held_jumps(system.problem, unknown, tiling, known, tol, sorted(first + second))
            held += found
            known = [own.function.place for own in found]
            if not (places.keys() | moved.keys()) <= set(known):
                # What is smaller than the tolerance may be left to patches.
                large = jumping_places(system.problem, unknown, tiling, first + second, tol)
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

    def away(self, points: FloatArray) -> FloatArray:
        """Return the points that are not at one of the places, where nothing has one value."""
        near = SAME * float(np.ptp(self.system.problem.domain.bounds, axis=0).max())
        for place in self.places:
            points = points[np.linalg.norm(points - np.array(place), axis=1) > near]
        return points

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


def values_jump(problem: Problem, tiling: Tiling, tol: float) -> bool:
    """Tell whether given values jump somewhere by more than a tolerance."""
    first, _ = _moments(problem, ())
    return any(jumping_places(problem, u, tiling, first, tol) for u in problem.unknowns)


def _moments(problem: Problem, stops: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return when data are looked at, right after a start and after stops too, and in between."""
    assert problem.time is not None
    start, stop = problem.time
    even = np.linspace(start, stop, 2 * LOOKED_WHEN + 1)
    later = np.array([start, *stops]) + SLIGHT * (stop - start)
    return [*later.tolist(), *even[1::2].tolist()], even[2::2].tolist()
