"""Functions of points where materials meet at an angle, inside a domain or on its boundary.

They are functions of the patches around the point, as far as its sectors reach, which for a corner
of an inclusion is to the inclusion's other edges. Beyond, traces carry what they are on the way.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from sharpfront.adapt.patchwork.corner_cells import corners_of_cell, touched
from sharpfront.adapt.patchwork.exponents import across_axes, rays_at
from sharpfront.adapt.patchwork.sectors import functions_about, sectors_at, values_of
from sharpfront.arrays import FloatArray
from sharpfront.bases.corner_functions import CornerFunctions
from sharpfront.bases.legendre import product_points
from sharpfront.equation.graph import evaluate
from sharpfront.equation.oblique_lines import Line
from sharpfront.equation.values import environment
from sharpfront.maps import Quadrilateral
from sharpfront.place.tiling.blocks import Block, Tiling
from sharpfront.place.tiling.solids import ROUNDING
from sharpfront.problem import Problem
from sharpfront.rows.interfaces import interface_lines
from sharpfront.rows.materials import material_lines

# Places along each axis of a box at which conductivities are looked at.
SEEN_AT = np.array([-0.93, -0.31, 0.17, 0.89])


def material_functions(
    problem: Problem, tiling: Tiling, most: float
) -> tuple[CornerFunctions, ...]:
    """Return the functions of all points where materials meet, and of corners beside them.

    Their powers of the distance are below `most`.
    """
    block = tiling.blocks[0]
    if tiling.curves or block.region is not None:
        return ()
    if all(isinstance(b.chart, Quadrilateral) for b in tiling.blocks):
        found = _in_charts(problem, tiling)
    elif block.chart is None and len(tiling.blocks) == 1:
        found = _between_lines(problem, tiling)
    else:
        return ()
    out = []
    for vertex, lines, support in found:
        if tuple(vertex.tolist()) in tiling.marked or not _is_finite(problem, vertex):
            continue
        sectors = sectors_at(problem, rays_at(problem, tiling, vertex, lines), vertex)
        if sectors is not None and not sectors.are_smooth:
            own = functions_about(vertex, sectors, most, support)
            out += [] if own is None else [own]
    return tuple(out)


_Found = Iterator[tuple[FloatArray, Sequence[Line], FloatArray]]


def _between_lines(problem: Problem, tiling: Tiling) -> _Found:
    """Yield crossings of lines along the axes, and boxes in which their sectors go on."""
    (block,) = tiling.blocks
    pairs = zip(interface_lines(problem), block.lines, strict=True)
    stops = [np.unique(np.concatenate([x, y])) for x, y in pairs]
    values = np.pad(_conductivities(problem, block, stops), 1)
    for i, j in itertools.product(range(len(stops[0])), range(len(stops[1]))):
        beside = values[i : i + 2, j : j + 2]
        if np.isnan(beside).any() or np.all(beside == beside[0, 0]):
            continue
        x, y = _box_about(values, stops, (i, j))
        support = np.array([[(x[0], y[0]), (x[1], y[0]), (x[1], y[1]), (x[0], y[1])]])
        vertex = np.array([stops[0][i], stops[1][j]])
        yield vertex, across_axes(*vertex.tolist()), support


def _conductivities(problem: Problem, block: Block, stops: Sequence[FloatArray]) -> FloatArray:
    """Return the conductivity of each box between lines: zero outside, NaN where it varies."""
    middles = [0.5 * (x[1:] + x[:-1]) for x in stops]
    inside = block.inside(product_points(middles)).reshape(*map(len, middles))
    sides = [[_places_seen(*side) for side in itertools.pairwise(x.tolist())] for x in stops]
    points = [product_points([sides[0][i], sides[1][j]]) for i, j in np.argwhere(inside).tolist()]
    out = np.zeros(inside.shape)
    out[inside] = values_of(problem, points)
    return out


def _places_seen(low: float, high: float) -> FloatArray:
    return np.asarray(0.5 * (low * (1.0 - SEEN_AT) + high * (1.0 + SEEN_AT)))


def _box_about(
    values: FloatArray, stops: Sequence[FloatArray], place: tuple[int, int]
) -> tuple[FloatArray, FloatArray]:
    """Return between which places along each axis the quarters about a crossing go on.

    From conductivities of boxes with a rim of zeros, so that box (i, j) lies below and left of
    crossing (i, j). Ends that are nearest are moved first.
    """
    ends = [[max(k - 1, 0), min(k + 1, len(x) - 1)] for k, x in zip(place, stops, strict=True)]

    def fits() -> bool:
        halves = [
            ((slice(low + 1, k + 1), k), (slice(k + 1, high + 1), k + 1))
            for (low, high), k in zip(ends, place, strict=True)
        ]
        quarters = itertools.product(*halves)
        return all(bool(np.all(values[a, b] == values[m, n])) for (a, m), (b, n) in quarters)

    def gap(side: tuple[int, int]) -> float:
        axis, end = side
        return float(abs(stops[axis][ends[axis][end]] - stops[axis][place[axis]]))

    def moved(side: tuple[int, int]) -> bool:
        axis, end = side
        step = 1 if end else -1
        ends[axis][end] += step
        if 0 <= ends[axis][end] < len(stops[axis]) and fits():
            return True
        ends[axis][end] -= step
        return False

    while any(moved(side) for side in sorted(((0, 0), (0, 1), (1, 0), (1, 1)), key=gap)):
        pass
    return stops[0][ends[0]], stops[1][ends[1]]


def _in_charts(problem: Problem, tiling: Tiling) -> _Found:
    """Yield corners of charts, and the charts around them."""
    lines = material_lines(problem)
    if lines is None:
        return
    corners, looked = [], []
    for block in tiling.blocks:
        ends = [x[[0, -1]] for x in block.lines]
        corners.append(corners_of_cell(block, *(np.array(end) for end in zip(*ends, strict=True))))
        looked.append(block.in_space(product_points([_places_seen(*end) for end in ends])))
    values = values_of(problem, looked)
    charts, near = np.array(corners), ROUNDING * float(np.ptp(problem.domain.bounds, axis=0).max())
    every = charts.reshape(-1, 2)
    first = np.unique(np.round(every / near), axis=0, return_index=True)[1]
    for vertex in every[np.sort(first)]:
        near_by = touched(charts, vertex, near)
        if not np.isnan(values[near_by]).any():
            yield vertex, lines, charts[near_by]


def _is_finite(problem: Problem, vertex: FloatArray) -> bool:
    """Tell whether data are finite at a point: of others nobody knows what they add."""
    leaves = environment(problem.coordinates, vertex[None])
    with np.errstate(all="ignore"):
        return bool(np.isfinite(evaluate(problem.forms[0].source, leaves)).all())
