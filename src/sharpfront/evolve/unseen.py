"""What a step does not see: the residual of its solution at moments between its stages.

Between stages the residual of a good step is a polynomial: what it is at the stages, interpolated,
plus what vanishes at all of them, prod(s - c_j) (a + b s). What is left of it at other moments has
another cause: data that jump, or are there for a moment only, or a state that crosses an edge.
Put into the error equation by itself it says how far off the step may be.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.evolve.collocation import Fields, Moments
from sharpfront.evolve.radau_step import Step
from sharpfront.evolve.run import combined
from sharpfront.pieces.radau import (
    STAGES,
    diagonal,
    interpolation,
    interpolation_rate,
    stage_nodes,
)

# Moments of each step at which it is looked at.
MOMENTS = 8
# Where the sequence of moments starts: off every even share of the span.
_SHIFT = 0.6180339887498949


def moments_between(begin: float, end: float, count: int = MOMENTS) -> FloatArray:
    """Return shares of the span at which a step from one share to another is looked at, sorted.

    They are the first of one sequence for all steps (van der Corput's, shifted) that fall into it.
    A moment at which something was seen is looked at again in every shorter step over it.
    """
    level = max(1, math.ceil(math.log2(count / (end - begin))) + 1)
    first = math.floor((begin - _SHIFT) * 2**level) + 1
    numbers = range(first, math.ceil((end - _SHIFT) * 2**level))
    order = sorted(numbers, key=lambda k: int(f"{k % 2**level:0{level}b}"[::-1], 2))[:count]
    return np.array(sorted(_SHIFT + k / 2**level for k in order))


def between(begin: float, end: float, span: tuple[float, float]) -> FloatArray:
    """Return the moments at which a step is looked at, as shares of it."""
    first, last = ((t - span[0]) / (span[1] - span[0]) for t in (begin, end))
    return (moments_between(first, last) - first) / (last - first)


def shares(s: FloatArray) -> FloatArray:
    """Return the part of a step that each of its moments stands for."""
    return np.diff(np.concatenate([[0.0], 0.5 * (s[1:] + s[:-1]), [1.0]]))


class Unseen(NamedTuple):
    """What a slab does not see of its residual.

    ``largest`` is how far off it may be by that, in units of the scales; ``weights`` the error that
    is left at its end on the finer kernels, (m, K').
    """

    largest: float
    weights: FloatArray


def unseen(
    step: Step,
    factor: Any,
    unit: FloatArray,
    span: tuple[float, float],
    inside: bool = True,
) -> float:
    """Return how far off a step may be by what its stages do not see, in units.

    What it leaves of equations between the stages adds up; of conditions the largest counts, while
    it lasts. One implicit step says how large an error either makes. The factor is of the step's
    real system, the unit of errors at the nodes, (nodes, K). `inside`, something may hide in the
    equations too, not only in the conditions.
    """
    s = between(step.t, step.t + step.dt, span)
    if not len(s):
        # A step so short that no float lies between its stages.
        return 0.0
    every = np.concatenate([stage_nodes(), s])
    here = Moments(step.discrete, step.frame, step.t, every * step.dt)
    now = combined(interpolation(every), step.values)
    rates = combined(interpolation_rate(every) / step.dt, step.values)
    if inside:
        residual = Fields(here, now, rates).residual()
    else:
        residual = np.zeros((len(every), step.layout.size))
        for end in here.ends:
            residual[:, end.rows] = end.residual(now, rates)
    left = left_over(every, residual)
    at_ends = np.zeros_like(left)
    for end in here.ends:
        at_ends[:, end.rows], left[:, end.rows] = left[:, end.rows], 0.0
    errors = _errors(step, factor, at_ends, unit).max(axis=0)
    if inside:
        # The real factor is that of an implicit step that is shorter by gamma.
        left *= shares(s)[:, None] / diagonal().gamma
        errors += _errors(step, factor, left, unit).sum(axis=0)
    return float(errors.max())


def _errors(step: Step, factor: Any, forcing: FloatArray, unit: FloatArray) -> FloatArray:
    """Return how large errors one implicit step makes of what is left, in units, by node."""
    lay = step.layout
    found = lay.taken(lay.solved(factor, lay.placed(forcing).T).T)
    found = np.abs(found.reshape(len(forcing), *step.values.shape[1:]))
    return np.asarray(found[:, :: step.frame.tables.points][:, : len(unit)] / unit)


def left_over(s: FloatArray, values: FloatArray) -> FloatArray:
    """Return what values at the stages, and at other moments after them, have beyond a step's own.

    (moments, n) from (stages + moments, n).
    """
    between = s[STAGES:]
    lagrange = np.vander(between, STAGES, increasing=True) @ _from_stages()
    product = np.prod(between[:, None] - stage_nodes(), axis=1)
    own, _ = np.linalg.qr(product[:, None] * np.stack([np.ones_like(between), between], axis=1))
    beyond = np.eye(len(between)) - own @ own.T
    return np.asarray(np.concatenate([-beyond @ lagrange, beyond], axis=1) @ values)


@cache
def _from_stages() -> FloatArray:
    """Return the matrix from values at the stages to coefficients of powers."""
    return np.asarray(np.linalg.inv(np.vander(stage_nodes(), STAGES, increasing=True)), dtype=float)
