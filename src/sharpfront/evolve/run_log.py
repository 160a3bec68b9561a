"""What a run in time has left behind, whatever its states are held in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.errors import Outcome, OutcomeKind, ProblemError
from sharpfront.evolve.blow_up import LOST, StepRecord, blow_up_time
from sharpfront.evolve.fingerprint import fingerprint
from sharpfront.evolve.march import StepTaken
from sharpfront.evolve.termination import Part, StuckError, finished, returned, trusted
from sharpfront.geometry import SpaceTime
from sharpfront.history import TimeStep
from sharpfront.kernels.basis import Basis
from sharpfront.problem import Problem
from sharpfront.solution import Estimate, Solution
from sharpfront.solution.approximation import Approximation

# A run has this share of the tolerance of the weaker one that tells its error.
STRICTER = 0.1
# Runs, each stricter than the one before, if errors grow on the way.
PASSES = 3
# No run is stricter than this, relative to max(1, max|u|).
TIGHTEST = 1e-13


@dataclass(frozen=True, eq=False)
class RunLog:
    """Steps of a run, and how it ended."""

    state: Any = None  # after the last step; None before the first
    good: Any = None  # after the last step that can be trusted
    notes: tuple[str, ...] = ()  # what was done to the initial state, in words
    share: float = 1.0  # its tolerance as a share of the one that was asked for
    number: int = 1  # how many runs there have been, this one included
    strictness: float = STRICTER  # what its steps have of that share
    # Records of its steps, and how the solution grew in them.
    records: tuple[TimeStep, ...] = ()
    marks: tuple[StepRecord, ...] = ()
    ended: Outcome | None = None  # None if the end of time was reached, else why not
    kept: tuple[Any, ...] = ()  # what a solution is made of, of each step
    limited: bool = False  # whether it took more functions than there may be
    rounded: int = 0  # how many steps there were when its state was last rounded

    def further(self, taken: StepTaken, tol: float, seconds: float) -> Self:
        """Return the log after one more step, which took so long."""
        record = TimeStep(
            len(self.records),
            taken.stop,
            taken.stop - taken.start,
            taken.functions,
            taken.error,
            taken.iterations,
            seconds,
            taken.look,
        )
        new = replace(
            self,
            state=taken.after,
            notes=(*self.notes, *(f"at t = {taken.start:.3g} {words}" for words in taken.words)),
            records=(*self.records, record),
            marks=(*self.marks, StepRecord(taken.start, taken.stop, taken.size)),
            kept=(*self.kept, taken.kept),
            limited=self.limited or taken.limited,
            rounded=len(self.records) if taken.words else self.rounded,
        )
        trusted_so_far = new.part(tol).last == len(new.records)
        return replace(new, good=new.state) if trusted_so_far else new

    def cut(self, count: int) -> Self:
        """Return the run up to some of its steps, after which its state is the good one."""
        kept, marks = self.kept[:count], self.marks[:count]
        records = self.records[:count]
        return replace(self, state=self.good, kept=kept, records=records, marks=marks)

    def reached(self, start: float) -> float:
        """Return the moment up to which there are steps; the start where there are none."""
        return self.records[-1].time if self.records else start

    def concluded(self, tol: float) -> tuple[Self, Outcome]:
        """Return the run up to where it can be trusted, and how it ended.

        All of it where it reached the end of time, was interrupted, or nothing can.
        """
        way, outcome = self, self.ended
        if outcome is None:
            outcome = finished(self.records, self.part(tol), self.estimate(tol), tol)
        elif outcome.kind is not OutcomeKind.INTERRUPTED:
            count = self.part(tol).last
            words = returned(self.records[:count])
            outcome = replace(outcome, detail=f"{outcome.detail} {words}")
            way = self.cut(count) if count else self
        if self.limited and outcome.kind is OutcomeKind.ERROR_GROWTH:
            outcome = replace(outcome, kind=OutcomeKind.KERNEL_LIMIT)
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
        reached = self.reached(problem.time[0])
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
        """Return the share of tol for another run, None where there is no need or hope."""
        hopeless = self.ended is not None and self.ended.kind in (
            OutcomeKind.INTERRUPTED,
            OutcomeKind.KERNEL_LIMIT,
            OutcomeKind.BLOW_UP,
        )
        return None if hopeless or not self.marks else self.share_for(self.estimate(tol), tol)

    def share_for(self, estimate: float, tol: float) -> float | None:
        """Return the share of tol for a run after one with an estimate, None where none follows."""
        if estimate <= tol or self.limited or self.number >= PASSES:
            return None
        share = self.share * float(np.clip(0.5 * tol / estimate, 1e-4, 0.3))
        return share if share * self.strictness * tol > TIGHTEST else None

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
        # Errors of what was rounded are large and fade: only what grows after that is lost.
        settled = not self.notes or min(errors[self.rounded :]) <= tol
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
            "step_tolerance": tol * self.share * self.strictness,
        }


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


def packed_log(log: RunLog, problem: Problem) -> dict[str, Any]:
    """Return what all runs keep, as words and arrays."""
    return {
        "problem": fingerprint(problem, log.state.t),
        "share": log.share,
        "number": log.number,
        "notes": list(log.notes),
        "marks": np.array(log.marks).reshape(-1, len(StepRecord._fields)),
        "t": log.state.t,
        "limited": log.limited,
        "strictness": log.strictness,
        "rounded": log.rounded,
    }


def unpacked_log(solution: Solution, stop: float, state: Any, kept: Sequence[Any]) -> RunLog:
    """Return the run that a solution has left behind, with its state and what it keeps of steps."""
    saved = solution.checkpoint
    assert saved is not None
    if saved["t"] > stop:
        raise ProblemError(
            f"The solution to resume has reached t = {saved['t']:.6g} already, beyond the end of "
            f"time, {stop:.6g}."
        )
    return RunLog(
        state,
        state,
        kept=tuple(kept),
        notes=tuple(saved["notes"]),
        share=float(saved["share"]),
        number=int(saved["number"]),
        records=tuple(r for r in solution.history if isinstance(r, TimeStep)),
        marks=tuple(StepRecord(*map(float, row)) for row in np.asarray(saved["marks"])),
        limited=bool(saved["limited"]),
        strictness=float(saved["strictness"]),
        rounded=int(saved["rounded"]),
    )
