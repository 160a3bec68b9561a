"""What a solve on given patches costs against the number of unknowns. Prints Markdown.

Run by hand: ``OMP_NUM_THREADS=1 python benchmarks/scale.py [most unknowns]``. Each row is a process
of its own, so that memory is its own; seconds are of the processor, system and assembly counted in.
Without OMP_NUM_THREADS leaves and merges run on all cores, and the last column is less than the
one before.
"""

from __future__ import annotations

import itertools
import math
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np

import sharpfront as sf
from sharpfront.adapt.patchwork.system import patch_system
from sharpfront.arrays import blas_threads
from sharpfront.bases.patch import Patch
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.leastsquares.traces import Tree
from sharpfront.maps import AxisMap
from sharpfront.place.tiling.tiling import tiling_of
from sharpfront.rows.patch_rows import PatchRows

SQUARE, CUBE = sf.Box((0, 1), (0, 1)), sf.Box((0, 1), (0, 1), (0, 1))
# Patches along an axis, and functions along an axis of each.
CASES = [
    ("equal patches", 6, 16),
    ("equal patches", 20, 16),
    ("equal patches", 64, 16),
    ("graded", 6, 16),
    ("graded", 20, 16),
    ("graded", 64, 16),
    ("varying coefficients", 6, 16),
    ("varying coefficients", 20, 16),
    ("equal patches", 13, 8),
    ("equal patches", 40, 8),
    ("equal patches", 128, 8),
    ("equal patches in space", 5, 10),
    ("equal patches in space", 8, 10),
    ("equal patches in space", 11, 10),
    ("equal patches in space", 17, 10),
    ("graded in space", 5, 10),
    ("graded in space", 8, 10),
    ("graded in space", 11, 10),
]


def exact(x: Any, y: Any, z: Any = 0.0) -> Any:
    """Return the solution: smooth, without a symmetry."""
    return np.exp(x) * np.sin(3 * x + 2 * y + z)


def problem_of(kind: str) -> sf.Problem:
    """Return an equation of second order with that solution."""
    if "space" in kind:
        return sf.Problem(
            CUBE,
            lambda u, x, y, z: (
                sf.laplacian(u)
                - np.exp(x) * (6 * np.cos(3 * x + 2 * y + z) - 13 * np.sin(3 * x + 2 * y + z))
            ),
            boundary=lambda u, x, y, z: u - exact(x, y, z),
        )

    def equation(u: Any, x: Any, y: Any) -> Any:
        # Of one derivative alone: a factor of all terms would leave rows alike.
        k = 1 + x * y if kind == "varying coefficients" else 1.0
        sine, cosine = np.sin(3 * x + 2 * y), np.cos(3 * x + 2 * y)
        return np.exp(x) * (k * (6 * cosine - 8 * sine) - 4 * sine) - k * u.dxx - u.dyy

    return sf.Problem(SQUARE, equation, boundary=lambda u, x, y: u - exact(x, y))


def patches_of(kind: str, count: int, functions: int) -> tuple[Patch, ...]:
    """Return patches on the domain; graded ones shrink towards some sides, no two rows alike."""
    lines = np.linspace(0, 1, count + 1)
    if kind.startswith("graded"):
        lines = np.expm1(3.0 * lines) / np.expm1(3.0)
    sides = [AxisMap(a, b) for a, b in zip(lines[:-1].tolist(), lines[1:].tolist(), strict=True)]
    d = 3 if "space" in kind else 2
    return tuple(Patch(maps, (functions,) * d) for maps in itertools.product(sides, repeat=d))


def measure(kind: str, count: int, functions: int) -> None:
    """Print one row."""
    problem = problem_of(kind)
    begun, wall = time.process_time(), time.perf_counter()
    with blas_threads(1):
        patches, tiling = patches_of(kind, count, functions), tiling_of(problem.domain)
        assert tiling is not None
        system = patch_system(PatchRows(problem, 0), tiling, patches)
        _, found = Tree().factor(system)
        weights = system.arranged(found.columns)[:, 0]
    spent, wall = time.process_time() - begun, time.perf_counter() - wall
    d = problem.domain.dimension
    points = np.random.default_rng(0).random((2000, d))
    error = np.abs(PatchworkBasis(patches).values(weights, points, (0,) * d) - exact(*points.T))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    unknowns = len(weights)
    merges = "QR" if found.refinements is None else f"Gram, {found.refinements} refined"
    if found.iterations:
        merges = f"iterated, {found.iterations} steps"
    print(
        f"| {kind} | {functions} | {unknowns} | {merges} | "
        f"{error.max():.1e} | {memory:.2f} | {1e6 * spent / unknowns:.1f} | {spent:.2f} | "
        f"{wall:.2f} |",
        flush=True,
    )


def _size(kind: str, functions: int) -> int:
    """Return the functions of a patch, in space those up to a joint degree."""
    return math.comb(functions + 2, 3) if "space" in kind else functions**2


def main() -> None:
    """Print the table, up to so many unknowns."""
    if len(sys.argv) == 4:
        measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
        return
    most = float(sys.argv[1]) if len(sys.argv) > 1 else math.inf
    print(
        "| patches | functions along an axis | unknowns | merges | error | GB | "
        "us an unknown | s of the processor | s |"
    )
    print("| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |", flush=True)
    for kind, count, functions in CASES:
        if len(patches_of(kind, count, functions)) * _size(kind, functions) <= most:
            own = [sys.executable, __file__, kind, str(count), str(functions)]
            subprocess.run(own, check=True)


if __name__ == "__main__":
    main()
