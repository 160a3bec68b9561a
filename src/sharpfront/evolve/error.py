"""How far off a slab is: the error equation on more kernels.

    c_t e_t + J e = -r,   e = 0 at the conditions,

with r the residual of the solution and J the tangent of the equation about it, tested by Galerkin
on a quarter more kernels and stepped by Radau IIA of two stages. What the slab itself adds starts
from zero; what was wrong before is carried along.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import scipy.linalg as sl

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Key
from sharpfront.evolve.equations import TimeSystem
from sharpfront.evolve.quadrature_table import Room, finer_room, place, room
from sharpfront.evolve.slab import Stages, condition_rows, leaves_at, stages_of, tangent_matrix
from sharpfront.pieces.motion import Motion
from sharpfront.pieces.radau import (
    STAGES,
    all_nodes,
    differentiation,
    interpolation,
    stage_nodes,
)
from sharpfront.pieces.slabs import kernels_of

# Stages of the error equation.
FEW = 2
# Errors that grow by more in a slab are followed in halves of it, so many times.
GROWTH, HALVINGS = 2.0, 4


@lru_cache(maxsize=32)
def tables_on(kernels: int, more: int, order: int, periodic: bool) -> tuple[FloatArray, FloatArray]:
    """Return the functions of fewer kernels at the points and ends of a room of more."""
    functions = kernels_of(kernels, periodic)
    finer = room(more, order, periodic)
    ends = functions.table(np.array([0.0, 1.0]), order).values
    return functions.table(finer.points, order).values, ends


@dataclass(frozen=True, eq=False)
class SlabError:
    """The error of a slab.

    Parameters
    ----------
    local
        What the slab adds, the largest over points, stages and unknowns, in units of their scales.
    total
        With what was carried along, in the unknowns of the problem.
    weights
        The error at the end of the slab on the finer kernels, (m, K').
    growth
        By how much the error of before has grown.
    """

    local: float
    total: float
    weights: FloatArray
    growth: float = 1.0


def slab_error(
    system: TimeSystem,
    kernels: int,
    motion: Motion,
    levels: FloatArray,
    before: FloatArray,
    scale: FloatArray,
) -> SlabError:
    """Return the error of a solved slab.

    Parameters
    ----------
    levels
        Weights at the beginning and the stages, (STAGES + 1, m, K).
    before
        The error at the beginning on the finer kernels, (m, K').
    scale
        Of each unknown, (m,).
    """
    finer = finer_room(system, kernels)
    tables, ends = tables_on(kernels, finer.kernels, system.order, system.periodic)
    line = _forcing(system, finer, motion, tables, levels)
    whole = _Part(system, finer, motion, tables, ends, levels, line, scale)
    return _part_error(whole, before, 0)


@dataclass(frozen=True, eq=False)
class _Part:
    """A slab or a part of it: its solution, and the straight line of its residual, (2, m K')."""

    system: TimeSystem
    finer: Room
    motion: Motion
    tables: FloatArray
    ends: FloatArray
    levels: FloatArray
    line: FloatArray
    scale: FloatArray

    def half(self, which: int) -> _Part:
        """Return the first or the second half."""
        t0, t1 = self.motion.times
        shares = np.array([0.5 * which, 0.5 * which + 0.5])
        nodes = shares[0] + 0.5 * all_nodes()
        levels = np.einsum("sj,jmk->smk", interpolation(nodes), self.levels)
        begin, end = t0 + (t1 - t0) * shares
        # Of the whole slab's line, not anew: the residual at other moments than the stages is one
        # of the polynomials in time, most of which cancels over the slab.
        line = self.line[0] + shares[:, None] * (self.line[1] - self.line[0])
        return replace(self, motion=self.motion.part(begin, end), levels=levels, line=line)


def _part_error(part: _Part, before: FloatArray, depth: int) -> SlabError:
    """Return the error of a part of a slab, in two steps where errors grow fast."""
    system, finer, scale = part.system, part.finer, part.scale
    coarse = stages_of(system, finer, part.motion, FEW)
    leaves, at_ends = _linearised(coarse, part.tables, part.ends, part.levels)
    matrix = tangent_matrix(coarse, leaves, condition_rows(coarse, at_ends))
    m, k = before.shape
    block = matrix.shape[0] // FEW
    right = np.zeros((FEW, block, 2))
    shares = stage_nodes(FEW)[:, None]
    right[:, : m * k, 0] = -(part.line[0] + shares * (part.line[1] - part.line[0]))
    carried = mass_times(coarse, leaves, before)
    right[:, : m * k, 1] = -coarse.rates[:, 0, None] * carried
    factor = sl.lu_factor(matrix, check_finite=False, overwrite_a=True)
    found = sl.lu_solve(factor, right.reshape(FEW * block, 2), check_finite=False)
    found = found.reshape(FEW, block, 2)[:, : m * k].reshape(FEW, m, k, 2)
    values = np.einsum("smkc,nk->smnc", found, finer.inner[0], optimize=True)
    values /= scale[:, None, None]
    start = float(np.abs((before / scale[:, None]) @ finer.inner[0].T).max())
    if float(np.abs(values[..., 1]).max()) > GROWTH * start and start > 0 and depth < HALVINGS:
        first = _part_error(part.half(0), before, depth + 1)
        second = _part_error(part.half(1), first.weights, depth + 1)
        local, total = max(first.local, second.local), max(first.total, second.total)
        return SlabError(local, total, second.weights, first.growth * second.growth)
    stated = values.sum(axis=3)[:, : len(system.problem.unknowns)]
    return SlabError(
        float(np.abs(values[..., 0]).max()),
        float(np.abs(stated).max()),
        found.sum(axis=3)[-1],
        float(np.abs(values[-1, ..., 1]).max()) / start if start > 0 else 1.0,
    )


def with_end(
    found: SlabError, system: TimeSystem, kernels: int, ending: FloatArray, scale: FloatArray
) -> SlabError:
    """Return the error of a slab with more of it at its end, on its own kernels, (m, K)."""
    finer = finer_room(system, kernels)
    tables, _ = tables_on(kernels, finer.kernels, system.order, system.periodic)
    weights = found.weights + ending @ tables[0].T @ finer.projector.T
    last = np.abs((weights / scale[:, None]) @ finer.inner[0].T).max(axis=1)
    stated = float(last[: len(system.problem.unknowns)].max())
    return replace(found, total=max(found.total, stated), weights=weights)


def _at_stages(stages: Stages, levels: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the solution's weights and their rates at the stages of the error equation."""
    lagrange = interpolation((stages.moments - stages.motion.times[0]) / stages.motion.dt)
    rate = lagrange @ differentiation(STAGES) / stages.motion.dt
    return np.einsum("sj,jmk->smk", lagrange, levels), np.einsum("sj,jmk->smk", rate, levels)


def _linearised(
    stages: Stages, tables: FloatArray, ends: FloatArray, levels: FloatArray
) -> tuple[dict[Key, FloatArray], dict[Key, FloatArray]]:
    """Return the leaves about the solution inside and at the ends."""
    now, rates = _at_stages(stages, levels)
    leaves = leaves_at(stages.system, tables, stages.inside, stages.moments, now, rates)
    return leaves, leaves_at(stages.system, ends, stages.ends, stages.moments, now, rates)


def mass_times(stages: Stages, leaves: dict[Key, FloatArray], before: FloatArray) -> FloatArray:
    """Return the mass matrix of each stage times weights at the beginning, (stages, m K)."""
    system, finer = stages.system, stages.room
    measure = finer.weights / stages.inside.slope
    e = before @ finer.inner[0].T
    out = np.zeros((stages.count, *before.shape))
    for i, equation in enumerate(system.equations):
        tangents = equation.tangents(leaves, measure.size)
        for term, values in zip(equation.terms, tangents, strict=True):
            if term.orders[1]:
                factor = values.reshape(measure.shape) * measure
                out[:, i] += (factor * e[system.names.index(term.unknown)]) @ finer.inner[0]
    return out.reshape(stages.count, -1)


def _forcing(
    system: TimeSystem, finer: Room, motion: Motion, tables: FloatArray, levels: FloatArray
) -> FloatArray:
    """Return the tested residual at the beginning and the end of a slab, (2, m K').

    It is taken at the solution's own stages, where nothing of it comes from time, and drawn
    straight through them.
    """
    moments = motion.times[0] + motion.dt * stage_nodes(STAGES)
    where = place(motion, moments, finer.points, finer.order)
    rates = np.einsum("ij,jmk->imk", differentiation(STAGES)[1:] / motion.dt, levels)
    leaves = leaves_at(system, tables, where, moments, levels[1:], rates)
    measure = finer.weights / where.slope
    tested = np.stack(
        [
            (e.at(leaves, measure.size).reshape(measure.shape) * measure) @ finer.inner[0]
            for e in system.equations
        ],
        axis=1,
    ).reshape(STAGES, -1)
    return np.asarray(_straight() @ tested)


@lru_cache
def _straight() -> FloatArray:
    """Return the matrix from values at the stages to the ends of the straight line through them."""
    design = np.stack([1.0 - stage_nodes(STAGES), stage_nodes(STAGES)], axis=1)
    return np.asarray(np.linalg.pinv(design))
