"""How far off a step on a line may be by what its stages do not see."""

from __future__ import annotations

from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.radau import interpolation, interpolation_rate, stage_nodes
from sharpfront.evolve.collocation import Fields, Moments
from sharpfront.evolve.radau_step import Step
from sharpfront.evolve.run import combined
from sharpfront.trust.between_stages import between, left_over, shares


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
    stages = len(step.values) - 1
    every = np.concatenate([stage_nodes(stages), s])
    here = Moments(step.discrete, step.frame, step.t, every * step.dt)
    now = combined(interpolation(every, stages), step.values)
    rates = combined(interpolation_rate(every, stages) / step.dt, step.values)
    numbers, at_ends = np.arange(step.layout.size), np.zeros((len(s), step.layout.size))
    rows = np.concatenate([numbers[:0], *(numbers[end.rows] for end in here.ends)])
    if inside:
        left = left_over(every, Fields(here, now, rates).residual(), stages)
        at_ends[:, rows], left[:, rows] = left[:, rows], 0.0
    elif len(rows):
        held = np.concatenate([end.residual(now, rates) for end in here.ends], axis=1)
        at_ends[:, rows] = left_over(every, held, stages)
    errors = _errors(step, factor, at_ends, unit).max(axis=0)
    if inside:
        # The real factor is that of an implicit step that is shorter by gamma.
        left *= shares(s)[:, None] / step.radau.gamma
        errors += _errors(step, factor, left, unit).sum(axis=0)
    return float(errors.max())


def _errors(step: Step, factor: Any, forcing: FloatArray, unit: FloatArray) -> FloatArray:
    """Return how large errors one implicit step makes of what is left, in units, by node.

    What is left is weighed in its place.
    """
    lay = step.layout
    step.weigh(forcing)
    found = lay.taken(lay.solved(factor, lay.placed(forcing).T).T)
    found = np.abs(found.reshape(len(forcing), *step.values.shape[1:]))
    return np.asarray(found[:, :: step.frame.tables.points][:, : len(unit)] / unit)
