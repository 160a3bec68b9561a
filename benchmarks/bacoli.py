"""Problems in time against BACOLI and BACOLRI, compiled, at an equal true error.

The peer is Fortran 77 from the source distribution of bacoli_py on PyPI, run as a rival of
`sharpfront.compare`, which writes the problem as Fortran and compiles both with gfortran::

    pip download --no-deps --no-binary :all: bacoli_py
    tar xzf bacoli_py-1.0.31.0.3.tar.gz
    SHARPFRONT_BACOLI=bacoli_py-1.0.31.0.3/bacoli_py/lib python benchmarks/bacoli.py

Errors are relative to max(1, max|u|), against an exact solution or our own one that is a hundred
times stricter. The peer gets the cheapest of its settings whose error is not above ours.
"""

from __future__ import annotations

import argparse
import math
import sys

# This folder has a file named like a module of the standard library; it must not come first.
sys.path.append(sys.path.pop(0))

from bacoli_problems import PROBLEMS, Race

import sharpfront as sf


def rows(race: Race, seconds: float) -> list[tuple[float, str]]:
    """Return how many times faster we are at each error of ours, and the rows of the table."""
    found = sf.compare(race.problem(), exact=race.exact, methods=["bacoli"], seconds=seconds)
    ours, peer = found.lane("ours"), found.lane("bacoli")
    out = []
    for mark in ours.marks:
        good = [m for m in peer.marks if m.error <= mark.error]
        best = min(good, key=lambda m: m.seconds, default=None)
        ratio = best.seconds / mark.seconds if best else math.inf
        theirs = f"{1e3 * best.seconds:.0f} | {best.setting}" if best else f" | {peer.failure}"
        own = f"{mark.setting} | {mark.error:.1e} | {1e3 * mark.seconds:.0f}"
        out.append((ratio, f"| {race.name} | {own} | {theirs} |"))
    return out


def main() -> None:
    """Print the table, losses first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[""], help="parts of the problems' names")
    parser.add_argument("--seconds", type=float, default=5.0)
    options = parser.parse_args()
    chosen = [race for race in PROBLEMS if any(part in race.name for part in options.only)]
    found = [row for race in chosen for row in rows(race, options.seconds)]
    print("| problem | tol | error | ours, ms | BACOLI, ms | which |")
    print("| --- | --- | ---: | ---: | ---: | --- |")
    for _, words in sorted(found, key=lambda row: row[0]):
        print(words)


if __name__ == "__main__":
    main()
