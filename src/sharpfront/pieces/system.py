"""The linear system of a problem on pieces: equation, conditions, and ties between neighbours."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.errors import ProblemError
from sharpfront.kernels.assemble import Block, LinearSystem
from sharpfront.pieces import tables
from sharpfront.pieces.basis import PiecewiseBasis
from sharpfront.pieces.coordinate import Points
from sharpfront.pieces.piece import Piece, integral_row, operator_rows, term_row
from sharpfront.problem.line_problem import IntegralTerm, LinearCondition, LineProblem

# Weight of conditions and ties on unit rows: 1e6 costs digits, 10 leaves them soft.
HEAVY = 100.0
# The most by which rows of pieces with narrow kernels are heavier than those of their neighbours.
# With none 52 equations of order two with windows of 1e-6 and 1e-7 took 126 solves and one of them
# was not solved; with a hundred 110, with this 91.
MOST = 1e8


class PieceRows(Block):
    """The equation on a piece: rows of unit norm that are made each time they are asked for.

    They are not kept, because those of many pieces would take more room than all else in a solve.
    """

    _problem: LineProblem
    _piece: Piece
    _at: Points

    def __init__(
        self, problem: LineProblem, piece: Piece, at: Points, start: int, weight: float = 1.0
    ) -> None:
        # A block is frozen, and its matrix is no field here.
        vars(self).update(label="equation", weight=weight, start=start)
        vars(self).update(_problem=problem, _piece=piece, _at=at)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self._piece.fields * len(self._at.offset)

    @property
    def stop(self) -> int:
        """The column after the last one that the matrix covers."""
        return self.start + self._piece.size

    @property
    def fits(self) -> bool:
        """There is a right-hand side for each row."""
        return True

    def entries(self) -> tuple[FloatArray, FloatArray]:
        """Return the matrix and the right-hand side."""
        piece = self._piece
        table = tables.fitting_table(piece.kernels, piece.tabulated)
        matrix, source, _ = operator_rows(self._problem, piece, table, self._at)
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
        x = np.clip(self._at.x, *self._piece.inside)
        return np.tile(x, self._piece.fields)[:, None]


def piece_system(
    problem: LineProblem,
    basis: PiecewiseBasis,
    rows: Sequence[Points],
    conditions: Sequence[Block],
) -> LinearSystem:
    """Return the system, one group of columns for each piece.

    Rows are the fitting points of each piece, conditions what `condition_blocks` made.
    """
    edges = basis.edges
    blocks = [_unit(block) for block in conditions]
    for tie, start, piece in zip(basis.ties, edges, basis.pieces, strict=False):
        blocks.append(_tied(tie, start, piece.size))
    weights = _fairness(basis.pieces)
    for piece, at, start, weight in zip(basis.pieces, rows, edges, weights, strict=False):
        blocks.append(PieceRows(problem, piece, at, start, weight))
    return LinearSystem(tuple(blocks), edges)


def _fairness(pieces: Sequence[Piece]) -> list[float]:
    """Return weights of pieces with which a force at a tie costs the same on both sides of it.

    In rows of unit norm a force f costs f times the spacing of kernels, so that what happens in a
    window is given up for the last digits of a neighbour that is a thousand times wider. From order
    three on, where forces act through two fields, weights were measured to change nothing.
    """
    if len(pieces) == 1 or pieces[0].order != 2:
        return [1.0] * len(pieces)
    dense = [p.kernels * p.coordinate.derivatives(p.coordinate.ends, 1)[0] for p in pieces]
    steps = [float(right[0] / left[1]) for left, right in itertools.pairwise(dense)]
    found = np.cumprod([1.0, *steps])
    return [min(float(w), MOST) for w in found / found.min()]


def _tied(tie: FloatArray, start: int, size: int) -> Block:
    """Return rows that make u, ..., u^(m-1) go on, of unit norm.

    At order two that is their norm in the piece with wider kernels, as fairness has it.
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


def condition_blocks(problem: LineProblem, basis: PiecewiseBasis) -> list[Block]:
    """Return one row for each condition, over the pieces that it speaks of."""
    blocks = []
    edges = basis.edges
    for i, condition in enumerate(problem.conditions):
        parts = _by_piece(condition, basis.pieces)
        first, last = min(parts), max(parts)
        row = np.zeros((1, edges[last + 1] - edges[first]))
        for j, part in parts.items():
            row[0, edges[j] - edges[first] : edges[j + 1] - edges[first]] = part
        value, label = np.array([condition.value]), f"condition {i + 1}"
        places = {getattr(term, "x", np.nan) for term in condition.terms}
        where = np.array([[places.pop()]]) if len(places) == 1 else None
        blocks.append(Block(label, row, value, HEAVY, start=edges[first], points=where))
    return blocks


def _by_piece(condition: LinearCondition, pieces: tuple[Piece, ...]) -> dict[int, FloatArray]:
    rows: dict[int, FloatArray] = {}
    for term in condition.terms:
        if isinstance(term, IntegralTerm):
            for i, piece in enumerate(pieces):
                rows[i] = rows.get(i, 0.0) + integral_row(piece, term)
        else:
            i = next((i for i, p in enumerate(pieces) if p.holds(term.x)), -1)
            if i < 0:
                raise ProblemError(f"A condition at x = {term.x} lies outside the interval.")
            rows[i] = rows.get(i, 0.0) + term.weight * term_row(pieces[i], term)
    return rows
