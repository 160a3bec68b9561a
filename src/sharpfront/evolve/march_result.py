"""What a pair of runs has left behind: on a line and in the plane alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.errors import Outcome, OutcomeKind, ProblemError
from sharpfront.evolve.blow_up import LOST, StepRecord, blow_up_time
from sharpfront.evolve.fingerprint import fingerprint
from sharpfront.evolve.termination import Part, StuckError, finished, returned, stopped, trusted
from sharpfront.geometry import SpaceTime
from sharpfront.history import TimeStep
from sharpfront.kernels.basis import Basis
from sharpfront.problem import Problem
from sharpfront.solution import Estimate, Solution
from sharpfront.solution.approximation import Approximation

# The second of a pair has this share of the tolerance of the first.
STRICTER = 0.1
# Pairs of runs, each stricter than the one before, if errors grow on the way.
PASSES = 3
# No run is stricter than this, relative to max(1, max|u|).
TIGHTEST = 1e-13


@dataclass(frozen=True, eq=False, kw_only=True)
class MarchResult:
    """Steps of a pair of runs, and how they ended."""

    notes: tuple[str, ...] = ()  # what was done to the initial state, in words
    share: float = 1.0  # the tolerance of the runs as a share of the one that was asked for
    number: int = 1  # how many pairs of runs there have been, this one included
    # Records of the steps of the strict run, and how the solution grew in them.
    records: tuple[TimeStep, ...] = ()
    marks: tuple[StepRecord, ...] = ()
    ended: Outcome | None = None  # None if the end of time was reached, else why not
    # Of each step of the strict run its slab and weights, in the plane a `KeptStep`.
    kept: tuple[Any, ...] = ()

    def cut(self, count: int) -> Self:
        """Return the runs up to some of their steps."""
        kept, marks = self.kept[:count], self.marks[:count]
        return replace(self, kept=kept, records=self.records[:count], marks=marks)

    def concluded(self, tol: float) -> tuple[Self, Outcome]:
        """Return the runs up to where they can be trusted, and how they ended.

        All of them where they reached the end of time, were interrupted, or nothing can.
        """
        way, outcome = self, self.ended
        if outcome is None:
            outcome = finished(self.records, self.part(tol), self.estimate(tol), tol)
        elif outcome.kind is not OutcomeKind.INTERRUPTED:
            count = self.part(tol).last
            words = returned(self.records[:count])
            outcome = replace(outcome, detail=f"{outcome.detail} {words}")
            way = self.cut(count) if count else self
        return way, way.told(outcome, tol)

    def solution(
        self,
        problem: Problem,
        tol: float,
        outcome: Outcome,
        found: tuple[Mapping[str, Basis], Mapping[str, FloatArray]],
        estimate: str,
        checkpoint: Mapping[str, Any] | None = None,
    ) -> Solution:
        """Return the solution of bases and weights that were found, and what its estimate means."""
        assert problem.time is not None
        reached = self.records[-1].time if self.records else problem.time[0]
        bases, weights = found
        return Solution(
            Approximation(problem.coordinates, bases, weights),
            SpaceTime(problem.domain, (problem.time[0], reached)),
            Estimate(self.estimate(tol), estimate, self.since(tol)),
            outcome,
            tol,
            self.records,
            self.figures(tol),
            problem,
            checkpoint=checkpoint,
        )

    def part(self, tol: float) -> Part:
        """Return the steps that can be trusted."""
        return trusted(self.records, tol, bool(self.notes))

    def estimate(self, tol: float) -> float:
        """Return the largest error of any step, from the first trusted one on."""
        part = self.part(tol)
        kept = self.records[part.first if part.first < part.last else 0 :]
        return max((r.error_estimate for r in kept), default=float("inf"))

    def since(self, tol: float) -> float | None:
        """Return from when on the estimate holds; None if it does from the start."""
        first, last = self.part(tol)
        return self.records[first - 1].time if 0 < first < last else None

    def stricter(self, tol: float) -> float | None:
        """Return the share of tol for another pair, None where there is no need or hope."""
        estimate = self.estimate(tol)
        hopeless = self.ended is not None and self.ended.kind in (
            OutcomeKind.INTERRUPTED,
            OutcomeKind.KERNEL_LIMIT,
            OutcomeKind.BLOW_UP,
        )
        if hopeless or estimate <= tol or self.number >= PASSES or not self.marks:
            return None
        share = self.share * float(np.clip(0.5 * tol / estimate, 1e-4, 0.3))
        return share if share * STRICTER * tol > TIGHTEST else None

    def merit(self, tol: float) -> tuple[bool, float, float]:
        """Return what makes one better than another: an interrupt, how far, how accurate."""
        part = self.part(tol)
        until = self.records[part.last - 1].time if part.last else -np.inf
        interrupted = self.ended is not None and self.ended.kind is OutcomeKind.INTERRUPTED
        return interrupted, until, -self.estimate(tol)

    def require_found(self, tol: float, *, is_linear: bool) -> None:
        """Stop runs whose errors say that they are lost; of linear problems none is."""
        errors = [r.error_estimate for r in self.records]
        error = errors[-1]
        # Errors of a rounded start are large and fade: only what grows after that is lost.
        settled = not self.notes or min(errors) <= tol
        lost = error > max(LOST, tol) and settled and not is_linear
        # Once errors are too large, there is nothing to be had of the rest of a blow-up.
        blows_up = error > tol and blow_up_time(self.marks, errors) is not None
        if lost or not np.isfinite(error) or blows_up:
            words = f"the estimated error has grown to {error:.1e}"
            raise StuckError(words, OutcomeKind.ERROR_GROWTH)

    def told(self, outcome: Outcome, tol: float) -> Outcome:
        """Return an outcome that says what is noted of the start and of jumps, if anything."""
        if not self.notes:
            return outcome
        since = self.since(tol)
        # In full: from 2020 on three digits would be the start.
        held = f"; the estimate holds from t = {since:.15g} on" if since is not None else ""
        words = f"{'; '.join(self.notes)}{held}."
        words = words[0].upper() + words[1:]
        return replace(outcome, detail=f"{outcome.detail} {words}".strip())

    def figures(self, tol: float) -> dict[str, float]:
        """Return what is counted."""
        return {
            "steps": float(len(self.records)),
            "newton_iterations": float(sum(r.iterations for r in self.records)),
            "step_tolerance": tol * self.share * STRICTER,
        }


@dataclass(frozen=True, eq=False)
class ResumableRuns(MarchResult):
    """The same with both runs as they are, so that they can go on."""

    pair: Any  # after the last step
    good: Any  # after the last step that can be trusted

    def cut(self, count: int) -> Self:
        """Return the way up to some of its steps, after which the pair is the good one."""
        return replace(super().cut(count), pair=self.good)

    def further(self, pair: Any, tol: float, **more: Any) -> Self:
        """Return the way after one more step."""
        new = replace(self, pair=pair, **more)
        return replace(new, good=pair) if new.part(tol).last == len(new.records) else new


class Packed(Mapping[str, Any]):
    """Words and arrays from which a way goes on, made when they are looked at."""

    def __init__(self, make: Callable[[], dict[str, Any]]) -> None:
        self._make = make

    @cached_property
    def _words(self) -> dict[str, Any]:
        return self._make()

    def __getitem__(self, key: str) -> Any:
        return self._words[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __len__(self) -> int:
        return len(self._words)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self._words,)


def packed_runs(way: ResumableRuns, problem: Problem, t: float) -> dict[str, Any]:
    """Return what all ways keep, as words and arrays; t is when the strict run is."""
    return {
        "problem": fingerprint(problem, t),
        "share": way.share,
        "number": way.number,
        "notes": list(way.notes),
        "marks": np.array(way.marks).reshape(-1, len(StepRecord._fields)),
        "t": t,
    }


def unpacked_runs(
    solution: Solution, stop: float, pair: Any, kept: Sequence[tuple[Any, ...]]
) -> ResumableRuns:
    """Return the way that a solution has left behind, with both runs and the steps of one."""
    saved = solution.checkpoint
    assert saved is not None
    if saved["t"] > stop:
        raise ProblemError(
            f"The solution to resume has reached t = {saved['t']:.6g} already, beyond the end of "
            f"time, {stop:.6g}."
        )
    return ResumableRuns(
        pair,
        pair,
        kept=tuple(kept),
        notes=tuple(saved["notes"]),
        share=float(saved["share"]),
        number=int(saved["number"]),
        records=tuple(r for r in solution.history if isinstance(r, TimeStep)),
        marks=tuple(StepRecord(*map(float, row)) for row in np.asarray(saved["marks"])),
    )


Log = TypeVar("Log", bound=MarchResult)


class Marching(Protocol):
    """What holds for all runs of a problem."""

    @property
    def system(self) -> Any:
        """What is marched."""

    @property
    def tol(self) -> float:
        """As it was asked for."""


def marched(
    course: Marching,
    log: Log,
    further: Iterator[Log],
    on_step: Callable[[TimeStep], None] | None,
    now: Callable[[Log], float],
    lost: tuple[type[Exception], ...] = (np.linalg.LinAlgError,),
) -> Log:
    """Go on to the end of time, or as far as it goes.

    Parameters
    ----------
    course
        What holds for all runs.
    log
        What there is so far.
    further
        The same after each step.
    on_step
        Called with each step as it is taken.
    now
        When the strict run is.
    lost
        What is raised where a state is no longer finite.
    """
    stop = course.system.problem.time[1]
    try:
        for later in further:
            log = later
            if on_step:
                on_step(log.records[-1])
            log.require_found(course.tol, is_linear=course.system.is_linear)
    except KeyboardInterrupt:
        detail = f"Interrupted at t = {now(log):.6g} of {stop:.6g}."
        return replace(log, ended=Outcome(OutcomeKind.INTERRUPTED, detail))
    except lost:
        stuck = StuckError("the state is no longer finite")
        return replace(log, ended=stopped(stuck, log.marks, log.records, now(log), stop))
    except StuckError as stuck:
        return replace(log, ended=stopped(stuck, log.marks, log.records, now(log), stop))
    return log


def strict_enough(
    first: Log, again: Callable[[float, int], Log], march: Callable[[Log], Log], tol: float
) -> Log:
    """Return the best of pairs of runs, each stricter than the one before, while errors grow.

    `again` begins another pair with a share of the tolerance, and its number.
    """
    log = best = march(first)
    while (share := log.stricter(tol)) is not None:
        log = march(again(share, log.number + 1))
        best = max(best, log, key=lambda w: w.merit(tol))
    return best
