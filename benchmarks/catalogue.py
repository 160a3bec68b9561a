"""Every problem of the catalogue at its defaults, as ``sharpfront catalog run NAME`` solves it.

    python benchmarks/catalogue.py [--limit 60] [--markdown] [NAME ...]

Prints CPU seconds, the outcome, the tolerance, the estimate and the true error (none: no exact
solution is known). Each is solved in a process of its own, which ends at the limit. The aim is 20 s
of one core. With ``--markdown`` it prints the table of docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"
# This folder has a file named like a module of the standard library; it must not come first.
sys.path.append(sys.path.pop(0))

import time

from sharpfront.catalog import listing

AIM = 20.0
HEAD = ("problem", "seconds", "outcome", "tol", "estimate", "true error")


def row(name: str) -> list[str]:
    """Return one row of the table, solved here and now."""
    statement = listing()[name].stated()
    started = time.process_time()
    solution = statement.solve()
    seconds = time.process_time() - started
    errors = statement.true_errors(solution)
    error = f"{max(errors.values()):.1e}" if errors else ""
    numbers = (f"{solution.tol:.0e}", f"{solution.error_estimate:.1e}", error)
    return [name, f"{seconds:.1f}", str(solution.outcome.kind), *numbers]


def limited(name: str, limit: float) -> list[str]:
    """Return one row, solved in a process that ends at the limit."""
    spend = (int(limit), int(limit) + 1)
    done = subprocess.run(
        [sys.executable, __file__, "--here", name],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, spend),
    )
    if done.returncode == 0:
        return done.stdout.rstrip("\n").split("\t")
    why = f"more than {limit:.0f} s" if done.returncode < 0 else done.stderr.strip()[-60:]
    return [name, "", why, "", "", ""]


def shown(cells: list[str], markdown: bool) -> str:
    """Return a row as it is printed."""
    if markdown:
        return f"| {' | '.join(cells)} |"
    late = "  over the aim" if not cells[1] or float(cells[1]) > AIM else ""
    return (
        f"{cells[0]:26s} {cells[1]:>7s}  {cells[2]:26s} "
        + " ".join(f"{c:>9s}" for c in cells[3:])
        + late
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of the processor")
    parser.add_argument("--markdown", action="store_true", help="for docs/benchmarks.md")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        print("\t".join(row(options.names[0])))
        return
    if options.markdown:
        print(f"| {' | '.join(HEAD)} |\n| --- | ---: | --- | ---: | ---: | ---: |")
    for name in options.names or listing():
        print(shown(limited(name, options.limit), options.markdown), flush=True)


if __name__ == "__main__":
    main()
