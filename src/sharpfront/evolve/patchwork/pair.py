"""Two runs side by side on patches, one ten times as strict as the other.

They share no step and no patch with as many functions. The strict one is the solution; as the other
is further off, their difference bounds the error of the strict one.
"""

from __future__ import annotations

import time as clock
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sharpfront.evolve.pair import MOMENTS, SOON
from sharpfront.evolve.patchwork.march import steps
from sharpfront.evolve.patchwork.places import inner_places
from sharpfront.evolve.patchwork.run import Run, State, Taken


@dataclass(frozen=True, eq=False)
class Compared:
    """A step of the strict run.

    Parameters
    ----------
    taken
        The step.
    error
        The largest difference to the other run during it, in units of max(1, max|u|), with what
        polynomials in time leave out.
    seconds
        Wall time, with the coarse steps that it needed.
    iterations
        Newton's of both runs.
    """

    taken: Taken
    error: float
    seconds: float
    iterations: int


def compared(runs: tuple[Run, Run], states: tuple[State, State]) -> Iterator[Compared]:
    """Yield the steps of the strict run, the second, with their errors."""
    others, mine = (steps(run, state) for run, state in zip(runs, states, strict=True))
    passed: list[Taken] = []
    first = True
    while True:
        began = clock.perf_counter()
        taken = next(mine, None)
        if taken is None:
            return
        iterations = taken.iterations
        while not passed or passed[-1].stop < taken.stop:
            passed.append(next(others))
            iterations += passed[-1].iterations
        error = _difference(taken, passed, first=first) + taken.between
        passed = [step for step in passed if step.stop > taken.stop]
        first = False
        yield Compared(taken, error, clock.perf_counter() - began, iterations)


def _difference(taken: Taken, others: list[Taken], *, first: bool) -> float:
    """Return the largest difference during a step, at the points of its patches."""
    shares = (*SOON, *MOMENTS) if first else MOMENTS
    ends = [o.stop for o in others if taken.start < o.stop < taken.stop]
    dt = taken.stop - taken.start
    t = np.sort([*(taken.start + s * dt for s in shares), *ends[-len(MOMENTS) :]])
    places, stops = inner_places(taken.basis), np.array([o.stop for o in others])
    worst = 0.0
    for moment in t:
        other = others[min(int(np.searchsorted(stops, moment)), len(others) - 1)]
        own = places.values(taken.at(moment), (0, 0))
        far = [other.basis.values(w, places.points, (0, 0)) for w in other.at(moment)]
        gaps = np.abs(own - np.stack(far)).max(axis=1) / taken.after.scale
        worst = max(worst, float(gaps.max()))
    return worst
