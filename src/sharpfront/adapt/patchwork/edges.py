"""Functions of the straight edges of a solid made of boxes, for one equation of second order.

An edge goes as far as its faces and conditions are the same. Of one that runs through the whole
domain they are functions of all patches. Those of one that ends inside would be singular beyond its
end: they belong to the boxes beside it, and what begins at its ends functions of these vertices
hold (`solid_vertices`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sharpfront.adapt.patchwork.exponents import leading_terms
from sharpfront.adapt.patchwork.settings import ADAPT
from sharpfront.arrays import FloatArray
from sharpfront.bases.corner_functions import CornerFunctions, SharedFunctions, Term
from sharpfront.bases.edge_functions import EdgeFunctions
from sharpfront.bases.local_functions import HeldFunctions
from sharpfront.equation.expression import Constant
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.problem import Problem
from sharpfront.rounding import SLIGHT
from sharpfront.rows.form_values import form_at

# Shares of an edge at which its surroundings are looked at, and how far from it, in units of the
# domain.
EDGE_SHARES = (0.01, 0.3, 0.5, 0.7, 0.99)


@dataclass(frozen=True)
class Face:
    """One of the two faces at an edge."""

    part: str  # of the boundary
    kind: str  # whether a value or a flux is given on it
    along: int  # the axis that leads away from the edge on it


@dataclass(frozen=True, eq=False)
class SolidEdge:
    """An edge: the axis along it, its place across, and what is given on its two faces."""

    axis: int
    place: FloatArray  # (2,)
    first: float  # the direction of the first face, an angle in the plane across
    angle: float  # from the first face through the domain to the second one
    faces: tuple[Face, Face]
    low: float  # where it begins and ends
    high: float

    @property
    def kinds(self) -> tuple[str, str]:
        """Whether a value or a flux is given on each face."""
        return self.faces[0].kind, self.faces[1].kind


def edge_functions(problem: Problem, tiling: Tiling, tol: float) -> tuple[SharedFunctions, ...]:
    """Return the functions of all edges at which they are known."""
    block = tiling.blocks[0]
    conductivities = conductivities_of(problem)
    if conductivities is None or block.region is not None or len(tiling.blocks) > 1:
        return ()
    found = []
    for line in tiling.corners:
        axis = int(np.argmax(np.isnan(line)))
        if np.isnan(line).sum() == 1:
            for edge in edges_on(problem, tiling, axis, np.delete(line, axis)):
                own = _functions(problem, tiling, edge, conductivities, tol)
                found += [own] if own else []
    return tuple(found)


def conductivities_of(problem: Problem) -> FloatArray | None:
    """Return the coefficients of second derivatives along the axes, if they are all there is."""
    out = np.zeros(3)
    for term in problem.forms[0].terms:
        if term.order == 2:
            if max(term.orders) < 2 or not isinstance(term.coefficient, Constant):
                return None
            out[term.orders.index(2)] += term.coefficient.value
    return out if np.all(out * out[0] > 0) else None


def edges_on(problem: Problem, tiling: Tiling, axis: int, place: FloatArray) -> Iterator[SolidEdge]:
    """Yield the edges on a line, each as far as its faces and conditions are the same."""
    size = SLIGHT * float(np.ptp(problem.domain.bounds, axis=0).max())
    turns = 0.25 * np.pi + 0.5 * np.pi * np.arange(4)
    at = place + size * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    stretches = list(itertools.pairwise(tiling.blocks[0].lines[axis].tolist()))
    middles = [np.insert(at, axis, 0.5 * (low + high), axis=1) for low, high in stretches]
    found: list[SolidEdge | None] = []
    for (low, high), around in zip(stretches, middles, strict=True):
        inside = problem.domain.contains(around)
        found.append(_edge(problem, tiling, axis, place, (low, high), inside))
    for _, own in itertools.groupby(found, key=lambda e: e and (e.first, e.angle, e.kinds)):
        first, *_, last = [*own] * 2
        if first is not None and last is not None:
            yield replace(first, high=last.high)


def _edge(
    problem: Problem,
    tiling: Tiling,
    axis: int,
    place: FloatArray,
    ends: tuple[float, float],
    inside: NDArray[np.bool_],
) -> SolidEdge | None:
    """Return the edge of one stretch of a line, from which quadrants about it lie inside."""
    count = int(inside.sum())
    if count not in (1, 3):
        return None
    # The first quadrant inside after one outside.
    start = next(k for k in range(4) if inside[k] and not inside[k - 1])
    faces = start * 0.5 * np.pi, (start + count) * 0.5 * np.pi
    first, second = (_face(problem, tiling, axis, place, way, ends) for way in faces)
    if first is None or second is None:
        return None
    return SolidEdge(axis, place, faces[0], count * 0.5 * np.pi, (first, second), *ends)


def _face(
    problem: Problem,
    tiling: Tiling,
    axis: int,
    place: FloatArray,
    way: float,
    ends: tuple[float, float],
) -> Face | None:
    """Return a face of an edge on which a value or a flux is given; None without either."""
    rest = [a for a in range(3) if a != axis]
    direction = np.round([math.cos(way), math.sin(way)]).astype(int)
    across, along = (rest[k] for k in (int(direction[0] != 0), int(direction[0] == 0)))
    sign = int(direction.sum())
    parts = set()
    for wall, where, low, high, part in tiling.blocks[0].walls:
        if wall != across or where != place[rest.index(across)]:
            continue
        other = [a for a in range(3) if a != wall].index(along)
        end = (low if sign > 0 else high)[other]
        this = [a for a in range(3) if a != wall].index(axis)
        if end == place[rest.index(along)] and low[this] < ends[1] and high[this] > ends[0]:
            parts.add(part)
    stated = [c for c in problem.conditions if c.part in parts]
    if len(parts) != 1 or len(stated) != 1 or len(stated[0].forms) != 1:
        return None
    form, (part,) = stated[0].forms[0], parts
    if not form.order:
        return Face(part, "value", along)
    point, normal = np.empty((1, 3)), np.zeros((1, 3))
    point[0, rest], point[0, axis] = place, 0.5 * sum(ends)
    normal[0, across] = 1.0
    found = form_at(form, problem.coordinates, point, normal)
    slopes = {
        term.orders.index(1)
        for term, c in zip(found.terms, found.coefficients, strict=True)
        if sum(term.orders) == 1 and c[0]
    }
    return Face(part, "flux", along) if form.order == 1 and slopes == {across} else None


def _functions(
    problem: Problem, tiling: Tiling, edge: SolidEdge, conductivities: FloatArray, tol: float
) -> SharedFunctions | None:
    """Return the functions of an edge."""
    low, high = problem.domain.bounds
    extent = float((high - low).max())
    rest = [a for a in range(3) if a != edge.axis]
    if conductivities[rest[0]] != conductivities[rest[1]]:
        return None
    turn = np.exp(-1j * edge.first) / extent
    through = edge.low == low[edge.axis] and edge.high == high[edge.axis]
    free = _free(problem, edge, extent) if through else None
    cut = edge.angle + 0.5 * (2.0 * math.pi - edge.angle) if free is None else free
    place = float(edge.place[0]), float(edge.place[1])
    bare = CornerFunctions(place, (turn, 1j * turn), cut, (), np.zeros((0, 0), dtype=complex))
    most = SETTINGS.powers(tol)
    leading = _leading(edge, most)
    if not leading:
        return None
    along = extent**2 * float(conductivities[edge.axis] / conductivities[rest[0]])
    ends = edge.axis, edge.low, edge.high, SETTINGS.functions(tol)
    own = EdgeFunctions.of(bare, leading, along, most, ends)
    if free is not None:
        return own
    one, other = (np.insert(edge.place, edge.axis, end) for end in (edge.low, edge.high))
    return HeldFunctions(own, boxes_beside(tiling, one, other))


def _leading(edge: SolidEdge, most: float) -> list[tuple[Term, complex]]:
    """Return the powers below `most` of functions across an edge, and their factors."""
    factor = 1.0 + 0j if edge.kinds[0] == "value" else 1.0j
    return [(term, factor) for term in leading_terms(edge.kinds, edge.angle, most)]


def boxes_beside(tiling: Tiling, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the boxes between lines that share more than an end with a stretch, (k, 2, 3)."""
    block = tiling.blocks[0]
    every = np.array(block.boxes(block.lines))
    length = high - low
    reached = (every[:, 0] <= high) & (every[:, 1] >= low)
    beyond = (every[:, 0] >= high) | (every[:, 1] <= low)
    touched = np.where(length > 0, reached & ~beyond, reached)
    return np.asarray(every[np.all(touched, axis=1)])


def _free(problem: Problem, edge: SolidEdge, extent: float) -> float | None:
    """Return an angle outside of the domain at which functions may jump; None without one."""
    low, high = problem.domain.bounds[:, edge.axis]
    for share in (0.5, 0.25, 0.75):
        cut = edge.angle + share * (2.0 * math.pi - edge.angle)
        way = np.array([math.cos(edge.first + cut), math.sin(edge.first + cut)])
        ray = edge.place + 2.0 * extent * np.geomspace(SLIGHT, 1.0, ADAPT.on_ray)[:, None] * way
        every = [np.insert(ray, edge.axis, low + (high - low) * x, axis=1) for x in EDGE_SHARES]
        if not problem.domain.contains(np.concatenate(every)).any():
            return cut
    return None
