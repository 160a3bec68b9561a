"""Independent pieces of work on all cores: LAPACK and matrix products run beside each other.

BLAS itself keeps to one thread (`arrays.blas_threads`): its matrices are small, and many.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")
Result = TypeVar("Result")
# Work of fewer operations is done by one thread: about 20 ms, a hundred times what starting others
# takes.
WORTH = 5e8


def cores() -> int:
    """Return how many threads may be used: cores, OMP_NUM_THREADS if fewer, one in a worker."""
    if multiprocessing.parent_process() is not None:
        return 1
    free = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(free or 1, int(asked) if asked.isdigit() else 10**6))


def mapped(
    function: Callable[[Item], Result], items: Sequence[Item], operations: float
) -> list[Result]:
    """Return a function of each item, in order; on all cores if there is enough to do.

    It must spend most of its time in LAPACK or in matrix products, and change nothing that another
    call reads. Operations are those of all calls together, about.
    """
    threads = min(len(items), cores()) if operations > WORTH else 1
    if threads < 2:
        return [function(item) for item in items]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, items))


def overlapped(
    first: Callable[[Item], Made], second: Callable[[Made], Result], items: Sequence[Item]
) -> Iterator[Result]:
    """Yield the second function of the first of each item, in order.

    The first is made for the next item by this thread, while others are at the second: what holds
    the interpreter's lock does not wait for what does not.
    """
    if len(items) < 2 or cores() < 2:
        for item in items:
            yield second(first(item))
        return
    with ThreadPoolExecutor(1) as pool:
        doing: Future[Result] | None = None
        for item in items:
            made = first(item)
            done, doing = doing, pool.submit(second, made)
            if done is not None:
                yield done.result()
        assert doing is not None
        yield doing.result()
