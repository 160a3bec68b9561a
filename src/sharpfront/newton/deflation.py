"""Whether a problem of second order on the line has other solutions than the one that was found.

A solution about which the linearised equation has no growing mode is what u_t = -+F(u) goes to, and
is taken as meant. About any other one another solution is looked for, by Newton's method on the
equation divided by the distance to the first one (deflation), and counts if finer cells confirm it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.estimate.cells import CellSystem, SingularCellsError
from sharpfront.newton.cells import refined, step
from sharpfront.newton.iterate import LineTable
from sharpfront.newton.line_tangent import LineTangent
from sharpfront.problem.line_problem import LinearCondition, LineProblem, Term

# Newton steps towards another solution.
STEPS = 25
# Solutions differ if their distance is this share of their size.
APART = 0.1
# No single step is stretched by more.
LONGEST = 5.0


def growing_modes(linear: LineProblem, system: CellSystem) -> int:
    """Return the number of modes that grow, 0 where it cannot be told.

    It is the number of zeros of the solution of L v = 0 that starts at the left end with that
    end's condition, the right end's condition counted as one more (Sturm).
    """
    ends = _separated(linear)
    if linear.order != 2 or ends is None:
        return 0
    left, right = ends
    # What completes the left condition: the other one of u and u' is given.
    at_left = {t.order: t.weight for t in left.terms if isinstance(t, Term)}
    other = 1 if at_left.get(0, 0.0) else 0
    start = LinearCondition((Term(linear.interval[0], other),), 1.0)
    try:
        with np.errstate(all="ignore"):
            begun = (replace(left, value=0.0), start)
            initial = CellSystem(system.grid, system.coefficients, begun, system.slopes)
            v = initial.solve(np.zeros(len(system.grid.steps)), np.array([0.0, 1.0]))
    except SingularCellsError:
        return 0
    last = sum(t.weight * v[t.order, -1] for t in right.terms if isinstance(t, Term))
    at_right = {t.order: t.weight for t in right.terms if isinstance(t, Term)}
    outward = at_right.get(0, 0.0) or at_right.get(1, 0.0)
    signs = np.sign(np.append(v[0, 1:-1], last * np.sign(outward)))
    signs = signs[signs != 0]
    return int(np.sum(signs[1:] != signs[:-1]))


def _separated(linear: LineProblem) -> tuple[LinearCondition, LinearCondition] | None:
    """Return the conditions of the left and the right end, if that is all there is."""
    if len(linear.conditions) != 2:
        return None
    by_end: dict[float, LinearCondition] = {}
    for condition in linear.conditions:
        places = {t.x if isinstance(t, Term) else np.nan for t in condition.terms}
        if len(places) == 1:
            by_end[places.pop()] = condition
    low, high = linear.interval
    return (by_end[low], by_end[high]) if set(by_end) == {low, high} else None


def another(
    tangent: LineTangent, known: LineTable, linear: LineProblem, system: CellSystem
) -> Outcome | None:
    """Return what speaks for another solution than the one on cells, None if nothing does."""
    if not growing_modes(linear, system):
        return None
    size = float(np.abs(known.levels[0]).max())
    for start in (np.ones_like, np.zeros_like):
        found = deflated(tangent, known, LineTable(known.nodes, start(known.levels)))
        confirmed = refined(tangent, found) if found is not None else None
        if confirmed is None:
            continue
        there = np.interp(known.nodes, confirmed.nodes, confirmed.levels[0])
        apart = float(np.abs(there - known.levels[0]).max())
        if apart > APART * max(size, float(np.abs(there).max())):
            detail = (
                f"On cells there is another solution that differs from this one by {apart:.2g}."
            )
            return Outcome(OutcomeKind.SEVERAL_SOLUTIONS, detail)
    return None


def deflated(tangent: LineTangent, known: LineTable, start: LineTable) -> LineTable | None:
    """Return where Newton's method goes with (1 / |u - known|^2 + 1) F(u)."""
    table, correct = start, step(tangent, known.nodes)
    weights = np.gradient(known.nodes)
    for _ in range(STEPS):
        new = correct(table)
        if new is None:
            return None
        change = new.levels - table.levels
        stretch = _stretch(table.levels[0] - known.levels[0], change[0], weights)
        table = LineTable(known.nodes, table.levels + stretch * change)
        size = max(float(np.abs(table.levels[0]).max()), 1e-300)
        if float(np.abs(change[0]).max()) < 1e-2 * size:
            return table
    return None


def _stretch(gap: FloatArray, change: FloatArray, weights: FloatArray) -> float:
    """Return 1 / (1 - M'(change) / M) for M = 1 / |gap|^2 + 1."""
    square = float(weights @ gap**2)
    if square == 0.0:
        return 1.0
    ratio = -2.0 * float(weights @ (gap * change)) / square / (1.0 + square)
    stretched = 1.0 / (1.0 - ratio) if ratio != 1.0 else LONGEST
    return float(np.clip(stretched, -LONGEST, LONGEST))
