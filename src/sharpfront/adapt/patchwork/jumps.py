"""Corners at which a solution jumps: no patch is small enough there, but all is well elsewhere.

What goes wrong in a patch of size h beside such a corner is felt at a distance R as a share h / R
of it, and in unknowns that are rougher by t orders (a pressure, 1/r where the velocity jumps) as
(h / R)^(1 + t). So patches are cut until these shares are small, and the rest of the solution is
estimated by itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from sharpfront.adapt.patchwork.compatibility import Compatibility, Side
from sharpfront.adapt.patchwork.settings import ADAPT
from sharpfront.arrays import FloatArray
from sharpfront.bases.corner_functions import SharedFunctions, jumps_of
from sharpfront.bases.patch import Patch
from sharpfront.checks import shortened
from sharpfront.equation.edges import places_along, switches
from sharpfront.equation.expression import Expression, as_expression
from sharpfront.equation.graph import derivatives_in
from sharpfront.equation.values import environment, form_values
from sharpfront.errors import EquationError
from sharpfront.geometry.panels import Ints
from sharpfront.maps import Strip
from sharpfront.place.patches.cuts import Cell
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.patches.tails import Tails
from sharpfront.place.strips.decay_rates import decay_rates
from sharpfront.place.tiling.blocks import Block, Tiling
from sharpfront.place.tiling.solids import ROUNDING, Wall
from sharpfront.problem import Problem
from sharpfront.rounding import CANCELLED, SAME, SLIGHT
from sharpfront.trust.plane_boundary_points import PlaneBoundaryPoints

Place = tuple[float, ...]

# How close to a place on a side values are compared, of the side's length.
CLOSE = (1e-10, 1e-9)
_VIOLATE = "the slopes of the data on {} violate the equations"


@dataclass(frozen=True)
class Jumps:
    """Where a solution jumps."""

    radius: float  # how far from a place the solution is estimated again
    places: tuple[Place, ...] = ()  # the corners
    # Which conditions disagree at places that the statement tells of, in words.
    told: Mapping[Place, str] = field(default_factory=dict)
    held: tuple[Place, ...] = ()  # other places, at which functions jump

    @classmethod
    def of(cls, problem: Problem, tiling: Tiling, tol: float) -> Jumps:
        """Return the corners at which conditions give an unknown two values."""
        extent = float(np.ptp(problem.domain.bounds, axis=0).max())
        if problem.domain.dimension != 2:
            return cls(ADAPT.near_jump * extent)
        found: dict[Place, str] = {}
        slopes = Compatibility(problem)
        straight_ones = [block for block in tiling.blocks if not isinstance(block.chart, Strip)]
        walls = [(block, wall) for block in straight_ones for wall in block.walls]
        sides = [(block.ends(wall), wall[4]) for block, wall in walls]
        straight = len(sides)
        sides += tiling.curves
        for one_side, other_side in itertools.combinations(enumerate(sides), 2):
            (k, (ends, part)), (m, (others, beside)) = one_side, other_side
            gaps = np.linalg.norm(ends[:, None] - others[None], axis=2)
            for i, j in np.argwhere(gaps <= ROUNDING * extent).tolist():
                one, two = _side(problem, part, ends, i), _side(problem, beside, others, j)
                told = _disagreeing(problem, one, two, tol)
                # Along curves slopes are not looked at.
                if not told and max(k, m) < straight and slopes.missed([one, two]) > tol:
                    told = _VIOLATE.format(part if part == beside else f"{part} and {beside}")
                if told:
                    found[tuple(ends[i].tolist())] = told
        for block, wall in walls:
            found = dict(_within(problem, block, wall, tol, slopes)) | found
        for place, told in _along_panels(problem, tiling, tol):
            if all(np.linalg.norm(np.subtract(place, p)) > ROUNDING * extent for p in found):
                found[place] = told
        found = {_snapped(p, tiling.corners, SAME * extent): told for p, told in found.items()}
        return cls(ADAPT.near_jump * extent, tuple(sorted(found)), found)

    @property
    def stated(self) -> tuple[str, ...]:
        """Which conditions disagree at those that the statement tells of, in words."""
        return tuple(self.told[place] for place in self.places if place in self.told)

    def beyond(self, functions: Sequence[SharedFunctions]) -> Jumps:
        """Return the jumps, those apart that functions have: patches need not resolve them."""
        held = tuple(p for p in self.places if p in jumps_of(functions))
        return replace(self, places=tuple(p for p in self.places if p not in held), held=held)

    def away(self, points: FloatArray) -> NDArray[np.bool_]:
        """Tell which points are far enough from all places, (m,)."""
        out = np.ones(len(points), dtype=bool)
        near = [(p, self.radius) for p in self.places] + [(p, self.closest) for p in self.held]
        for place, radius in near:
            out &= np.linalg.norm(points - np.array(place), axis=1) > radius
        return out

    @property
    def closest(self) -> float:
        """How close to a jump rounding of places does not tell one side from the other."""
        return SAME / ADAPT.near_jump * self.radius

    def shares(self, patches: Sequence[Patch], rough: Mapping[str, int]) -> dict[str, FloatArray]:
        """Return how much of what goes wrong in each patch counts, for each unknown, (patches,)."""
        size = np.ones(len(patches))
        for i, patch in enumerate(patches):
            for place in self.places:
                if np.linalg.norm(patch.corners - place, axis=1).max() <= self.radius:
                    size[i] = min(size[i], float(patch.sides.max()) / self.radius)
            finest = SLIGHT / ADAPT.near_jump * self.radius
            if any(np.linalg.norm(patch.corners - p, axis=1).max() <= finest for p in self.held):
                size[i] = 0.0
        return {unknown: size ** (1.0 + t) for unknown, t in rough.items()}

    def with_more(
        self,
        cells: Sequence[Cell],
        tails: Tails,
        least: float,
        known: Iterable[Place] = (),
        problem: Problem | None = None,
    ) -> Jumps:
        """Return the places with those at which tails did not fall while they were cut.

        Tails below `least` may be what others leave, and those of a layer of the problem begin to
        fall in smaller cells. At known corners, which have functions, they say nothing of the
        solution, unless these jump: patches there hold what functions leave.
        """
        found: set[Place] = set()
        for cell, tail in zip(cells, tails.tail.max(axis=1), strict=True):
            if (
                tail > least
                and cell.levels >= SETTINGS.enough
                and tail >= ADAPT.falling**cell.levels * cell.tail
                and not (problem is not None and _is_wide(problem, cell))
            ):
                corner = cell.patch.points([np.array([1.0 if e else -1.0]) for e in cell.corner])
                found.add(tuple(corner[0].tolist()))
        found -= set(known).difference(self.held)
        held = tuple(place for place in self.held if place not in found)
        return replace(self, places=tuple(sorted(found.union(self.places))), held=held)

    def __str__(self) -> str:
        return in_words(self.places)


def _is_wide(problem: Problem, cell: Cell) -> bool:
    """Tell whether a cell at an end of the line is too wide for a layer that may be there."""
    if cell.patch.dimension > 1:
        return False
    middle = cell.patch.points([np.zeros(1)])
    rates = decay_rates(problem, middle, 0, int(cell.corner[0]))[0]
    return float(rates.max(initial=0.0) * cell.patch.sides[0]) > ADAPT.thin


def in_words(places: Sequence[Place]) -> str:
    """Return places as they are told."""
    told = [f"({', '.join(f'{c:.4g}' for c in place)})" for place in places]
    return " and ".join(shortened(told))


def _snapped(place: Place, corners: FloatArray, near: float) -> Place:
    """Return a place, or the corner next to it: y > 1e-9 means all of a side but its end."""
    gaps = np.linalg.norm(corners - np.array(place), axis=1)
    close = corners[gaps <= near]
    return tuple(close[0].tolist()) if len(close) else place


def _side(problem: Problem, part: str, ends: FloatArray, which: int) -> Side:
    """Return an end of a wall, or a point on it, with the normal outwards."""
    along = ends[1] - ends[0]
    normal = np.array([along[1], -along[0]]) / np.linalg.norm(along)
    beside = 0.5 * (ends[0] + ends[1]) + CLOSE[0] * np.linalg.norm(along) * normal
    outwards = -1.0 if problem.domain.contains(beside[None])[0] else 1.0
    within = ends[which] + CANCELLED * (ends[1 - which] - ends[which])
    return Side(part, ends[which], outwards * normal, within)


def _disagreeing(problem: Problem, one: Side, two: Side, tol: float) -> str:
    """Return in words which unknown has two values where two sides meet."""
    farther = [replace(s, within=s.point + 10.0 * (s.within - s.point)) for s in (one, two)]
    jumping = _jumping(problem, [(one, two), farther], tol)
    here, there, told = given_values(problem, one), given_values(problem, two), ""
    for name in jumping:
        told = f"for {name} the condition on {one.part} gives {here[name]:.3g}"
        told += f", that on {two.part} gives {there[name]:.3g}"
    return told


def _within(
    problem: Problem, block: Block, wall: Wall, tol: float, slopes: Compatibility
) -> Iterator[tuple[Place, str]]:
    """Yield the places on a wall, not at its ends, at which the condition's own value jumps.

    Or its slope, where an unknown counts like a slope; with what jumps, in words.

    Where a line ends across which a jump is stated, the solution jumps with it.
    """
    if block.chart is not None:
        return
    start, stop = block.ends(wall)
    along = 1 - wall[0]
    low, high = float(start[along]), float(stop[along])
    for condition in (c for c in problem.conditions if c.part == wall[4]):
        graphs = condition.residuals
        name = problem.domain.coordinates[along]
        lines = {j.place for j in problem.jumps if j.coordinate == name}
        found = {float(p) for g in graphs for p in places_along(g, name, low, high)}
        for place in found - lines:
            here = np.insert(start[1 - along : 2 - along], along, place)
            pairs = [_beside(problem, wall[4], here, along, f * (high - low)) for f in CLOSE]
            jumps = " and ".join(_jumping(problem, pairs, tol))
            told = f"what the condition on {wall[4]} gives for {jumps} jumps"
            if jumps or slopes.missed(pairs[0]) > tol:
                yield tuple(here.tolist()), told if jumps else _VIOLATE.format(wall[4])


def _along_panels(problem: Problem, tiling: Tiling, tol: float) -> Iterator[tuple[Place, str]]:
    """Yield the places on curved or slanted sides at which a condition's own value jumps."""
    rounding = 1e-14 * float(np.abs(problem.domain.bounds).max())
    for condition in problem.conditions:
        edges = [e for r in condition.residuals for e in _zero_on_jumps(r)]
        if not edges:
            continue
        rim = PlaneBoundaryPoints(problem, tiling, lambda points: np.ones(len(points), dtype=bool))
        own = np.flatnonzero(np.isin(rim.panels.parts, [condition.part]))
        # Rounding may hide an edge between the end of a panel and the next one.
        found = [(own, np.ones(len(own))), *(rim.zeros(own, [edge]) for edge in edges)]
        panels, parameters = (np.concatenate(each) for each in zip(*found, strict=True))
        for panel, t in zip(panels[:, None], parameters[:, None], strict=True):
            pairs = [
                [_on_panel(rim, condition.part, panel, t + sign * f) for sign in (-1.0, 1.0)]
                for f in CLOSE
            ]
            jumps = " and ".join(_jumping(problem, pairs, tol))
            place = rim.panels.at(panel, t)[0]
            if jumps and not _is_stated(problem, place):
                told = f"what the condition on {condition.part} gives for {jumps} jumps"
                yield tuple(np.where(np.abs(place) > rounding, place, 0.0).tolist()), told


