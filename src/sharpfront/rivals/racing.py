"""One method against the clock: settings are sought, the good ones are run again."""

from __future__ import annotations

import importlib
import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from sharpfront.rivals.apart import Apart, Judging, Run
from sharpfront.rivals.contract import Rival, Setting, Subject

# A timing is the median of at least so many runs, where that costs no more than the search did.
_REPEATS = 3
# So many times slower than ours to the same error is not timed more closely.
BEHIND = 100.0
# An error of the solution's own size says nothing that a second run would say better.
_MISSED = 0.1


@dataclass(frozen=True)
class Mark:
    """A setting that no faster one is as good as, run several times.

    Parameters
    ----------
    setting
        In words.
    runs
        With other seeds, or repeated.
    """

    setting: str
    runs: tuple[Run, ...]

    @property
    def seconds(self) -> float:
        """The median of the runs."""
        return statistics.median(run.seconds for run in self.runs)

    @property
    def error(self) -> float:
        """The median of the runs."""
        return statistics.median(run.error for run in self.runs)


@dataclass(frozen=True)
class Lane:
    """What one method did.

    Parameters
    ----------
    name, title, citation
        Of the method.
    skipped
        Why it did not run; nothing if it did.
    marks
        Its best settings, the fastest first.
    tried
        The runs of the search.
    """

    name: str
    title: str
    citation: str
    skipped: str = ""
    marks: tuple[Mark, ...] = ()
    tried: tuple[Run, ...] = field(default=(), repr=False)

    @property
    def spent(self) -> float:
        """Seconds of all runs of the search."""
        return sum(run.seconds for run in self.tried)

    @property
    def best(self) -> Mark | None:
        """The mark of the smallest error."""
        return min(self.marks, key=lambda mark: mark.error, default=None)

    def seconds_to(self, error: float) -> float:
        """Return the seconds of the fastest mark with at most that error; infinite without one."""
        return min((m.seconds for m in self.marks if m.error <= error), default=math.inf)

    @property
    def failure(self) -> str:
        """Why there is no mark, from the runs that failed."""
        if self.skipped or self.marks:
            return self.skipped
        notes = [run.note for run in self.tried if run.note]
        return notes[0] if notes else "no run gave finite values"


def race(
    rival: Rival,
    subject: Callable[[], Subject],
    judge: Judging,
    *,
    seconds: float,
    seeds: Sequence[int],
    ours: Lane | None = None,
    say: Callable[[str], None] = lambda words: None,
) -> Lane:
    """Return what a method reaches within so many seconds of the processor.

    Its settings are tried from the cheapest on, with the first seed, until the time is up. Those
    that no faster one was as good as are run again, with the other seeds or for the timing, unless
    they miss the solution or are a hundred times behind ours.
    """
    words = (rival.name, rival.title, rival.citation)
    if rival.missing():
        return Lane(*words, skipped=rival.missing())
    for need in rival.needs:
        # Here, so that every process of its own has it from the start.
        importlib.import_module(need)
    reason = rival.applies(subject())
    if reason:
        return Lane(*words, skipped=f"does not apply: {reason}")
    runner = _Runner(rival, Apart(rival, subject, judge), seconds, seeds, say)
    try:
        tried = runner.search(rival.settings(subject()))
        good = frontier(tried, lambda each: each[1])
        marks = [
            runner.again(setting, run) if _worth_timing(run, ours) else Mark(setting.words, (run,))
            for setting, run in good
        ]
    finally:
        runner.apart.close()
    # By their medians some may no longer be as good.
    kept = tuple(frontier(marks, lambda mark: mark))
    return Lane(*words, marks=kept, tried=tuple(run for _, run in tried))


def _worth_timing(run: Run, ours: Lane | None) -> bool:
    if run.error > _MISSED:
        return False
    return ours is None or not run.seconds > BEHIND * ours.seconds_to(run.error)


@dataclass(frozen=True, eq=False)
class _Runner:
    rival: Rival
    apart: Apart
    seconds: float
    seeds: Sequence[int]
    say: Callable[[str], None]

    def search(self, settings: Sequence[Setting]) -> list[tuple[Setting, Run]]:
        """Return the runs of all settings that the time allows."""
        # What is loaded, compiled or tabulated once is not the method's time.
        self.run(settings[0], self.seeds[0], settings[0].share * self.seconds)
        spent, tried = 0.0, []
        for setting in settings:
            left = self.seconds - spent
            if left <= 0:
                break
            run = self.run(setting, self.seeds[0], min(left, setting.share * self.seconds))
            spent += run.seconds
            tried.append((setting, run))
        return tried

    def again(self, setting: Setting, first: Run) -> Mark:
        """Return a mark: the setting with all seeds, or repeated where nothing is drawn."""
        runs, limit = [first], setting.share * self.seconds
        wanted = self.seeds[1:] if self.rival.drawn else [first.seed] * (_REPEATS - 1)
        for seed in wanted:
            if not self.rival.drawn and sum(r.seconds for r in runs) > self.seconds:
                break
            run = self.run(setting, seed, limit if setting.share < 1 else 2 * limit)
            if self.rival.drawn or run.error < math.inf:
                runs.append(run)
        return Mark(setting.words, tuple(runs))

    def run(self, setting: Setting, seed: int, limit: float) -> Run:
        """Return one run with its time and its error."""
        self.say(f"{self.rival.title}: {setting.words}")
        return self.apart.run(setting, seed, limit)


T = TypeVar("T")


def frontier(items: Iterable[T], measured: Callable[[T], Run | Mark]) -> list[T]:
    """Return the items that no faster one is as good as, the fastest first."""
    best: list[T] = []
    for item in sorted(items, key=lambda each: measured(each).seconds):
        if measured(item).error < (measured(best[-1]).error if best else math.inf):
            best.append(item)
    return best
