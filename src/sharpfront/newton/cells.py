"""The nonlinear problem on cells of the line: where its features are, before any kernel is placed.

Newton on the exponentially fitted scheme costs well below a millisecond a step. Between rounds the
grid is moved to where the solution changes, until nothing jumps any more. Where Newton fails, the
derivatives of the highest order are made larger and led back to what was stated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import FloatArray, largest
from sharpfront.errors import EquationError
from sharpfront.estimate.cells import CellSystem, Grid, SingularCellsError, grid
from sharpfront.newton.damped import ROUNDING, Newton, Rules, continued, newton
from sharpfront.newton.iterate import Constants, Iterate, LineTable
from sharpfront.newton.line_tangent import LineTangent
from sharpfront.place.line.breakpoints import Survey
from sharpfront.place.line.discover import Discovery, equal_shares, monitor, variations
from sharpfront.problem.line_problem import LineProblem

# Cells of the first grid, and the fewest of later ones.
FIRST, CELLS = 200, 200
# A quantity is followed if it changes by more than this share of its range within a cell: on the
# first grid where a feature is thinner than a fifteenth, later until it is resolved.
FIRST_JUMP, JUMP = 15.0 / FIRST, 0.10
REMESHINGS = 8
# Cells for each JUMP of total variation.
ENOUGH = 3.0
# After a correction below this share of the solution the next is no larger than the cells' error.
ON_CELLS = 1e-2
# Linear solves of one attempt, and of all of them together.
ATTEMPT, MOST_SOLVES = 15, 300


@dataclass(frozen=True, eq=False)
class Cells:
    """A solution on cells, or how far it came."""

    table: LineTable  # nodal values
    linear: LineProblem  # the linear problem about it, in its plain form
    # The last grid with its operator, as discovery hands it to the placement of kernels; None where
    # the difference equations are singular.
    found: Discovery | None
    # The attempts, with the factor on the highest derivatives of each.
    history: tuple[tuple[float, Newton[LineTable]], ...]
    converged: bool  # whether it solves the problem that was stated

    @property
    def attempted(self) -> bool:
        """Whether any linearisation had a solution."""
        return any(attempt.changes for _, attempt in self.history)

    @property
    def solves(self) -> int:
        """Linear solves on cells."""
        return sum(attempt.solves for _, attempt in self.history)


class _CellSearch:
    """Attempts on one problem; counts them."""

    def __init__(self, tangent: LineTangent, even: FloatArray | None, fixed: FloatArray) -> None:
        self.tangent = tangent
        self.even = even
        self.fixed = fixed
        self.history: list[tuple[float, Newton[LineTable]]] = []

    @property
    def exhausted(self) -> bool:
        return sum(attempt.solves for _, attempt in self.history) > MOST_SOLVES

    def settled(self, start: LineTable, stiffness: float) -> LineTable | None:
        """Return the solution on a grid that resolves it, or None if Newton fails."""
        table = start
        limit = FIRST_JUMP if start.nodes is self.even else JUMP
        for turn in range(REMESHINGS):
            points = grid(table.nodes)
            attempt = newton(table, _rules(self.tangent, stiffness, points), ON_CELLS, ATTEMPT)
            self.history.append((stiffness, attempt))
            if not attempt.converged:
                return None
            table = attempt.iterate
            change = variations(points, table.levels)
            if change.max() <= limit:
                break
            table, limit = self.regridded(table, change, 1.5 ** max(0, turn - 2)), JUMP
        return table

    def regridded(self, table: LineTable, change: FloatArray, more: float) -> LineTable:
        """Return the table on nodes at equal shares of its variation."""
        cells = int(more * _enough(change))
        nodes = equal_shares(grid(table.nodes), monitor(change)[0], cells)
        nodes = _moved(nodes, self.fixed)
        levels = [np.interp(nodes, table.nodes, row) for row in table.levels]
        return LineTable(nodes, np.array(levels))


@dataclass(frozen=True, eq=False)
class First:
    """What the first grid is made from."""

    seen: Survey  # the survey of the data
    fixed: FloatArray  # positions that must be nodes
    nodes: FloatArray | None = None  # nodes on which the guess is resolved, where they are known


def approach_on_cells(tangent: LineTangent, guesses: Sequence[Iterate], given: First) -> Cells:
    """Solve the problem on cells, from the first of some guesses that has a linearisation."""
    even = np.linspace(*tangent.interval, FIRST + 1)
    dense = _dense(tangent, guesses[0], given, even)
    first = _moved(even if dense is None else dense, given.fixed)
    search = _CellSearch(tangent, first if dense is None else None, given.fixed)
    table = None
    for guess in guesses:
        start, tried = _tabulated(guess, tangent, first), len(search.history)
        table = search.settled(start, 1.0)
        # About u = 0 the condition u_n + u^4 = 1 is one on the slope alone, on the way it is not.
        easier = not tangent.steady and guess is guesses[-1]
        if table is None and (search.history[tried][1].changes or easier):
            table = continued(start, search.settled, lambda: search.exhausted)
            break
        if table is not None:
            break
    converged = table is not None
    if table is None:
        table = search.history[-1][1].iterate
    linear = tangent.at(table)
    found = _discovery(tangent, table, table.nodes is not search.even)
    return Cells(table, linear, found, tuple(search.history), converged)


def refined(tangent: LineTangent, table: LineTable) -> LineTable | None:
    """Return the solution near a table on cells of half the size; None if there is none."""
    middles = 0.5 * (table.nodes[1:] + table.nodes[:-1])
    nodes = np.union1d(table.nodes, middles)
    levels = np.array([np.interp(nodes, table.nodes, row) for row in table.levels])
    search = _CellSearch(tangent, None, np.zeros(0))
    return search.settled(LineTable(nodes, levels), 1.0)


def step(tangent: LineTangent, nodes: FloatArray) -> Callable[[LineTable], LineTable | None]:
    """Return Newton's step on nodes."""
    return _rules(tangent, 1.0, grid(nodes)).correct


