"""A family solved for many values of its parameters, one row of a table each.

Rows go to disk as they are finished, so that nothing is lost with a worker or with the run. A value
that fails is a row that says so. Neighbours are solved one after the other on the kernels of the
first, as long as these will do.
"""

from __future__ import annotations

import functools
import inspect
import math
import multiprocessing
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.checks import explained, file_path, flag, function, numbers_in, refusal, whole
from sharpfront.errors import ArgumentError, ProblemError
from sharpfront.fit.table import Row, Table, append_row, points_of, resumed_rows
from sharpfront.leastsquares.cluster import connected
from sharpfront.problem import Problem
from sharpfront.problem.family import Family
from sharpfront.progress import counted
from sharpfront.solution import Solution
from sharpfront.solve import solve

# Seconds of work in one task: more than it costs to hand out, less than one wants to lose.
TASK = 2.0
# Rows of the first tasks, whose length is not known yet.
FIRST = 8


@dataclass(frozen=True, eq=False)
class _Work:
    """What a worker needs to know; `here` if it writes rows to the folder itself."""

    factory: Callable[..., Problem]
    fixed: Mapping[str, Any]
    observe: Callable[[Solution], Any]
    options: Mapping[str, Any]
    into: Path | None
    keep: bool
    here: bool = True


@explained("sf.sweep(layer, nu=[1e-3, 1e-2], observe=lambda s: s(0.99))")
def sweep(
    family: Callable[..., Problem],
    *,
    observe: Callable[[Solution], Any] | None = None,
    points: Sequence[Mapping[str, float]] | None = None,
    workers: int = 1,
    client: Any = None,
    into: str | Path | None = None,
    resume: bool = False,
    keep: str | None = None,
    on_row: Callable[[Row], None] | None = None,
    progress: bool = False,
    options: Mapping[str, Any] | None = None,
    **parameters: Any,
) -> Table:
    """Solve a family for many values of its parameters.

    Parameters
    ----------
    family
        A function of named parameters that returns a `Problem`.
    observe
        What to keep of each solution: a function of it that returns a number or an array. The
        estimated error if nothing is said.
    points
        A list of values by name, instead of a grid.
    workers
        Processes. Where they cannot be forked (macOS, Windows), family and `observe` must be
        functions of a module.
    client
        A ``dask.distributed.Client``, or the address of a scheduler: its workers solve instead of
        processes here (extra ``distributed``). With `keep` they must see the folder.
    into
        A folder; every row is written there as it is finished.
    resume
        Whether rows that are there already are taken from there. The sweep must be the same one:
        values, options, and the names of family and `observe` are compared.
    keep
        ``"solutions"`` to save every solution in the folder too, as ``row-7.npz``.
    on_row
        Called with each row as it is finished.
    progress
        Show a bar, on standard error if that is a terminal.
    options
        Options of `sf.solve`, for example ``{"tol": 1e-6}``.
    **parameters
        A sequence for each parameter that varies, whose grid is swept; plain values for others.

    Returns
    -------
    Table
        ``table.values``, ``table.converged``, ``table.to_xarray()``.
    """
    read = Family.of(family)
    axes, fixed = _axes(read, points, parameters)
    whole(workers, "workers", 1, "workers=2")
    flag(resume, "resume")
    if keep not in (None, "solutions") or (keep and into is None):
        raise refusal("keep", '"solutions", together with into="folder"', keep)
    dask = None if client is None else connected(client, "client")
    folder = None if into is None else file_path(into, "into")
    seen = function(observe or _estimate, "observe", "observe=lambda s: s(0.5)")
    work = _Work(read.factory, fixed, seen, dict(options or {}), folder, keep is not None)
    todo = list(points_of(axes, points is not None))
    done = resumed_rows(folder, _stated(work, axes, points is not None), resume)
    if keep is not None and folder is not None:
        # Rows of a run that kept none are solved again.
        done = {i: row for i, row in done.items() if row.failed or _saved(folder, i).exists()}
    left = [(i, p) for i, p in enumerate(todo) if i not in done]
    with counted(len(left), shown=flag(progress, "progress")) as tell:
        for row in _rows(work, left, workers, dask):
            done[row.index] = row
            if dask is not None and folder is not None:
                append_row(folder, row)
            tell(row.words)
            if on_row is not None:
                on_row(row)
    shape = (len(todo),) if points is not None else tuple(len(v) for v in axes.values())
    return Table(axes, shape, tuple(done[i] for i in range(len(todo))), points is not None)


