"""One method against the clock: settings are sought, the good ones are run again.

Runs in a process of their own, which the system ends when its time is up.

An exception raised from outside would leave modules half loaded and tables half filled, and the
next run would be wrong without a word; a process that ends leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import importlib
import math
import multiprocessing
import signal
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from sharpfront.arrays import blas_threads
from sharpfront.rivals.contract import Found, Rival, Setting, Subject

Judging = Callable[[Found], float]
# Seconds that the first run of a process may take on top of its own.
_LOADING = 20.0
# What a run may take beyond its limit before it is cut off: methods that look at the time
# themselves end a little late, and the system's clock ticks every few milliseconds.
_SLACK, _TICKS = 0.1, 0.03
# Elsewhere processes do not begin as copies, and what is raced cannot be sent to them.
_CAN_FORK = sys.platform == "linux"


@dataclass(frozen=True)
class Run:
    """One run."""

    # How it was set.
    setting: str
    seed: int
    seconds: float  # of the processor
    error: float  # true error; infinite for a run that failed or was cut off
    note: str = ""  # what went wrong


@dataclass(eq=False)
class RivalProcess:
    """A rival at work in a process that lasts from run to run, and is made again when it ends.

    Off Linux the runs are made here, and only methods that look at the time themselves keep to it.
    """

    # Who, what, and who measures.
    rival: Rival
    subject: Callable[[], Subject]
    judge: Judging
    _process: Any = field(default=None, repr=False)
    _pipe: Any = field(default=None, repr=False)
    _first: tuple[Setting, int, float] | None = field(default=None, repr=False)
    _warm: bool = field(default=False, repr=False)

    def run(self, setting: Setting, seed: int, limit: float) -> Run:
        """Return one run, cut off after `limit` seconds of the processor.

        The first one of a process is cut off later: it loads and tabulates.
        """
        if not _CAN_FORK:
            return self._run(setting, seed, limit)
        if self._process is None and self._first is not None:
            # A new process has nothing loaded and tabulated yet, which is not this run's time.
            self._ask(*self._first)
        self._first = self._first or (setting, seed, limit)
        return self._ask(setting, seed, limit)

    def _ask(self, setting: Setting, seed: int, limit: float) -> Run:
        if self._process is None:
            context = multiprocessing.get_context("fork")
            self._pipe, other = context.Pipe()
            with warnings.catch_warnings():
                # Python warns of threads, of which the copy has none and needs none.
                warnings.simplefilter("ignore", DeprecationWarning)
                self._process = context.Process(target=self._serve, args=(other,), daemon=True)
                self._process.start()
            other.close()
        self._pipe.send((setting, seed, limit))
        try:
            found: Run = self._pipe.recv()
        except EOFError:
            self._process.join()
            code = self._process.exitcode
            self._process = None
            if code == -signal.SIGPROF:
                return Run(setting.words, seed, limit, math.inf, f"not within {limit:.2g} s")
            return Run(setting.words, seed, 0.0, math.inf, f"its process ended with {code}")
        return found

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._pipe.close()
            self._process.kill()
            self._process.join()
            self._process = None

    def _serve(self, pipe: Any) -> None:
        """Make the runs that are asked for, until nobody asks."""
        self._pipe.close()
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        with contextlib.suppress(EOFError, KeyboardInterrupt, BrokenPipeError):
            while True:
                pipe.send(self._run(*pipe.recv()))

    def _run(self, setting: Setting, seed: int, limit: float) -> Run:
        subject, note, error = self.subject(), "", math.inf
        with blas_threads(1), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            self._clock((1.0 + _SLACK) * limit + (_TICKS if self._warm else _LOADING))
            self._warm = True
            started = _cpu_seconds()
            try:
                found = self.rival.solve(subject, setting, seed, limit)
                spent = _cpu_seconds() - started
                self._clock(0.0)
                error = self.judge(found)
            except Exception as failure:
                # A rival fails as it likes; that is what there is to say of it.
                spent = _cpu_seconds() - started
                self._clock(0.0)
                note = f"{type(failure).__name__}: {failure}".splitlines()[0][:200]
        return Run(setting.words, seed, spent, error, note)

    def _clock(self, seconds: float) -> None:
        if _CAN_FORK:
            signal.setitimer(signal.ITIMER_PROF, seconds)


def _cpu_seconds() -> float:
    """Return the seconds of the processor that this process has used.

    While a clock of the process is set, `time.process_time` is known to some milliseconds only.
    """
    if not _CAN_FORK:
        return time.process_time()
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


# A timing is the median of at least so many runs, where that costs no more than the search did.
_REPEATS = 3
# So many times slower than ours to the same error is not timed more closely.
BEHIND = 100.0
# An error of the solution's own size says nothing that a second run would say better.
_MISSED = 0.1


@dataclass(frozen=True)
class FrontierPoint:
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
    marks: tuple[FrontierPoint, ...] = ()
    tried: tuple[Run, ...] = field(default=(), repr=False)

    @property
    def spent(self) -> float:
        """Seconds of all runs of the search."""
        return sum(run.seconds for run in self.tried)

    @property
    def best(self) -> FrontierPoint | None:
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
    apart = RivalProcess(rival, subject, judge)

    def run(setting: Setting, seed: int, limit: float) -> Run:
        say(f"{rival.title}: {setting.words}")
        return apart.run(setting, seed, limit)

    def again(setting: Setting, first: Run) -> FrontierPoint:
        """Return a mark: the setting with all seeds, or repeated where nothing is drawn."""
        runs, limit = [first], setting.share * seconds
        behind = ours is not None and first.seconds > BEHIND * ours.seconds_to(first.error)
        wanted = seeds[1:] if rival.drawn else [first.seed] * (_REPEATS - 1)
        for seed in () if behind or first.error > _MISSED else wanted:
            if not rival.drawn and sum(r.seconds for r in runs) > seconds:
                break
            new = run(setting, seed, limit if setting.share < 1 else 2 * limit)
            if rival.drawn or new.error < math.inf:
                runs.append(new)
        return FrontierPoint(setting.words, tuple(runs))

    settings, spent = rival.settings(subject()), 0.0
    tried: list[tuple[Setting, Run]] = []
    try:
        # What is loaded, compiled or tabulated once is not the method's time.
        run(settings[0], seeds[0], settings[0].share * seconds)
        for setting in settings:
            if spent >= seconds:
                break
            found = run(setting, seeds[0], min(seconds - spent, setting.share * seconds))
            spent += found.seconds
            tried.append((setting, found))
        marks = [again(*each) for each in frontier(tried, lambda each: each[1])]
    finally:
        apart.close()
    # By their medians some may no longer be as good.
    kept = tuple(frontier(marks, lambda mark: mark))
    return Lane(*words, marks=kept, tried=tuple(found for _, found in tried))


T = TypeVar("T")


def frontier(items: Iterable[T], measured: Callable[[T], Run | FrontierPoint]) -> list[T]:
    """Return the items that no faster one is as good as, the fastest first."""
    best: list[T] = []
    for item in sorted(items, key=lambda each: measured(each).seconds):
        if measured(item).error < (measured(best[-1]).error if best else math.inf):
            best.append(item)
    return best
