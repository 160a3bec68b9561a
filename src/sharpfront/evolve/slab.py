"""One step in time: all stages of a slab at once, by Newton's method.

    sum_i w_i x_xi phi_k(xi_i) F_e(u, u_t, u_x, ...)(xi_i, t_j) + (C_j^T lambda_j)_k = 0,
    C_j(u) = 0

Galerkin in the measure dx: with the conditions held exactly by multipliers lambda, what diffuses
loses energy and what moves keeps it, on any moving coordinate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as sl

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Key
from sharpfront.errors import EquationError
from sharpfront.evolve.equations import Residual, TimeSystem
from sharpfront.evolve.quadrature_table import Place, Room, place
from sharpfront.pieces.motion import Motion
from sharpfront.pieces.radau import differentiation, stage_nodes

# Newton steps before the slab is given up, and the contraction below which a factor is kept.
MOST_STEPS = 9
KEEP = 0.05


@dataclass(frozen=True, eq=False)
class Stages:
    """A slab's equations on given kernels.

    Parameters
    ----------
    system
        What holds.
    room
        The kernels and the rule.
    motion
        Where they move.
    stages
        Of Radau IIA.
    """

    system: TimeSystem
    room: Room
    motion: Motion
    moments: FloatArray
    rates: FloatArray
    inside: Place
    ends: Place

    @property
    def count(self) -> int:
        """The number of stages."""
        return len(self.moments)


def stages_of(system: TimeSystem, room: Room, motion: Motion, stages: int) -> Stages:
    """Return the equations of a slab."""
    moments = motion.times[0] + motion.dt * stage_nodes(stages)
    order = room.order
    rates = differentiation(stages)[1:] / motion.dt
    inside = place(motion, moments, room.points, order)
    ends = place(motion, moments, np.array([0.0, 1.0]), order)
    return Stages(system, room, motion, moments, rates, inside, ends)


def leaves_at(
    system: TimeSystem,
    tables: FloatArray,
    where: Place,
    moments: FloatArray,
    levels: FloatArray,
    rates: FloatArray,
) -> dict[Key, FloatArray]:
    """Return the values of all leaves at points (moments x n, flat).

    Parameters
    ----------
    tables
        The functions, (order + 1, n, K).
    levels, rates
        Weights and their time derivatives at the moments, (moments, m, K).
    """
    plain = np.einsum("pnk,smk->pmsn", tables, levels, optimize=True)
    moved = np.einsum("nk,smk->msn", tables[0], rates, optimize=True)
    leaves: dict[Key, FloatArray] = {
        ("coordinate", system.problem.coordinates[0]): where.x.ravel(),
        ("coordinate", "t"): np.repeat(moments, where.x.shape[1]),
    }
    for i, name in enumerate(system.names):
        for k in range(len(tables)):
            found = sum(where.chains[k, j] * plain[j, i] for j in range(k + 1))
            leaves["derivative", name, (k, 0)] = np.asarray(found).ravel()
        leaves["derivative", name, (0, 1)] = (moved[i] + where.rate * plain[1, i]).ravel()
    return leaves


@dataclass(frozen=True, eq=False)
class Solved:
    """What Newton's method made of a slab.

    Parameters
    ----------
    weights
        At the beginning and the stages, (stages + 1, m, K).
    iterations
        Newton steps.
    converged
        Whether the last update was below the tolerance.
    factor
        The last tangent, factored.
    """

    weights: FloatArray
    iterations: int
    converged: bool
    factor: Any = None


def solve_slab(
    stages: Stages, start: FloatArray, guess: FloatArray, tolerance: float, scale: FloatArray
) -> Solved:
    """Return the weights of a slab.

    Parameters
    ----------
    stages
        The equations.
    start
        Weights at the beginning, (m, K).
    guess
        At the stages, (stages, m, K).
    tolerance
        Updates below this, in units of the scales, end the iteration.
    scale
        Of each unknown, (m,).
    """
    levels, factor, last = guess.copy(), None, np.inf
    shape = levels.shape
    forces = np.zeros((stages.count, len(stages.system.conditions)))
    for step in range(1, MOST_STEPS + 1):
        try:
            leaves, rows = _about(stages, start, levels)
            residual = residual_of(stages, leaves, rows, forces)
            if factor is None:
                matrix = tangent_matrix(stages, leaves, rows)
                factor = sl.lu_factor(matrix, check_finite=False, overwrite_a=True)
        except EquationError:
            return Solved(_all(start, levels), step, converged=False)
        change = sl.lu_solve(factor, -residual.ravel(), check_finite=False)
        change = change.reshape(stages.count, -1)
        split = shape[1] * shape[2]
        update = change[:, :split].reshape(shape)
        levels = levels + update
        forces = forces + change[:, split:]
        size = float((np.abs(update @ stages.room.inner[0].T).max(axis=(0, 2)) / scale).max())
        if not np.isfinite(size) or size > 1e3 * max(last, 1.0) or (step > 3 and size > 2 * last):
            return Solved(_all(start, levels), step, converged=False)
        if size < tolerance or (stages.system.is_linear and step == 1):
            return Solved(_all(start, levels), step, converged=True, factor=factor)
        if size > KEEP * last:
            factor = None
        last = size
    return Solved(_all(start, levels), MOST_STEPS, converged=False)


def _about(
    stages: Stages, start: FloatArray, levels: FloatArray
) -> tuple[dict[Key, FloatArray], list[ConditionRow]]:
    """Return the leaves inside and the conditions about an iterate."""
    rates = np.einsum("ij,jmk->imk", stages.rates, _all(start, levels))
    system, room, moments = stages.system, stages.room, stages.moments
    inside = leaves_at(system, room.inner, stages.inside, moments, levels, rates)
    ends = leaves_at(system, room.ends, stages.ends, moments, levels, rates)
    return inside, condition_rows(stages, ends)


def _all(start: FloatArray, levels: FloatArray) -> FloatArray:
    return np.concatenate([start[None], levels])


def residual_of(
    stages: Stages, leaves: dict[Key, FloatArray], rows: Sequence[ConditionRow], forces: FloatArray
) -> FloatArray:
    """Return what the equations and conditions of all stages leave, (stages, m K + conditions)."""
    split = len(stages.system.names) * stages.room.size
    residual = np.zeros((stages.count, split + len(rows)))
    residual[:, :split] = tested_residual(stages, stages.system.equations, leaves)
    for i, row in enumerate(rows):
        residual[:, split + i] = row.values
        residual[:, :split] += forces[:, i, None] * row.now
    return residual


def tested_residual(
    stages: Stages, equations: Sequence[Residual], leaves: dict[Key, FloatArray]
) -> FloatArray:
    """Return equations at all stages tested with every function, (stages, m K)."""
    room = stages.room
    measure = room.weights / stages.inside.slope
    tested = [
        (equation.at(leaves, measure.size).reshape(measure.shape) * measure) @ room.inner[0]
        for equation in equations
    ]
    return np.concatenate(tested, axis=1)


def tangent_matrix(
    stages: Stages, leaves: dict[Key, FloatArray], rows: Sequence[ConditionRow]
) -> FloatArray:
    """Return the tangent of all stages about a state, square."""
    q, split = stages.count, len(stages.system.names) * stages.room.size
    block = split + len(rows)
    measure = stages.room.weights / stages.inside.slope
    full = np.zeros((q, block, q, block))
    for i, equation in enumerate(stages.system.equations):
        _fill_equation(stages, full, i, equation, leaves, measure)
    for i, row in enumerate(rows):
        for j in range(q):
            full[j, split + i, j, :split] += row.now[j]
            full[j, split + i, :, :split] += stages.rates[j, 1:, None] * row.rate[j]
            full[j, :split, j, split + i] += row.now[j]
    return full.reshape(q * block, q * block)


def _fill_equation(
    stages: Stages,
    full: FloatArray,
    index: int,
    equation: Residual,
    leaves: dict[Key, FloatArray],
    measure: FloatArray,
) -> None:
    """Add an equation's tangent: now at its own stage, its rate part at all of them."""
    room, names = stages.room, stages.system.names
    k = room.size
    now, rate = coefficients(equation, names, leaves, stages.inside, room.order)
    rows = slice(index * k, (index + 1) * k)
    tested = room.inner[0]
    for j in range(stages.count):
        for v in range(len(names)):
            columns = slice(v * k, (v + 1) * k)
            if v in now:
                terms = [p for p in range(room.order + 1) if np.any(now[v][p, j])]
                total = sum((measure[j] * now[v][p, j])[:, None] * room.inner[p] for p in terms)
                if terms:
                    full[j, rows, j, columns] += tested.T @ total
            if v in rate:
                mass = tested.T @ ((measure[j] * rate[v][j])[:, None] * tested)
                full[j, rows, :, columns] += (stages.rates[j, 1:, None, None] * mass).transpose(
                    1, 0, 2
                )


