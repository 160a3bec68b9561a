"""Step after step: how long, with how many kernels, and where they move."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.errors import OutcomeKind
from sharpfront.evolve.ending import CRAWLED, StuckError, check_progress
from sharpfront.evolve.error import slab_error, with_end
from sharpfront.evolve.late import at_end, during
from sharpfront.evolve.placing import (
    IN_SPACE,
    LOST,
    Limits,
    Run,
    exchanged,
    is_flat,
    looked_ahead,
    moved,
    stays,
    transfer_error,
    with_kernels,
)
from sharpfront.evolve.quadrature_table import room_of
from sharpfront.evolve.slab import Solved, Stages, solve_slab, stages_of
from sharpfront.evolve.start import attentive, restarted
from sharpfront.evolve.state import Moment
from sharpfront.evolve.trail import Mark
from sharpfront.evolve.unseen import unseen
from sharpfront.mixture import Mixture
from sharpfront.pieces.radau import STAGES, interpolation, stage_nodes
from sharpfront.pieces.slabs import Slab

# Shares of the tolerance: what the polynomials in time leave out during a step, and at its end;
# Newton's last update.
IN_TIME, AT_END, IN_NEWTON = 0.3, 0.1, 1e-4
# Bounds and caution of the next step.
SHRINK, GROW, SAFE = 0.2, 2.0, 0.85
# Share of the way to the fitted mixture that is gone in a step.
RELAX = 0.5
# Kernels are given up where what they add is below this share of what is allowed, several times.
IDLE, PATIENCE = 1e-2, 4
LEAST_KERNELS = 16
# A step that misses by less is taken if more kernels do not help.
NEAR = 50.0
# A step that misses by more is halved, so many times, before kernels are added.
FAR, HALVED = 8.0, 2
# A step in which the polynomials in time leave out more than was to be expected is tried with
# components at rest: it may be they that go too fast, not the solution.
FAST = 3.0
# Else the step is cut, so many times; and so many if no more kernels may be taken.
CUTS, LAST_CUTS = 12, 2
# Steps shorter than this part of the span are not taken for want of kernels.
SHORT = 1e-3
# Whether kernels could be placed better is asked after this many steps.
LOOK = 10


@dataclass(frozen=True, eq=False)
class Step:
    """A step that was taken.

    Parameters
    ----------
    slab, weights
        The kernels and their weights, (STAGES + 1, m, K).
    run
        The run after it.
    error
        The largest error up to the end of the step, by the error equation, with that in time.
    iterations
        Newton steps, those of failed attempts included.
    mixture, speeds
        The components at the end, and their speeds.
    seconds
        Wall time.
    mark
        How errors and the solution grew.
    """

    slab: Slab
    weights: FloatArray
    run: Run
    error: float
    iterations: int
    mixture: Mixture
    speeds: FloatArray
    seconds: float
    mark: Mark
    words: tuple[str, ...] = ()


def steps(run: Run, limits: Limits) -> Iterator[Step]:
    """Yield steps until the end of time; raises `StuckError` where none can be taken."""
    times: deque[float] = deque(maxlen=CRAWLED)
    while run.now.t < limits.stop:
        check_progress(times, run.now.t, limits.stop)
        words: list[str] = []
        present = limits.at(run.now.t)
        if limits.agenda.is_stop(run.now.t):
            run, words = restarted(run, present.strict)
        if limits.watches:
            run = attentive(run, present.strict)
        if run.unresolved:
            raise StuckError(run.unresolved, OutcomeKind.KERNEL_LIMIT)
        step = replace(_step(run, present), words=tuple(words))
        run = step.run
        yield step


def _too_few(run: Run) -> StuckError:
    """Return the error of a run whose kernels are too few."""
    words = f"{run.now.kernels} kernels do not resolve it"
    return StuckError(words, OutcomeKind.KERNEL_LIMIT)


@dataclass(frozen=True, eq=False)
class _Try:
    """What is tried for one step.

    Parameters
    ----------
    run
        From where.
    relax
        Share of the way to the fitted mixture.
    ahead
        Where the components end, if that is known from an earlier try.
    excess
        By how much that earlier try missed what is allowed in space.
    richer
        The same for the tries before kernels were added.
    origin
        The run before kernels were added.
    cuts
        How often the step was cut because kernels did not help.
    halved
        How often it was halved because many more kernels would be needed.
    still
        Whether components stay where they are.
    moving
        What the polynomials in time left out while they moved, as a share of what is allowed.
    """

    run: Run
    relax: float = RELAX
    ahead: Moment | None = None
    excess: float = 0.0
    richer: tuple[float, ...] = ()
    origin: Run | None = None
    cuts: int = 0
    halved: int = 0
    still: bool = False
    moving: float = 0.0

    def shorter(self, dt: float, share: float) -> _Try:
        """Return a try with a shorter step."""
        run, relax = replace(self.run, dt=share * dt), self.relax * share
        moving = self.moving
        return _Try(run, relax, cuts=self.cuts, halved=self.halved, still=self.still, moving=moving)

    def with_more(self, limits: Limits, excess: float, dt: float) -> _Try:
        """Return a try with more kernels, or better placed ones; or a much shorter step.

        Where kernels have not helped, what is missing is not resolution but a smaller change.
        """
        origin = self.origin or self.run
        full = self.run.now.kernels >= limits.max_kernels
        if full and SHRINK * dt < SHORT * limits.span:
            raise _too_few(self.run)
        if (self.helpless(excess) and self.cuts < CUTS) or (full and self.cuts < LAST_CUTS):
            return _Try(replace(origin, dt=SHRINK * dt), SHRINK * self.relax, cuts=self.cuts + 1)
        run = _richer(self.run, limits, excess)
        richer = (*self.richer, excess)
        return replace(self, run=run, ahead=None, excess=0.0, richer=richer, origin=origin)

    def helpless(self, excess: float) -> bool:
        """Tell whether more kernels did not help."""
        tried = self.richer[-2:]
        return len(tried) == 2 and excess > 0.5 * min(tried)

    def at_floor(self, excess: float) -> bool:
        """Tell whether rounding sets the floor, near enough to what is allowed."""
        return self.helpless(excess) and excess < NEAR


def _step(run: Run, limits: Limits) -> Step:
    """Take one step, trying shorter ones and more kernels until it is good."""
    started, iterations = time.perf_counter(), 0
    least = max(64.0 * float(np.spacing(run.now.t)), 1e-30 * (limits.stop - run.now.t))
    now = _Try(run, min(RELAX, GROW * run.pace * run.dt))
    while True:
        if now.run.dt < least:
            raise StuckError(f"the step shrank to {now.run.dt:.1e}")
        done = _attempt(now, limits)
        iterations += done.solved.iterations
        if done.step is None or not (done.excess <= 1.0 or now.at_floor(done.excess)):
            now = _next_try(now, done, limits)
            continue
        following = _tended(done.step.run, limits)
        seconds = time.perf_counter() - started
        return replace(done.step, run=following, iterations=iterations, seconds=seconds)


@dataclass(frozen=True, eq=False)
class _Done:
    """What became of a try: late and excess are shares of what is allowed in time and space."""

    dt: float
    solved: Solved
    stop: Moment
    late: float = 0.0
    excess: float = 0.0
    step: Step | None = None


def _attempt(now: _Try, limits: Limits) -> _Done:
    """Solve one slab and see whether it is good."""
    run = now.run
    dt = _fitted(run.now.t, run.dt, limits)
    rests = now.still or is_flat(run, limits)
    v, stop = stays(run.now, dt) if rests else moved(run.now, dt, now.relax)
    if now.ahead is not None:
        stop = replace(now.ahead, t=stop.t)
    motion = run.now.motion(stop, stop.t)
    stages = stages_of(run.now.system, room_of(run.now.system, run.now.kernels), motion, STAGES)
    solved = _solve(run, stages, limits)
    if not solved.converged:
        return _Done(dt, solved, stop)
    table = room_of(run.now.system, run.now.kernels).inner[0]
    scale = np.maximum(run.scale, np.abs(solved.weights @ table.T).max(axis=(0, 2)))
    late = during(solved.weights, table, scale) / (IN_TIME * limits.tol)
    if late > 1.0:
        return _Done(dt, solved, stop, late)
    system, kernels = run.now.system, run.now.kernels
    ending = at_end(stages, solved)
    lasting = float((np.abs(ending @ table.T).max(axis=1) / scale).max())
    if lasting > AT_END * limits.lasting:
        # The sixth power of a step is what it leaves out, the tenth what is left of it at its end.
        late = max(late, (lasting / (AT_END * limits.lasting)) ** ((STAGES + 1) / (2 * STAGES)))
        return _Done(dt, solved, stop, late)
    missed = unseen(system, kernels, motion, solved.weights, scale, limits.times)
    late = max(late, missed.largest / (IN_TIME * limits.lasting))
    if late > 1.0:
        return _Done(dt, solved, stop, late)
    found = slab_error(system, kernels, motion, solved.weights, run.error, scale)
    found = with_end(found, system, kernels, ending, scale)
    allowed = IN_SPACE * limits.lasting * _fair(dt, limits)
    stop = replace(stop, weights=solved.weights[-1])
    factor = float(np.clip(SAFE * max(late, 1e-300) ** (-1.0 / (STAGES + 1)), SHRINK, GROW))
    idle = run.idle + 1 if found.local < IDLE * allowed else 0
    before = (solved.weights, dt)
    pace = run.pace if rests else now.relax / dt
    wrong = found.weights + missed.weights
    following = Run(stop, dt * factor, wrong, scale, idle, run.taken + 1, pace, before)
    error = found.total + late * IN_TIME * limits.tol
    slab = Slab(motion, run.now.kernels)
    mark = _mark(motion.times, run, found.growth, solved.weights @ table.T, scale)
    mark = mark._replace(added=max(found.local, lasting))
    step = Step(slab, solved.weights, following, error, 0, stop.mixture, v, 0.0, mark)
    return _Done(dt, solved, stop, late, found.local / allowed, step)


def _mark(
    times: tuple[float, float], run: Run, growth: float, values: FloatArray, scale: FloatArray
) -> Mark:
    """Return what a step shows, from its values at all stages, (STAGES + 1, m, n)."""
    sizes = np.abs(values).max(axis=2)
    slower = float((run.scale / scale).max())
    share = float((sizes[0] / run.scale).max())
    stated = len(run.now.system.problem.unknowns)
    return Mark(*times, growth * slower, share, float(sizes[-1, :stated].max()))


def _fair(dt: float, limits: Limits) -> float:
    """Return the share of what is allowed in space that a step may use: many short ones add up."""
    return float(np.clip(20.0 * dt / limits.span, 0.2, 1.0))


def _next_try(now: _Try, done: _Done, limits: Limits) -> _Try:
    """Return what to try after a step that was not good."""
    if now.ahead is not None and (not done.solved.converged or done.late > 1.0):
        # Going all the way to where the components are wanted is too fast. Far from enough
        # kernels, two short steps are cheaper than one with many more of them.
        if now.excess > FAR and now.halved < HALVED:
            return replace(now.shorter(done.dt, 0.5), halved=now.halved + 1)
        return now.with_more(limits, now.excess, done.dt)
    if not done.solved.converged:
        shorter = now.shorter(done.dt, 0.25)
        return replace(shorter, run=replace(shorter.run, before=None))
    if done.late > FAST and not now.moving:
        return replace(now, still=True, moving=done.late)
    if done.late > 1.0:
        if now.still and done.late > now.moving:
            now = replace(now, still=False)
        late = min(done.late, now.moving or done.late)
        share = float(np.clip(SAFE * late ** (-1.0 / (STAGES + 1)), SHRINK, 0.8))
        return now.shorter(done.dt, share)
    if now.ahead is None:
        return replace(now, ahead=looked_ahead(done.stop), excess=done.excess)
    return now.with_more(limits, min(now.excess, done.excess), done.dt)


def _fitted(t: float, dt: float, limits: Limits) -> float:
    """Return a step that ends where it must and leaves no crumb before that."""
    left = min(limits.stop - t, limits.agenda.longest(t))
    if dt >= 0.999 * left:
        return left
    return 0.5 * left if dt > 0.5 * left else dt


def _solve(run: Run, stages: Stages, limits: Limits) -> Solved:
    now = run.now
    guess = np.repeat(now.weights[None], STAGES, axis=0)
    if run.before is not None and run.before[0].shape[1:] == now.weights.shape:
        ahead = 1.0 + stages.motion.dt / run.before[1] * stage_nodes(STAGES)
        drawn = np.einsum("sj,jmk->smk", interpolation(ahead), run.before[0])
        if np.abs(drawn - now.weights).max() < np.abs(now.weights).max():
            guess = drawn
    return solve_slab(stages, now.weights, guess, IN_NEWTON * limits.lasting, run.scale)


def _richer(run: Run, limits: Limits, excess: float) -> Run:
    """Return the run with kernels that resolve more: better placed, or more of them."""
    placed = exchanged(run, limits)
    if placed is not None:
        return placed
    kernels = run.now.kernels
    if kernels >= limits.max_kernels:
        raise _too_few(run)
    share = float(np.clip(0.12 * math.log10(excess) + 0.05, 0.08, 0.5))
    wanted = min(limits.max_kernels, math.ceil(kernels * (1.0 + share)))
    return exchanged(run, limits, wanted, better=0.8) or with_kernels(run, wanted)


def _tended(run: Run, limits: Limits) -> Run:
    """Return the run with fewer kernels where fewer will do, or better placed ones now and then."""
    if run.taken % LOOK == LOOK - 1:
        run = exchanged(run, limits) or run
    if run.idle >= PATIENCE and run.now.kernels > LEAST_KERNELS:
        fewer = max(LEAST_KERNELS, int(0.88 * run.now.kernels))
        trial = with_kernels(run, fewer)
        if transfer_error(run.now, trial.now, run.scale) < LOST * IN_SPACE * limits.lasting:
            return replace(trial, idle=0)
        return replace(run, idle=0)
    return run
