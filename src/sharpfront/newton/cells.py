"""The nonlinear problem on cells of the line: where its features are, before any kernel is placed.

Newton on the exponentially fitted scheme costs well below a millisecond a step. Between rounds the
grid is moved to where the solution changes, until nothing jumps any more. Where Newton fails, the
derivatives of the highest order are made larger and led back to what was stated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sharpfront.adapt.cuts import survey
from sharpfront.adapt.discover import Discovery, concentrated, smeared
from sharpfront.arrays import Host
from sharpfront.errors import EquationError
from sharpfront.estimate.cells import CellSystem, Grid, SingularCellsError, grid
from sharpfront.newton.damped import Newton, Rules, newton
from sharpfront.newton.iterate import Constants, Iterate, LineTable
from sharpfront.newton.line_tangent import LineTangent
from sharpfront.ordinary import OrdinaryProblem

# Cells of the first grid, and the fewest of later ones.
FIRST, CELLS = 200, 200
# A quantity is followed if it changes by more than this share of its range within a cell: on the
# first grid where a feature is thinner than a fifteenth, later until it is resolved.
FIRST_JUMP, JUMP = 15.0 / FIRST, 0.10
ROUNDS = 8
# Cells for each JUMP of total variation.
ENOUGH = 3.0
# After a correction below this share of the solution the next would be of the size of the cells' error.
SMALL = 1e-2
# Linear solves of one attempt, and of all of them together.
ATTEMPT, MOST = 15, 300
# Factors on the highest derivatives that are tried, and how near one goes to the next.
LARGEST, FINEST = 1e8, 1.02



@dataclass(frozen=True, eq=False)
class Cells:
    """A solution on cells, or how far it came.

    Parameters
    ----------
    table
        Nodal values.
    linear
        The linear problem about it, in its plain form.
    found
        The last grid with its operator, as discovery hands it to the placement of kernels; None
        where the difference equations are singular.
    history
        The attempts, with the factor on the highest derivatives of each.
    converged
        Whether it solves the problem that was stated.
    """

    table: LineTable
    linear: OrdinaryProblem
    found: Discovery | None
    history: tuple[tuple[float, Newton[LineTable]], ...]
    converged: bool

    @property
    def solves(self) -> int:
        """Linear solves on cells."""
        return sum(attempt.solves for _, attempt in self.history)


class _Search:
    """Attempts on one problem; counts them."""

    def __init__(self, tangent: LineTangent, even: Host | None, fixed: Host) -> None:
        self.tangent = tangent
        self.even = even
        self.fixed = fixed
        self.history: list[tuple[float, Newton[LineTable]]] = []

    @property
    def exhausted(self) -> bool:
        return sum(attempt.solves for _, attempt in self.history) > MOST

    def settled(self, start: LineTable, stiffness: float, rounds: int = ROUNDS) -> LineTable | None:
        """Return the solution on a grid that resolves it, or None if Newton fails."""
        table = start
        limit = FIRST_JUMP if start.nodes is self.even else JUMP
        for turn in range(rounds):
            points = grid(table.nodes)
            attempt = newton(table, _rules(self.tangent, stiffness, points), SMALL, ATTEMPT)
            self.history.append((stiffness, attempt))
            if not attempt.converged:
                return None
            table = attempt.iterate
            change = _variations(points, table)
            if change.max() <= limit:
                break
            table, limit = self.regridded(table, change, 1.5 ** max(0, turn - 2)), JUMP
        return table

    def regridded(self, table: LineTable, change: Host, more: float) -> LineTable:
        """Return the table on nodes at equal shares of its variation."""
        cells = int(more * max(CELLS, ENOUGH * change.sum(axis=1).max() / JUMP))
        nodes = _equidistributed(grid(table.nodes), _monitor(change), cells)
        nodes = _moved(nodes, self.fixed)
        levels = [np.interp(nodes, table.nodes, row) for row in table.levels]
        return LineTable(nodes, np.array(levels))

    def continued(self, start: LineTable) -> LineTable | None:
        """Return the solution by way of larger highest derivatives."""
        factor, table = 1.0, None
        while table is None and factor < LARGEST and not self.exhausted:
            factor *= 10.0
            table = self.settled(start, factor)
        ratio = 10.0
        while table is not None and factor > 1.0:
            if self.exhausted or ratio < FINEST:
                return None
            nearer = max(1.0, factor / ratio)
            following = self.settled(table, nearer)
            if following is None:
                ratio = math.sqrt(ratio)
            else:
                table, factor, ratio = following, nearer, min(ratio**1.5, 100.0)
        return table


def approach(tangent: LineTangent, guess: Iterate, fixed: Host, nodes: Host | None) -> Cells:
    """Solve the problem on cells, from a guess.

    Parameters
    ----------
    tangent
        The problem, ready to be linearised.
    guess
        Where to start.
    fixed
        Positions that must be nodes.
    nodes
        The first grid, where the guess knows of a good one.
    """
    even = np.linspace(*tangent.interval, FIRST + 1)
    dense = _dense(tangent, guess, even) if nodes is None else np.union1d(even, nodes)
    first = _moved(even if dense is None else dense, fixed)
    search = _Search(tangent, first if dense is None else None, fixed)
    start = _tabulated(guess, tangent, first)
    table = search.settled(start, 1.0)
    if table is None:
        table = search.continued(start)
    converged = table is not None
    if table is None:
        table = search.history[-1][1].iterate if search.history else start
    linear = tangent.at(table)
    found = _discovery(linear, table, table.nodes is not search.even)
    return Cells(table, linear, found, tuple(search.history), converged)


def _dense(tangent: LineTangent, guess: Iterate, even: Host) -> Host | None:
    """Return nodes that are dense where the data or the guess vary; None if even ones will do.

    A source that falls between the nodes would leave the equation on cells without a solution.
    """
    middle = np.array([[0.5 * (even[0] + even[-1])]])
    orders = range(max(tangent.order, 2))
    about = [float(guess.values(tangent.name, middle, (j,))[0]) for j in orders]
    seen = survey(tangent.frozen(np.array(about)))
    rows = [row for row in seen.rows if row is not None]
    if not isinstance(guess, Constants):
        rows.append(guess.values(tangent.name, seen.x[:, None], (0,)))
    change = np.array([_within(even, seen.x, row) for row in rows if np.ptp(row) > 0])
    if not change.size or change.max() <= FIRST_JUMP:
        return None
    cells = int(max(FIRST, ENOUGH * change.sum(axis=1).max() / JUMP))
    return _equidistributed(grid(even), _monitor(change), cells)


def _within(nodes: Host, x: Host, row: Host) -> Host:
    """Return the variation within each cell of values at many places, over their range."""
    total = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(row)))])
    return np.asarray(np.diff(np.interp(nodes, x, total)) / np.ptp(row))


def _tabulated(guess: Iterate, tangent: LineTangent, nodes: Host) -> LineTable:
    """Return a guess at nodes."""
    orders = range(max(tangent.order, 2))
    rows = [guess.values(tangent.name, nodes[:, None], (j,)) for j in orders]
    return LineTable(nodes, np.array(rows))


def _rules(tangent: LineTangent, stiffness: float, points: Grid) -> Rules[LineTable]:
    def correct(table: LineTable) -> LineTable | None:
        try:
            linear = tangent.at(table, stiffness)
            return LineTable(points.nodes, _linear_solution(linear, points)[1])
        except (SingularCellsError, EquationError):
            return None

    return Rules(correct, _blend, _distance)


def _blend(old: LineTable, new: LineTable, share: float) -> LineTable:
    return LineTable(new.nodes, old.levels + share * (new.levels - old.levels))


def _distance(old: LineTable, new: LineTable) -> float:
    size = max(float(np.abs(new.levels[0]).max()), 1e-300)
    return float(np.abs(new.levels[0] - old.levels[0]).max()) / size


def _linear_solution(linear: OrdinaryProblem, points: Grid) -> tuple[CellSystem, Host, Host]:
    data = linear.sample(points.middles)
    system = CellSystem(points, data[:-1], linear.conditions)
    return system, system.solve(data[-1], linear.values), data


def _discovery(linear: OrdinaryProblem, table: LineTable, adapted: bool) -> Discovery | None:
    points = grid(table.nodes)
    try:
        with np.errstate(all="ignore"):
            system, u, data = _linear_solution(linear, points)
    except SingularCellsError:
        return None
    change = _variations(points, table)
    featured = adapted or change.max() > FIRST_JUMP
    return Discovery(system, u, data[-1], _monitor(change) if featured else None)


def _variations(points: Grid, table: LineTable) -> Host:
    """Return |change| of u, u', ... over each cell by their range, halved at each order."""
    rows = np.abs(np.diff(table.levels, axis=1))
    spread = np.ptp(table.levels, axis=1)
    length = points.nodes[-1] - points.nodes[0]
    size = float(np.abs(table.levels[0]).max())
    for j, row in enumerate(rows):
        negligible = spread[j] <= 1e-9 * size / length**j
        row *= 0.0 if negligible else 0.5**j / spread[j]
    return rows


