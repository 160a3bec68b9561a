"""Sensitivities in time on an interval: once more through the slabs of the solution.

About the weights of a slab the tangent of its equations is that of Newton's method, and

    M s' + J s = -dF/dtheta,    C s = -dC/dtheta,    s(0) = du_0/dtheta

is one factor and a right-hand side for each parameter. The same on a quarter more kernels says how
well the kernels of the solution resolve it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg as sl

from sharpfront.approximation import Approximation
from sharpfront.arrays import FloatArray, blas_threads
from sharpfront.equation.linearise import substitute
from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.evolve.equations import Residual, TimeSystem, outward, time_system
from sharpfront.evolve.error import mass_times, tables_on
from sharpfront.evolve.late import during
from sharpfront.evolve.quadrature_table import more_kernels, room_of
from sharpfront.evolve.slab import (
    condition_rows,
    condition_values,
    leaves_at,
    stages_of,
    tangent_matrix,
    tested_residual,
)
from sharpfront.family import Forcing
from sharpfront.pieces.radau import STAGES
from sharpfront.pieces.slabs import Slab, SlabBasis
from sharpfront.solution import Estimate, Solution

_MEANING = (
    "the largest change at any moment if the same is solved on a quarter more kernels, with what "
    "polynomials in time leave out, and the solution's own error over the size of the parameter; "
    "relative to max(1, max|v|)"
)


@dataclass(frozen=True, eq=False)
class _Forced:
    """The derivatives of all residuals of a system with respect to one parameter."""

    equations: tuple[Residual, ...]
    conditions: tuple[Residual, ...]
    initial: Forcing


def suits_march(solution: Solution) -> bool:
    """Tell whether a solution is one of first order in time on an interval."""
    bases = solution.approximation.bases.values()
    problem = solution.problem
    if problem is None or not all(isinstance(b, SlabBasis) for b in bases):
        return False
    return time_system(problem).names == problem.unknowns


def marched(solution: Solution, forcings: Sequence[Forcing]) -> list[Approximation]:
    """Return the derivatives along parameters on the kernels of the solution, unchecked."""
    slabs, found = _run(solution, forcings, finer=False)
    return [_approximation(solution, slabs, found, i) for i in range(len(forcings))]


def checked_march(solution: Solution, forcing: Forcing, tol: float, relative: float) -> Solution:
    """Return the derivative along a parameter of a given size, with an estimate."""
    slabs, own = _run(solution, [forcing], finer=False)
    _, other = _run(solution, [forcing], finer=True)
    problem = solution.problem
    assert problem is not None
    system, size, apart, late = time_system(problem), 1e-300, 0.0, 0.0
    for slab, one, two in zip(slabs, own, other, strict=True):
        n = more_kernels(slab.kernels, system.periodic)
        tables, _ = tables_on(slab.kernels, n, system.order, system.periodic)
        coarse = one[..., 0] @ tables[0].T
        size = max(size, float(np.abs(coarse).max()))
        fine = two[..., 0] @ room_of(system, n).inner[0].T
        apart = max(apart, float(np.abs(coarse - fine).max()))
        unit = np.ones(len(system.names))
        late = max(late, during(one[..., 0], room_of(system, slab.kernels).inner[0], unit))
    share = solution.error_estimate * _size(solution) / relative
    error = (apart + late + share) / max(1.0, size)
    met = error <= tol * min(1.0, size)
    detail = f"Estimated error {error:.1e}, on the kernels of the solution."
    remedy = "" if met else "Solve with a smaller tol."
    kind = OutcomeKind.CONVERGED if met else OutcomeKind.UNRESOLVED
    return replace(
        solution,
        approximation=_approximation(solution, slabs, own, 0),
        estimate=Estimate(error, _MEANING, solution.error_estimate_since),
        outcome=Outcome(kind, detail, remedy),
        tol=tol,
        history=(),
        diagnostics={},
        problem=None,
        checkpoint=None,
        member=None,
    )


def _size(solution: Solution) -> float:
    points = solution.domain.sample(400, "quasi")
    sizes = [np.abs(solution.approximation.values(u, points, (0, 0))) for u in solution.unknowns]
    return max(1.0, float(np.max(sizes)))


def _approximation(
    solution: Solution, slabs: Sequence[Slab], found: Sequence[FloatArray], which: int
) -> Approximation:
    old = solution.approximation
    weights = {
        name: np.concatenate([w[:, i, :, which].ravel() for w in found])
        for i, name in enumerate(solution.unknowns)
    }
    return Approximation(old.coordinates, old.bases, weights)


def _run(
    solution: Solution, forcings: Sequence[Forcing], finer: bool
) -> tuple[tuple[Slab, ...], list[FloatArray]]:
    """Return the slabs and the weights of all derivatives in each, (STAGES + 1, m, K, p)."""
    problem, basis = solution.problem, next(iter(solution.approximation.bases.values()))
    assert problem is not None
    assert isinstance(basis, SlabBasis)
    system = time_system(problem)
    forced = [_forced(system, f) for f in forcings]
    ends = np.cumsum([0, *(slab.size for slab in basis.slabs)])
    stacked = np.stack([solution.approximation.weights[u] for u in solution.unknowns])
    found: list[FloatArray] = []
    before: Slab | None = None
    with blas_threads(1):
        for i, slab in enumerate(basis.slabs):
            rows = stacked[:, ends[i] : ends[i + 1]].reshape(len(stacked), STAGES + 1, -1)
            own = replace(slab, kernels=more_kernels(slab.kernels, system.periodic))
            own = own if finer else slab
            start = _begun(system, own, forced, before, found[-1] if found else None)
            found.append(_slab(system, slab, own, rows.transpose(1, 0, 2), start, forced))
            before = own
    return basis.slabs, found


def _forced(system: TimeSystem, forcing: Forcing) -> _Forced:
    """Return the derivatives in the order of the system's equations and conditions."""
    equations = tuple(
        Residual(forcing.equations[i], (), "derivative along a parameter")
        for i in system.order_stated
    )
    flat = [e for group in forcing.conditions for e in group]
    conditions = tuple(
        Residual(substitute(e, outward(c.side)), (), c.what, c.side)
        for e, c in zip(flat, system.conditions, strict=True)
    )
    return _Forced(equations, conditions, forcing)