def coefficients(
    residual: Residual,
    names: Sequence[str],
    leaves: dict[Key, FloatArray],
    where: Place,
    order: int,
) -> tuple[dict[int, FloatArray], dict[int, FloatArray]]:
    """Return, for each unknown, the factors of its xi-derivatives and of its rate.

    The factors are (order + 1, moments, n) and (moments, n), by the number of the unknown.
    """
    shape = where.x.shape
    now: dict[int, FloatArray] = {}
    rate: dict[int, FloatArray] = {}
    for term, values in zip(residual.terms, residual.tangents(leaves, where.x.size), strict=True):
        v, factor = names.index(term.unknown), values.reshape(shape)
        now.setdefault(v, np.zeros((order + 1, *shape)))
        space, time = term.orders
        if time:
            rate[v] = factor
            now[v][1] += factor * where.rate
        else:
            for j in range(space + 1):
                now[v][j] += factor * where.chains[space, j]
    return now, rate


@dataclass(frozen=True, eq=False)
class ConditionRow:
    """A condition about an iterate: its values (q,) and tangents (q, m K), scaled to length one.

    `size` is what they were divided by, (q,).
    """

    values: FloatArray
    now: FloatArray
    rate: FloatArray
    size: FloatArray


def condition_rows(stages: Stages, leaves: dict[Key, FloatArray]) -> list[ConditionRow]:
    """Return the conditions about a state whose leaves at the ends are given."""
    return [_condition(stages, c, leaves) for c in stages.system.conditions]


