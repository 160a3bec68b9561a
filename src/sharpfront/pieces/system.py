"""The linear system of a problem on pieces: equation, conditions, and ties between neighbours."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.errors import ProblemError
from sharpfront.kernels.assemble import Block, LinearSystem, unit_rows
from sharpfront.pieces import tables
from sharpfront.pieces.basis import PiecewiseBasis
from sharpfront.pieces.coordinate import Points
from sharpfront.pieces.piece import Piece, end_rows, integral_row, operator_rows, term_row
from sharpfront.problem.line_problem import IntegralTerm, LinearCondition, LineProblem

# Weight of conditions and ties on unit rows: 1e6 costs digits, 10 leaves them soft.
HEAVY = 100.0


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
    # Each is divided by its norms at once: what it was before would be as much again.
    blocks = [unit_rows(block) for block in conditions]
    for i, (left, right) in enumerate(itertools.pairwise(basis.pieces)):
        blocks.append(unit_rows(_tie(left, right, problem.order, edges[i])))
    for piece, points, start in zip(basis.pieces, rows, edges, strict=False):
        table = tables.fitting_table(piece.kernels, piece.tabulated)
        matrix, source, _ = operator_rows(problem, piece, table, points)
        x = np.tile(np.clip(points.x, *piece.inside), piece.fields)
        block = Block("equation", matrix, source, start=start, points=x[:, None])
        blocks.append(unit_rows(block))
    return LinearSystem(tuple(blocks), edges)


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


def _tie(left: Piece, right: Piece, order: int, start: int) -> Block:
    """Return the rows that make u, ..., u^(m-1) go on from one piece to the next."""
    rows = [np.concatenate([end_rows(left, j)[1], -end_rows(right, j)[0]]) for j in range(order)]
    return Block("tie", np.array(rows), np.zeros(order), HEAVY, start=start)
