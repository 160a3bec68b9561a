"""The linear system of a problem on the line: equation, conditions, and ties between neighbours.

The equation holds at points of a patch, as many as its kernels ask for, in rows of unit norm.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.even_kernels import kernel_table, quadrature
from sharpfront.bases.line_basis import LineBasis
from sharpfront.bases.line_patch import LinePatch, combined, unit, unscaled
from sharpfront.errors import ProblemError
from sharpfront.kernels.assemble import Block, LinearSystem
from sharpfront.maps import Points
from sharpfront.problem.line_problem import IntegralTerm, LinearCondition, LineProblem, Term, value

# Weight of conditions and ties on unit rows: 1e6 costs digits, 10 leaves them soft. Half of it
# takes 1.34 times the kernels on drawn problems, twice of it as many.
HEAVY = 100.0
# The most by which rows of patches with narrow kernels are heavier than those of their neighbours.
# With none 52 equations of order two with windows of 1e-6 and 1e-7 took 126 solves and one of them
# was not solved; with a hundred 110, with this 91.
MOST = 1e8


class LineRows(Block):
    """The equation on a patch: rows of unit norm that are made each time they are asked for.

    They are not kept, because those of many patches would take more room than all else in a solve.
    """

    _problem: LineProblem
    _patch: LinePatch
    _at: Points

    def __init__(self, problem: LineProblem, patch: LinePatch, start: int, weight: float) -> None:
        # A block is frozen, and its matrix is no field here.
        vars(self).update(label="equation", weight=weight, start=start)
        vars(self).update(_problem=problem, _patch=patch, _at=patch.places.rows)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self._patch.fields * len(self._at.offset)

    @property
    def stop(self) -> int:
        """The column after the last one that the matrix covers."""
        return self.start + self._patch.size

    @property
    def fits(self) -> bool:
        """There is a right-hand side for each row."""
        return True

    def entries(self) -> tuple[FloatArray, FloatArray]:
        """Return the matrix and the right-hand side."""
        patch = self._patch
        table = kernel_table(patch.kernels, patch.tabulated)
        matrix, source, _ = operator_rows(self._problem, patch, table, self._at)
        norms = _norms(matrix)
        matrix /= norms[:, None]
        # Few numbers, unlike the matrix: those who want them need not make it again.
        vars(self).update(rhs=source / norms)
        return matrix, self.rhs

    @property
    def matrix(self) -> FloatArray:
        """The rows, made anew."""
        return self.entries()[0]

    @cached_property
    def rhs(self) -> FloatArray:
        """The right-hand side."""
        return self.entries()[1]

    @property
    def points(self) -> FloatArray:
        """Where rows hold, (rows, 1)."""
        x = np.clip(self._at.x, *self._patch.inside)
        return np.tile(x, self._patch.fields)[:, None]


def line_system(
    problem: LineProblem, basis: LineBasis, conditions: Sequence[Block]
) -> LinearSystem:
    """Return the system, one group of columns for each patch.

    Equations hold at the fitting points of each patch; conditions are what `condition_blocks` made.
    """
    edges = basis.edges
    blocks = [_unit(block) for block in conditions]
    for tie, start, patch in zip(basis.ties, edges, basis.patches, strict=False):
        blocks.append(_tied(tie, start, patch.size))
    weights = _fairness(basis.patches)
    for patch, start, weight in zip(basis.patches, edges, weights, strict=False):
        blocks.append(LineRows(problem, patch, start, weight))
    return LinearSystem(tuple(blocks), edges)


def operator_rows(
    problem: LineProblem, patch: LinePatch, table: FloatArray, points: Points
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the equation on the patch's functions at tabulated points, its source and its data.

    They are (r, size), (r,), and the sampled coefficients and source (m + 2, n). With two fields
    there are two rows a point: the equation written with w, and u^(m-2) - w = 0.
    """
    data = patch.sample(problem, points)
    parts = _on_fields(patch, [table] * patch.fields, patch.rates(points), data)
    if patch.fields == 1:
        return parts[0][0], data[-1], data
    source = np.concatenate([data[-1], np.zeros(table.shape[1])])
    return np.vstack([np.hstack(part) for part in parts]), source, data


