"""All runs of the report: which there are, and how they are spread over processes."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sharpfront.paper.cases import CASES, FIRST_SEED, METHODS, Case, Method, gmm
from sharpfront.paper.runs import Done, Failure, Run, Task, View, perform

EPSILONS = (1e-8, 1e-4, 1e-3)
PENALTIES = (1.0, 1e3)
SAMPLINGS = ("random", "grid")


@dataclass(frozen=True, eq=False)
class Plan:
    """How much is run."""

    seeds: int = 20  # seeds of every cell of Table 1: 42 and the following
    # Seeds of every setting of the sensitivity scan and of the collapse of the density.
    scan_seeds: int = 5
    # The settings scanned.
    epsilons: tuple[float, ...] = EPSILONS
    penalties: tuple[float, ...] = PENALTIES
    samplings: tuple[str, ...] = SAMPLINGS
    # Names of the problems scanned.
    scan_cases: tuple[str, ...] = tuple(case.name for case in CASES)
    methods: tuple[Method, ...] = METHODS  # the methods of Table 1

    @property
    def cases(self) -> tuple[Case, ...]:
        """The problems of Table 1."""
        return CASES

    def tasks(self) -> list[Task]:
        """Return every run, in the order in which results are listed."""
        return [*self._table(), *self._scan(), *self._collapse()]

    def _table(self) -> Iterator[Task]:
        for case, method, seed in itertools.product(CASES, self.methods, _seeds(self.seeds)):
            kept = seed == FIRST_SEED
            yield Task("table", case, method.name, method.adaptor(case), seed, keep=kept)

    def _scan(self) -> Iterator[Task]:
        scanned = [case for case in CASES if case.name in self.scan_cases]
        settings = itertools.product(self.epsilons, self.penalties, self.samplings)
        for case, (epsilon, penalty, sampling) in itertools.product(scanned, settings):
            adaptor = gmm(case, epsilon=epsilon, penalty=penalty, sampling=sampling)
            setting = (
                ("epsilon", f"{epsilon:.1e}".replace("e-0", "e-")),
                ("lambda", f"{penalty:g}"),
                ("collocation", sampling),
            )
            for seed in _seeds(min(self.seeds, self.scan_seeds)):
                yield Task("sensitivity", case, "gmm", adaptor, seed, setting)

    def _collapse(self) -> Iterator[Task]:
        for case, seed in itertools.product(CASES, _seeds(min(self.seeds, self.scan_seeds))):
            adaptor, setting = gmm(case, density="squared"), (("density", "squared"),)
            yield Task("collapse", case, "gmm", adaptor, seed, setting, seed == FIRST_SEED)


def quick_plan(seeds: int | None = None, methods: tuple[Method, ...] = METHODS) -> Plan:
    """Return a plan for half a minute: every part of the report, few seeds."""
    scan: dict[str, Any] = {"epsilons": (1e-8, 1e-3), "samplings": ("random",)}
    return Plan(seeds or 3, scan_seeds=1, scan_cases=("single",), methods=methods, **scan)


def full_plan(seeds: int | None = None, methods: tuple[Method, ...] = METHODS) -> Plan:
    """Return the plan of the whole report."""
    return Plan(seeds or 20, methods=methods)


def _seeds(count: int) -> range:
    return range(FIRST_SEED, FIRST_SEED + count)


@dataclass(frozen=True, eq=False)
class Results:
    """Everything that was measured."""

    plan: Plan  # what was to be run
    runs: tuple[Run, ...]  # the measurements, in the plan's order
    failures: tuple[Failure, ...]  # runs that raised an exception
    # What the figures show, by experiment, problem and method.
    views: dict[tuple[str, str, str], View]

    def select(self, group: str, case: str | None = None, method: str | None = None) -> list[Run]:
        """Return the runs of an experiment, of one problem or method where given."""
        return [
            run
            for run in self.runs
            if run.group == group
            and (case is None or run.case == case)
            and (method is None or run.method == method)
        ]


def default_jobs() -> int:
    """Return how many processes are used unless told: two, or one where there is one core."""
    return min(2, os.cpu_count() or 1)


def execute(
    plan: Plan, jobs: int = 1, on_done: Callable[[Task], None] = lambda task: None
) -> Results:
    """Do all runs of a plan in some processes, on which the results do not depend."""
    tasks = plan.tasks()
    if jobs == 1:
        performed = []
        for task in tasks:
            performed.append(perform(task))
            on_done(task)
    else:
        performed = _spread(tasks, jobs, on_done)
    results = [done.run for done in performed]
    views = {
        (task.group, task.case.name, task.method): done.view
        for task, done in zip(tasks, performed, strict=True)
        if done.view is not None
    }
    return Results(
        plan,
        tuple(run for run in results if isinstance(run, Run)),
        tuple(run for run in results if isinstance(run, Failure)),
        views,
    )


def _spread(tasks: Sequence[Task], jobs: int, on_done: Callable[[Task], None]) -> list[Done]:
    # A fresh interpreter for each worker: forking a process with BLAS threads is not safe.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, context, initializer=_ignore_interrupt)
    try:
        with _memory_kept(), _interrupts_held():
            futures = {pool.submit(perform, task): task for task in tasks}
        for future in as_completed(futures):
            on_done(futures[future])
        errors = [(future.exception(), future, task) for future, task in futures.items()]
        return [Done(Failure.of(task, e)) if e else f.result() for e, f, task in errors]
    finally:
        # After an interrupt: drop what has not begun; what has begun takes a second or two.
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _memory_kept() -> Iterator[None]:
    """Start processes that keep freed memory instead of returning it.

    The C library gives large arrays back to the system at once, and getting them again page by
    page was measured as a third of the time of a run. It reads these names when a process starts;
    other C libraries ignore them.
    """
    wanted = {name: str(2**30) for name in ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_")}
    added = {name: value for name, value in wanted.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Start processes that no Ctrl-C reaches, not even while they import; here it waits."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _ignore_interrupt() -> None:
    # Ctrl-C reaches every process of the terminal; the parent alone decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
