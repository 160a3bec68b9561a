"""Every problem of the catalogue at its defaults, as ``sharpfront catalog run NAME`` solves it.

    python benchmarks/catalogue.py [NAME ...]

Prints CPU seconds, the outcome, the estimate and the true error (NaN: no exact solution known).
"""

from __future__ import annotations

import sys
import time

import sharpfront as sf
from sharpfront.statement.listing import Listed, listing


def line(listed: Listed) -> str:
    """Return one line of the table."""
    statement = listed.stated()
    started = time.process_time()
    solution = sf.solve(
        statement.problem, **({} if listed.guess is None else {"guess": listed.guess})
    )
    seconds = time.process_time() - started
    error = max(statement.true_errors(solution).values(), default=float("nan"))
    return (
        f"{listed.name:28s} {seconds:8.1f} s  {solution.outcome.kind:24s} "
        f"{solution.error_estimate:9.1e} {error:9.1e}"
    )


if __name__ == "__main__":
    for entry in listing().values():
        if not sys.argv[1:] or entry.name in sys.argv[1:]:
            print(line(entry), flush=True)