def _estimate(solution: Solution) -> float:
    return solution.error_estimate


def _axes(
    family: Family, points: Sequence[Mapping[str, float]] | None, parameters: Mapping[str, Any]
) -> tuple[dict[str, FloatArray], dict[str, Any]]:
    """Return the values that vary and those that stay."""
    for name in parameters:
        if name not in family.names and name in inspect.signature(solve).parameters:
            raise ArgumentError(
                f"{name!r} is an option of sf.solve, not a parameter of the family, which has "
                f"{', '.join(family.names)}. Write options={{{name!r}: ...}}."
            )
    varying = {n: v for n, v in parameters.items() if np.ndim(v) and not isinstance(v, str)}
    fixed = {n: v for n, v in parameters.items() if n not in varying}
    if points is not None:
        named = all(isinstance(p, Mapping) for p in points)
        if varying or not len(points) or not named or len({frozenset(p) for p in points}) != 1:
            raise ProblemError(
                "points= is a list of values by name, the same names in each, without sequences "
                "beside it: points=[{'nu': 1e-2, 'c': 1.0}, ...]."
            )
        varying = {n: [p[n] for p in points] for n in points[0]}
    if not varying:
        raise ProblemError("Nothing varies. Give a sequence: nu=np.geomspace(1e-4, 1e-1, 100).")
    expected = "finite numbers, one or more"
    axes = {n: np.array(numbers_in(v, n, expected)) for n, v in varying.items()}
    family.values({**fixed, **{n: v[0] for n, v in axes.items()}})
    return axes, fixed


def _stated(work: _Work, axes: Mapping[str, FloatArray], listed: bool) -> dict[str, Any]:
    """Return what tells a sweep from others: rows of one are no rows of another."""
    return {
        "axes": {n: v.tolist() for n, v in axes.items()},
        "listed": listed,
        "family": _named(work.factory),
        "observe": _named(work.observe),
        "fixed": {n: _named(v) for n, v in sorted(work.fixed.items())},
        "options": {n: _named(v) for n, v in sorted(work.options.items())},
    }


def _named(value: Any) -> str:
    """Return words for a value that are the same in another process."""
    words = getattr(value, "__qualname__", None) or repr(value)
    return re.sub(r" at 0x[0-9a-f]+", "", words)


_Task = list[tuple[int, dict[str, float]]]


def _rows(work: _Work, todo: _Task, workers: int, client: Any) -> Iterator[Row]:
    if workers == 1 and client is None:
        yield from _solved(work, todo)
        return
    length = FIRST
    while todo:
        finished: set[int] = set()
        running: list[_Task] = []
        for rows in _in_processes(work, todo, workers, length, running, client):
            finished |= {r.index for r in rows}
            each = max(sum(r.seconds for r in rows) / len(rows), 1e-4)
            length = int(np.clip(TASK / each, 1, 4 * length))
            yield from rows
        todo = [t for t in todo if t[0] not in finished]
        # A worker died: what was running is tried again, each by itself, twice.
        suspects = {index for task in running for index, _ in task} - finished
        for task in ([t] for t in todo if t[0] in suspects):
            tries = (list(_in_processes(work, task, 1, 1, [], client)) for _ in range(2))
            alone = next((rows for rows in tries if rows), None)
            yield alone[0][0] if alone else Row(task[0][0], None, math.inf, False, _DIED)
        todo = [t for t in todo if t[0] not in suspects]


