"""What a solve on given patches costs on a card. Prints Markdown.

Run by hand on a machine with a card: ``python benchmarks/gpu.py [device] [most patches]``, and
``python benchmarks/gpu.py jaxhps`` for jaxhps on the same problem. Each row is run twice and the
second is printed, as the first sets up the card's libraries; the largest once. "System" is faces
and the order of elimination, "assembly" what is done from there until all rows are on the card,
"factored and solved" what is done from there to the weights on the processor, refinement counted
in. The share is of the rate at which the card multiplies large matrices of doubles. The second
table has whole solves, adaptation and certificate counted in, on the processor and on the card.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scale import exact, patches_of, problem_of

import sharpfront as sf
from sharpfront.adapt.patchwork.system import patch_system
from sharpfront.arrays import blas_threads
from sharpfront.bases.patch import Patch
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.leastsquares.batched_leaves import Stack
from sharpfront.leastsquares.batched_tree import solved_on_device
from sharpfront.leastsquares.device import Card
from sharpfront.leastsquares.traces import TraceSystem, Tree
from sharpfront.leastsquares.tree import TreeElimination
from sharpfront.maps import AxisMap
from sharpfront.place.tiling.tiling import tiling_of
from sharpfront.rows.patch_rows import PatchRows

CUBE = sf.Box((0, 1), (0, 1), (0, 1))
# Kind of patches, patches along an axis, functions along an axis of each.
CASES = [
    ("graded", 20, 16),
    ("varying coefficients", 64, 16),
    ("graded", 64, 16),
    ("equal patches", 64, 16),
    ("in space", 8, 10),
    ("varying coefficients", 128, 16),
    ("equal patches", 256, 16),
    ("varying coefficients", 256, 16),
]


def in_space() -> sf.Problem:
    """Return a problem on a cube with the solution of the others, times one of z."""

    def equation(u: Any, x: Any, y: Any, z: Any) -> Any:
        grown = 6 * np.cos(3 * x + 2 * y) - 12 * np.sin(3 * x + 2 * y)
        source = np.exp(x) * (grown - np.sin(3 * x + 2 * y)) * np.cos(z)
        return -(1 + x * y * z) * (sf.laplacian(u) - source)

    return sf.Problem(CUBE, equation, boundary=lambda u, x, y, z: u - exact(x, y) * np.cos(z))


def system_of(kind: str, count: int, functions: int) -> tuple[TraceSystem, tuple[Patch, ...]]:
    """Return a system on patches, new."""
    if kind == "in space":
        lines = np.linspace(0, 1, count + 1).tolist()
        sides = [AxisMap(a, b) for a, b in itertools.pairwise(lines)]
        shape = (functions,) * 3
        patches = tuple(Patch((a, b, c), shape) for a in sides for b in sides for c in sides)
        problem = in_space()
    else:
        patches, problem = patches_of(kind, count, functions), problem_of(kind)
    tiling = tiling_of(problem.domain)
    assert tiling is not None
    return patch_system(PatchRows(problem, 0), tiling, patches), patches


def rate(torch: Any, device: str) -> float:
    """Return how many operations a second products of large matrices take."""
    n = 8192 if device != "cpu" else 1024
    a = torch.rand((n, n), dtype=torch.float64, device=device)
    spent = []
    for _ in range(5):
        begun = clock(torch, device)
        a @ a
        spent.append(clock(torch, device) - begun)
    return float(2.0 * n**3 / min(spent))


def operations_of(stacks: Sequence[Stack], elimination: TreeElimination) -> float:
    """Return how many operations elimination takes: leaves with two factors each, and merges."""
    total, opened = 0.0, [0] * elimination.tree.leaves
    for stack in stacks:
        # What leaves are filled up with is not counted.
        m = np.full(len(stack.numbers), stack.rows.shape[1])
        n = np.full_like(m, stack.rows.shape[2])
        if stack.inside is not None:
            n = stack.inside.sum(axis=1)
        g = np.sum(stack.moments < elimination.moments, axis=1)
        each = 2 * (3 * m * n * n + n**3 / 3) + 2 * m * n * g + n * n * g + 2 * m * g * g
        total += float(each.sum())
        for number, own in zip(stack.numbers.tolist(), g.tolist(), strict=True):
            opened[number] = own
    for first, second, ns in elimination.merges.tolist():
        no = opened[first] + opened[second] - 2 * ns
        total += ns**3 / 3 + ns * ns * no + 2 * ns * no * no
        opened.append(no)
    return total


def taken(held: list[Stack]) -> Iterator[Stack]:
    """Yield stacks and let go of them."""
    while held:
        yield held.pop()


def clock(torch: Any, device: str) -> float:
    """Return the time once the card has done what it was asked."""
    if device != "cpu":
        torch.cuda.synchronize()
    return time.perf_counter()


def measure(torch: Any, card: Card, peak: float, case: tuple[str, int, int]) -> str:
    """Return one row."""
    kind, count, functions = case
    name = card.name
    if name != "cpu":
        torch.cuda.reset_peak_memory_stats()
    tree = Tree(device=card, large=1)
    begun = clock(torch, name)
    system, patches = system_of(kind, count, functions)
    elimination = tree.elimination(system)
    ordered = clock(torch, name)
    held = list(tree.stacks(system, elimination))
    assembled = clock(torch, name)
    operations = operations_of(held, elimination)
    found = solved_on_device(card, elimination, lambda: taken(held))
    ended = clock(torch, name)
    assert found is not None
    weights = system.arranged(found.columns)[:, 0]
    points = np.random.default_rng(0).random((2000, patches[0].dimension))
    wanted = exact(*points[:, :2].T) * (np.cos(points[:, 2]) if kind == "in space" else 1.0)
    values = PatchworkBasis(patches).values(weights, points, (0,) * points.shape[1])
    memory = torch.cuda.max_memory_allocated() / 2**30 if name != "cpu" else 0.0
    return (
        f"| {kind} | {functions} | {len(weights)} | {found.refinements} | "
        f"{np.abs(values - wanted).max():.1e} | {memory:.1f} | {ordered - begun:.2f} | "
        f"{assembled - ordered:.2f} | {ended - assembled:.3f} | {ended - begun:.2f} | "
        f"{100 * operations / (ended - assembled) / peak:.0f} % |"
    )


def whole(card: Card, name: str, problem: sf.Problem, tol: float) -> str:
    """Return a row of the second table."""
    found, spent = [], []
    for tree in (Tree(), Tree(device=card)):
        begun = time.perf_counter()
        found.append(sf.solve(problem, tol=tol, adaptor=sf.Patches(10**7, leastsquares=tree)))
        spent.append(time.perf_counter() - begun)
    points = np.random.default_rng(0).random((2000, 2)).T
    apart = np.abs(found[0](*points) - found[1](*points)).max()
    return (
        f"| {name} | {tol:.0e} | {found[1].history[-1].kernels} | {found[1].outcome.kind} | "
        f"{found[1].error_estimate:.1e} | {apart:.1e} | {spent[0]:.1f} | {spent[1]:.1f} |"
    )


def wholes() -> list[tuple[str, sf.Problem, float]]:
    """Return problems that take many patches."""

    def problem(equation: Any) -> sf.Problem:
        return sf.Problem(sf.Box((0, 1), (0, 1)), equation, boundary=lambda u, x, y: u)

    layers = problem(lambda u, x, y: -1e-5 * sf.laplacian(u) + u - 1 - x * y)
    outflow = problem(lambda u, x, y: -1e-4 * sf.laplacian(u) + u.dx - 1)
    waves = problem(lambda u, x, y: sf.laplacian(u) + 150.0**2 * u - np.exp(x))
    fast = problem(lambda u, x, y: sf.laplacian(u) + 600.0**2 * u - np.exp(x))
    ripples = problem(
        lambda u, x, y: -sf.div((1.5 + np.sin(60 * x * y)) * sf.grad(u)) - np.cos(40 * (x - y))
    )
    return [
        ("reaction layers 1e-5", layers, 1e-8),
        ("outflow 1e-4", outflow, 1e-6),
        ("waves, k = 150", waves, 1e-6),
        ("rippled coefficient", ripples, 1e-6),
        ("waves, k = 600", fast, 1e-6),
    ]


def race() -> None:
    """Print what jaxhps takes for varying coefficients, the second of two runs."""
    import jax

    jax.config.update("jax_enable_x64", True)
    import jaxhps
    from jax import numpy as jnp

    card = jax.devices()[0]
    print("\n| levels | unknowns | error | jaxhps s |\n| ---: | ---: | ---: | ---: |", flush=True)
    for levels in (5, 6, 7):
        for _ in range(2):
            begun = time.perf_counter()
            root = jaxhps.DiscretizationNode2D(xmin=0.0, xmax=1.0, ymin=0.0, ymax=1.0)
            domain = jaxhps.Domain(p=16, q=14, root=root, L=levels)
            x, y = domain.interior_points[..., 0], domain.interior_points[..., 1]
            k, sine, cosine = 1 + x * y, jnp.sin(3 * x + 2 * y), jnp.cos(3 * x + 2 * y)
            grown = jnp.exp(x) * (k * (6 * cosine - 8 * sine) - 4 * sine)
            problem = jaxhps.PDEProblem(
                domain, source=grown, D_xx_coefficients=k, D_yy_coefficients=jnp.ones_like(k)
            )
            jaxhps.build_solver(problem, compute_device=card, host_device=card)
            a, b = domain.boundary_points[:, 0], domain.boundary_points[:, 1]
            sides = jnp.exp(a) * jnp.sin(3 * a + 2 * b)
            found = jaxhps.solve(problem, sides, compute_device=card, host_device=card)
            error = float(jnp.abs(found - jnp.exp(x) * jnp.sin(3 * x + 2 * y)).max())
            spent = time.perf_counter() - begun
        print(f"| {levels} | {found.size} | {error:.1e} | {spent:.2f} |", flush=True)


def main() -> None:
    """Print the table, or with ``jaxhps`` as the first argument what that takes."""
    if sys.argv[1:2] == ["jaxhps"]:
        race()
        return
    import torch

    card = Card(sys.argv[1] if len(sys.argv) > 1 else "cuda")
    peak = rate(torch, card.name)
    print(f"Products of large matrices: {peak / 1e12:.1f} TFLOP/s.\n")
    print(
        "| patches | functions along an axis | unknowns | refined | error | GiB | system s | "
        "assembly s | factored and solved s | all s | share |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    most = int(float(sys.argv[2])) if len(sys.argv) > 2 else 10**9
    with blas_threads(1):
        for case in CASES:
            if case[1] ** (3 if case[0] == "in space" else 2) <= most:
                times = 1 if case is CASES[-1] else 2
                rows = [measure(torch, card, peak, case) for _ in range(times)]
                print(rows[-1], flush=True)
    print(
        "\n| problem | tol | unknowns | outcome | estimate | apart | s on the processor | "
        "s with the card |"
    )
    print("| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: |", flush=True)
    for name, problem, tol in wholes() if most > 10**4 else []:
        print(whole(card, name, problem, tol), flush=True)


if __name__ == "__main__":
    main()
