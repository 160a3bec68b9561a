"""Where the time goes in two and three dimensions, against the number of kernels. Prints Markdown.

Run by hand: ``python benchmarks/space_cost.py``. One BLAS thread, medians of several runs; the QR
of a random matrix of the same shape, in the same process, is the unit that machines share.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import scipy.linalg

from sharpfront import catalog
from sharpfront.adapt import ResolveSpace, axis_features
from sharpfront.adapt.space_state import Trial
from sharpfront.arrays import blas_threads
from sharpfront.catalog import Entry
from sharpfront.mixture import fit_bins
from sharpfront.solution.approximation import Approximation, split_weights

SIZES: dict[int, tuple[int, ...]] = {2: (25, 36, 51, 71), 3: (10, 12, 15, 18)}
RUNS = 3


def main() -> None:
    """Print one table for each dimension."""
    with blas_threads(1):
        for entry, value in ((catalog.CORNER, 1e-3), (catalog.CUBE, 1.0)):
            table(entry, value)


def table(entry: Entry, value: float) -> None:
    """Print the seconds of each part of one solve, for several numbers of kernels."""
    problem, adaptor = entry.problem(value), ResolveSpace(max_kernels=100_000)
    em: list[float] = []

    def timed_fit(*arguments: Any) -> Any:
        started = time.perf_counter()
        found = fit_bins(*arguments)
        em.append(time.perf_counter() - started)
        return found

    with mock.patch.object(axis_features, "fit_bins", timed_fit):
        started = time.perf_counter()
        state = adaptor.start(problem, 1e-8, 42)
        discovery = time.perf_counter() - started
    print(
        f"\n{entry.name} {value:g}: discovery by elements {discovery - sum(em):.2f} s, "
        f"EM {sum(em):.4f} s\n"
    )
    print("| kernels | rows | assembly | QR and solve | estimate | QR of a random matrix | ratio |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for count in SIZES[problem.domain.dimension]:
        here = replace(state, trial=Trial((count,) * problem.domain.dimension))
        proposal, assembly = median(lambda here=here: adaptor.propose(here))
        method, system = adaptor.leastsquares, proposal.system
        result, solving = median(
            lambda method=method, system=system: method.solve(method.factor(system), system.rhs)
        )
        weights = split_weights(result[0], proposal.bases)
        found = Approximation(problem.coordinates, proposal.bases, weights)
        _, checking = median(lambda here=here, found=found: adaptor.assess(here, found))
        rows = sum(block.rows for block in system.blocks)
        matrix = np.random.default_rng(0).standard_normal((rows, system.columns))
        _, unit = median(lambda matrix=matrix: scipy.linalg.qr(matrix, mode="raw"))
        print(
            f"| {system.columns} | {rows} | {assembly:.2f} | {solving:.2f} | {checking:.2f} | "
            f"{unit:.2f} | {(assembly + solving + checking) / unit:.1f} |",
            flush=True,
        )


def median(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what the work returns and the median of its seconds."""
    seconds, result = [], None
    for _ in range(RUNS):
        started = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - started)
    return result, statistics.median(seconds)


if __name__ == "__main__":
    main()
