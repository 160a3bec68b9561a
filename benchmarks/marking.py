"""Which patches are refined: by their own tails, or by a mixture fitted to the tails of all.

Run by hand: ``python benchmarks/marking.py [SEED ...]``. Problems are fronts and wakes drawn as in
`sensitivity.py`, and published ones of `engine.py` that take several solves. Plain marking is what
the library does: a patch is refined if its tail is above the aim and above a share of the longest.
With a mixture, Gaussians are fitted by weighted EM to the middles of patches, with logarithms of
their tails over the aim as weights; a patch is refined if its tail is above the aim and the
mixture's density there is above a share of its largest one ("near"), or if that is so of the
density alone, whatever its own tail ("and around").
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from engine import error_of
from suites import nist, scalar, systems
from suites.row import Row

import sensitivity
import sharpfront as sf
from sharpfront.mixture import fit
from sharpfront.place.patches import refine
from sharpfront.place.patches.cuts import Cell
from sharpfront.place.patches.tails import Tails

COMPONENTS, SHARE = 6, 0.05


def density(cells: Sequence[Cell], longest: np.ndarray, aim: float) -> np.ndarray | None:
    """Return the mixture's density at the middles of patches, in units of its largest."""
    middles = np.array([c.patch.points([np.zeros(1)] * c.patch.dimension)[0] for c in cells])
    weights = np.maximum(np.log(np.maximum(longest, 1e-300) / aim), 0.0)
    count = min(COMPONENTS, np.count_nonzero(weights))
    if count < 2:
        return None
    sizes = np.array([c.patch.shortest for c in cells])
    mixture = fit(middles, weights, count, floor=0.5 * float(sizes.min()))
    found = np.exp(mixture.log_density(middles))
    return found / found.max()


@contextmanager
def marked(how: str) -> Iterator[None]:
    """Refine by a mixture for a while."""
    plain = refine._in_turn

    def in_turn(
        cells: Sequence[Cell], tails: Tails, aim: float, disturbed: float
    ) -> tuple[Tails, float]:
        longest = tails.tail.max(axis=1)
        near = density(cells, longest, aim)
        if near is None:
            return plain(cells, tails, aim, disturbed)
        own = near >= SHARE
        kept = np.where(own[:, None], tails.tail, 0.0)
        if how == "and around":
            kept = np.where(own[:, None] & (tails.tail <= aim), 1.001 * aim, kept)
        if not (kept > aim).any():
            return plain(cells, tails, aim, disturbed)
        return replace(tails, tail=kept), aim

    if how != "plain":
        refine._in_turn = in_turn
    try:
        yield
    finally:
        refine._in_turn = plain


PUBLISHED = ("IFISS 2", "u = 0 all round", "wave front, mild", "1/(10 pi)", "7 line", "Stokes")


def rows(seeds: Sequence[int]) -> Iterator[Row]:
    """Yield problems that take several solves."""
    for seed in seeds:
        yield from (row for row in sensitivity.drawn(seed) if row.name in ("front", "wake"))
    every = itertools.chain(nist.rows(), scalar.rows(), systems.rows())
    yield from (row for row in every if any(name in row.name for name in PUBLISHED))


def main() -> None:
    """Run and print."""
    print("| problem | marking | functions | solves | s | estimate | error | converged |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |")
    for row in rows([int(s) for s in sys.argv[1:]] or range(4, 10)):
        for how in ("plain", "near", "and around"):
            with marked(how):
                started = time.process_time()
                solution = sf.solve(row.problem(), tol=row.tol)
                seconds = time.process_time() - started
            error = max((error_of(solution, f, u) for u, f in row.exact.items()), default=np.nan)
            print(
                f"| {row.name} | {how} | {solution.kernels} | {len(solution.history)} | "
                f"{seconds:.1f} | {solution.error_estimate:.1e} | {error:.1e} | "
                f"{'yes' if solution.converged else 'no'} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
