"""Two runs side by side, one ten times as strict as the other: what they differ by is the error.

They share no functions and no step. The strict one is the solution; as the other is further off,
their difference bounds the error of the strict one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.evolve.march import StepTaken

# The share of a step that the first run takes where it is not errors that hold steps short.
STRIDE = 0.6
# Moments in a step at which the runs are compared.
COMPARED_AT = (0.28, 0.62, 1.0)
# Further moments of a first step.
COMPARED_SOON = (0.004, 0.02, 0.08)


def compared(
    others: Iterator[StepTaken],
    mine: Iterator[StepTaken],
    difference: Callable[[StepTaken, list[StepTaken]], float],
) -> Iterator[StepTaken]:
    """Yield the steps of the strict run with their errors, as the steps of another one tell them.

    Both may take the same steps, where it is not errors that hold them short.
    """
    passed: list[StepTaken] = []
    for taken in mine:
        iterations = taken.iterations
        while not passed or passed[-1].stop < taken.stop:
            passed.append(next(others))
            iterations += passed[-1].iterations
        error = difference(taken, passed) + taken.error
        yield replace(taken, error=error, iterations=iterations)
        passed = [step for step in passed if step.stop > taken.stop]


def moments_compared(
    start: float, dt: float, stop: float, stops: Sequence[float], first: bool
) -> FloatArray:
    """Return when runs are compared during a step, none later than it ends."""
    # Right after a start solutions change fastest.
    shares = (*COMPARED_SOON, *COMPARED_AT) if first else COMPARED_AT
    # The ends of the other run's steps are where it is best and where its mesh changes.
    ends = [s for s in stops if start < s < stop]
    t = np.sort([*(start + s * dt for s in shares), *ends[-len(COMPARED_AT) :]])
    # A start and a length may add up to more than the end by a rounding, where no step is.
    return np.asarray(np.minimum(t, stop))