def _is_stated(problem: Problem, place: FloatArray) -> bool:
    """Tell whether a place lies on a line across which a jump is stated."""
    at = dict(zip(problem.domain.coordinates, place.tolist(), strict=True))
    near = ROUNDING * float(np.ptp(problem.domain.bounds))
    return any(abs(at[jump.coordinate] - jump.place) <= near for jump in problem.jumps)


def _zero_on_jumps(residual: Expression) -> list[Expression]:
    """Return functions of place that are zero where a residual jumps."""
    own = [s for s in switches(residual) if s.jumps and not derivatives_in(s.argument)]
    gaps = [s.argument - s.first for s in own]
    # Of those that come again, one that is zero wherever they do.
    return [
        as_expression(np.sin(np.pi * gap / s.period)) if s.period else gap
        for s, gap in zip(own, gaps, strict=True)
    ]


def _on_panel(rim: PlaneBoundaryPoints, part: str, panel: Ints, t: FloatArray) -> Side:
    """Return a point of a panel as one of a side."""
    here, _ = rim.panels.boundary(panel, t)
    return Side(part, here.points[0], here.normals[0], here.points[0])


def _jumping(problem: Problem, pairs: Sequence[Sequence[Side]], tol: float) -> list[str]:
    """Return the unknowns whose values jump between points close to each other, and farther."""
    near, far = (_disagreements(problem, *pair) for pair in pairs)
    # A slope, however steep, makes less of a difference closer by.
    return [u for u, d in near.items() if d > tol and d > 0.5 * far.get(u, d)]


