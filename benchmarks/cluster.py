"""A system on patches solved by workers of dask on this machine, and what many would take on paper.

Run by hand: ``python benchmarks/cluster.py [patches along an axis ...]``. No two patches are alike.
Each worker is a process with one thread. The second table has no measurements in it: a square of
patches with 16 functions along an axis, cut into halves again and again, operations and bytes
counted for each level of the tree, for machines of a given rate and network.
"""

from __future__ import annotations

import sys
import time

import distributed
import numpy as np
from scale import SQUARE, exact, patches_of, problem_of

from sharpfront.adapt.patchwork.system import patch_system
from sharpfront.arrays import blas_threads
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.leastsquares.traces import Tree
from sharpfront.place.tiling.tiling import tiling_of
from sharpfront.rows.patch_rows import PatchRows

FUNCTIONS, WORKERS = 16, 2
# With more patches along an axis only the workers are measured.
HERE = 64
# Moments of both traces of a face.
FACE = 2 * (FUNCTIONS - 2)
# Of one machine: operations a second of QR on all cores, bytes a second of its network.
RATE, NETWORK = 3e11, 1e9


def measure(client: distributed.Client, count: int) -> None:
    """Print one row: the cluster, and one thread of this process where that is not too long."""
    points = np.random.default_rng(0).random((2000, 2))
    cells = []
    trees = (Tree(cluster=client, large=1), Tree())
    for tree in trees if count <= HERE else trees[:1]:
        problem = problem_of("graded")
        patches, tiling = patches_of("graded", count, FUNCTIONS), tiling_of(SQUARE)
        assert tiling is not None
        begun = time.perf_counter()
        system = patch_system(PatchRows(problem, 0), tiling, patches)
        weights = system.arranged(tree.factor(system)[1].columns)[:, 0]
        spent = time.perf_counter() - begun
        values = PatchworkBasis(patches).values(weights, points, (0, 0))
        error = np.abs(values - exact(*points.T)).max()
        cells += [f"{error:.1e}", f"{spent:.1f}"]
    print(f"| {len(weights)} | {' | '.join([*cells, '', ''][:4])} |", flush=True)


def on_paper(count: int, machines: int) -> None:
    """Print operations, bytes and seconds of each level, for count x count patches."""
    unknowns, leaf = (count * FUNCTIONS) ** 2, 6.5e7
    kept = 256.0 * (4 * FACE + 1) * 8 * count**2
    levels = []
    width, height, nodes = float(count), float(count), 1
    while nodes < machines:
        shared = FACE * min(width, height)
        # About four sides of a part are open in the middle of the square, fewer at its rim.
        sides = {1: 0.0, 2: 1.0, 4: 2.0, 8: 2.5}.get(nodes, 4.0)
        opened = FACE * sides * (width + height) / 2
        work = 2 / 3 * shared**3 + 2 * shared**2 * opened + 2 * shared * opened**2
        levels.append((nodes, shared, opened, work, 8 * (shared + opened) ** 2))
        width, height, nodes = max(width, height) / 2, min(width, height), 2 * nodes
    own = leaf * count**2 / nodes
    inner = nodes * 30 * (FACE * (width + height) / 2) ** 3 / nodes
    print(f"\n{unknowns:.1e} unknowns on {machines} machines:\n")
    print("| merges | operations each | bytes of a message | s |")
    print("| ---: | ---: | ---: | ---: |")
    seconds = (own + inner) / RATE * nodes / machines
    print(f"| {nodes} parts | {own + inner:.1e} | | {seconds:.1f} |")
    for number, _, _, work, size in reversed(levels):
        spent = work / RATE + size / NETWORK
        seconds += spent
        print(f"| {number} | {work:.1e} | {size:.1e} | {spent:.1f} |")
    print(f"\nIn all {seconds:.0f} s; {kept / machines / 2**30:.1f} GiB of leaves on each.")


def main() -> None:
    """Print both tables."""
    counts = [int(a) for a in sys.argv[1:]] or [20, 40, 64]
    quiet = {
        "dashboard_address": None,
        "threads_per_worker": 1,
        "silence_logs": 50,
        "memory_limit": 0,
    }
    with (
        distributed.LocalCluster(n_workers=WORKERS, **quiet) as cluster,
        distributed.Client(cluster) as client,
        blas_threads(1),
    ):
        print("| unknowns | error | s on two workers | error | s here |")
        print("| ---: | ---: | ---: | ---: | ---: |", flush=True)
        for count in counts:
            measure(client, count)
    for count, machines in ((256, 4), (625, 100), (1250, 100)):
        on_paper(count, machines)


if __name__ == "__main__":
    main()
