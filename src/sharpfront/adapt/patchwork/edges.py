"""Functions of the straight edges of a solid made of boxes, for one equation of second order.

They are used of edges that run through the whole domain with the same faces and conditions on both
sides: at one that ends inside, at a vertex that points inwards, a solution is singular in another
way, which functions of the vertex hold (`solid_vertices`), and patches are cut.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.corner_functions import CornerFunctions, Term
from sharpfront.bases.edge_functions import EdgeFunctions
from sharpfront.equation.expression import Constant
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.problem import Problem
from sharpfront.rows.values import form_at

# Shares of an edge at which its surroundings are looked at, and how far from it, in units of the
# domain.
EDGE_SHARES = (0.01, 0.3, 0.5, 0.7, 0.99)
BESIDE = 1e-6
# Places on a ray that functions jump on.
ON_RAY = 60
# Powers closer to a whole number than this are one.
WHOLE = 1e-9


@dataclass(frozen=True, eq=False)
class _Edge:
    """An edge: the axis along it, its place across, and what is given on its two faces."""

    axis: int
    place: FloatArray  # (2,)
    first: float  # the direction of the first face, an angle in the plane across
    angle: float  # from the first face through the domain to the second one
    kinds: tuple[str, str]


def edge_functions(problem: Problem, tiling: Tiling, tol: float) -> tuple[EdgeFunctions, ...]:
    """Return the functions of all edges at which they are known."""
    block = tiling.blocks[0]
    conductivities = conductivities_of(problem)
    if conductivities is None or block.region is not None or len(tiling.blocks) > 1:
        return ()
    found = []
    for line in tiling.corners:
        axis = int(np.argmax(np.isnan(line)))
        if np.isnan(line).sum() == 1:
            edge = _edge(problem, tiling, axis, np.delete(line, axis))
            own = edge and _functions(problem, edge, conductivities, tol)
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


def _edge(problem: Problem, tiling: Tiling, axis: int, place: FloatArray) -> _Edge | None:
    """Return an edge, if it is the same all along the domain."""
    low, high = problem.domain.bounds
    size = BESIDE * float((high - low).max())
    shares = np.array(EDGE_SHARES)[:, None]
    turns = 0.25 * np.pi + 0.5 * np.pi * np.arange(4)
    at = place + size * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    s = low[axis] + (high[axis] - low[axis]) * shares[:, 0]
    every = np.concatenate([np.insert(at, axis, x, axis=1) for x in s])
    inside = problem.domain.contains(every).reshape(len(s), 4)
    if np.any(inside != inside[0]) or inside[0].sum() not in (1, 3):
        return None
    # The first quadrant inside after one outside.
    start = next(k for k in range(4) if inside[0][k] and not inside[0][k - 1])
    count = int(inside[0].sum())
    faces = start * 0.5 * np.pi, (start + count) * 0.5 * np.pi
    kinds = [_kind(problem, tiling, axis, place, way) for way in faces]
    if None in kinds:
        return None
    return _Edge(axis, place, faces[0], count * 0.5 * np.pi, (str(kinds[0]), str(kinds[1])))


def _kind(problem: Problem, tiling: Tiling, axis: int, place: FloatArray, way: float) -> str | None:
    """Return whether a value or a flux is given on a face of an edge; None without either."""
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
        if end == place[rest.index(along)]:
            parts.add(part)
    stated = [c for c in problem.conditions if c.part in parts]
    if len(parts) != 1 or len(stated) != 1 or len(stated[0].forms) != 1:
        return None
    form = stated[0].forms[0]
    if not form.order:
        return "value"
    point, normal = np.empty((1, 3)), np.zeros((1, 3))
    point[0, rest], point[0, axis] = place, problem.domain.bounds[:, axis].mean()
    normal[0, across] = 1.0
    found = form_at(form, problem.coordinates, point, normal)
    slopes = {
        term.orders.index(1)
        for term, c in zip(found.terms, found.coefficients, strict=True)
        if sum(term.orders) == 1 and c[0]
    }
    return "flux" if form.order == 1 and slopes == {across} else None


def _functions(
    problem: Problem, edge: _Edge, conductivities: FloatArray, tol: float
) -> EdgeFunctions | None:
    """Return the functions of an edge."""
    low, high = problem.domain.bounds
    extent = float((high - low).max())
    rest = [a for a in range(3) if a != edge.axis]
    if conductivities[rest[0]] != conductivities[rest[1]]:
        return None
    turn = np.exp(-1j * edge.first) / extent
    cut = _free(problem, edge, extent)
    if cut is None:
        return None
    place = float(edge.place[0]), float(edge.place[1])
    bare = CornerFunctions(place, (turn, 1j * turn), cut, (), np.zeros((0, 0), dtype=complex))
    half = 0.0 if edge.kinds[0] == edge.kinds[1] else 0.5
    most = SETTINGS.powers(tol)
    powers = (np.arange(1, 100) - half) * (math.pi / edge.angle)
    factor = 1.0 + 0j if edge.kinds[0] == "value" else 1.0j
    leading = [
        (Term(round(p), 0, True) if abs(p - round(p)) < WHOLE else Term(p, 0, False), factor)
        for p in powers[powers < most].tolist()
    ]
    if not leading:
        return None
    along = extent**2 * float(conductivities[edge.axis] / conductivities[rest[0]])
    ends = edge.axis, float(low[edge.axis]), float(high[edge.axis]), SETTINGS.functions(tol)
    return EdgeFunctions.of(bare, leading, along, most, ends)


def _free(problem: Problem, edge: _Edge, extent: float) -> float | None:
    """Return an angle outside of the domain at which functions may jump; None without one."""
    low, high = problem.domain.bounds[:, edge.axis]
    for share in (0.5, 0.25, 0.75):
        cut = edge.angle + share * (2.0 * math.pi - edge.angle)
        way = np.array([math.cos(edge.first + cut), math.sin(edge.first + cut)])
        ray = edge.place + 2.0 * extent * np.geomspace(BESIDE, 1.0, ON_RAY)[:, None] * way
        every = [np.insert(ray, edge.axis, low + (high - low) * x, axis=1) for x in EDGE_SHARES]
        if not problem.domain.contains(np.concatenate(every)).any():
            return cut
    return None
