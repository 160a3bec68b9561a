"""The error equation: L e = f - L u with the conditions' misses, on a grid the fit has not seen."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import FloatArray, largest
from sharpfront.bases.even_kernels import checking_middles, kernel_table
from sharpfront.bases.line_basis import LineBasis
from sharpfront.bases.line_patch import LinePatch
from sharpfront.estimate.cells import CellSystem, Grid, irregular_signs
from sharpfront.kernels.assemble import Block
from sharpfront.maps import Points
from sharpfront.problem.line_problem import IntegralTerm, LineProblem, integrate, value
from sharpfront.rounding import EPS
from sharpfront.rows.line_rows import integral_row, integrated_weight, remainder


@dataclass(frozen=True, eq=False)
class ErrorCheck:
    """What the error equation says of an approximation."""

    error: float  # max |e|, jumps between patches added
    floor: float  # max |e| that rounding of x and f alone would cause
    size: float  # max |u + e|
    # Distance, relative to max(1, size), to the cells' own answer for u. It is a few per cent where
    # the grid resolves u; where it is of order one while e is tiny, rounding decides the answer and
    # e means nothing.
    apart: float
    # The cells' own u and the error e at the nodes, (n + 1,).
    direct: FloatArray
    profile: FloatArray
    # u at the middles (n,), f - L u (fields, n), coefficients and source (m + 2, n).
    values: FloatArray
    residual: FloatArray
    data: FloatArray
    misses: FloatArray  # what the conditions are missed by, (conditions,)
    system: CellSystem  # the discrete operator, with its grid

    @property
    def grid(self) -> Grid:
        """The grid of the error equation."""
        return self.system.grid


def check_line(
    problem: LineProblem, basis: LineBasis, weights: FloatArray, conditions: Sequence[Block]
) -> ErrorCheck:
    """Return the error equation's answer on three cells per kernel.

    `conditions` are the unscaled rows of the conditions.
    """
    own = [weights[a:b] for a, b in itertools.pairwise(basis.edges)]
    # u, the residual and the data at the checking middles of each patch.
    parts = [
        remainder(
            problem, p, kernel_table(p.kernels, p.tabulated, checking_middles), p.places.middles, w
        )
        for p, w in zip(basis.patches, own, strict=True)
    ]
    points = _joined(
        [p.places.nodes for p in basis.patches], [p.places.middles for p in basis.patches]
    )
    values, residual, data = (
        part[0] if len(part) == 1 else np.concatenate(part, axis=-1)
        for part in zip(*parts, strict=True)
    )
    system = CellSystem(points, data[:-1], problem.conditions)
    misses = np.array(
        [float((c.rhs - c.matrix @ weights[c.start : c.stop])[0]) for c in conditions]
    )
    if any(isinstance(t, IntegralTerm) for c in problem.conditions for t in c.terms):
        misses += _misread_integrals(problem, basis, own)
        misses += np.abs(values).max() * _quadrature_gaps(problem, basis)
    jumps = [
        t @ np.concatenate(p) for t, p in zip(basis.ties, itertools.pairwise(own), strict=True)
    ]
    forced = _with_kinks(basis, np.array(jumps), residual, data, points) if jumps else residual
    e, direct, blurred = _solved(system, data[-1], problem.values, forced, misses)
    floor = largest(blurred) + _misplaced(basis, points, values)
    # The size of the solution, not of a bad approximation to it.
    size = largest(values + 0.5 * (e[1:] + e[:-1]))
    apart = largest(0.5 * (direct[1:] + direct[:-1]) - values) / max(size, 1.0)
    error = largest(e) + max((abs(float(j[0])) for j in jumps), default=0.0)
    return ErrorCheck(error, floor, size, apart, direct, e, values, residual, data, misses, system)


def _solved(
    system: CellSystem,
    source: FloatArray,
    values: FloatArray,
    residual: FloatArray,
    misses: FloatArray,
) -> list[FloatArray]:
    """Return the error, the cells' own u, and what rounding of the source does to it."""
    unsure = _rounding(system.grid, source)
    # The scheme is linear: of nothing it makes nothing.
    sides = [(residual[0], misses), (source, values), (unsure, np.zeros(len(misses)))]
    sides = sides if np.count_nonzero(unsure) else sides[:2]
    found = system.solve_each([s for s, _ in sides], [v for _, v in sides])
    if len(residual) > 1:
        found[0] = system.solve_u(residual[0], misses, residual[1])
    return found if len(found) > 2 else [*found, unsure]


