"""An older checkout against this one: functions, estimate, true error and seconds of each problem.

    python benchmarks/before_after.py OLD_CHECKOUT [--limit 60] [NAME ...]

The rows are the frozen table of space and the catalogue, at all its values, without linear problems
on the line. Each solve has a process of its own with one BLAS thread, which ends after so many
seconds of the processor; solves below a second are repeated, so that loading does not count. Errors
are the largest at the same points, relative to max(1, max|u|). Prints Markdown, losses first: what
does not converge now, then by seconds now over seconds before. The older solver comes first in each
pair of columns.
"""

from __future__ import annotations

import argparse
import os
import pickle
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

# This folder has a file named like a module of the standard library; it must not come first.
ROOT = Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

LINEAR = ("oscillation", "reaction", "single-layer", "spike", "turning-point", "twin-layer")
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
MOMENTS, PLACES = 5, 4000


@dataclass(frozen=True)
class Found:
    """What one version made of a problem; why not, if it made nothing."""

    outcome: str
    functions: int = 0
    seconds: float = np.nan
    estimate: float = np.nan
    error: float = np.nan

    @property
    def cells(self) -> list[str]:
        """The cells of the table."""
        if np.isnan(self.seconds):
            return ["", "", self.outcome, ""]
        told = "" if self.outcome == "converged" else f", {self.outcome}"
        error = "" if np.isnan(self.error) else f"{self.error:.1e}"
        return [str(self.functions), error, f"{self.estimate:.1e}{told}", f"{self.seconds:.3g}"]


def here(name: str, value: float, tol: float, points: Any) -> dict[str, Any]:
    """Solve with the version that is on the path; both say this in the same words."""
    import sharpfront as sf

    try:
        from sharpfront.catalog import listing
    except ImportError:  # as it was in version 0.1
        from sharpfront.statement.listing import listing
    entry, repeats, spent = listing()[name], 0, 0.0
    options = {} if entry.guess is None else {"guess": entry.guess}
    while spent < (1.0 if repeats < 2 else 0.3):
        repeats = max(1, 4 * repeats)
        problems, started = [entry.problem(value) for _ in range(repeats)], time.process_time()
        solutions = [sf.solve(problem, tol=tol, **options) for problem in problems]
        spent = time.process_time() - started
    problem, solution = problems[0], solutions[0]
    functions = solution.kernels
    if problem.time:
        functions = max((record.kernels for record in solution.history), default=0)
    fields = {n: getattr(solution, n, solution) for n in problem.unknowns} if points else {}
    return {
        "outcome": str(solution.outcome.kind.value),
        "functions": functions,
        "seconds": spent / repeats,
        "estimate": solution.error_estimate,
        "values": {n: np.asarray(fields[n](*points[0].T)) for n in (points[1] if points else ())},
    }


def found(checkout: Path, limit: float, row: tuple[str, float, float], truth: Any) -> Found:
    """Solve in a process of its own, which has the source of that checkout."""
    environment = os.environ | ONE_THREAD | {"PYTHONPATH": str(checkout / "src")}
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder, "given"), Path(folder, "made")
        points = None if truth is None else (truth[0], list(truth[1]))
        given.write_bytes(pickle.dumps((*row, points)))
        done = subprocess.run(
            [sys.executable, "-W", "ignore", __file__, "--here", str(given), str(made)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (int(limit),) * 2),
        )
        if done.returncode:
            words = done.stderr.strip().splitlines() or [""]
            return Found(f"not in {limit:g} s" if done.returncode < 0 else words[-1][:60])
        told = pickle.loads(made.read_bytes())
    values, error = told.pop("values"), np.nan
    if truth is not None:
        gaps = [np.max(np.abs(values[n] - exact)) for n, exact in truth[1].items()]
        size = max(1.0, *(np.max(np.abs(exact)) for exact in truth[1].values()))
        error = float(max(gaps) / size)
    return Found(**told, error=error)


def known(name: str, value: float) -> tuple[Any, dict[str, Any]] | None:
    """Return points (m, d) and the exact values there by unknown; None where none are known."""
    from tests.accuracy.spectral import reference

    from sharpfront.catalog import cloud, named

    entry = named(name)
    if not entry.has_exact and entry.dimension != "1 + t":
        return None
    exact = reference(entry, value)
    problem = entry.problem(value)
    if entry.dimension == "2 + t":
        places = cloud(problem.domain, PLACES)
        moments = np.linspace(*problem.time, MOMENTS + 1)[1:]
        points = np.concatenate([np.column_stack([places, 0 * places[:, 0] + t]) for t in moments])
    elif entry.has_points:
        points = entry.points(value).reshape(-1, len(problem.coordinates))
    else:
        points = cloud(problem.domain, PLACES)
    fields = exact if isinstance(exact, dict) else {"u": exact}
    return points, {n: np.asarray(f(*points.T)) for n, f in fields.items()}


def rows(names: list[str]) -> list[tuple[str, float, float]]:
    """Return names, values and tolerances."""
    from tests.accuracy import frozen

    from sharpfront.catalog import listing

    space = [(r["problem"], float(r["value"]), float(r["tol"])) for r in frozen.table("space")]
    asked = {name for name, _, _ in space}
    usual = {"1": 1e-8, "1 + t": 1e-6}
    rest = [
        (e.name, value, e.stated().options.get("tol") or usual.get(e.dimension, 1e-6))
        for e in listing().values()
        if e.name not in asked and e.name not in LINEAR
        for value in e.values
    ]
    return [row for row in space + rest if not names or row[0] in names]


def gain(before: Found, now: Found) -> float:
    """Return how many times as long it takes now, or 0 if only this version comes through."""
    if now.outcome != "converged":
        return np.inf
    return now.seconds / before.seconds if before.outcome == "converged" else 0.0


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path, help="another checkout")
    parser.add_argument("names", nargs="*", help="problems, all by default")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of the processor")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        told = here(*pickle.loads(options.old.read_bytes()))
        Path(options.names[0]).write_bytes(pickle.dumps(told))
        return
    lines = []
    for row in rows(options.names):
        truth = known(row[0], row[1])
        pair = tuple(found(path, options.limit, row, truth) for path in (options.old, ROOT))
        both = [cell for cells in zip(*(p.cells for p in pair), strict=True) for cell in cells]
        times = gain(*pair)
        ratio = f"{times:.2g}" if 0 < times < np.inf else ""
        lines.append(
            (-times, f"| {row[0]} {row[1]:.3g} | {row[2]:.0e} | {' | '.join(both)} | {ratio} |")
        )
        print(lines[-1][1], file=sys.stderr, flush=True)
    print("| problem | tol | functions | now | error | now | estimate | now | s | now | times |")
    print(f"| --- |{' ---: |' * 10}")
    print("\n".join(line for _, line in sorted(lines)))


if __name__ == "__main__":
    main()