def _in_processes(
    work: _Work, todo: _Task, workers: int, length: int, running: list[_Task], client: Any
) -> Iterator[list[Row]]:
    """Yield the rows of tasks as they are finished; ends early if a worker dies.

    `running` then holds the tasks that were not finished.
    """
    futures: dict[Future[list[Row]], _Task] = {}
    waiting = list(todo)
    pool, call, workers = _pool(work, workers, client)
    with warnings.catch_warnings():
        # Forking is as safe here as anywhere: workers start at once and solve on one thread.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            while waiting or futures:
                while waiting and len(futures) < workers:
                    task, waiting = waiting[:length], waiting[length:]
                    futures[pool.submit(call, task)] = task
                for future in wait(futures, return_when=FIRST_COMPLETED).done:
                    rows = future.result()
                    del futures[future]
                    yield rows
        except Exception as error:
            # Dask has its own word for it, after it has tried the task on several workers.
            if not isinstance(error, BrokenProcessPool) and type(error).__name__ != "KilledWorker":
                raise
            running += futures.values()
        finally:
            for future in futures:
                future.cancel()
            pool.shutdown(wait=False)


def _pool(
    work: _Work, workers: int, client: Any
) -> tuple[Executor, Callable[[_Task], list[Row]], int]:
    """Return who runs tasks, what is called with one, and how many run at once."""
    if client is None:
        forks = "fork" in multiprocessing.get_all_start_methods() and sys.platform != "darwin"
        context = multiprocessing.get_context("fork" if forks else "spawn")
        pool = ProcessPoolExecutor(workers, context, initializer=_begin, initargs=(work,))
        return pool, _task, workers
    # Workers elsewhere have other disks: rows are written here.
    away = replace(work, here=False)
    threads = max(1, sum(client.nthreads().values()))
    return client.get_executor(pure=False), functools.partial(_list, away), threads


_WORK: list[_Work] = []
_DIED = "The worker died while this was solved, twice."


def _begin(work: _Work) -> None:
    """Remember what a worker has to do: forked, it need not be sent."""
    _WORK[:] = [work]


def _solved(work: _Work, task: _Task) -> Iterator[Row]:
    """Yield rows one after the other, each on the kernels of the one before if they will do."""
    near: Solution | None = None
    for index, values in task:
        started = time.perf_counter()
        row, near = _one(work, index, values, near)
        if work.into is not None and work.here:
            append_row(work.into, row)
        yield replace(row, seconds=time.perf_counter() - started)


def _one(
    work: _Work, index: int, values: dict[str, float], near: Solution | None
) -> tuple[Row, Solution | None]:
    wanted = {**work.fixed, **values}
    try:
        if near is not None and near.converged:
            every = near.member.family.values(wanted)
            solution = near.member.neighbour(near, every, near.tol)
        else:
            solution = solve(work.factory, **work.options, **wanted)
        observed = work.observe(solution)
        if observed is None:
            raise refusal("What observe= returns", "a number or an array", observed)
        value = np.asarray(observed, dtype=float).tolist()
        if work.keep and work.into is not None:
            solution.save(_saved(work.into, index))
    except ArgumentError:
        # An option or a parameter of no such name: all values would fail.
        raise
    except Exception as error:
        # One value must not end the sweep, whatever the user's functions raise.
        return Row(index, None, math.inf, False, f"{type(error).__name__}: {error}"), None
    words = "" if solution.converged else str(solution.outcome)
    return Row(index, value, solution.error_estimate, solution.converged, words), solution


def _saved(folder: Path, index: int) -> Path:
    """Return where the solution of a row is kept."""
    return folder / f"row-{index}.npz"


def _task(task: _Task) -> list[Row]:
    return _list(_WORK[0], task)


def _list(work: _Work, task: _Task) -> list[Row]:
    return list(_solved(work, task))
