"""Time against size: a domain with many fronts, and blocked against dense least squares.

Run by hand: ``python benchmarks/large.py``; ``--quick`` stops at 50 fronts. One BLAS thread. The
problem is -eps u'' + u = f with tanh fronts up and down in turn, each of a hundredth of the gap
between them, and f made from the exact solution. The first table shows whole solves; ``finding`` is
the part of the time that went into finding the fronts, before the first kernel, ``peak GB`` the
most memory of the process so far, Python and SciPy included (0.07). The second shows one
least-squares fit of the same kind of system, on its columns in groups and all at once.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sharpfront as sf
from sharpfront.adapt import Resolve
from sharpfront.arrays import blas_threads
from sharpfront.kernels.assemble import Block, LinearSystem
from sharpfront.leastsquares import Blocked

Values = NDArray[np.float64]
FRONTS = (10, 50, 200, 500)
# Dense least squares takes minutes beyond.
DENSE_LIMIT = 3000
PLACE, GAP_SHARE = 0.37, 100.0


def fronts(x: Values, count: int) -> tuple[Values, Values]:
    """Return u and u'' of `count` fronts in (0, 1), up and down in turn, (n,) each.

    A front farther than its neighbours is flat to rounding, so three are looked at for each point.
    """
    width = 1.0 / (GAP_SHARE * count)
    home = np.clip((x * count).astype(int), 0, count - 1)
    u = np.where(np.maximum(home - 1, 0) % 2, 1.0, 0.0)
    u -= np.where(count % 2, 1.0, 0.0) - np.where(np.minimum(home + 2, count) % 2, 1.0, 0.0)
    bend = np.zeros_like(u)
    for neighbour in (-1, 0, 1):
        j = home + neighbour
        sign = np.where(j % 2, -1.0, 1.0) * ((j >= 0) & (j < count))
        z = np.clip((x - (j + PLACE) / count) / width, -300.0, 300.0)
        u += sign * np.tanh(z)
        bend -= sign * 2.0 * np.tanh(z) / np.cosh(z) ** 2 / width**2
    return u, bend


def problem(count: int) -> tuple[sf.Problem, Callable[[Values], Values]]:
    """Return the problem with so many fronts and its exact solution."""
    eps = 1.0 / (GAP_SHARE * count) ** 2

    def made(x: Values) -> Values:
        u, bend = fronts(x, count)
        return u - eps * bend

    source = sf.function(made)
    first, last = (float(fronts(np.array([end]), count)[0][0]) for end in (0.0, 1.0))
    return sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: -eps * u.dxx + u - source(x),
        left=lambda u, x: u - first,
        right=lambda u, x: u - last,
    ), lambda x: fronts(x, count)[0]


def true_error(solution: sf.Solution, exact: Callable[[Values], Values], count: int) -> float:
    """Return the largest error on even points and on points graded into every front."""
    centres = (np.arange(count) + PLACE) / count
    inner = centres[:, None] + np.linspace(-5, 5, 41) / (GAP_SHARE * count)
    x = np.union1d(np.linspace(0, 1, 20_001), inner.ravel())
    return float(np.max(np.abs(solution(x) - exact(x))))


def solves(counts: tuple[int, ...]) -> None:
    print(
        "fronts  kernels  pieces  solves  finding s   total s  s/1000 kernels  estimate  error  "
        "peak GB"
    )
    for count in counts:
        stated, exact = problem(count)
        started = time.perf_counter()
        solution = sf.solve(stated, max_kernels=200_000)
        seconds = time.perf_counter() - started
        pieces = len(solution.approximation.bases["u"].patches)  # type: ignore[attr-defined]
        finding = seconds - sum(record.seconds for record in solution.history)
        print(
            f"{count:6d} {solution.kernels:8d} {pieces:7d} {len(solution.history):7d} "
            f"{finding:10.2f} {seconds:9.2f} {1e3 * seconds / solution.kernels:15.4f} "
            f"{solution.error_estimate:9.1e} {true_error(solution, exact, count):6.0e} "
            f"{_peak():8.2f} {solution.outcome.kind}",
            flush=True,
        )


def _peak() -> float:
    """Return the most memory that the process has held, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def system(count: int) -> LinearSystem:
    """Return the first linear system of the problem with so many fronts."""
    adaptor = Resolve(max_kernels=200_000)
    return adaptor.propose(adaptor.start(problem(count)[0], 1e-8, 0)).system


def median_seconds(work: Callable[[], Any], runs: int) -> float:
    """Return the median time of a call."""
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def dense_system(whole: LinearSystem) -> LinearSystem:
    """Return a system as one block without zeros left out."""
    rows = np.vstack([b.weight * b.padded(whole.columns) for b in whole.blocks])
    right = np.concatenate([b.weight * np.asarray(b.rhs) for b in whole.blocks])
    return LinearSystem((Block("all", rows, right),))


def least_squares(counts: tuple[int, ...]) -> None:
    print("columns   rows   blocked s  us/column    dense s   ratio")
    for count in counts:
        whole = system(count)
        rows = sum(block.rows for block in whole.blocks)
        blocked, dense = Blocked(equilibrate=False), dense_system(whole)
        fast = median_seconds(lambda m=blocked, s=whole: m.solve(m.factor(s), s.rhs), 3)
        line = f"{whole.columns:7d} {rows:6d} {fast:10.3f} {1e6 * fast / whole.columns:10.1f}"
        if whole.columns <= DENSE_LIMIT:
            slow = median_seconds(lambda m=blocked, s=dense: m.solve(m.factor(s), s.rhs), 1)
            line += f" {slow:10.2f} {slow / fast:7.0f}"
        print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    counts = FRONTS[:2] if parser.parse_args().quick else FRONTS
    with blas_threads(1):
        solves(counts)
        print()
        least_squares((2, 5, 10, 20, *counts[1:]))


if __name__ == "__main__":
    main()
