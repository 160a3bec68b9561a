"""One run: solve, measure against the exact solution, and keep what the figures need.

Why the baseline gives a constant, and which: where constants satisfy the equation, kernels without
gaps represent them at no cost, and only the boundary rows u(0) = 0 and u(1) = 1 of weight one are
left. The constant c costs c^2 + (1 - c)^2, least at c = 1/2. Kernels with gaps between them leave a
residual A c^2 when they imitate c, and A c^2 + c^2 + (1 - c)^2 is least at c = 1 / (2 + A).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from sharpfront.adapt import Adaptor
from sharpfront.adapt.contract import Proposal
from sharpfront.adapt.paper import residual_density
from sharpfront.arrays import FloatArray, blas_threads, to_host
from sharpfront.errors import OutcomeKind
from sharpfront.estimate import Assessment
from sharpfront.kernels.assemble import assemble
from sharpfront.leastsquares import LeastSquares
from sharpfront.measure import graded_points, max_error
from sharpfront.mixture import Mixture
from sharpfront.paper.cases import Case
from sharpfront.paper.scores import (
    count_near,
    effective_length,
    mixture_length,
    mixture_share,
    uniform_rmse,
)
from sharpfront.problem import Problem
from sharpfront.show.data.kernels import centres_of
from sharpfront.solution import Solution
from sharpfront.solution.approximation import Approximation
from sharpfront.solve import solve

# Heavy enough that the imitation is one at both ends to seven digits.
_PINNED = 1e4


def expected_level(problem: Problem, proposal: Proposal) -> float:
    """Return 1 / (2 + A), A being the squared residual of the best imitation of the constant 1."""
    ends = {condition.part for condition in problem.conditions}
    blocks = assemble(proposal.rows, proposal.bases, problem.coordinates).blocks
    inner = np.concatenate([to_host(block.matrix) for block in blocks if block.label not in ends])
    outer = np.concatenate([to_host(block.matrix) for block in blocks if block.label in ends])
    matrix = np.concatenate([inner, _PINNED * outer])
    target = np.concatenate([np.zeros(len(inner)), np.full(len(outer), _PINNED)])
    with blas_threads(1):
        weights = np.linalg.lstsq(matrix, target, rcond=None)[0]
    return 1 / (2 + float(np.sum((inner @ weights) ** 2)))


TOL = 1e-8


@dataclass(frozen=True, eq=False)
class Task:
    """One run to do; it pickles."""

    group: str  # the experiment it belongs to: ``table``, ``sensitivity`` or ``collapse``
    # What to run.
    case: Case
    method: str
    adaptor: Adaptor
    seed: int
    # What differs from the method's own settings, as words.
    setting: tuple[tuple[str, str], ...] = ()
    keep: bool = False  # whether to keep what the figures need

    @property
    def which(self) -> tuple[str, str, str, int, tuple[tuple[str, str], ...]]:
        """What tells the run from others."""
        return self.group, self.case.name, self.method, self.seed, self.setting


@dataclass(frozen=True)
class Which:
    """Which run it was."""

    group: str
    case: str
    method: str
    seed: int
    setting: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Run(Which):
    """The measurements of one run."""

    rmse: float  # root mean square error on uniform points, the paper's measure
    max_error: float  # largest error on a grid graded into the layers
    seconds: float  # wall time of the solve on one BLAS thread
    # Kernels of the last iterate; least-squares solves in all.
    kernels: int
    solves: int
    # Condition number of H with the first and the last kernels; the other two of the last.
    condition_first: float
    condition_last: float
    rank: int
    dead_columns: int
    # Rows of the equation within ten layer widths of a layer, and within one; None if the method
    # does not tell where its rows are.
    rows_near: int | None
    rows_inside: int | None
    centres_near: int  # kernels centred within ten layer widths of a layer
    # Largest distance between neighbouring centres of the first solve, the ends included.
    widest_gap: float
    # Median of the solution, and its range on the middle 90 % of the domain.
    level: float
    unevenness: float
    # The level of a constant that boundary rows of weight one settle on; see `expected_level`.
    expected_level: float | None
    # Part of the last mixture within ten layer widths of a layer; None without a mixture.
    mixture_share: float | None
    narrowest: float | None  # smallest standard deviation of a component of the last mixture
    density_integral: float  # integral of the last p_res over the domain: one
    # Effective length of the two candidate densities that the rows show after the first solve; None
    # where the rows are not told.
    length_log: float | None
    length_squared: float | None
    # Effective length of the first and the last mixture; None without a mixture.
    mixture_length_first: float | None
    mixture_length_last: float | None
    # What the library itself says of the solution.
    error_estimate: float
    outcome: str

    @property
    def converged(self) -> bool:
        """Whether the library itself would call this solution good."""
        return self.outcome == OutcomeKind.CONVERGED


@dataclass(frozen=True)
class Failure(Which):
    """A run that raised an exception."""

    message: str

    @classmethod
    def of(cls, task: Task, error: BaseException) -> Failure:
        """Return what became of a task that raised an exception."""
        return cls(*task.which, f"{type(error).__name__}: {error}")


@dataclass(frozen=True, eq=False)
class Step:
    """One solve of a run, as arrays."""

    # Check points between the centres in order (m,), p_res there, and their cells.
    points: FloatArray
    density: FloatArray
    volumes: FloatArray
    # Rows of the equation in order (r,), p_res as these rows alone show it, and the density that
    # the raw squared residual would give.
    rows: FloatArray
    rows_density: FloatArray
    rows_squared: FloatArray
    residual: FloatArray  # size of the residual at the check points (m,)
    centres: FloatArray  # centres of the kernels, (n,)
    mixture: Mixture | None  # the mixture that placed the kernels


@dataclass(frozen=True, eq=False)
class View:
    """What the figures show of one run: the final values and every step."""

    points: FloatArray
    values: FloatArray
    steps: tuple[Step, ...]


@dataclass(frozen=True, eq=False)
class Done:
    """What a task gives back."""

    run: Run | Failure
    view: View | None = None


@dataclass(frozen=True, eq=False)
class _Watched:
    """An adaptor that does what another does and notes what it saw."""

    adaptor: Adaptor
    proposals: list[tuple[Proposal, Mixture | None]] = field(default_factory=list)
    assessments: list[Assessment] = field(default_factory=list)

    @property
    def leastsquares(self) -> LeastSquares:
        return self.adaptor.leastsquares

    def start(self, problem: Problem, tol: float, seed: int) -> Any:
        return self.adaptor.start(problem, tol, seed)

    def propose(self, state: Any) -> Proposal:
        proposal = self.adaptor.propose(state)
        self.proposals.append((proposal, state.mixture))
        return proposal

    def assess(self, state: Any, approximation: Approximation) -> Assessment:
        return self.adaptor.assess(state, approximation)

    def observe(self, state: Any, assessment: Assessment) -> Any:
        self.assessments.append(assessment)
        return self.adaptor.observe(state, assessment)


def perform(task: Task) -> Done:
    """Do one run; an exception becomes a `Failure`, so that the other runs go on."""
    try:
        return _performed(task)
    except Exception as error:
        return Done(Failure.of(task, error))


def _performed(task: Task) -> Done:
    problem, watched = task.case.problem, _Watched(task.adaptor)
    started = time.perf_counter()
    solution = solve(problem, tol=TOL, seed=task.seed, adaptor=watched)
    seconds = time.perf_counter() - started
    pairs = list(zip(watched.proposals, watched.assessments, strict=True))
    wanted = pairs if task.keep else [pairs[0], pairs[-1]]
    steps = tuple(_step(problem, *proposal, assessment) for proposal, assessment in wanted)
    lengths = [mixture_length(m) for _, m in watched.proposals if m is not None]
    proposed = watched.proposals[0][0]
    once = task.case.constants and len(pairs) == 1 and proposed.rows
    expected = expected_level(problem, proposed) if once else None
    run = _measured(task, solution, steps, lengths or (None,), expected, seconds)
    return Done(run, _view(task, solution, steps) if task.keep else None)


def _measured(
    task: Task,
    solution: Solution,
    steps: Sequence[Step],
    lengths: Sequence[float | None],
    expected: float | None,
    seconds: float,
) -> Run:
    case, domain, first, last = task.case, task.case.problem.domain, steps[0], steps[-1]
    history, mixture, told = solution.history, last.mixture, last.rows.size > 0
    low, high = domain.bounds[:, 0]
    margin = 0.05 * (high - low)
    middle = solution(np.linspace(low + margin, high - margin, 1001))
    return Run(
        *task.which,
        uniform_rmse(solution, case.exact, domain),
        max_error(solution, case.exact, graded_points(domain, case.features)),
        seconds,
        solution.kernels,
        len(history),
        history[0].condition,
        history[-1].condition,
        history[-1].rank,
        history[-1].dead_columns,
        count_near(last.rows, case.features) if told else None,
        count_near(last.rows, case.features, 1.0) if told else None,
        count_near(last.centres, case.features),
        float(np.max(np.diff(np.sort([*first.centres, *domain.bounds[:, 0]])))),
        float(np.median(middle)),
        float(np.ptp(middle)),
        expected,
        None if mixture is None else mixture_share(mixture, domain, case.features),
        None if mixture is None else math.sqrt(float(np.min(mixture.covariances))),
        float(np.sum(last.density * last.volumes)),
        effective_length(first.rows_density) if told else None,
        effective_length(first.rows_squared) if told else None,
        lengths[0],
        lengths[-1],
        solution.error_estimate,
        str(solution.outcome.kind),
    )


def _step(
    problem: Problem, proposal: Proposal, mixture: Mixture | None, assessment: Assessment
) -> Step:
    order = np.argsort(assessment.points[:, 0])
    volumes, residual = assessment.volumes[order], assessment.residual[order]
    ends = {condition.part for condition in problem.conditions}
    told = [to_host(r.points)[:, 0] for r in proposal.rows if r.label not in ends]
    rows = np.sort(np.concatenate([*told, np.zeros(0)]))
    at_rows = np.max(np.abs(assessment.approximation.residuals(problem, rows[:, None])), axis=0)
    cells = np.full(len(rows), problem.domain.measure / max(1, len(rows)))
    found = [centres_of(basis)[:, 0] for basis in proposal.bases.values()]
    return Step(
        assessment.points[order, 0],
        _density(residual, volumes),
        volumes,
        rows,
        _density(at_rows, cells),
        _density(at_rows, cells, "squared"),
        residual,
        np.concatenate(found or [np.zeros(0)]),
        mixture,
    )


def _density(
    residual: FloatArray, volumes: FloatArray, power: Literal["log", "squared"] = "log"
) -> FloatArray:
    # No points, no density: a method need not tell its rows, nor assess every solve.
    return residual_density(residual, volumes, power) if residual.size else np.zeros(0)


def _view(task: Task, solution: Solution, steps: tuple[Step, ...]) -> View:
    domain, features = task.case.problem.domain, task.case.features
    inside = steps[-1].centres[domain.contains(steps[-1].centres[:, None])]
    # The kernels' own places are part of the curve, or spikes between the points go unseen.
    points = np.unique(np.concatenate([graded_points(domain, features, 300), inside]))
    return View(points, solution(points), steps)
