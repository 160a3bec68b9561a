"""Write anew the frozen tables of ``tests/accuracy``: what solves cost, their errors and estimates.

    python benchmarks/freeze.py space|time [NAME ...]

Solves the rows of the problems named, or all, and writes what they give today. What became worse is
to be read in the difference that version control shows: a test only says that something changed.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from pathlib import Path

# This folder has a file named like a module of the standard library; it must not come first.
sys.path[0] = str(Path(__file__).resolve().parent.parent)

from tests.accuracy import frozen, test_space_accuracy, test_time

MEASURED = {"space": test_space_accuracy.measured, "time": test_time.measured}


def main() -> None:
    """Solve the rows and write the table after each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", choices=MEASURED)
    parser.add_argument("names", nargs="*", help="problems, all by default")
    options = parser.parse_args()
    rows = frozen.table(options.table)
    for row in rows:
        if options.names and row["problem"] not in options.names:
            continue
        started = time.process_time()
        solution, found = MEASURED[options.table](row)
        row |= {
            word: f"{number:.3g}" if isinstance(number, float) else str(number)
            for word, number in found.items()
        }
        seconds = time.process_time() - started
        print(*row.values(), f"{solution.outcome.kind} {seconds:.1f} s", flush=True)
        with frozen.path(options.table).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(row), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
