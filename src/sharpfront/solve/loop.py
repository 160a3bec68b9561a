"""The loop: place, assemble, solve, assess, adapt, stop.

Patches, Newton's method and time are loaded when a problem needs them.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sharpfront.adapt.adaptive_step import AdaptiveStep, adaptive_step
from sharpfront.adapt.contract import Adaptor, State
from sharpfront.arrays import blas_threads
from sharpfront.budget import Budget
from sharpfront.checks import did_you_mean, explained, numbers_in
from sharpfront.errors import ArgumentError, OutcomeKind, ProblemError
from sharpfront.history import Record
from sharpfront.kernels import Kernel
from sharpfront.problem import Problem
from sharpfront.problem.family import Family
from sharpfront.progress import told
from sharpfront.solution import Solution
from sharpfront.solve.options import check_options, checked, refuse_singular
from sharpfront.solve.strategy import chosen, lifting, refuse, takes_units, with_device, with_kernel
from sharpfront.solve.units import Units, is_short, short

# Tolerance of the solves on the way of a continuation.
ON_THE_WAY = 1e-3
# The last adaptor and its state.
_Left = tuple[Any, Any]


@explained("sf.solve(problem, tol=1e-6)")
def solve(
    problem: Problem | Callable[..., Problem],
    *,
    tol: float | None = None,
    guess: Any = None,
    continuation: Sequence[float] | None = None,
    max_kernels: int | None = None,
    components: int | None = None,
    seed: int = 42,
    adaptor: Adaptor | None = None,
    kernel: Kernel | str | None = None,
    on_step: Callable[[Any], None] | None = None,
    progress: bool = False,
    resume: Solution | None = None,
    device: str | None = None,
    cluster: Any = None,
    **parameters: Any,
) -> Solution:
    """Solve a problem.

    Parameters
    ----------
    problem
        Domain, equation and conditions; or a family of problems, a function of named parameters
        that returns them: ``sf.solve(layer, nu=1e-2)`` gives a solution that knows its parameters
        and has their `sensitivity`. With `continuation` a function of one parameter.
    tol
        Stop when the estimated error, relative to max(1, max|u|), is below this. By default 1e-8
        in one dimension and 1e-6 beyond, where a digit costs more. Where max|u| itself is no more
        than this it is relative to max|u|, and no solution of fewer than two digits will do.
    guess
        Where a nonlinear problem starts: a function of the coordinates, a number, an array of
        values on an even grid over the domain's bounds, ends included, or an earlier `Solution`;
        for several unknowns a mapping from their names. Zero by default. Linear problems need
        none.
    continuation
        Values of the parameter from an easy problem to the one that is meant, the last. Each
        solution is the guess of the next; where that fails, values in between are tried.
    max_kernels
        Stop rather than use more kernels than this.
    components
        The most components of a mixture, where one is fitted.
    seed
        All randomness comes from it: the same seed gives the same bits. The default adaptor in
        one dimension uses none.
    adaptor
        Who decides where kernels and rows go, with settings of its own; instead of `max_kernels`
        and `components`.
    kernel
        Another profile than the Gaussian: ``"inverse-multiquadric"``, or an object with `name` and
        `matrix`. It is for linear problems without time, solved once on broad kernels in even
        places, or by `Uniform` or `Paper` as the adaptor; nothing else takes it.
    on_step
        Called with each `Record`, or in time each `TimeStep`, as it is made.
    progress
        Show a bar while solving, on standard error if that is a terminal.
    resume
        A solution in time that was interrupted or stopped: go on from there, to the same bits.
    device
        Where large systems on patches are solved: ``"cuda"`` for a card, through torch
        (``pip install 'sharpfront[gpu]'``). By default what the variable SHARPFRONT_DEVICE names,
        and otherwise the processor.
    cluster
        A ``dask.distributed.Client``, or the address of a scheduler: its workers solve large
        systems on patches (``pip install 'sharpfront[distributed]'``).
    **parameters
        Values of the parameters of a family.

    Returns
    -------
    Solution
        Always, also where the tolerance was not met: look at ``solution.outcome``.
    """
    budget = Budget(max_kernels, components, tol, seed)
    check_options(adaptor, on_step, progress, resume)
    if continuation is not None:
        refuse("with continuation=", resume=resume)
        return _continued(
            problem,
            continuation,
            guess,
            tol,
            max_kernels=max_kernels,
            components=components,
            seed=seed,
            adaptor=adaptor,
            kernel=kernel,
            on_step=on_step,
            progress=progress,
            device=device,
            cluster=cluster,
        )
    how = _How(budget, guess, adaptor, kernel, on_step, progress, resume, device, cluster)
    if _is_family(problem, parameters):
        return _member(Family.of(problem), parameters, how)
    stated, tol = checked(problem, budget)
    return _solved(stated, tol, how)[0]


@dataclass(frozen=True, eq=False)
class _How:
    """The options of a solve."""

    budget: Budget
    guess: Any
    adaptor: Adaptor | None
    kernel: Kernel | str | None
    on_step: Callable[[Any], None] | None
    progress: bool
    resume: Solution | None
    device: str | None
    cluster: Any


def _member(family: Family, parameters: Mapping[str, Any], how: _How) -> Solution:
    """Return the solution of a member of a family, which knows its parameters."""
    from sharpfront.sensitivity import Kept, Member

    values = family.values(parameters)
    stated, tol = checked(family(**values), how.budget)
    solution, kept = _solved(stated, tol, how)

    def other(values: Mapping[str, Any], tol: float, guess: Any = None) -> Solution:
        start = how.guess if guess is None else guess
        quiet = replace(how, guess=start, on_step=None, progress=False, resume=None)
        return _member(family, values, replace(quiet, budget=replace(how.budget, tol=tol)))

    held = None if kept is None else Kept(*kept)
    return replace(solution, member=Member(family, values, held, other))


def _is_family(problem: object, parameters: Mapping[str, Any]) -> bool:
    """Tell whether a family is solved; refuse parameters of anything else."""
    if callable(problem) and not isinstance(problem, Problem | type):
        return True
    if parameters:
        known = [n for n in inspect.signature(solve).parameters if n != "parameters"]
        name = next(iter(parameters))
        raise ArgumentError(
            f"sf.solve: got an unexpected keyword argument {name!r}.{did_you_mean(name, known)} "
            "Write for example sf.solve(problem, tol=1e-6); parameters of a family go with a "
            "function that returns a Problem, sf.solve(layer, nu=1e-2)."
        )
    return False


def _solved(stated: Problem, tol: float, how: _How) -> tuple[Solution, _Left | None]:
    """Return the solution, in a unit of its own where it is far below one, and what it leaves."""
    if how.kernel is not None or not takes_units(how.adaptor):
        return _solved_as_stated(stated, tol, how)
    resume = how.resume
    units = Units.before(stated, tol) if resume is None else Units.kept(stated, tol, resume)
    if units is not None:
        inner = replace(how, resume=resume and units.taken_off(resume))
        found, _ = _solved_as_stated(units.problem, units.tol, inner)
        if not units.has_outgrown(found):
            return units.put_back(found), None
        how = replace(how, resume=None)
    first, kept = _solved_as_stated(stated, tol, how)

    def again(units: Units) -> Solution:
        # A run in another unit begins anew.
        start = None if how.guess is None else units.taken_off(first)
        own = replace(how, guess=start, resume=None)
        return _solved_as_stated(units.problem, units.tol, own)[0]

    if (units := Units.apart(stated, tol, first)) is not None:
        return units.settled(first, again), None
    tried = False
    for units in Units.after(stated, tol, first):
        if units.suffices(first, found := again(units)):
            return units.put_back(found), None
        tried = True
    # In time unknowns have one unit, that of the largest.
    poor = tried or (stated.time is not None and is_short(first, tol))
    return (short(first), None) if poor else (first, kept)


def _solved_as_stated(stated: Problem, tol: float, how: _How) -> tuple[Solution, _Left | None]:
    """Return the solution, and what a stationary problem leaves for others on its kernels."""
    adaptor, budget, resume = how.adaptor, how.budget, how.resume
    refuse_singular(stated, adaptor)
    if stated.time is not None:
        return _evolved(stated, tol, how), None
    if resume is not None:
        raise ProblemError("resume= goes on with a problem in time; this one has no time=.")
    if how.kernel is not None:
        if not stated.is_linear:
            refuse("for a nonlinear problem", kernel=how.kernel)
        adaptor, budget = with_kernel(how.kernel, adaptor, budget)
    adaptor = with_device(chosen(stated, adaptor, budget), how.device, how.cluster)
    lifted = lifting(stated, tol, adaptor) if how.guess is None else None
    if not stated.is_linear:
        from sharpfront.newton import Start, newton_adaptor

        adaptor = newton_adaptor(adaptor, Start(how.guess))
    with told(how.on_step, shown=how.progress, tol=tol, span=stated.time) as tell:
        if lifted is None:
            return _solve(stated, tol, budget, adaptor, tell)
        return lifted.put_back(_solve(lifted.problem, tol, budget, adaptor, tell)[0]), None


def _evolved(stated: Problem, tol: float, how: _How) -> Solution:
    """Return the solution of a problem in time: by a march of its own, or around an adaptor."""
    from sharpfront.evolve import evolve

    refuse("for a problem in time", guess=how.guess, kernel=how.kernel)
    if how.adaptor is None:
        refuse("for a problem in time", device=how.device, cluster=how.cluster)
        with told(how.on_step, shown=how.progress, tol=tol, span=stated.time) as tell:
            return evolve(stated, tol, budget=how.budget, on_step=tell, resume=how.resume)
    from sharpfront.evolve.rothe import evolve_around

    refuse("for a problem in time with an adaptor", resume=how.resume)

    def stationary(problem: Problem, tol: float, guess: Solution | None) -> Solution:
        return _solved(problem, tol, replace(how, guess=guess, on_step=None, progress=False))[0]

    with told(how.on_step, shown=how.progress, tol=tol, span=stated.time) as tell:
        return evolve_around(stated, tol, stationary, tell)


def _solve(
    problem: Problem, tol: float, budget: Budget, adaptor: Adaptor, tell: Callable[[Record], None]
) -> tuple[Solution, _Left]:
    with blas_threads(1):
        state: State = adaptor.start(problem, tol, budget.seed)
        steps: list[AdaptiveStep] = []
        while state.finished is None:
            step, state = adaptive_step(problem, adaptor, state, len(steps))
            steps.append(step)
            tell(step.record)
    inner = getattr(adaptor, "inner", adaptor), getattr(state, "inner", state)
    return _solution(problem, tol, steps, state), inner


def _continued(
    family: object, values: Sequence[float], guess: Any, tol: float | None, **options: Any
) -> Solution:
    """Solve for one value of a parameter after the other."""
    from sharpfront.newton import values_on_the_way

    if isinstance(family, Problem) or not callable(family):
        raise ProblemError(
            "continuation= needs a function of the parameter that returns a Problem: "
            "solve(lambda nu: problem(nu), continuation=[1e-1, 1e-2])."
        )
    values = numbers_in(
        values,
        "continuation",
        "values of the parameter, from an easy problem to the one that is meant",
        "continuation=[1e-1, 1e-2]",
    )
    way, solution = values_on_the_way(values), None
    records: tuple[Record, ...] = ()
    value = next(way)
    while value is not None:
        last = value == values[-1]
        start = guess if solution is None else solution
        near = tol if last else max(tol or ON_THE_WAY, ON_THE_WAY)
        problem = family(value)
        if isinstance(problem, Problem) and problem.time is not None:
            refuse("for a problem in time", continuation=values)
        new = solve(problem, tol=near, guess=start, **options)
        records += new.history
        failed = new.outcome.kind is OutcomeKind.NEWTON
        if failed:
            where = f"With the parameter at {value:g}: {new.outcome.detail}"
            new = replace(new, outcome=replace(new.outcome, detail=where))
        solution = solution if failed and solution is not None else new
        value = way.send(failed)
    numbered = tuple(replace(r, iteration=i) for i, r in enumerate(records))
    return replace(new, history=numbered)


def _solution(problem: Problem, tol: float, steps: list[AdaptiveStep], state: State) -> Solution:
    answer, finished = state.answer, state.finished
    assert finished is not None
    step = next(s for s in steps if s.assessment.approximation is answer.approximation)
    if finished.kind is OutcomeKind.CONVERGED and step.outcome.kind is OutcomeKind.ILL_POSED:
        finished = step.outcome
    estimate = answer.estimate
    if finished.kind is OutcomeKind.ILL_POSED:
        # There is no solution from which this one could be far.
        estimate = replace(estimate, value=math.inf)
    return Solution(
        answer.approximation,
        problem.domain,
        estimate,
        finished,
        tol,
        tuple(s.record for s in steps),
        {
            "condition": step.facts.condition,
            "rank": step.facts.rank,
            "columns": sum(b.size for b in answer.approximation.bases.values()),
            "dead_columns": step.facts.dead_columns,
            "residual_norm": step.facts.residual_norm,
            "condition_mismatch": answer.mismatch,
            **getattr(state, "diagnostics", {}),
        },
        problem,
    )
