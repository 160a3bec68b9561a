"""One method against the clock: settings are sought, the good ones are run again."""

from __future__ import annotations

import importlib
import importlib.util
import math
import signal
import statistics
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

import numpy as np

from sharpfront.arrays import blas_threads
from sharpfront.rivals.contract import Found, OutOfTimeError, Rival, Setting, Subject

# A timing is the median of at least so many runs, where that costs no more than the search did.
_REPEATS = 3
# The clock strikes again after so many seconds, should a method not listen at once.
_AGAIN = 0.05


@dataclass(frozen=True)
class Run:
    """One run.

    Parameters
    ----------
    setting, seed
        How it was set.
    seconds
        Of the processor.
    error
        True error; infinite for a run that failed or was cut off.
    note
        What went wrong.
    """

    setting: str
    seed: int
    seconds: float
    error: float
    note: str = ""


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


Judge = Callable[[Found], float]


def race(
    rival: Rival,
    subject: Callable[[], Subject],
    judge: Judge,
    *,
    seconds: float,
    seeds: Sequence[int],
    say: Callable[[str], None] = lambda words: None,
) -> Lane:
    """Return what a method reaches within so many seconds of the processor.

    Its settings are tried from the cheapest on, with the first seed, until the time is up. Those
    that no faster one was as good as are run again: with the other seeds, or for the timing.
    """
    words = (rival.name, rival.title, rival.citation)
    missing = [need for need in rival.needs if importlib.util.find_spec(need) is None]
    if missing:
        how = f"pip install 'sharpfront[{rival.extra}]'"
        return Lane(*words, skipped=f"needs {', '.join(missing)}: {how}")
    for need in rival.needs:
        importlib.import_module(need)
    reason = rival.applies(subject())
    if reason:
        return Lane(*words, skipped=f"does not apply: {reason}")
    with blas_threads(1), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        runner = _Runner(rival, subject, judge, seconds, seeds[0], say)
        tried = runner.search()
        marks = [runner.again(setting, run, seeds) for setting, run in frontier(tried)]
    return Lane(*words, marks=_decreasing(marks), tried=tuple(run for _, run in tried))


@dataclass(frozen=True, eq=False)
class _Runner:
    rival: Rival
    subject: Callable[[], Subject]
    judge: Judge
    seconds: float
    seed: int
    say: Callable[[str], None]

    def search(self) -> list[tuple[Setting, Run]]:
        """Return the runs of all settings that the time allows."""
        settings = self.rival.settings(self.subject())
        # What is loaded, compiled or tabulated once is not the method's time.
        self.run(settings[0], self.seed, 0.25 * self.seconds)
        spent, tried = 0.0, []
        for setting in settings:
            left = self.seconds - spent
            if left <= 0:
                break
            run = self.run(setting, self.seed, min(left, setting.share * self.seconds))
            spent += run.seconds
            tried.append((setting, run))
        return tried

    def again(self, setting: Setting, first: Run, seeds: Sequence[int]) -> Mark:
        """Return a mark: the setting with all seeds, or repeated where nothing is drawn."""
        runs, limit = [first], setting.share * self.seconds
        wanted = seeds[1:] if self.rival.drawn else [self.seed] * (_REPEATS - 1)
        for seed in wanted:
            if not self.rival.drawn and sum(r.seconds for r in runs) > self.seconds:
                break
            run = self.run(setting, seed, 2 * limit)
            if self.rival.drawn or run.error < math.inf:
                runs.append(run)
        return Mark(setting.words, tuple(runs))

    def run(self, setting: Setting, seed: int, limit: float) -> Run:
        """Return one run with its time and its error."""
        self.say(f"{self.rival.title}: {setting.words}")
        subject = self.subject()
        started = time.process_time()
        try:
            with limited(limit):
                found = self.rival.solve(subject, setting, seed, limit)
            spent = time.process_time() - started
            return Run(setting.words, seed, spent, self.judge(found))
        except OutOfTimeError:
            note = f"not within {limit:.2g} s"
        except Exception as error:
            # A rival fails as it likes; that is what there is to say of it.
            note = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        return Run(setting.words, seed, time.process_time() - started, math.inf, note[:200])


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Leave the block after so many seconds of the processor, between two steps of Python.

    Only in the main thread, and where there is such a clock; elsewhere the methods that could go
    on for ever look at the time themselves, and the others finish.
    """
    clock = getattr(signal, "ITIMER_PROF", None)
    if clock is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def strike(_: int, frame: FrameType | None) -> None:
        if armed and not _delicate(frame):
            raise OutOfTimeError

    armed = [True]
    before = signal.signal(signal.SIGPROF, strike)
    signal.setitimer(clock, max(seconds, 1e-3), _AGAIN)
    try:
        yield
    finally:
        # The clock may strike here too, but not twice: whatever happens it is put away.
        try:
            armed.clear()
        finally:
            signal.setitimer(clock, 0.0)
            signal.signal(signal.SIGPROF, before)


def _delicate(frame: FrameType | None) -> bool:
    """Tell whether a step must be finished first; the next strike comes soon.

    A module whose loading is cut off stays half loaded for good, and what is raised while an
    object is being taken away is printed and lost.
    """
    while frame is not None:
        code = frame.f_code
        if code.co_name == "__del__" or code.co_filename.startswith("<frozen importlib"):
            return True
        if code.co_filename == weakref.__file__:
            return True
        frame = frame.f_back
    return False


def frontier(tried: Sequence[tuple[Setting, Run]]) -> list[tuple[Setting, Run]]:
    """Return the runs that no faster one was as good as, the fastest first."""
    best: list[tuple[Setting, Run]] = []
    for setting, run in sorted(tried, key=lambda each: each[1].seconds):
        if run.error < (best[-1][1].error if best else math.inf):
            best.append((setting, run))
    return best


def _decreasing(marks: Sequence[Mark]) -> tuple[Mark, ...]:
    """Return the marks that are still on the frontier by their medians."""
    kept: list[Mark] = []
    for mark in sorted(marks, key=lambda m: m.seconds):
        if mark.error < (kept[-1].error if kept else math.inf):
            kept.append(mark)
    return tuple(kept)