def remainder(
    problem: LineProblem, patch: LinePatch, table: FloatArray, points: Points, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return u, what rows of `operator_rows` leave of it, (fields, n), and its data.

    Without the rows: sums of the functions' derivatives are all that is needed of them.
    """
    data = patch.sample(problem, points)
    sums = [table @ own for own in weights.reshape(patch.fields, -1)]
    equation, *gaps = (sum(part) for part in _on_fields(patch, sums, patch.rates(points), data))
    return sums[0][0], np.stack([data[-1] - equation, *(-gap for gap in gaps)]), data


def _on_fields(
    patch: LinePatch, tables: Sequence[FloatArray], d: FloatArray, data: FloatArray
) -> list[list[FloatArray]]:
    """Return of the equation, and of what defines w, the terms with each of the fields."""
    if patch.fields == 1:
        return [[combined(tables[0], d, data[:-1])]]
    low, n, (u, w) = patch.order - 2, data.shape[1], tables
    minus = unscaled(d, low, np.full((1, n), -1.0))
    return [
        [combined(u, d, data[:low]), combined(w, d, unscaled(d, low, data[low:-1]))],
        [combined(u, d, unit(low, n)), combined(w, d, minus)],
    ]


def _fairness(patches: Sequence[LinePatch]) -> list[float]:
    """Return weights of patches with which a force at a tie costs the same on both sides of it.

    In rows of unit norm a force f costs f times the spacing of kernels, so that what happens in a
    window is given up for the last digits of a neighbour that is a thousand times wider. From order
    three on, where forces act through two fields, weights were measured to change nothing.
    """
    if len(patches) == 1 or patches[0].order != 2:
        return [1.0] * len(patches)
    dense = [p.kernels * p.axis.derivatives(p.axis.ends, 1)[0] for p in patches]
    steps = [float(right[0] / left[1]) for left, right in itertools.pairwise(dense)]
    found = np.cumprod([1.0, *steps])
    return [min(float(w), MOST) for w in found / found.min()]


def _tied(tie: FloatArray, start: int, size: int) -> Block:
    """Return rows that make u, ..., u^(m-1) go on, of unit norm.

    At order two that is their norm in the patch with wider kernels, as fairness has it.
    """
    norms = _norms(tie)
    if len(tie) == 2:
        norms = np.maximum(np.minimum(_norms(tie[:, :size]), _norms(tie[:, size:])), norms / MOST)
    return Block("tie", tie / norms[:, None], np.zeros(len(tie)), HEAVY, start=start)


def _norms(matrix: FloatArray) -> FloatArray:
    """Return the norms of rows, one for a row of zeros."""
    norms: FloatArray = np.sqrt(np.vecdot(matrix, matrix))
    if not np.minimum.reduce(norms, initial=np.inf) > 0:
        norms[~(norms > 0)] = 1.0
    return norms


def _unit(block: Block) -> Block:
    """Return rows divided by their norms; what works for every array library takes ten times."""
    norms = _norms(block.matrix)
    return Block(
        block.label,
        block.matrix / norms[:, None],
        block.rhs / norms,
        block.weight,
        block.start,
        block.points,
    )


def condition_blocks(problem: LineProblem, basis: LineBasis) -> list[Block]:
    """Return one row for each condition, over the patches that it speaks of."""
    blocks = []
    edges = basis.edges
    for i, condition in enumerate(problem.conditions):
        parts = _by_patch(condition, basis.patches)
        first, last = min(parts), max(parts)
        row = np.zeros((1, edges[last + 1] - edges[first]))
        for j, part in parts.items():
            row[0, edges[j] - edges[first] : edges[j + 1] - edges[first]] = part
        value, label = np.array([condition.value]), f"condition {i + 1}"
        places = {getattr(term, "x", np.nan) for term in condition.terms}
        where = np.array([[places.pop()]]) if len(places) == 1 else None
        blocks.append(Block(label, row, value, HEAVY, start=edges[first], points=where))
    return blocks


def _by_patch(condition: LinearCondition, patches: tuple[LinePatch, ...]) -> dict[int, FloatArray]:
    rows: dict[int, FloatArray] = {}
    for term in condition.terms:
        if isinstance(term, IntegralTerm):
            for i, patch in enumerate(patches):
                rows[i] = rows.get(i, 0.0) + integral_row(patch, term)
        else:
            i = next((i for i, p in enumerate(patches) if p.holds(term.x)), -1)
            if i < 0:
                raise ProblemError(f"A condition at x = {term.x} lies outside the interval.")
            rows[i] = rows.get(i, 0.0) + term.weight * term_row(patches[i], term)
    return rows


def term_row(patch: LinePatch, term: Term) -> FloatArray:
    """Return u^(order)(x) on the patch's columns, (size,)."""
    ends = (patch.axis.low, patch.axis.high)
    if term.x in ends:
        return np.asarray(patch.end_rows(term.order)[ends.index(term.x)])
    return np.asarray(patch.rows_at(patch.axis.nearest(np.array([term.x])), term.order)[0])


def integral_row(patch: LinePatch, term: IntegralTerm) -> FloatArray:
    """Return the patch's part of an integral, by Gauss-Legendre in its coordinate, (size,)."""
    table, points, weight = _quadrature(patch, term)
    return np.asarray(weight @ patch.derivative_rows(table, points, term.order))


def integrated_weight(patch: LinePatch, term: IntegralTerm) -> float:
    """Return the patch's part of the integral of the weight alone, by the same rule."""
    return float(np.sum(_quadrature(patch, term)[2]))


def _quadrature(patch: LinePatch, term: IntegralTerm) -> tuple[FloatArray, Points, FloatArray]:
    """Return functions, points and weights of Gauss-Legendre in the patch's coordinate."""
    s, w, table = quadrature(patch.kernels)
    points = patch.axis.invert(s)
    jacobian = 1.0 / patch.axis.derivatives(points, 1)[0]
    return table, points, w * jacobian * value(term.weight, np.clip(points.x, *patch.inside))
