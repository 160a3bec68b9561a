"""Runs in a process of their own, which the system ends when its time is up.

An exception raised from outside would leave modules half loaded and tables half filled, and the
next run would be wrong without a word; a process that ends leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import signal
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

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
class Apart:
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
        if self._process is None:
            self._begin()
            # A new process has nothing loaded and tabulated yet, which is not this run's time.
            if self._first is not None:
                self._ask(*self._first)
            if self._process is None:
                self._begin()
        self._first = self._first or (setting, seed, limit)
        return self._ask(setting, seed, limit)

    def _ask(self, setting: Setting, seed: int, limit: float) -> Run:
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

    def _begin(self) -> None:
        context = multiprocessing.get_context("fork")
        self._pipe, other = context.Pipe()
        with warnings.catch_warnings():
            # Python warns of threads, of which the copy has none and needs none.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process = context.Process(target=self._serve, args=(other,), daemon=True)
            self._process.start()
        other.close()

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
