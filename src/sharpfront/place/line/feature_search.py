"""Where the features are: solve on an even grid, look, refine there, until nothing jumps any more.

The monitor of a cell is the sum, over the quantities that ever jumped, of their share of variation
in the cell. The quantities are u, u', ..., u^(m-1) of the fitted scheme, the coefficients and the
source.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.estimate.cells import CellSystem, Grid, grid
from sharpfront.place.line.breakpoints import Cut, Survey
from sharpfront.place.line.end_layers import Rates, graded_nodes, layers_at_ends
from sharpfront.place.line.settings import LINE
from sharpfront.problem.line_problem import LineProblem, Term
from sharpfront.rounding import SAME


@dataclass(frozen=True, eq=False)
class Discovery:
    """The last grid with the solution on it."""

    system: CellSystem  # the discrete operator
    solution: FloatArray  # u, ..., u^(m-1) at the nodes
    source: FloatArray  # at the middles
    monitor: FloatArray | None  # mass per cell; None if nothing was found
    layers: Rates | None = None  # layers at the ends, where coefficients tell of them


def special_points(problem: LineProblem, cuts: Sequence[Cut]) -> FloatArray:
    """Return positions that must be nodes: cuts and conditions inside."""
    low, high = problem.interval
    terms = [t for c in problem.conditions for t in c.terms if isinstance(t, Term)]
    inner = {t.x for t in terms if low < t.x < high}
    return np.array(sorted(inner | {c.above for c in cuts}))


def discover(problem: LineProblem, fixed: FloatArray, cuts: FloatArray, seen: Survey) -> Discovery:
    """Refine until every followed quantity is resolved; what once jumped stays followed.

    Fixed positions must be nodes; cuts are jumps, which are no features to be resolved.
    """
    layers = layers_at_ends(problem, seen)
    points = _first_grid(*problem.interval)
    if layers is not None:
        points = grid(graded_nodes(problem.interval, layers))
    points = _with_fixed(points.nodes, fixed) if len(fixed) else points
    dense = len(seen.x) > len(seen.even)
    # Rows of the survey that belong to functions that vary.
    varying = [i for i, f in enumerate(problem.functions) if callable(f)]
    varying += range(len(problem.functions), len(seen.rows))
    rows, small = [seen.rows[i] for i in varying], list[FloatArray]()
    cells, limit, followed = LINE.cells, LINE.first_jump, list[bool]()
    if layers is not None:
        # Layers do not jump on these cells, and are followed all the same.
        limit, followed = LINE.jump, [True] * 2 + [False] * len(varying)
    for turn in range(LINE.rounds):
        data = problem.sample(points.middles)
        system = CellSystem(points, data[:-1], problem.conditions)
        u = system.solve(data[-1], problem.values)
        change = variations(points, u, _watched(problem, points, data), cuts)
        if rows and (turn == 0 or dense):
            # What is narrower than the cells is lost between their middles.
            told = _surveyed(points, seen.x, rows, cuts)
            change[len(u) :] = told if turn == 0 else np.maximum(told, change[len(u) :])
            if turn == 0:
                seldom = zip((seen.narrow[i] for i in varying), told.max(axis=1), strict=True)
                small = [off for off, most in seldom if off is not None and most <= limit]
        # And what is small beside the rest of its function.
        if small:
            change = np.concatenate([change, _surveyed(points, seen.x, small, cuts)])
        jumping = [most > limit for most in np.maximum.reduce(change, axis=1).tolist()]
        followed = [a or b for a, b in zip(followed or jumping, jumping, strict=True)]
        if not any(followed):
            return Discovery(system, u, data[-1], None)
        mass, total = monitor(change, followed, len(u))
        if not total > 0.0:
            return Discovery(system, u, data[-1], None)
        if limit == LINE.jump and not any(jumping):
            break
        cells = max(cells, int(LINE.enough * total / LINE.jump))
        cells = min(int(1.5 * cells) if turn >= 3 else cells, LINE.most_cells)
        points = _with_fixed(equal_shares(points, mass, cells), fixed)
        limit = LINE.jump
    return Discovery(system, u, data[-1], mass, layers)


@lru_cache(maxsize=4)
def _first_grid(low: float, high: float) -> Grid:
    """Return the first grid."""
    points = grid(np.linspace(low, high, LINE.first_cells + 1))
    for part in points:
        part.flags.writeable = False
    return points


def _watched(problem: LineProblem, points: Grid, data: FloatArray) -> list[FloatArray]:
    """Return coefficients, source and weights that vary, at the middles."""
    own = [q for q, f in zip(data, problem.functions, strict=True) if callable(f)]
    return [*own, *[weight(points.middles) for weight in problem.weights]]


def monitor(
    change: FloatArray, followed: Sequence[bool] = (), derivatives: int | None = None
) -> tuple[FloatArray, float]:
    """Return the mass per cell, and the most that a followed quantity varies in all.

    The mass is made of shares of variation, each derivative weighing half the last. All rows are
    followed, and derivatives, unless said otherwise.
    """
    followed = followed or [True] * len(change)
    derivatives = len(change) if derivatives is None else derivatives
    totals = np.add.reduce(change, axis=1).tolist()
    # What was seen in the survey may lie between the middles of a grid.
    weights = [
        (0.5**j if j < derivatives else 1.0) / max(total, 1e-300) if own else 0.0
        for j, (own, total) in enumerate(zip(followed, totals, strict=True))
    ]
    return np.array(weights) @ change, max(itertools.compress(totals, followed))


def variations(
    points: Grid,
    u: FloatArray,
    data: Sequence[FloatArray] = (),
    cuts: Sequence[float] | FloatArray = (),
) -> FloatArray:
    """Return |change| over each cell over the quantity's range, (quantities, n).

    Given are u, u', ... at the nodes, and functions at the middles, which may jump at cuts.
    Derivative j of u must jump twice as far as derivative j - 1 to be followed: kernels serve u
    first.
    """
    highest, lowest = np.maximum.reduce(u, axis=1).tolist(), np.minimum.reduce(u, axis=1).tolist()
    length, size = float(points.nodes[-1] - points.nodes[0]), max(highest[0], -lowest[0])
    out = np.empty((len(u) + len(data), len(points.steps)))
    for j, row in enumerate(out[: len(u)]):
        spread = highest[j] - lowest[j]
        share = 0.5**j / spread if spread > SAME * size / length**j else 0.0
        np.abs((u[j, 1:] - u[j, :-1]) * share, out=row)
    breaks = np.searchsorted(points.nodes, cuts) if len(cuts) else None
    if breaks is not None:
        # The highest derivative jumps where the data do: that is no feature to resolve.
        last = out[len(u) - 1]
        last[np.concatenate([breaks - 1, np.minimum(breaks, len(last) - 1)])] = 0.0
    for row, q in zip(out[len(u) :], data, strict=True):
        row[:] = changes_between(q, breaks)
    return out


def changes_between(q: FloatArray, breaks: NDArray[np.int64] | None = None) -> FloatArray:
    """Return changes between neighbouring middles over the range, half to each cell.

    A jump at a break is not a feature to resolve.
    """
    spread = q.max() - q.min()
    out = np.zeros(len(q))
    if spread <= SAME * np.abs(q).max():
        return out
    step = 0.5 * np.abs(q[1:] - q[:-1]) / spread
    if breaks is not None:
        step[breaks - 1] = 0.0
    out[1:] += step
    out[:-1] += step
    return out


def _surveyed(
    points: Grid, x: FloatArray, rows: Sequence[FloatArray | None], cuts: FloatArray
) -> FloatArray:
    """Return the variation of each function within each cell over its range, from the survey.

    A spike between two middles of the grid still moves the total variation of its cell.
    """
    out = np.zeros((len(rows), len(points.steps)))
    if all(y is None for y in rows):
        return out
    for row, y in zip(out, rows, strict=True):
        if y is not None:
            step = np.abs(y[1:] - y[:-1]) / (y.max() - y.min())
            if len(cuts):
                step[np.clip(np.searchsorted(x, cuts), 1, len(step)) - 1] = 0.0
            # A step between two places is shared by the cells that lie between them.
            row[:] = np.diff(np.interp(points.nodes, x, summed(step)))
    return out


def smeared(mass: FloatArray, cells: int) -> FloatArray:
    """Return the mass smoothed over cells."""
    # The hat is even, so that this is the convolution.
    return np.correlate(mass, _hat(cells), "same") if len(mass) > 2 * cells else mass


@lru_cache(maxsize=8)
def _hat(cells: int) -> FloatArray:
    kernel = np.bartlett(2 * cells + 1)[1:-1]
    return np.asarray(kernel / kernel.sum())


def summed(content: FloatArray) -> FloatArray:
    """Return the sums of the contents of cells from the first on, zero before it, (n + 1,)."""
    out = np.empty(len(content) + 1)
    out[0] = 0.0
    content.cumsum(out=out[1:])
    return out


def concentrated(points: Grid, monitor: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return edges and masses with cells split that are much wider than a neighbour.

    Most of their mass goes beside that neighbour: the tail of a layer falls off fast, and taking
    its last wide cell as evenly filled would invent a wide feature.
    """
    h = points.steps
    if 0.8 * np.maximum.reduce(h) <= LINE.grading * np.minimum.reduce(h):
        return points.nodes, monitor
    beyond = np.empty(len(h) + 2)
    beyond[0], beyond[1:-1], beyond[-1] = np.inf, h, np.inf
    left, right = beyond[:-2], beyond[2:]
    width = np.minimum(left, right)
    width *= LINE.grading
    wide = (width < 0.8 * h).nonzero()[0]
    if wide.size == 0:
        return points.nodes, monitor
    to_left = left[wide] < right[wide]
    cut = np.where(to_left, points.nodes[wide] + width[wide], points.nodes[wide + 1] - width[wide])
    beside = np.where(to_left, wide - 1, wide + 1)
    # Never denser than beside.
    near = np.minimum(LINE.near * monitor[wide], monitor[beside] / h[beside] * width[wide])
    mass = monitor.copy()
    mass[wide] = np.where(to_left, near, monitor[wide] - near)
    return _inserted(points.nodes, wide, cut), _inserted(mass, wide, monitor[wide] - mass[wide])


