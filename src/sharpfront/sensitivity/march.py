"""Sensitivities in time on an interval: once more through the slabs of the solution.

About the coefficients of a slab its equations are linear,

    M s' + J s = -dF/dtheta,    C s = -dC/dtheta,    s(0) = du_0/dtheta,

one band for all stages together and a right-hand side for each parameter. The same with one more
function in each element says how well those of the solution resolve it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sharpfront.arrays import FloatArray, blas_threads
from sharpfront.bases.radau import diagonal, left_out, stage_nodes
from sharpfront.equation.linearise import Term, substitute
from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.evolve.collocation import Fields, Moments
from sharpfront.evolve.discretisation import Discrete, Rows
from sharpfront.evolve.mesh import Mesher
from sharpfront.evolve.stage_system import StageSystem
from sharpfront.evolve.time_system import Residual, TimeSystem, outward, time_system
from sharpfront.pieces.elements import Reference, reference
from sharpfront.pieces.frame import Frame
from sharpfront.pieces.slabs import Slab, SlabBasis
from sharpfront.problem.family import Forcing
from sharpfront.sensitivity.steady import inherited, largest
from sharpfront.solution import Estimate, Solution
from sharpfront.solution.approximation import Approximation

_IN_TIME = (
    "the largest change at any moment if the same is solved with elements of a higher degree, with "
    "what polynomials in time leave out, and the solution's own error over the size of the "
    "parameter; relative to max(1, max|v|)"
)


@dataclass(frozen=True, eq=False)
class _Forced:
    """The derivatives of all residuals of a system with respect to parameters, one after another.

    Of equations and of what holds at each end, as rows, and of the initial state.
    """

    equations: Rows
    sides: list[Rows]
    initial: list[Mapping[str, Callable[[FloatArray], FloatArray]]]

    @property
    def parameters(self) -> int:
        """Their number p."""
        return len(self.initial)


def suits_march(solution: Solution) -> bool:
    """Tell whether a solution is one of first order in time on an interval."""
    bases = solution.approximation.bases.values()
    problem = solution.problem
    if problem is None or not all(isinstance(b, SlabBasis) for b in bases):
        return False
    return time_system(problem).names == problem.unknowns


def marched(solution: Solution, forcings: Sequence[Forcing]) -> list[Approximation]:
    """Return the derivatives along parameters on the mesh of the solution, unchecked."""
    found = _run(solution, forcings, more=0)
    return [_approximation(solution, found, i) for i in range(len(forcings))]


def checked_march(
    solution: Solution,
    forcings: Sequence[Forcing],
    tol: float,
    relative: Sequence[float],
    known: Sequence[Approximation] | None = None,
) -> list[Solution]:
    """Return the derivatives along parameters of given sizes, with estimates.

    They may be known already, unchecked.
    """
    own = _coefficients(solution, known) if known else _run(solution, forcings, more=0)
    other = _run(solution, forcings, more=1)
    most = largest(solution, solution.domain.sample(400, "quasi"))
    out = []
    for i, parameter in enumerate(relative):
        size, apart = _compared(solution, own, other, i)
        share = inherited(solution.error_estimate * max(1.0, most), most, size, parameter)
        found = _approximation(solution, own, i)
        error = (apart + share) / max(1.0, size)
        met = error <= tol * min(1.0, size)
        detail = f"Estimated error {error:.1e}, on the mesh of the solution."
        kind = OutcomeKind.CONVERGED if met else OutcomeKind.UNRESOLVED
        outcome = Outcome(kind, detail, "" if met else "Solve with a smaller tol.")
        estimate = Estimate(error, _IN_TIME, solution.error_estimate_since)
        out.append(Solution(found, solution.domain, estimate, outcome, tol, (), {}))
    return out


def _compared(
    solution: Solution, own: Sequence[FloatArray], other: Sequence[FloatArray], which: int
) -> tuple[float, float]:
    """Return the size of a derivative, and how far it is from that on richer elements."""
    size, apart, late = 1e-300, 0.0, 0.0
    for slab, one, two in zip(_slabs(solution), own, other, strict=True):
        coarse, fine = (_at_stages(slab, v[..., which]) for v in (one, two))
        size = max(size, float(np.abs(coarse).max()))
        apart = max(apart, float(np.abs(coarse - fine).max()))
        late = max(late, left_out(one[:, :: slab.frame.tables.points, :, which]))
    return size, apart + late


def _slabs(solution: Solution) -> tuple[Slab, ...]:
    basis = next(iter(solution.approximation.bases.values()))
    assert isinstance(basis, SlabBasis)
    return basis.slabs


def _at_stages(slab: Slab, values: FloatArray) -> FloatArray:
    """Return coefficients (stages + 1, n, K) of any degree as values in the elements."""
    tables = slab.frame.tables
    points = tables.points
    if values.shape[1] != slab.frame.size:
        points += 1
    other = replace(slab.frame, tables=reference(tables.order, points))
    s = (np.arange(9) + 0.5) / 9
    found = []
    for moment, level in zip((0.0, *stage_nodes(slab.stages)), values, strict=True):
        local = other.at(moment * slab.dt).local(level)
        found.append(np.einsum("ql,lkn->nqk", other.tables.table(s, 0), local))
    return np.stack(found)


def _approximation(solution: Solution, found: Sequence[FloatArray], which: int) -> Approximation:
    old = solution.approximation
    weights = {
        name: np.concatenate([w[:, :, i, which].ravel() for w in found])
        for i, name in enumerate(solution.unknowns)
    }
    return Approximation(old.coordinates, old.bases, weights)


def _coefficients(solution: Solution, known: Sequence[Approximation]) -> list[FloatArray]:
    """Return the coefficients of derivatives in each slab, (stages + 1, n, K, p)."""
    slabs = _slabs(solution)
    ends = np.cumsum([slab.size for slab in slabs])[:-1]
    columns = [[v.weights[u] for v in known] for u in solution.unknowns]
    parts = np.split(np.array(columns), ends, axis=2)
    return [
        np.moveaxis(p.reshape(*p.shape[:2], slab.stages + 1, -1), (0, 1), (2, 3))
        for slab, p in zip(slabs, parts, strict=True)
    ]


def _run(solution: Solution, forcings: Sequence[Forcing], more: int) -> list[FloatArray]:
    """Return the coefficients of all derivatives in each slab, (stages + 1, n, K, p).

    `more` are functions in each element beside those of the solution.
    """
    problem, slabs = solution.problem, _slabs(solution)
    assert problem is not None
    system = time_system(problem)
    first = slabs[0].frame
    tables = reference(first.tables.order, first.tables.points + more)
    discrete = Discrete(system, tables)
    mesher = Mesher(tables, first.ring, np.zeros(0), 10**9, first.bends)
    forced = _forced(system, discrete, forcings)
    ends = np.cumsum([0, *(slab.size for slab in slabs)])
    stacked = np.stack([solution.approximation.weights[u] for u in solution.unknowns])
    found: list[FloatArray] = []
    with blas_threads(1), np.errstate(all="ignore"):
        for i, slab in enumerate(slabs):
            rows = stacked[:, ends[i] : ends[i + 1]].reshape(len(stacked), slab.stages + 1, -1)
            levels = _embedded(slab.frame, tables, np.moveaxis(rows, 0, 2))
            before = slabs[i - 1] if i else None
            frame = replace(slab.frame, tables=tables)
            start = _begun(mesher, system, frame, forced, before, found[-1] if found else None)
            found.append(_slab(discrete, slab, frame, levels, start, forced))
    return found


def _embedded(frame: Frame, tables: Reference, levels: FloatArray) -> FloatArray:
    """Return coefficients (S, n, K) among functions of which there are more in each element."""
    old = frame.tables
    more = tables.points - old.points
    if not more:
        return levels
    new = replace(frame, tables=tables)
    out = np.zeros((len(levels), new.size, levels.shape[2]))
    inner, ends = np.arange(old.points), np.arange(old.points, old.size)
    out[:, new.numbers[:, inner]] = levels[:, frame.numbers[:, inner]]
    out[:, new.numbers[:, ends + more]] = levels[:, frame.numbers[:, ends]]
    return out


class _Driving(Residual):
    """What drives a derivative along a parameter: it has no tangents."""

    @property
    def terms(self) -> tuple[Term, ...]:
        """None."""
        return ()


def _forced(system: TimeSystem, discrete: Discrete, forcings: Sequence[Forcing]) -> _Forced:
    """Return the derivatives in the order of the rows."""
    what = "derivative along a parameter"
    equations: list[Residual] = []
    sides: list[list[Residual]] = [[] for _ in discrete.sides]
    for forcing in forcings:
        inside = [_Driving(forcing.equations[i], what) for i in system.order_stated]
        flat = [e for group in forcing.conditions for e in group]
        named: dict[int, Residual] = {}
        for e, c in zip(flat, system.conditions, strict=True):
            named[id(c)] = _Driving(substitute(e, outward(c.side)), c.what, c.side)
        named |= {id(e): f for e, f in zip(system.equations, inside, strict=True)}
        equations += inside
        for side, own in zip(sides, discrete.sides, strict=True):
            side += [named[id(r)] for r in own.residuals]
    rows = [Rows(side, system.names) for side in sides]
    return _Forced(Rows(equations, system.names), rows, [f.initial for f in forcings])


def _begun(
    mesher: Mesher,
    system: TimeSystem,
    frame: Frame,
    forced: _Forced,
    before: Slab | None,
    last: FloatArray | None,
) -> FloatArray:
    """Return all derivatives at the beginning of a slab, (n, K, p)."""
    shape = (-1, len(system.names), forced.parameters)
    if before is None or last is None:

        def initial(x: FloatArray) -> FloatArray:
            span = system.high - system.low
            turned = system.low + np.mod(x - system.low, span)
            at = turned if system.periodic else np.clip(x, system.low, system.high)
            at = np.asarray(at)[:, None]
            columns = [[one[n](at) for one in forced.initial] for n in system.names]
            return np.stack([c for row in columns for c in row], axis=1)

        return mesher.interpolant(frame.nodes, initial).reshape(shape)
    old = replace(before.at(before.stop), tables=frame.tables)
    if len(old.nodes) == len(frame.nodes) and np.array_equal(old.nodes, frame.nodes):
        return np.asarray(last[-1])
    flat = last[-1].reshape(len(last[-1]), -1)
    return mesher.interpolant(frame.nodes, lambda x: old.evaluate(flat, x)).reshape(shape)


def _slab(
    discrete: Discrete,
    slab: Slab,
    frame: Frame,
    levels: FloatArray,
    start: FloatArray,
    forced: _Forced,
) -> FloatArray:
    """Return the derivatives at the beginning and the stages of a slab, (stages + 1, n, K, p)."""
    inverse = diagonal(slab.stages).inverse
    rates = np.einsum("ij,jnk->ink", inverse, levels[1:] - levels[0]) / slab.dt
    stages = Moments(discrete, frame, slab.start, stage_nodes(slab.stages) * slab.dt)
    fields = Fields(stages, levels[1:], rates)
    system = StageSystem(fields, slab.dt)
    left = fields.rows_of(forced.equations, forced.sides, forced.parameters)
    found = system.solved(system.right(left, start))
    return np.concatenate([start[None], found])
