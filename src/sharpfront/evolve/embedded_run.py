"""The weaker run, on the mesh and the steps of the strict one: what they differ by is the error.

Its elements are of one degree less and its steps have one stage less, at other moments. It begins
with a rounder state and goes on with its own, so that what it leaves out adds up as in any run; as
it is further off, the difference bounds the error of the strict one. That is its start for Newton's
method, which has little left to do.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.radau import all_nodes, interpolation, stage_nodes
from sharpfront.evolve.radau_step import Step
from sharpfront.evolve.run import Run, State, combined
from sharpfront.evolve.settings import LINE_MARCH
from sharpfront.evolve.stages import solved_stages
from sharpfront.pieces.frame import Frame

# Places in an element at which the runs are compared.
_PLACES = np.array([0.0, 0.35, 0.7, 1.0])


def followed(
    run: Run, step: Step, state: State, unit: FloatArray, contraction: float
) -> FloatArray | None:
    """Return the stages of the weaker run in a step of the strict one, in that one's functions.

    The last of them, (stages - 1, n, K), is the weaker run after it. None where Newton's method
    fails, which is taken to contract as in the strict one; errors count in units at the nodes.
    """
    frame, weak = step.frame, run.weak
    assert state.weak is not None
    stages = len(step.values) - 1
    guess = combined(_in_between(stages), step.values)
    guess += state.weak - step.values[0]
    own = weak.mesh(frame)
    follows = Step(weak, own, step.t, step.dt, _without_last(frame, guess))
    most = LINE_MARCH.digit * run.tol
    solved = solved_stages(follows, state.scale, unit, run.newton, most, contraction)
    return None if solved.factors is None else _with_last(frame, follows.values[1:])


@cache
def _in_between(stages: int) -> FloatArray:
    """Return the polynomials of a step at the moments of one with a stage less."""
    return interpolation(all_nodes(stages - 1), stages)


def difference(frame: Frame, apart: FloatArray) -> FloatArray:
    """Return the largest value of what both runs differ by at a moment, (n, K), of each unknown."""
    local = frame.local(apart)
    found = frame.tables.table(_PLACES, 0) @ local.reshape(len(local), -1)
    return np.asarray(np.abs(found.reshape(len(_PLACES), *local.shape[1:])).max(axis=(0, 2)))


def inside(step: Step, weak: FloatArray) -> FloatArray:
    """Return the same at the stages of the weaker run inside a step, the largest."""
    nodes, stages = stage_nodes(len(weak))[:-1], len(step.values) - 1
    apart = weak[:-1] - combined(interpolation(nodes, stages), step.values)
    found = [difference(step.frame.at(s * step.dt), a) for s, a in zip(nodes, apart, strict=True)]
    return np.asarray(np.max(found, axis=0))


def _without_last(frame: Frame, values: FloatArray) -> FloatArray:
    """Return coefficients (S, n, K) without the last function of each element."""
    inner, ends = _by_element(frame, values, frame.tables.points)
    count, _, _, k = inner.shape
    return np.concatenate([inner[:, :, :-1].reshape(count, -1, k), ends], axis=1)


def _with_last(frame: Frame, values: FloatArray) -> FloatArray:
    """Return the same with one function more, which is zero."""
    out = np.zeros((len(values), frame.size, values.shape[2]))
    inner, ends = _by_element(frame, out, frame.tables.points)
    inner[:, :, :-1], ends[:] = _by_element(frame, values, frame.tables.points - 1)
    return out


def _by_element(frame: Frame, values: FloatArray, points: int) -> tuple[FloatArray, FloatArray]:
    """Return coefficients (S, n, K) by element, (S, N, points, K), and those of the last node."""
    count, _, k = values.shape
    inner = frame.elements * points
    return values[:, :inner].reshape(count, -1, points, k), values[:, inner:]