def _monitor(change: Host) -> Host:
    """Return the mass per cell: shares of variation, each row weighing half the last."""
    total = change.sum(axis=1)
    weights = np.where(total > 0, 0.5 ** np.arange(len(change)), 0.0)
    return np.asarray((weights / np.maximum(total, 1e-300)) @ change)


def _equidistributed(points: Grid, monitor: Host, cells: int) -> Host:
    """Return nodes at equal shares of 0.42 d + 0.28 sqrt(d h) + 0.3 h."""
    edges, monitor = concentrated(points, monitor)
    h = np.diff(edges) / (edges[-1] - edges[0])
    d = smeared(monitor, 4)
    d = d / d.sum()
    mixed = np.sqrt(d * h)
    density = 0.42 * d + 0.28 * mixed / mixed.sum() + 0.3 * h
    share = np.concatenate([[0.0], np.cumsum(density)])
    nodes = np.interp(np.arange(cells + 1) / cells, share / share[-1], edges)
    nodes[0], nodes[-1] = points.nodes[0], points.nodes[-1]
    return np.unique(nodes)


def _moved(nodes: Host, fixed: Host) -> Host:
    """Return nodes with the nearest inner ones moved onto fixed positions.

    A cell much narrower than its neighbours would look like a feature.
    """
    out = nodes.copy()
    for position in fixed:
        out[1 + int(np.argmin(np.abs(nodes[1:-1] - position)))] = position
    return np.unique(out)