def _misread_integrals(
    problem: LineProblem, basis: LineBasis, weights: list[FloatArray]
) -> FloatArray:
    """Return what the rows' rule makes too much of the integrals of u, by a finer rule.

    Where the other end is free to follow, a miss of 1e-9 in an integral moves a layer of width
    1e-4 there by 1e-5.
    """
    found = np.zeros(len(problem.conditions))
    for i, condition in enumerate(problem.conditions):
        for term in condition.terms:
            if isinstance(term, IntegralTerm):
                found[i] += sum(
                    float(integral_row(p, term) @ w) - _integral(p, term, w)
                    for p, w in zip(basis.patches, weights, strict=True)
                )
    return found


def _integral(patch: LinePatch, term: IntegralTerm, weights: FloatArray) -> float:
    """Return the patch's part of an integral, by five points in every cell of the check."""
    nodes = patch.places.nodes
    lengths = np.diff(nodes.anchor) + np.diff(nodes.offset)
    t, w = np.polynomial.legendre.leggauss(5)
    x = np.clip(nodes.x[:-1, None] + lengths[:, None] * 0.5 * (1.0 + t), *patch.inside).ravel()
    values = patch.several(weights, x, [term.order])[0] * value(term.weight, x)
    return float(lengths @ (values.reshape(len(lengths), -1) @ (0.5 * w)))


def _quadrature_gaps(problem: LineProblem, basis: LineBasis) -> FloatArray:
    """Return how far integrals of the conditions' weights are off, by an independent rule.

    The rows of an integral condition and its miss use one quadrature, which alone would not notice
    a weight that it does not resolve.
    """
    gaps = np.zeros(len(problem.conditions))
    for i, condition in enumerate(problem.conditions):
        for term in condition.terms:
            if isinstance(term, IntegralTerm) and callable(term.weight):
                exact = integrate(term.weight, *problem.interval)
                gaps[i] += abs(exact - sum(integrated_weight(p, term) for p in basis.patches))
    return gaps


def _joined(nodes: list[Points], middles: list[Points]) -> Grid:
    """Return one grid; lengths are exact, offsets being subtracted within an anchor first."""
    lengths = [(n.anchor[1:] - n.anchor[:-1]) + (n.offset[1:] - n.offset[:-1]) for n in nodes]
    if len(nodes) == 1:
        return Grid(nodes[0].x, lengths[0], middles[0].x)
    positions = [nodes[0].x, *(n.x[1:] for n in nodes[1:])]
    return Grid(
        np.concatenate(positions),
        np.concatenate(lengths),
        np.concatenate([m.x for m in middles]),
    )


def _rounding(points: Grid, source: FloatArray) -> FloatArray:
    """Return what rounding may have done to the source: eps (|f| + |x f'|), in irregular signs.

    f is called with rounded x, so a source that changes over 1e-6 at x = 1 is known to ten digits
    only.
    """
    if not np.count_nonzero(source):
        return np.zeros(len(source))
    x = points.middles
    slope = np.zeros(len(x) + 1)
    slope[1:-1] = np.abs(source[1:] - source[:-1]) / np.maximum(x[1:] - x[:-1], 1e-300)
    slope = np.maximum(slope[1:], slope[:-1])
    size = np.abs(source)
    unsure = 0.5 * EPS * (size + np.abs(x) * slope)
    return np.asarray(irregular_signs(len(x)) * np.minimum(unsure, size))


def _misplaced(basis: LineBasis, points: Grid, values: FloatArray) -> float:
    """Return the change of u over the rounding of a position, measured from the nearer end."""
    ends = [p.axis.high for p in basis.patches]
    edges = np.array([basis.patches[0].axis.low, *ends])
    x = points.middles[1:]
    i = np.minimum(np.maximum(edges.searchsorted(x), 1), len(ends)) if len(ends) > 1 else 1
    offset = np.minimum(x - edges[i - 1], edges[i] - x)
    apart = 0.5 * (points.steps[1:] + points.steps[:-1])
    slope = np.abs(values[1:] - values[:-1]) / np.maximum(apart, 1e-300)
    return EPS * float(np.maximum.reduce(slope * offset))


def _with_kinks(
    basis: LineBasis, jumps: FloatArray, residual: FloatArray, data: FloatArray, points: Grid
) -> FloatArray:
    """Return residuals with the forces that hold kinks where patches meet, in the cells beside.

    Ties are fitted too: a slope that jumps by d makes the residual a force of a d, a being the
    leading coefficient. From order three on u^(m-3) has its own, in what defines u^(m-2).
    """
    out, order = residual.copy(), basis.patches[0].order
    after = np.cumsum([len(p.places.middles.offset) for p in basis.patches[:-1]])
    for cells in (after - 1, after):
        share = 0.5 / points.steps[cells]
        out[0, cells] += share * data[order, cells] * jumps[:, order - 1]
        if len(out) > 1:
            out[1, cells] += share * jumps[:, order - 3]
    return out