def _condition(stages: Stages, condition: Residual, leaves: dict[Key, FloatArray]) -> ConditionRow:
    room, names, side = stages.room, stages.system.names, condition.side
    q, k = stages.count, room.size
    with_normal, values = condition_values(stages, condition, leaves)
    now, rate = coefficients(condition, names, with_normal, stages.ends, room.order)
    rows, moving = np.zeros((q, len(names), k)), np.zeros((q, len(names), k))
    for v in range(len(names)):
        if v in now:
            rows[:, v] = np.einsum("pq,pk->qk", now[v][:, :, side], room.ends[:, side])
        if v in rate:
            moving[:, v] = rate[v][:, side, None] * room.ends[0, side]
    flat, rates = rows.reshape(q, -1), moving.reshape(q, -1)
    size = np.linalg.norm(flat, axis=1) + np.linalg.norm(rates, axis=1) / stages.motion.dt
    return ConditionRow(values / size, flat / size[:, None], rates / size[:, None], size)


def condition_values(
    stages: Stages, condition: Residual, leaves: dict[Key, FloatArray]
) -> tuple[dict[Key, FloatArray], FloatArray]:
    """Return the leaves at the ends with the normals, and the condition's values, (q,)."""
    q = stages.count
    with_normal = leaves | {("normal", stages.system.problem.coordinates[0]): _normals(q)}
    return with_normal, condition.at(with_normal, 2 * q).reshape(q, 2)[:, condition.side]


def _normals(count: int) -> FloatArray:
    return np.tile([-1.0, 1.0], count)