def _dense(
    tangent: LineTangent, guess: Iterate, given: First, even: FloatArray
) -> FloatArray | None:
    """Return nodes that are dense where the data or the guess vary; None if even ones will do.

    A source that falls between the nodes would leave the equation on cells without a solution.
    """
    if given.nodes is not None:
        return _own(tangent, guess, given.nodes)
    x = given.seen.x
    rows = [row for row in given.seen.rows if row is not None]
    if not isinstance(guess, Constants):
        rows.append(guess.values(tangent.name, x[:, None], (0,)))
    change = np.array([_within(even, x, row, given.fixed) for row in rows if np.ptp(row) > 0])
    if not change.size or change.max() <= FIRST_JUMP:
        return None
    return equal_shares(grid(even), monitor(change)[0], _enough(change))


def _within(nodes: FloatArray, x: FloatArray, row: FloatArray, fixed: FloatArray) -> FloatArray:
    """Return the variation within each cell of values at many places, over their range.

    A jump at a fixed position is no feature to resolve.
    """
    steps = np.abs(np.diff(row))
    steps[np.clip(np.searchsorted(x, fixed) - 1, 0, len(steps) - 1)] = 0.0
    total = np.concatenate([[0.0], np.cumsum(steps)])
    return np.asarray(np.diff(np.interp(nodes, x, total)) / np.ptp(row))


def _own(tangent: LineTangent, guess: Iterate, nodes: FloatArray) -> FloatArray:
    """Return nodes at equal shares of the variation of a guess, which its own nodes resolve."""
    table = _tabulated(guess, tangent, np.unique(nodes))
    change = variations(grid(table.nodes), table.levels)
    return equal_shares(grid(table.nodes), monitor(change)[0], _enough(change))


def _tabulated(guess: Iterate, tangent: LineTangent, nodes: FloatArray) -> LineTable:
    """Return a guess at nodes."""
    orders = range(max(tangent.order, 2))
    rows = [guess.values(tangent.name, nodes[:, None], (j,)) for j in orders]
    return LineTable(nodes, np.array(rows))


def _rules(tangent: LineTangent, stiffness: float, points: Grid) -> Rules[LineTable]:
    def correct(table: LineTable) -> LineTable | None:
        try:
            return LineTable(points.nodes, _solved(tangent, table, stiffness, points)[2])
        except (SingularCellsError, EquationError):
            return None

    return Rules(correct, _blend, _distance, _onward)


def _solved(
    tangent: LineTangent, table: LineTable, stiffness: float, points: Grid
) -> tuple[CellSystem, FloatArray, FloatArray]:
    """Return the linear problem about a table on its own cells, its source and its solution."""
    data = tangent.filled(table.means(points, tangent.needed), stiffness, points.middles)
    conditions = tangent.conditions(table, stiffness)
    system = CellSystem(points, data[:-1], conditions)
    return system, data[-1], system.solve(data[-1], [c.value for c in conditions])


def _blend(old: LineTable, new: LineTable, share: float) -> LineTable:
    if share == 1.0:
        return new
    return LineTable(new.nodes, old.levels + share * (new.levels - old.levels))


def _distance(old: LineTable, new: LineTable, scale: LineTable) -> float:
    return largest(new.levels[0] - old.levels[0]) / max(largest(scale.levels[0]), 1e-300)


def _onward(first: LineTable, second: LineTable, third: LineTable) -> bool:
    before, after = second.levels[0] - first.levels[0], third.levels[0] - second.levels[0]
    return bool((before * after >= -ROUNDING * largest(before) * largest(after)).all())


def _discovery(tangent: LineTangent, table: LineTable, adapted: bool) -> Discovery | None:
    points = grid(table.nodes)
    try:
        with np.errstate(all="ignore"):
            system, source, u = _solved(tangent, table, 1.0, points)
    except SingularCellsError:
        return None
    change = variations(points, table.levels)
    featured = adapted or change.max() > FIRST_JUMP
    return Discovery(system, u, source, monitor(change)[0] if featured else None)


def _enough(change: FloatArray) -> int:
    """Return the cells that the total variation takes."""
    return int(max(CELLS, ENOUGH * change.sum(axis=1).max() / JUMP))


def _moved(nodes: FloatArray, fixed: FloatArray) -> FloatArray:
    """Return nodes with the nearest inner ones moved onto fixed positions.

    A cell much narrower than its neighbours would look like a feature; where several positions have
    one nearest node there is no other way.
    """
    if not len(fixed):
        return nodes
    nearest = 1 + np.abs(nodes[1:-1] - fixed[:, None]).argmin(axis=1)
    return np.union1d(np.delete(nodes, nearest), fixed)