def _begun(
    system: TimeSystem,
    slab: Slab,
    forced: Sequence[_Forced],
    before: Slab | None,
    last: FloatArray | None,
) -> FloatArray:
    """Return all derivatives at the beginning of a slab, (m, K, p)."""
    room, motion = room_of(system, slab.kernels), slab.motion
    if before is None or last is None:
        x = motion.at(motion.times[0]).invert(room.points).x
        values = [
            [f.initial.initial[n](_inside(system, x)[:, None]) for n in system.names]
            for f in forced
        ]
        return np.asarray(np.einsum("pmn,kn->mkp", np.array(values), room.projector))
    same = before.kernels == slab.kernels and before.motion.zeros[1] == motion.zeros[0]
    old, new = before.motion.stop.packed(), motion.start.packed()
    if same and old.shape == new.shape and np.array_equal(old, new):
        return np.asarray(last[-1])
    x = motion.at(motion.times[0]).invert(room.points).x
    xi = before.motion.at(before.motion.times[1])
    table = before.functions.table(xi.xi(xi.nearest(x)), 0).values[0]
    return np.asarray(np.einsum("jn,nk,mkp->mjp", room.projector, table, last[-1]))


def _inside(system: TimeSystem, x: FloatArray) -> FloatArray:
    if system.periodic:
        return np.asarray(system.low + np.mod(x - system.low, system.high - system.low))
    return np.clip(x, system.low, system.high)


def _slab(
    system: TimeSystem,
    slab: Slab,
    own: Slab,
    levels: FloatArray,
    start: FloatArray,
    forced: Sequence[_Forced],
) -> FloatArray:
    """Return the derivatives at the beginning and the stages of a slab, (STAGES + 1, m, K, p)."""
    room = room_of(system, own.kernels)
    stages = stages_of(system, room, slab.motion, STAGES)
    tables, ends = tables_on(slab.kernels, own.kernels, system.order, system.periodic)
    rates = np.einsum("ij,jmk->imk", stages.rates, levels)
    leaves = leaves_at(system, tables, stages.inside, stages.moments, levels[1:], rates)
    at_ends = leaves_at(system, ends, stages.ends, stages.moments, levels[1:], rates)
    rows = condition_rows(stages, at_ends)
    matrix = tangent_matrix(stages, leaves, rows)
    m, k = len(system.names), room.size
    right = np.zeros((STAGES, m * k + len(rows), len(forced)))
    for i, force in enumerate(forced):
        first = start[:, :, i]
        right[:, : m * k, i] = -tested_residual(stages, force.equations, leaves)
        right[:, : m * k, i] -= stages.rates[:, 0, None] * mass_times(stages, leaves, first)
        for j, (row, c) in enumerate(zip(rows, force.conditions, strict=True)):
            values = condition_values(stages, c, at_ends)[1] / row.size
            right[:, m * k + j, i] = -values - stages.rates[:, 0] * (row.rate @ first.ravel())
    factor = sl.lu_factor(matrix, check_finite=False, overwrite_a=True)
    found = sl.lu_solve(factor, right.reshape(-1, len(forced)), check_finite=False)
    inner = found.reshape(STAGES, -1, len(forced))[:, : m * k].reshape(STAGES, m, k, -1)
    return np.concatenate([start[None], inner])
