"""From a problem in time on an interval to its solution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sharpfront.approximation import Approximation
from sharpfront.arrays import FloatArray, blas_threads
from sharpfront.budget import DEFAULT, Budget
from sharpfront.errors import MixtureError, Outcome, OutcomeKind
from sharpfront.evolve.checkpoint import March, packed_run, resumed
from sharpfront.evolve.ending import StuckError, finished, returned, stopped
from sharpfront.evolve.equations import TimeSystem, time_system
from sharpfront.evolve.march import Step, steps
from sharpfront.evolve.narrow import Watch
from sharpfront.evolve.placing import Limits, Run
from sharpfront.evolve.start import first_run
from sharpfront.evolve.time_events import agenda_of, line_formulas
from sharpfront.evolve.tracking import COMPONENTS
from sharpfront.evolve.trail import EVEN, LOST, Profile, blow_up_time
from sharpfront.geometry import SpaceTime
from sharpfront.history import TimeStep
from sharpfront.pieces.radau import STAGES
from sharpfront.pieces.slabs import Slab, SlabBasis
from sharpfront.problem import Problem
from sharpfront.solution import Estimate, Solution

MAX_KERNELS, FEWEST_KERNELS = 600, 8
# Runs with ever tighter steps, if errors grow on the way.
PASSES = 3
_MEANING = (
    "The largest error at any moment: the error equation, with the residual of the solution on its "
    "right, stepped along on more kernels, and what each step's polynomials in time leave out."
)


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
    equations, conditions = line_formulas(system)
    agenda = agenda_of([*equations, *conditions], problem.time)
    places = np.array([e.place[0] for e in agenda.events])
    watches = tuple(Watch(e, places) for e in equations if e.local_parts)
    limits = Limits(tol, *problem.time, kernels, parts, agenda, watches=watches)
    # What overflows on the way to a blow-up is noticed by what comes of it.
    with blas_threads(1), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        march = resumed(system, limits, resume) if resume else _begun(system, limits, EVEN, 1)
        march = best = _marched(march, limits, on_step)
        while (profile := _tighter(march, tol)) is not None:
            march = _begun(system, limits, profile, march.number + 1)
            march = _marched(march, limits, on_step)
            best = max(best, march, key=lambda m: _merit(m, tol))
    return _solution(problem, tol, best)


def _begun(system: TimeSystem, limits: Limits, profile: Profile, number: int) -> March:
    """Return the march before its first step."""
    run, notes = first_run(system, replace(limits, profile=profile).at(limits.start).strict)
    return March(run, notes, run, profile=profile, number=number)


def _tighter(march: March, tol: float) -> Profile | None:
    """Return the tolerances of another run, None where there is no need or no hope."""
    estimate = march.estimate(tol)
    hopeless = march.ended is not None and march.ended.kind in (
        OutcomeKind.INTERRUPTED,
        OutcomeKind.KERNEL_LIMIT,
        OutcomeKind.BLOW_UP,
    )
    if hopeless or estimate <= tol or march.number >= PASSES or not march.marks:
        return None
    wanted = march.profile.tightened(march.marks, 0.5 * tol / estimate, tol)
    now = np.array([march.profile.at(t) for t in wanted.times])
    return wanted if np.any(wanted.shares < 0.9 * now) else None


def _merit(march: March, tol: float) -> tuple[bool, float, float]:
    """Return what makes one march better than another: an interrupt, how far, how accurate."""
    part = march.part(tol)
    until = march.records[part.last - 1].time if part.last else -np.inf
    interrupted = march.ended is not None and march.ended.kind is OutcomeKind.INTERRUPTED
    return interrupted, until, -march.estimate(tol)


def _marched(march: March, limits: Limits, on_step: Callable[[TimeStep], None] | None) -> March:
    """Go on to the end of time, or as far as it goes."""
    stop, ended = limits.stop, None
    try:
        for step in steps(march.run, replace(limits, profile=march.profile)):
            march = _with_step(march, step, limits.tol)
            if on_step:
                on_step(march.records[-1])
            _require_found(march, limits.tol)
    except KeyboardInterrupt:
        detail = f"Interrupted at t = {march.run.now.t:.6g} of {stop:.6g}."
        ended = Outcome(OutcomeKind.INTERRUPTED, detail)
    except (MixtureError, np.linalg.LinAlgError):
        stuck = StuckError("the state is no longer finite")
        ended = stopped(stuck, march.marks, march.records, march.run.now.t, stop)
    except StuckError as stuck:
        ended = stopped(stuck, march.marks, march.records, march.run.now.t, stop)
    return replace(march, ended=ended)


def _with_step(march: March, step: Step, tol: float) -> March:
    """Return the march after one more step."""
    notes = [f"at t = {step.slab.motion.times[0]:.3g} {words}" for words in step.words]
    new = replace(
        march,
        run=step.run,
        taken=(*march.taken, (step.slab, step.weights)),
        records=(*march.records, _record(step, len(march.records))),
        marks=(*march.marks, step.mark),
        notes=[*march.notes, *notes],
    )
    return replace(new, good=step.run) if new.part(tol).last == len(new.records) else new


def _require_found(march: March, tol: float) -> None:
    """Stop a run whose errors say that it is lost; in a linear problem they are what they are."""
    errors = [r.error_estimate for r in march.records]
    error = errors[-1]
    # Errors of a rounded start are large and fade: only what grows after that is lost.
    settled = not march.notes or min(errors) <= tol
    lost = error > max(LOST, tol) and settled and not march.run.now.system.is_linear
    # Once errors are too large, there is nothing to be had of the rest of a blow-up.
    blows_up = error > tol and blow_up_time(march.marks, errors) is not None
    if lost or not np.isfinite(error) or blows_up:
        words = f"the estimated error has grown to {error:.1e}"
        raise StuckError(words, OutcomeKind.ERROR_GROWTH)


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


def _solution(problem: Problem, tol: float, march: March) -> Solution:
    assert problem.time is not None
    outcome = march.ended or finished(march.records, march.part(tol), march.estimate(tol), tol)
    if march.ended and march.ended.kind is not OutcomeKind.INTERRUPTED:
        march, outcome = _cut(march, outcome, tol)
    unknowns = problem.unknowns
    taken = march.taken or (_standstill(march.run),)
    basis = SlabBasis(tuple(slab for slab, _ in taken))
    weights = {
        name: np.concatenate([w[:, i].ravel() for _, w in taken])
        for i, name in enumerate(march.run.now.system.names)
    }
    reached = march.records[-1].time if march.records else problem.time[0]
    since = _since(march, tol)
    if march.notes:
        held = f"; the estimate holds from t = {since:.3g} on" if since is not None else ""
        words = f"At the start {'; '.join(march.notes)}{held}."
        outcome = replace(outcome, detail=f"{outcome.detail} {words}".strip())
    return Solution(
        Approximation(
            problem.coordinates,
            dict.fromkeys(unknowns, basis),
            {name: weights[name] for name in unknowns},
        ),
        SpaceTime(problem.domain, (problem.time[0], reached)),
        Estimate(march.estimate(tol), _MEANING, since),
        outcome,
        tol,
        march.records,
        {
            "steps": float(len(march.records)),
            "newton_iterations": float(sum(r.iterations for r in march.records)),
            "step_tolerance": tol * float(march.profile.shares.min()),
        },
        problem,
        checkpoint=packed_run(march) if march.run.now.t == reached else None,
    )


def _cut(march: March, outcome: Outcome, tol: float) -> tuple[March, Outcome]:
    """Return the march up to where it can be trusted; all of it where nothing can."""
    count = march.part(tol).last
    words = returned(march.records[:count])
    outcome = replace(outcome, detail=f"{outcome.detail} {words}")
    return (march.cut(count, march.good) if count else march), outcome


def _since(march: March, tol: float) -> float | None:
    """Return from when on the estimate holds; None if it does from the start."""
    first, last = march.part(tol)
    return march.records[first - 1].time if 0 < first < last else None


def _standstill(run: Run) -> tuple[Slab, FloatArray]:
    """Return the initial state as a slab, for a run that took no step."""
    motion = run.now.motion(run.now, run.now.t + max(run.dt, np.spacing(run.now.t)))
    return Slab(motion, run.now.kernels), np.repeat(run.now.weights[None], STAGES + 1, axis=0)
