"""Problems in time against the method of lines and py-pde, time to an equal true error.

Run by hand: ``python benchmarks/time.py``. One process, one BLAS thread, medians of up to three
runs, in seconds of the processor, which other work on the machine changes least. Errors are
relative L2 over space and time, by a rule that follows the fronts. Each peer is asked for the error
that ours had, and gets the cheapest of its grids, orders and tolerances that meets it; ">" means
that it did not within the time it was given, beside the best error it had.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

# This folder has a file named like a module of the standard library; it must not come first.
sys.path.append(sys.path.pop(0))
sys.path.append(str(Path(__file__).parents[1] / "tests" / "accuracy"))

from dataclasses import dataclass
from time import process_time

import numpy as np
from lines import Exact, OutOfTimeError, Peer, peer, py_pde
from spectral import reference

import sharpfront as sf
from sharpfront.arrays import blas_threads
from sharpfront.catalog import Entry, listing
from sharpfront.measure import max_error, time_rule

# A peer is not asked for less than what its own rounding leaves it.
_LEAST = 1e-11


class EndedError(Exception):
    """Our solution does not cover the span."""


@dataclass(frozen=True)
class Ours:
    """What our solve came to."""

    solution: sf.Solution
    error: float  # relative, in L2 of space-time
    largest: float
    seconds: float

    @property
    def cells(self) -> list[str]:
        """The cells of the table: errors, kernels, steps, seconds, estimate over error."""
        steps = self.solution.history
        kernels = max((s.kernels for s in steps), default=0)
        share = self.solution.error_estimate / self.largest
        kind = "" if self.solution.converged else f" ({self.solution.outcome.kind.value})"
        return [
            f"{self.error:.1e}{kind}",
            f"{self.largest:.1e}",
            f"{kernels}",
            f"{len(steps)}",
            f"{self.seconds:.2f}",
            f"{share:.1f}",
        ]


def ours(entry: Entry, value: float, tol: float, exact: Exact, limit: float) -> Ours:
    """Return our solution with its error and the median of its times."""
    spent: list[float] = []
    while len(spent) < 3 and sum(spent) < 6.0:
        problem, started = entry.problem(value), process_time()

        def watch(_: object, stop: float = started + limit) -> None:
            if process_time() > stop:
                raise OutOfTimeError(f"not within {limit:g} s")

        solution = sf.solve(problem, tol=tol, on_step=watch)
        spent.append(process_time() - started)
    reached, end = solution.domain.time[1], problem.time[1]
    if reached < end:
        # An error over a part of the span is no error to ask a peer for over the whole of it.
        raise EndedError(f"{solution.outcome.kind.value} at t = {reached:.3g} of {end:g}")
    rule = time_rule(entry, value)
    error, largest = rule.error(solution, exact), max_error(solution, exact, rule.points)
    return Ours(solution, error, largest, float(np.median(spent)))


def against(found: Peer, seconds: float, limit: float) -> str:
    """Return the cell of a peer: its time, how many times ours, and its grid."""
    if np.isnan(found.seconds):
        return "-"
    if np.isfinite(found.seconds):
        return f"{found.seconds:.2f}, {found.seconds / seconds:.2f}x ({found.grid})"
    ratio = f">{limit:g}, >{limit / seconds:.1f}x"
    return f"{ratio} ({found.grid}; best {found.error:.0e})"


def row(entry: Entry, value: float, tol: float, options: argparse.Namespace) -> str:
    """Return a row of the table."""
    name = f"{entry.name} {value:.3g}"
    exact = reference(entry, value)
    try:
        mine = ours(entry, value, tol, exact, options.limit)
    except (OutOfTimeError, EndedError, sf.SharpfrontError) as reason:
        return f"| {name} | {tol:.0e} | {str(reason).splitlines()[0][:80]} | | | | | | | |"
    cells = [name, f"{tol:.0e}", *mine.cells]
    error = max(mine.error, _LEAST)
    for each in () if options.alone else (peer, py_pde):
        if each is py_pde and not options.pypde:
            continue
        found = each(entry, value, error, exact, options.limit)
        cells.append(against(found, mine.seconds, options.limit))
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[""], help="parts of the problems' names")
    parser.add_argument("--tol", nargs="*", type=float, default=[1e-6], help="tolerances")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for a run")
    parser.add_argument("--alone", action="store_true", help="without the peers")
    parser.add_argument("--pypde", action="store_true", help="py-pde too: it compiles for long")
    options = parser.parse_args()
    peers = [] if options.alone else ["lines, s, ratio", *(["py-pde"] if options.pypde else [])]
    heads = ["problem", "tol", "relative L2", "max", "kernels", "steps", "s", "estimate / max"]
    print(f"| {' | '.join([*heads, *peers])} |")
    print(f"| --- |{' ---: |' * (len(heads) - 1)}{' --- |' * len(peers)}")
    with blas_threads(1):
        for entry in (e for e in listing().values() if e.dimension == "1 + t"):
            if any(part in entry.name for part in options.only):
                for value in entry.values:
                    for tol in options.tol:
                        print(row(entry, value, tol, options), flush=True)


if __name__ == "__main__":
    main()
