"""From a problem in time on an interval to its solution."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sharpfront.approximation import Approximation
from sharpfront.arrays import Host, blas_threads
from sharpfront.budget import DEFAULT, Budget
from sharpfront.errors import MixtureError, Outcome, OutcomeKind, ProblemError
from sharpfront.evolve.agenda import agenda_of
from sharpfront.evolve.equations import TimeSystem, time_system
from sharpfront.evolve.march import Step, steps
from sharpfront.evolve.moment import Moment
from sharpfront.evolve.placing import Limits, Run, StuckError
from sharpfront.evolve.start import first_run
from sharpfront.evolve.tracking import COMPONENTS, Shape
from sharpfront.geometry import SpaceTime
from sharpfront.history import TimeStep
from sharpfront.mixture import Mixture
from sharpfront.pieces.radau import STAGES
from sharpfront.pieces.slabs import Slab, SlabBasis
from sharpfront.problem import Problem
from sharpfront.solution import Estimate, Solution

MAX_KERNELS, FEWEST_KERNELS = 600, 8
# Runs with ever tighter steps, if errors grow on the way.
PASSES = 3
# No step is asked for more digits than this.
TIGHTEST = 1e-11
# An estimate of this size says that nothing is known any more.
LOST = 1.0
_MEANING = (
    "The largest error at any moment: the error equation, with the residual of the solution on its "
    "right, stepped along on more kernels, and what each step's polynomials in time leave out."
)


@dataclass(frozen=True, eq=False)
class _March:
    """What a run has left behind.

    Parameters
    ----------
    run
        After the last step.
    taken
        The steps.
    records
        Their records.
    ended
        None if the end of time was reached, else why not.
    notes
        What was done to the initial state, in words.
    inner
        The tolerance that steps kept to.
    number
        How many runs there have been, this one included.
    """

    run: Run
    taken: list[tuple[Slab, Host]]
    records: list[TimeStep]
    inner: float
    notes: list[str]
    number: int = 1
    ended: Outcome | None = None

    def trusted(self, tol: float) -> int:
        """Return the first step from which on errors are below a tolerance.

        Zero unless the initial state was rounded: what the rounding did fades.
        """
        if not self.notes:
            return 0
        above = [i for i, r in enumerate(self.records) if r.error_estimate > tol]
        first = above[-1] + 1 if above else 0
        return first if first < len(self.records) else 0

    def estimate(self, tol: float) -> float:
        """Return the largest error of any step, from the first trusted one on."""
        errors = [r.error_estimate for r in self.records[self.trusted(tol) :]]
        return max(errors, default=float("inf"))


def evolve_line(
    problem: Problem,
    tol: float,
    *,
    budget: Budget = DEFAULT,
    on_step: Callable[[TimeStep], None] | None = None,
    resume: Solution | None = None,
) -> Solution:
    """Solve a problem in time on an interval.

    Parameters
    ----------
    problem
        With a span of time and an initial state.
    tol
        Of the error at any moment, relative to max(1, max|u|).
    budget
        The most kernels and components.
    on_step
        Called with each step as it is taken.
    resume
        A solution of the same problem that was interrupted.
    """
    system = time_system(problem)
    assert problem.time is not None
    kernels = budget.kernels(MAX_KERNELS, FEWEST_KERNELS)
    # On a circle there is an odd number of kernels.
    kernels -= system.periodic and kernels % 2 == 0
    parts = budget.parts(COMPONENTS)
    limits = Limits(tol, *problem.time, kernels, parts, agenda_of(system))
    # What overflows on the way to a blow-up is noticed by what comes of it.
    with blas_threads(1), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        march = _begin(system, limits, resume)
        while True:
            march = _marched(march, limits, on_step)
            estimate = march.estimate(tol)
            tighter = march.inner * 0.5 * tol / max(estimate, 1e-300)
            last = march.ended is not None or estimate <= tol or march.number == PASSES
            if last or tighter < TIGHTEST:
                break
            run, notes = first_run(system, replace(limits, tol=tighter))
            march = _March(run, [], [], tighter, notes, march.number + 1)
    return _solution(problem, tol, march, limits)


def _begin(system: TimeSystem, limits: Limits, resume: Solution | None) -> _March:
    if resume is None:
        inner = max(limits.tol, TIGHTEST)
        run, notes = first_run(system, replace(limits, tol=inner))
        return _March(run, [], [], inner, notes)
    saved = resume.checkpoint
    if not saved or saved.get("problem") != fingerprint(system.problem):
        raise ProblemError(
            "resume= takes a solution of the same problem in time that was interrupted or stopped, "
            "as solve returned it or as load read it. This one belongs to another problem: only "
            "the end of time may differ."
        )
    if saved["t"] > limits.stop:
        raise ProblemError(
            f"The solution to resume has reached t = {saved['t']:.6g} already, beyond the end of "
            f"time, {limits.stop:.6g}."
        )
    return _March(
        unpacked_run(saved, system),
        _slabs(resume),
        [r for r in resume.history if isinstance(r, TimeStep)],
        float(saved["inner"]),
        list(saved["notes"]),
        int(saved["number"]),
    )


def _marched(march: _March, limits: Limits, on_step: Callable[[TimeStep], None] | None) -> _March:
    """Go on to the end of time, or as far as it goes."""
    run, taken, records = march.run, list(march.taken), list(march.records)
    notes = list(march.notes)
    ended = None
    try:
        for step in steps(march.run, replace(limits, tol=march.inner)):
            run = step.run
            taken.append((step.slab, step.weights))
            records.append(_record(step, len(records)))
            notes += [f"at t = {step.slab.motion.times[0]:.3g} {words}" for words in step.words]
            if on_step:
                on_step(records[-1])
            if step.error > LOST and not notes:
                raise StuckError(f"the estimated error has grown to {step.error:.1e}")
    except KeyboardInterrupt:
        detail = f"Interrupted at t = {run.now.t:.6g} of {limits.stop:.6g}."
        ended = Outcome(OutcomeKind.INTERRUPTED, detail)
    except (MixtureError, np.linalg.LinAlgError):
        detail = f"At t = {run.now.t:.6g} of {limits.stop:.6g}: the state is no longer finite."
        ended = Outcome(OutcomeKind.STOPPED, detail)
    except StuckError as stuck:
        detail = f"At t = {run.now.t:.6g} of {limits.stop:.6g}: {stuck}."
        ended = Outcome(OutcomeKind.STOPPED, detail)
    return replace(march, run=run, taken=taken, records=records, notes=notes, ended=ended)


def _record(step: Step, index: int) -> TimeStep:
    motion = step.slab.motion
    return TimeStep(
        index,
        motion.times[1],
        motion.dt,
        step.slab.kernels,
        step.error,
        step.iterations,
        step.seconds,
        step.mixture,
        step.speeds,
    )


def _solution(problem: Problem, tol: float, march: _March, limits: Limits) -> Solution:
    assert problem.time is not None
    unknowns = problem.unknowns
    taken = march.taken or [_standstill(march.run)]
    basis = SlabBasis(tuple(slab for slab, _ in taken))
    weights = {
        name: np.concatenate([w[:, i].ravel() for _, w in taken])
        for i, name in enumerate(march.run.now.system.names)
    }
    reached = march.run.now.t if march.taken else problem.time[0]
    outcome = march.ended or _outcome(march, tol)
    if march.notes:
        outcome = replace(outcome, detail=f"{outcome.detail} {_about(march, tol)}".strip())
    return Solution(
        Approximation(
            problem.coordinates,
            dict.fromkeys(unknowns, basis),
            {name: weights[name] for name in unknowns},
        ),
        SpaceTime(problem.domain, (problem.time[0], reached)),
        Estimate(march.estimate(tol), _MEANING),
        outcome,
        tol,
        tuple(march.records),
        {
            "steps": float(len(march.records)),
            "newton_iterations": float(sum(r.iterations for r in march.records)),
            "step_tolerance": march.inner,
        },
        problem,
        checkpoint=packed_run(march),
    )


def _about(march: _March, tol: float) -> str:
    """Say what was done to the initial state, and from when on the estimate holds."""
    words = "; ".join(march.notes)
    first = march.trusted(tol)
    if not first:
        return f"At the start {words}."
    since = march.records[first - 1].time
    return f"At the start {words}; the estimate holds from t = {since:.3g} on."


def _outcome(march: _March, tol: float) -> Outcome:
    estimate = march.estimate(tol)
    if estimate <= tol:
        return Outcome(OutcomeKind.CONVERGED)
    detail = f"Errors grow on the way: the estimate reaches {estimate:.1e}, above {tol:.1e}."
    return Outcome(OutcomeKind.STALLED, detail)


def _standstill(run: Run) -> tuple[Slab, Host]:
    """Return the initial state as a slab, for a run that took no step."""
    motion = run.now.motion(run.now, run.now.t + max(run.dt, np.spacing(run.now.t)))
    return Slab(motion, run.now.kernels), np.repeat(run.now.weights[None], STAGES + 1, axis=0)


def fingerprint(problem: Problem) -> str:
    """Return what tells one problem from another, the end of time left out."""
    assert problem.time is not None
    stated = repr(problem).rsplit("; t from", 1)[0]
    low, high = problem.domain.bounds[:, 0]
    at = np.linspace(float(low), float(high), 7)
    assert problem.initial is not None
    start = [problem.initial.values(name, at[:, None]) for name in problem.initial.states]
    return f"{stated} from {problem.time[0]!r}; {np.round(start, 12).tolist()}"


def packed_run(march: _March) -> dict[str, Any]:
    """Return the state of a run as words and arrays."""
    run, now = march.run, march.run.now
    names, unknowns = now.system.names, now.system.problem.unknowns
    return {
        "problem": fingerprint(now.system.problem),
        "inner": march.inner,
        "number": march.number,
        "notes": march.notes,
        "t": now.t,
        "kernels": now.kernels,
        "mixture": [now.mixture.weights, now.mixture.means, now.mixture.covariances],
        "shape": [now.shape.radius, now.shape.evenness, now.shape.even],
        "zero": now.zero,
        "weights": now.weights,
        "dt": run.dt,
        "error": run.error,
        "scale": run.scale,
        "idle": run.idle,
        "taken": run.taken,
        "pace": run.pace,
        "before": list(run.before) if run.before else [],
        "rates": {
            name: np.concatenate([w[:, i].ravel() for _, w in march.taken] or [np.zeros(0)])
            for i, name in enumerate(names)
            if name not in unknowns
        },
    }


def unpacked_run(saved: Mapping[str, Any], system: TimeSystem) -> Run:
    """Return the run from what `packed_run` made of it."""
    now = Moment(
        system,
        float(saved["t"]),
        int(saved["kernels"]),
        Mixture(*saved["mixture"]),
        Shape(*saved["shape"]),
        float(saved["zero"]),
        np.asarray(saved["weights"]),
    )
    before = saved["before"]
    return Run(
        now,
        float(saved["dt"]),
        np.asarray(saved["error"]),
        np.asarray(saved["scale"]),
        int(saved["idle"]),
        int(saved["taken"]),
        float(saved["pace"]),
        (np.asarray(before[0]), float(before[1])) if before else None,
    )


def _slabs(solution: Solution) -> list[tuple[Slab, Host]]:
    """Return the slabs of a solution with the weights of all unknowns and their rates."""
    saved = solution.checkpoint
    assert saved is not None
    if not solution.history:
        return []
    basis = next(iter(solution.approximation.bases.values()))
    assert isinstance(basis, SlabBasis)
    rows = [solution.approximation.weights[name] for name in solution.unknowns]
    rows += list(saved["rates"].values())
    ends = np.cumsum([slab.size for slab in basis.slabs])[:-1]
    parts = zip(*(np.split(row, ends) for row in rows), strict=True)
    return [
        (slab, np.stack([p.reshape(STAGES + 1, -1) for p in part], axis=1))
        for slab, part in zip(basis.slabs, parts, strict=True)
    ]
