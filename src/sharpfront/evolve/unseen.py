"""What a step does not see: the residual of its solution at moments between its stages.

Between stages the residual of a good step is a polynomial: what it is at the stages, interpolated,
plus what vanishes at all of them, prod(s - c_j) (a + b s). What is left of it at other moments has
another cause: data that jump, or are there for a moment only, or a state that crosses an edge.
Put into the error equation by itself it says how far off the step may be.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.evolve.equations import TimeSystem
from sharpfront.evolve.error import tables_on
from sharpfront.evolve.quadrature_table import finer_room, place
from sharpfront.evolve.slab import (
    Stages,
    condition_rows,
    leaves_at,
    stages_of,
    tangent_matrix,
    tested_residual,
)
from sharpfront.pieces.motion import Motion
from sharpfront.pieces.radau import (
    STAGES,
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
    system: TimeSystem,
    kernels: int,
    motion: Motion,
    levels: FloatArray,
    scale: FloatArray,
    span: tuple[float, float],
) -> Unseen:
    """Return how far off a slab may be by what its stages do not see.

    Parameters
    ----------
    levels
        Weights at the beginning and the stages, (STAGES + 1, m, K).
    scale
        Of each unknown, (m,).
    span
        Of the whole run.
    """
    s = between(*motion.times, span)
    if not len(s):
        # A step so short that no float lies between its stages.
        return Unseen(0.0, np.zeros((len(scale), finer_room(system, kernels).size)))
    every = np.concatenate([stage_nodes(), s])
    inside, at_ends = _residuals(system, kernels, motion, levels, every)
    forcing = shares(s)[:, None] * left_over(every, inside), left_over(every, at_ends)
    return _errors(system, kernels, motion, levels, forcing, scale)


def _residuals(
    system: TimeSystem, kernels: int, motion: Motion, levels: FloatArray, s: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the tested equations (S, m K') and the conditions (S, C) at shares of a slab."""
    finer = finer_room(system, kernels)
    tables, ends = tables_on(kernels, finer.kernels, system.order, system.periodic)
    moments = motion.times[0] + motion.dt * s
    inside = place(motion, moments, finer.points, finer.order)
    outer = place(motion, moments, np.array([0.0, 1.0]), finer.order)
    stages = Stages(system, finer, motion, moments, np.zeros((len(s), 1)), inside, outer)
    now = np.einsum("sj,jmk->smk", interpolation(s), levels)
    rates = np.einsum("sj,jmk->smk", interpolation_rate(s) / motion.dt, levels)
    leaves = leaves_at(system, tables, inside, moments, now, rates)
    rows = condition_rows(stages, leaves_at(system, ends, outer, moments, now, rates))
    found = np.stack([r.values for r in rows], axis=1) if rows else np.zeros((len(s), 0))
    return tested_residual(stages, system.equations, leaves), found


def left_over(s: FloatArray, values: FloatArray) -> FloatArray:
    """Return what values at the stages, and at other moments after them, have beyond a step's own.

    (moments, n) from (stages + moments, n).
    """
    between = s[STAGES:]
    nodes = stage_nodes()
    gaps = nodes[:, None] - nodes + np.eye(STAGES)
    lagrange = np.stack(
        [
            np.prod(np.delete(between[:, None] - nodes, j, axis=1), axis=1) / np.prod(gaps[j])
            for j in range(STAGES)
        ],
        axis=1,
    )
    rest = values[STAGES:] - lagrange @ values[:STAGES]
    product = np.prod(between[:, None] - nodes, axis=1)
    own = product[:, None] * np.stack([np.ones_like(between), between], axis=1)
    return np.asarray(rest - own @ np.linalg.lstsq(own, rest, rcond=None)[0])


def _errors(
    system: TimeSystem,
    kernels: int,
    motion: Motion,
    levels: FloatArray,
    forcing: tuple[FloatArray, FloatArray],
    scale: FloatArray,
) -> Unseen:
    """Return what a forcing at several moments adds to the error, by one implicit step.

    That of the equations adds up; of the conditions the largest counts, while it lasts.
    """
    finer = finer_room(system, kernels)
    tables, ends = tables_on(kernels, finer.kernels, system.order, system.periodic)
    stages = stages_of(system, finer, motion, 1)
    rate = interpolation_rate(np.ones(1)) / motion.dt
    now, rates = levels[-1:], np.einsum("sj,jmk->smk", rate, levels)
    leaves = leaves_at(system, tables, stages.inside, stages.moments, now, rates)
    at_ends = leaves_at(system, ends, stages.ends, stages.moments, now, rates)
    matrix = tangent_matrix(stages, leaves, condition_rows(stages, at_ends))
    split, count = forcing[0].shape[1], len(forcing[0])
    right = np.zeros((len(matrix), 2 * count))
    right[:split, :count], right[split:, count:] = -forcing[0].T, -forcing[1].T
    found = np.linalg.solve(matrix, right)[:split].reshape(-1, finer.size, 2 * count)
    values = np.abs(np.einsum("nk,mkp->mnp", finer.inner[0], found)) / scale[:, None, None]
    sizes = values[..., :count].sum(axis=2) + values[..., count:].max(axis=2)
    return Unseen(float(sizes.max()), found[..., :count].sum(axis=2))
