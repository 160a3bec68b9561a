"""Whether a stable solution of the line is one of several.

About a solution u with operator L the function s of L s = 1 without data knows the conditions, and
how wide the layers are. If it has one sign no mode grows (for equations of second order by the
maximum principle), and u is what u_t = -+F(u) goes to.

Along u + h s Galerkin's method with one function has another solution where
<F(u + h s) - F(u), s> / h changes its sign. Where F is monotone it never does, and nothing else is
done: that costs one back substitution on cells and one run of the equation. Elsewhere Newton's
method with u divided out starts there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sharpfront.arrays import FloatArray, largest
from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.estimate.cells import CellSystem, Grid, grid
from sharpfront.newton.cells import CellCorrector
from sharpfront.newton.iterate import LineTable
from sharpfront.newton.other_solutions import deflated, other_near
from sharpfront.rounding import SLIGHT

# Heights of h s that are tried, up and down, as parts of the largest |u|. Bratu's upper solution is
# 300 times as large as the lower one at a hundredth of the critical parameter.
ALONG = np.geomspace(0.03, 3e3, 41)
# Cells at which the equation is asked.
ASKED = 48
# Below this share of what is added up nothing is told by a sum.
CANCELLED = 0.05
# Solutions of Galerkin's method that are gone to in either direction.
CROSSINGS = 3
# States between two solutions, and how many times larger a pole is if looked at that much closer.
BETWEEN, POLE = 65, 5.0


@dataclass(frozen=True, eq=False)
class Branch:
    """A solution on cells, with what L s = 1 says about it."""

    table: LineTable
    response: FloatArray  # s and its derivatives at the nodes; empty where L is singular

    @classmethod
    def of(cls, table: LineTable, system: CellSystem | None) -> Branch:
        """Return a solution with the response of its linearisation, None where that is singular."""
        if system is None:
            return cls(table, np.zeros((0, 0)))
        ones, nothing = np.ones(len(system.grid.steps)), np.zeros(len(system.conditions))
        with np.errstate(all="ignore"):
            response = system.solve(ones, nothing)
        return cls(table, response if np.isfinite(response).all() else np.zeros((0, 0)))

    @property
    def sign(self) -> int:
        """The sign of s; 0 if it has both, or there is no s."""
        if not self.response.size:
            return 0
        s = self.response[0]
        low, high = float(s.min()), float(s.max())
        if min(-low, high) > SLIGHT * max(-low, high):
            return 0
        return 1 if high > -low else -1


def several(
    cells: CellCorrector, known: LineTable, system: CellSystem, ended: Outcome
) -> Outcome | None:
    """Return how a solve ends that found a stable solution, if there is another one; else None.

    Another stable one is just as likely meant. One about which disturbances grow is told of, and
    does not speak against the answer.
    """
    first = Branch.of(known, system)
    if not first.sign:
        return None
    growing = None
    for other, size in _others(cells, first):
        found = cells.discovery(other)
        if Branch.of(other, found.system if found else None).sign == first.sign:
            detail = f"There is another solution that differs from this one by {size:.2g}"
            return Outcome(OutcomeKind.SEVERAL_SOLUTIONS, f"{detail}, and is as stable.")
        growing = growing or size
    if growing is None:
        return None
    words = (
        f"There is another solution, which differs from this one by {growing:.2g}; disturbances "
        "grow about it. guess= near it finds it."
    )
    return replace(ended, detail=f"{ended.detail} {words}".strip())


def _others(cells: CellCorrector, first: Branch) -> Iterator[tuple[LineTable, float]]:
    """Yield other solutions, confirmed on finer cells, and how far they are from the first.

    Behind each comes what lies beyond it.
    """
    known = first.table
    for start in _starts(cells, first):
        found = deflated(cells, known, start)
        other = _apart(cells, found, known) if found is not None else None
        if other is None:
            continue
        yield other
        beyond = LineTable(known.nodes, 2.0 * other[0].on(known.nodes).levels - known.levels)
        third = _apart(cells, beyond, known)
        if third is not None:
            yield third


def _apart(
    cells: CellCorrector, near: LineTable, known: LineTable
) -> tuple[LineTable, float] | None:
    """Return what `other_near` does, but nothing beyond a pole."""
    other = other_near(cells, known, near)
    if other is None or not _finite_between(cells, known, other[0].on(known.nodes)):
        return None
    return other


def _finite_between(cells: CellCorrector, known: LineTable, other: LineTable) -> bool:
    """Tell whether the equation is finite at all states between two solutions.

    Cells step over a pole of u / (0.1 + u), and what lies behind it solves nothing. Looked at
    closely where it is largest, a pole is larger still.
    """
    tangent, asked = cells.tangent, _Asked.of(known.nodes, len(known.nodes) - 1)
    u, step = asked.means(known, tangent.needed), {}
    for j, there in asked.means(other, tangent.needed).items():
        step[j] = there - u[j]

    def between(shares: FloatArray) -> FloatArray:
        put = {j: (u[j] + shares * step[j]).ravel() for j in u}
        many = np.broadcast_to(asked.x, shares.shape).ravel()
        return np.abs(tangent.residuals(put, many)).reshape(shares.shape)

    even = np.linspace(0.0, 1.0, BETWEEN)[:, None] + np.zeros(len(asked.x))
    sizes = between(even)
    highest = np.take_along_axis(even, sizes.argmax(axis=0)[None], axis=0)
    close = between(np.clip(highest + (even - 0.5) * 2.0 / (BETWEEN - 1), 0.0, 1.0))
    if not (np.isfinite(sizes).all() and np.isfinite(close).all()):
        return False
    return bool((close.max(axis=0) <= POLE * sizes.max(axis=0)).all())


@dataclass(frozen=True, eq=False)
class _Asked:
    """Some cells of a grid, at whose middles the equation is asked."""

    points: Grid
    chosen: FloatArray

    @classmethod
    def of(cls, nodes: FloatArray, most: int) -> _Asked:
        return cls(grid(nodes), np.unique(np.linspace(0, len(nodes) - 2, most).astype(int)))

    @property
    def x(self) -> FloatArray:
        return np.asarray(self.points.middles[self.chosen])

    def means(self, table: LineTable, orders: Sequence[int]) -> dict[int, FloatArray]:
        return {j: v[self.chosen] for j, v in table.means(self.points, orders).items()}


def _starts(cells: CellCorrector, first: Branch) -> Iterator[LineTable]:
    """Yield u + h s at the heights where Galerkin's method finds a solution, up and down."""
    table, unit = first.table, largest(first.table.levels[0]) / largest(first.response[0])
    every = unit * np.concatenate([ALONG, -ALONG])
    shares = projected(cells, first, every)
    for heights, share in zip(np.split(every, 2), np.split(shares, 2), strict=True):
        # Terms that cancel, as those of u u' do, leave errors of the quadrature.
        told = np.flatnonzero(np.abs(share) > CANCELLED)
        heights, share = heights[told], share[told]
        crossed = np.flatnonzero(share[1:] * share[:-1] < 0)
        if not crossed.size or share[0] < 0:
            continue
        for i in crossed[:CROSSINGS]:
            part = share[i] / (share[i] - share[i + 1])
            height = heights[i] + part * (heights[i + 1] - heights[i])
            yield LineTable(table.nodes, table.levels + height * first.response)


def projected(cells: CellCorrector, first: Branch, heights: FloatArray) -> FloatArray:
    """Return <g, s> / <|g|, |s|> for g = (F(u + h s) - F(u)) / h, for each height h.

    Where h is small that is 1, for g is. The equation is linear in those derivatives of u that are
    not needed, and L s = 1 tells their share.
    """
    tangent, asked = cells.tangent, _Asked.of(first.table.nodes, ASKED)
    x, u = asked.x, asked.means(first.table, tangent.needed)
    s = asked.means(LineTable(first.table.nodes, first.response), [*tangent.needed, 0])
    slopes = tangent.filled(u, 1.0, x)
    rest = 1.0 - sum((slopes[j] * s[j] for j in tangent.needed), np.zeros(len(x)))
    put = {j: (u[j] + heights[:, None] * s[j]).ravel() for j in tangent.needed}
    many = np.tile(x, len(heights))
    moved = tangent.residuals(put, many).reshape(len(heights), -1) - tangent.residuals(u, x)
    with np.errstate(all="ignore"):
        parts = (moved / heights[:, None] + rest) * (np.gradient(x) * first.sign * s[0])
        return np.asarray(np.nan_to_num(parts.sum(axis=1) / np.abs(parts).sum(axis=1)))
