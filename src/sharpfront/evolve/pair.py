"""Two runs side by side, one ten times as strict as the other: what they differ by is the error.

They share no mesh and no step, and their elements are of different degree. The strict one is the
solution; as the other is further off, their difference bounds the error of the strict one.
"""

from __future__ import annotations

import time as clock
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.evolve.march import steps
from sharpfront.evolve.run import Run, State, Taken
from sharpfront.pieces.slabs import Slab

# The share of a step that the first run takes where it is not errors that hold steps short.
STRIDE = 0.6
# Places in an element and moments in a step at which the runs are compared.
_PLACES, MOMENTS = np.array([[0.0], [0.35], [0.7], [1.0]]), (0.28, 0.62, 1.0)
# Further moments of a first step.
SOON = (0.004, 0.02, 0.08)


@dataclass(frozen=True, eq=False)
class Pair:
    """Two runs between two steps of the strict one."""

    # Their states.
    coarse: State
    fine: State
    steps: tuple[Taken, ...] = ()  # of the coarse run, those not yet passed by the fine one


@dataclass(frozen=True, eq=False)
class Compared:
    """A step of the strict run."""

    taken: Taken  # the step
    # The largest difference to the other run during it, in units of max(1, max|u|), with what
    # polynomials in time leave out.
    error: float
    after: Pair  # both runs after it
    seconds: float  # wall time, with the coarse steps that it needed
    iterations: int  # Newton's of both runs


def compared(coarse: Run, fine: Run, pair: Pair) -> Iterator[Compared]:
    """Yield the steps of the strict run with their errors."""
    others, mine = steps(coarse, pair.coarse), steps(fine, pair.fine)
    passed, state = list(pair.steps), pair.coarse
    while True:
        began = clock.perf_counter()
        taken = next(mine, None)
        if taken is None:
            return
        iterations = taken.iterations
        while not passed or passed[-1].slab.stop < taken.slab.stop:
            other = next(others)
            passed.append(other)
            state = other.after
            iterations += other.iterations
        # Both may have taken the same steps, where it was not errors that held them short.
        error = _difference(taken, passed, len(fine.system.problem.unknowns)) + taken.between
        passed = [s for s in passed if s.slab.stop > taken.slab.stop]
        after = Pair(state, taken.after, tuple(passed))
        yield Compared(taken, error, after, clock.perf_counter() - began, iterations)


def _difference(taken: Taken, others: list[Taken], stated: int) -> float:
    """Return the largest difference of the stated unknowns during a step."""
    slab, frame = taken.slab, taken.slab.frame
    stops = [o.slab.stop for o in others]
    t = _moments(slab, stops, taken.first)
    later = t - slab.start
    nodes = frame.nodes + later[:, None] * frame.velocities
    x = nodes[:, None, :-1] + (nodes[:, 1:] - nodes[:, :-1])[:, None] * _PLACES
    if not frame.ring:
        np.clip(x, frame.nodes[0], frame.nodes[-1], out=x)
    own = taken.local(t, later)
    # Places, unknowns, moments, elements.
    mine = frame.tables.table(_PLACES[:, 0], 0) @ own.reshape(len(own), -1)
    mine = mine.reshape(-1, *own.shape[1:])[:, :stated]
    unit, worst, first = taken.after.scale[:stated], 0.0, 0
    for other, last in zip(others, np.searchsorted(t, stops, "right").tolist(), strict=True):
        if first < last:
            here = slice(first, last)
            apart = mine[:, :, here] - other.over(x[here], t[here])[:, :stated]
            size = np.abs(apart, out=apart).max(axis=(0, 2, 3))
            worst, first = max(worst, float((size / unit).max())), last
    return worst


def _moments(slab: Slab, stops: Sequence[float], first: bool) -> FloatArray:
    """Return when runs are compared during a step, none later than it ends."""
    # Right after a start solutions change fastest.
    shares = (*SOON, *MOMENTS) if first else MOMENTS
    # The ends of the other run's steps are where it is best and where its mesh changes.
    ends = [stop for stop in stops if slab.start < stop < slab.stop]
    t = np.sort([*(slab.start + s * slab.dt for s in shares), *ends[-len(MOMENTS) :]])
    # A start and a length may add up to more than the end by a rounding, where no step is.
    return np.asarray(np.minimum(t, slab.stop))