def _inserted(row: FloatArray, after: NDArray[np.int64], values: FloatArray) -> FloatArray:
    """Return a row with values after some of its entries, whose indices increase.

    A quarter of the time of np.insert.
    """
    out = np.empty(len(row) + len(values))
    new = after + np.arange(1, len(values) + 1)
    old = np.ones(len(out), dtype=bool)
    old[new] = False
    out[old], out[new] = row, values
    return out


def equal_shares(points: Grid, mass: FloatArray, cells: int) -> FloatArray:
    """Return nodes at equal shares of 0.42 d + 0.28 sqrt(d h) + 0.3 h, d the smeared monitor."""
    edges, mass = concentrated(points, mass)
    h = (edges[1:] - edges[:-1]) / (edges[-1] - edges[0])
    d = smeared(mass, LINE.smear)
    d /= np.add.reduce(d)
    mixed = np.sqrt(d * h)
    mixed *= 0.28 / np.add.reduce(mixed)
    share = summed(0.42 * d + mixed + 0.3 * h)
    nodes = np.interp(np.arange(cells + 1) / cells, share / share[-1], edges)
    nodes[0], nodes[-1] = points.nodes[0], points.nodes[-1]
    return nodes if (nodes[1:] > nodes[:-1]).all() else np.unique(nodes)


def _with_fixed(nodes: FloatArray, fixed: FloatArray) -> Grid:
    """Return the grid with fixed points among its nodes; nodes too close to one give way."""
    if len(fixed) == 0:
        return grid(nodes)
    h = np.diff(nodes)
    reach = 0.4 * np.minimum(np.append(h, np.inf), np.append(np.inf, h))
    i = np.clip(np.searchsorted(fixed, nodes), 1, len(fixed)) - 1
    following = np.minimum(i + 1, len(fixed) - 1)
    gap = np.minimum(np.abs(nodes - fixed[i]), np.abs(nodes - fixed[following]))
    keep = gap > reach
    keep[0] = keep[-1] = True
    return grid(np.union1d(nodes[keep], fixed))
