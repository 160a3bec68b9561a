"""Time of assembly and of the dense least-squares methods against the number of kernels.

Run by hand: ``python benchmarks/assembly.py``. One BLAS thread, median of several runs. The peer is
NumPy's ``lstsq`` on the very same matrix in the same process; ratios are to its time.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import sharpfront as sf
from sharpfront.arrays import blas_threads
from sharpfront.kernels.assemble import LinearSystem, assemble
from sharpfront.leastsquares import SVD, Blocked

COUNTS = (100, 200, 400, 800, 1500, 3000)
ROWS_PER_KERNEL = 3


def median_seconds(work: Callable[[], Any], seconds: float = 1.0) -> float:
    """Return the median time of three runs, more while they fit in `seconds`, one if it is long."""
    times: list[float] = []
    while sum(times) < 10 and (len(times) < 3 or (sum(times) < seconds and len(times) < 50)):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def layer_system(kernels: int) -> Callable[[], LinearSystem]:
    """Return a function that assembles the single-layer problem with uniform kernels."""
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: -0.01 * u.dxx + u.dx,
        left=lambda u, x: u,
        right=lambda u, x: u - 1,
    )
    adaptor = sf.Uniform(kernels=kernels, collocation=ROWS_PER_KERNEL * kernels)
    proposal = adaptor.propose(adaptor.start(problem, 1e-8, 0))
    return lambda: assemble(proposal.rows, proposal.bases, problem.coordinates)


def main() -> None:
    """Print one line per number of kernels."""
    print(
        "   N   rows |  assemble           QR        SVD   numpy lstsq | ratio to lstsq: QR   SVD"
    )
    with blas_threads(1):
        for count in COUNTS:
            build = layer_system(count)
            system = build()
            matrix = np.concatenate([b.matrix for b in system.blocks])
            row = {
                "assemble": median_seconds(build),
                "qr": median_seconds(lambda s=system: Blocked().solve(Blocked().factor(s), s.rhs)),
                "svd": median_seconds(lambda s=system: SVD().solve(SVD().factor(s), s.rhs)),
                "peer": median_seconds(lambda m=matrix, s=system: np.linalg.lstsq(m, s.rhs)),
            }
            print(
                f"{count:5d} {matrix.shape[0]:6d} | {row['assemble']:7.4f} s  {row['qr']:8.4f} s  "
                f"{row['svd']:8.4f} s  {row['peer']:10.4f} s | "
                f"{row['qr'] / row['peer']:17.2f} {row['svd'] / row['peer']:5.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