def _beside(
    problem: Problem, part: str, place: FloatArray, along: int, distance: float
) -> list[Side]:
    """Return the points of a wall on both sides of a place."""
    ends = np.stack([place, place])
    ends[:, along] += np.array([-distance, distance])
    return [_side(problem, part, ends, k) for k in (0, 1)]


def _disagreements(problem: Problem, before: Side, after: Side) -> dict[str, float]:
    """Return how far values given on both sides of a place are apart, relative to their size."""
    one, two = given_values(problem, before), given_values(problem, after)
    return {
        u: abs(one[u] - two[u]) / max(1.0, abs(one[u]), abs(two[u]))
        for u in one.keys() & two.keys()
    }


def given_values(problem: Problem, side: Side) -> dict[str, float]:
    """Return the values of unknowns that conditions give at a point of a side.

    Where they are finite at the point, those close by: functions that jump have two there.
    """
    at, close = (
        environment(problem.coordinates, point[None], side.normal[None])
        for point in (side.point, side.within)
    )
    out = {}
    for form in (f for c in problem.conditions if c.part == side.part for f in c.forms):
        try:
            form_values(form, at, 1, "condition")
            coefficients, source = form_values(form, close, 1, "condition")
        except EquationError:
            continue
        terms = [(t, c[0]) for t, c in zip(form.terms, coefficients, strict=True) if c[0]]
        if len(terms) == 1 and not any(terms[0][0].orders):
            out[terms[0][0].unknown] = 0.0 - float(source[0] / terms[0][1])
    return out
