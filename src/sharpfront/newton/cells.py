"""The nonlinear problem on cells of the line: where its features are, before any kernel is placed.

Newton on the exponentially fitted scheme costs well below a millisecond a step. Between rounds the
grid is moved to where the solution changes, until nothing jumps any more. Where Newton fails, the
derivatives of the highest order are made larger and led back to what was stated.
"""

from __future__ import annotations

import numpy as np

from sharpfront.arrays import FloatArray, largest
from sharpfront.errors import EquationError
from sharpfront.estimate.cells import CellSystem, Grid, SingularCellsError, grid
from sharpfront.newton.damped import Rules
from sharpfront.newton.iterate import Constants, Iterate, LineTable
from sharpfront.newton.line_tangent import LineTangent
from sharpfront.newton.rough_solution import Search
from sharpfront.newton.settings import NEWTON
from sharpfront.place.line.breakpoints import Survey
from sharpfront.place.line.feature_search import Discovery, equal_shares, monitor, variations
from sharpfront.place.line.settings import LINE
from sharpfront.problem import Problem


class CellCorrector:
    """Cells of the line that follow the features of a solution.

    With `even` the first nodes are where they are because nothing was known, with `solvable` False
    every linear problem has too many or too few conditions. Nodes stay at `fixed` positions.
    """

    small, rounds, most = NEWTON.on_cells, LINE.rounds, NEWTON.most_solves

    def __init__(
        self,
        tangent: LineTangent,
        nodes: FloatArray,
        fixed: FloatArray,
        *,
        seen: Survey | None = None,
        even: bool = False,
        solvable: bool = True,
    ) -> None:
        self.seen, self.steady, self.problem = seen, tangent.steady, tangent.problem
        self.tangent, self._solvable, self._fixed = tangent, solvable, fixed
        self._nodes = _moved(nodes, fixed)
        self._even = self._nodes if even else None

    def of(self, problem: Problem) -> CellCorrector:
        """Return what solves another problem on the same nodes."""
        return CellCorrector(LineTangent(problem, Constants()), self._nodes, self._fixed)

    def begun(self, guess: Iterate) -> LineTable:
        """Return a guess at the first nodes."""
        return _tabulated(guess, self.tangent, self._nodes)

    def rules(self, iterate: LineTable, stiffness: float) -> Rules[LineTable]:
        """Return Newton's step on the nodes of a table."""
        points = grid(iterate.nodes)

        def correct(table: LineTable) -> LineTable | None:
            if not self._solvable:
                return None
            try:
                return LineTable(points.nodes, _solved(self.tangent, table, stiffness, points)[2])
            except (SingularCellsError, EquationError):
                return None

        return Rules(correct, _blend, _distance, _onward)

    def refined(self, iterate: LineTable, turn: int) -> LineTable | None:
        """Return the table on nodes at equal shares of its variation; None if it is resolved."""
        points = grid(iterate.nodes)
        change = variations(points, iterate.levels)
        if change.max() <= (NEWTON.first_jump if iterate.nodes is self._even else LINE.jump):
            return None
        cells = int(1.5 ** max(0, turn - 2) * _enough(change))
        return iterate.on(_moved(equal_shares(points, monitor(change)[0], cells), self._fixed))

    @property
    def weights(self) -> FloatArray:
        """Shares of the interval around the first nodes."""
        return np.asarray(np.gradient(self._nodes) / np.ptp(self._nodes))

    def seen_values(self, iterate: LineTable) -> FloatArray:
        """Return the values at the first nodes."""
        if iterate.nodes is self._nodes:
            return np.asarray(iterate.levels[0])
        return np.asarray(np.interp(self._nodes, iterate.nodes, iterate.levels[0]))

    def confirmed(self, iterate: LineTable) -> LineTable | None:
        """Return the solution near a table on cells of half the size; None if there is none."""
        nodes = np.union1d(iterate.nodes, 0.5 * (iterate.nodes[1:] + iterate.nodes[:-1]))
        search = Search(CellCorrector(self.tangent, nodes, np.zeros(0)))
        return search.settled(iterate.on(nodes), 1.0)

    def discovery(self, table: LineTable) -> Discovery | None:
        """Return the last grid with its operator, as the placement of kernels takes it.

        None where the difference equations are singular.
        """
        points = grid(table.nodes)
        try:
            with np.errstate(all="ignore"):
                system, source, u = _solved(self.tangent, table, 1.0, points)
        except SingularCellsError:
            return None
        change = variations(points, table.levels)
        featured = table.nodes is not self._even or change.max() > NEWTON.first_jump
        return Discovery(system, u, source, monitor(change)[0] if featured else None)


def dense_nodes(
    tangent: LineTangent, guess: Iterate, seen: Survey, fixed: FloatArray
) -> FloatArray | None:
    """Return nodes that are dense where the data or the guess vary; None if even ones will do.

    A source that falls between the nodes would leave the equation on cells without a solution.
    """
    even, x = even_nodes(tangent), seen.x
    rows = [row for row in seen.rows if row is not None]
    if not isinstance(guess, Constants):
        rows.append(guess.values(tangent.name, x[:, None], (0,)))
    change = np.array([_within(even, x, row, fixed) for row in rows if np.ptp(row) > 0])
    if not change.size or change.max() <= NEWTON.first_jump:
        return None
    return equal_shares(grid(even), monitor(change)[0], _enough(change))


def even_nodes(tangent: LineTangent) -> FloatArray:
    """Return the nodes where nothing is known."""
    return np.linspace(*tangent.interval, NEWTON.cells + 1)


def _within(nodes: FloatArray, x: FloatArray, row: FloatArray, fixed: FloatArray) -> FloatArray:
    """Return the variation within each cell of values at many places, over their range.

    A jump at a fixed position is no feature to resolve.
    """
    steps = np.abs(np.diff(row))
    steps[np.clip(np.searchsorted(x, fixed) - 1, 0, len(steps) - 1)] = 0.0
    total = np.concatenate([[0.0], np.cumsum(steps)])
    return np.asarray(np.diff(np.interp(nodes, x, total)) / np.ptp(row))


def resolving_nodes(tangent: LineTangent, guess: Iterate, nodes: FloatArray) -> FloatArray:
    """Return nodes at equal shares of the variation of a guess, which its own nodes resolve."""
    table = _tabulated(guess, tangent, np.unique(nodes))
    change = variations(grid(table.nodes), table.levels)
    if not change.any():
        return even_nodes(tangent)  # a constant
    return equal_shares(grid(table.nodes), monitor(change)[0], _enough(change))


def _tabulated(guess: Iterate, tangent: LineTangent, nodes: FloatArray) -> LineTable:
    """Return a guess at nodes."""
    orders = range(max(tangent.order, 2))
    rows = [guess.values(tangent.name, nodes[:, None], (j,)) for j in orders]
    return LineTable(nodes, np.array(rows))


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
    return bool((before * after >= -NEWTON.negligible * largest(before) * largest(after)).all())


def _enough(change: FloatArray) -> int:
    """Return the cells that the total variation takes."""
    return int(max(NEWTON.cells, LINE.enough * change.sum(axis=1).max() / LINE.jump))


def _moved(nodes: FloatArray, fixed: FloatArray) -> FloatArray:
    """Return nodes with the nearest inner ones moved onto fixed positions.

    A cell much narrower than its neighbours would look like a feature; where several positions have
    one nearest node there is no other way.
    """
    if not len(fixed):
        return nodes
    nearest = 1 + np.abs(nodes[1:-1] - fixed[:, None]).argmin(axis=1)
    return np.union1d(np.delete(nodes, nearest), fixed)
