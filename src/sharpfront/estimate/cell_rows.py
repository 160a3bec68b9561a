"""Conditions on nodal values of cells, as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharpfront.errors import ProblemError
from sharpfront.problem.line_problem import IntegralTerm, LinearCondition, Term, value

if TYPE_CHECKING:
    from sharpfront.estimate.cells import CellSystem


class CellRow:
    """A condition on nodal values: columns, weights, and factors of the cells' sources."""

    def __init__(self, cells: CellSystem, condition: LinearCondition) -> None:
        self._cells = cells
        self.columns: list[int] = []
        self.weights: list[float] = []
        self.sources: list[tuple[int, float]] = []
        for term in condition.terms:
            if isinstance(term, Term):
                self._add_term(term)
            else:
                self._add_integral(term)

    def _add_term(self, term: Term) -> None:
        i, t = self._place(term.x)
        k = self._cells.levels
        left, right = (1.0 - t) * term.weight, t * term.weight
        if term.order < k:
            self.columns += [k * i + term.order, k * (i + 1) + term.order]
            self.weights += [left, right]
            return
        if self._cells.order == 1 or term.order > k:
            raise too_high(self._cells.order, term.order)
        s = self._cells.slopes
        self.columns += [k * i + k - 1, k * (i + 1) + k - 1]
        self.weights += [left * s.ll[i] + right * s.rl[i], left * s.lr[i] + right * s.rr[i]]
        factor = float(left * s.lf[i] + right * s.rf[i])
        self.sources.append((i, factor))
        for j in range(k - 1):
            self.columns += [k * i + j, k * (i + 1) + j]
            self.weights += [-0.5 * factor * self._cells.coefficients[j][i]] * 2

    def _place(self, x: float) -> tuple[int, float]:
        """Return the cell of a position, and its share of the way through it."""
        nodes = self._cells.grid.nodes
        if x <= nodes[0]:
            return 0, 0.0
        if x >= nodes[-1]:
            return len(nodes) - 2, 1.0
        i = int(nodes.searchsorted(x)) - 1
        left, right = float(nodes[i]), float(nodes[i + 1])
        return i, min(max((x - left) / (right - left), 0.0), 1.0)

    def _add_integral(self, term: IntegralTerm) -> None:
        k, n = self._cells.levels, len(self._cells.grid.steps)
        w = np.broadcast_to(np.asarray(value(term.weight, self._cells.grid.middles)), (n,))
        if term.order < k:
            half = 0.5 * w * self._cells.grid.steps
            parts, level = (half, half), term.order
        elif term.order > k:
            raise too_high(self._cells.order, term.order)
        else:
            parts, level = (-w, w), k - 1
        for shift, part in enumerate(parts):
            self.columns += list(k * (np.arange(n) + shift) + level)
            self.weights += list(part)


def too_high(order: int, derivative: int) -> ProblemError:
    """Return what to say of a condition on too high a derivative."""
    return ProblemError(
        f"An equation of order {order} takes conditions on derivatives up to {order - 1}, got one "
        f"on a derivative of order {derivative}. Use the equation to express it by lower ones."
    )
