"""Random manufactured problems of second order: how the default does on what it has not seen.

Run by hand: ``python benchmarks/random_problems.py SEED [SEED ...]``, 60 problems a seed. Prints
the problems that are wrong, under-estimated, not converged or need more than 400 kernels, and the
counts. Seeds 1 to 13 were looked at while the solver was made; take others for a fair answer.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import sharpfront as sf

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.accuracy.accuracy_cases import Case, made
from tests.accuracy.test_accuracy_table import relative_error

COUNT, TOL = 60, 1e-8
KINDS = ("left", "right", "tanh", "gauss")
OPERATORS = ("reac", "conv+", "conv-", "turn", "poisson")


def part(kind: str, size: float, width: float, place: float, ends: tuple[float, float]) -> Any:
    """Return one feature as a function of x, and where it is."""
    a, b = ends
    shapes: dict[str, tuple[Callable[[Any], Any], float]] = {
        "left": (lambda x: size * np.exp(-(x - a) / width), a),
        "right": (lambda x: size * np.exp((x - b) / width), b),
        "tanh": (lambda x: size * np.tanh((x - place) / width), place),
        "gauss": (lambda x: size * np.exp(-(((x - place) / width) ** 2)), place),
    }
    return shapes[kind]


def operator(kind: str, a: float, length: float, width: float) -> Callable[[Any, Any], Any]:
    """Return a second-order operator whose layers have that width."""
    return {
        "reac": lambda u, x: u * (1 + ((x - a) / length) ** 2) - width**2 * u.dxx,
        "conv+": lambda u, x: (1 + 0.3 * np.cos(x / length)) * u.dx - width * u.dxx,
        "conv-": lambda u, x: -u.dx + 0.1 / length * u - width * u.dxx,
        "turn": lambda u, x: width**2 * u.dxx + (x - a - 0.4 * length) * u.dx - 0.5 * u,
        "poisson": lambda u, x: -(length**2) * u.dxx,
    }[kind]


def family(seed: int) -> Iterator[Case]:
    """Yield the problems of a seed."""
    rng = np.random.default_rng(seed)
    for i in range(COUNT):
        length = 10.0 ** rng.uniform(-2, 2)
        a = float(rng.choice([0, -length, -0.3 * length]))
        ends = (a, a + length)
        size, rate, phase = rng.normal(), rng.uniform(0.5, 6), rng.uniform(0, 6)
        parts = [lambda x, s=size, r=rate, p=phase, a=a, n=length: s * np.sin(r * (x - a) / n + p)]
        features, words = [], ""
        for _ in range(int(rng.integers(1, 3))):
            width, height = length * 10 ** rng.uniform(-5, -1.3), rng.normal()
            place, kind = a + length * rng.uniform(0.05, 0.95), str(rng.choice(KINDS))
            # A spike of the source narrower than the survey cannot be seen by anyone.
            width = max(width, 1e-4 * length) if kind == "gauss" else width
            shape, where = part(kind, height, width, place, ends)
            parts.append(shape)
            features.append((where, width))
            words += f" {kind} {width / length:.0e}"
        kind = str(rng.choice(OPERATORS))
        narrow = min(width for _, width in features)
        yield made(
            f"{seed}:{i} {kind}{words}",
            ends,
            operator(kind, a, length, narrow),
            lambda x, parts=tuple(parts): sum(f(x) for f in parts),
            features,
        )


def main() -> None:
    """Print what is not as it should be, and the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", type=int, nargs="+")
    warnings.simplefilter("ignore")
    counts = dict.fromkeys(("problems", "not converged", "wrong", "under", "many kernels"), 0)
    for case in (c for seed in parser.parse_args().seeds for c in family(seed)):
        solution = sf.solve(case.problem, tol=TOL)
        error = relative_error(case, solution)
        found = {
            "not converged": not solution.converged,
            "wrong": solution.converged and error > 10 * TOL,
            "under": error > 3 * solution.error_estimate,
            "many kernels": solution.kernels > 400,
        }
        counts["problems"] += 1
        for name, is_so in found.items():
            counts[name] += is_so
        if any(found.values()):
            marks = ", ".join(name for name, is_so in found.items() if is_so)
            print(f"{case.name}: {marks}; error {error:.1e}; {solution}", flush=True)
    print(", ".join(f"{name} {count}" for name, count in counts.items()))


if __name__ == "__main__":
    main()
