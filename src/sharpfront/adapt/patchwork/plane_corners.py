"""What solutions are made of at the corners of a domain in the plane, by highest derivatives.

It follows from the angle, from what is given on the two sides and from the highest derivatives of
an equation of second or fourth order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sharpfront.adapt.patchwork.corner_cells import cells_of, most_cells
from sharpfront.adapt.patchwork.corner_sides import Bend, CornerSide, is_between, sides_at
from sharpfront.adapt.patchwork.corner_symbols import highest_terms, layer_rates
from sharpfront.adapt.patchwork.exponents import leading_terms, tensors
from sharpfront.adapt.patchwork.plate_corners import functions_of_plate, square_root
from sharpfront.adapt.patchwork.settings import ADAPT
from sharpfront.adapt.patchwork.shadow_terms import completed
from sharpfront.arrays import FloatArray
from sharpfront.bases.corner_functions import FADED, CornerFunctions, Term, jumps_of
from sharpfront.equation.graph import evaluate
from sharpfront.equation.values import environment
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.place.tiling.solids import ROUNDING
from sharpfront.problem import Problem
from sharpfront.rounding import ROUNDED, SAME, SLIGHT
from sharpfront.rows.form_values import form_at

# Directions in which a function may jump, as shares of the angle outside.
RAYS = (0.5, 0.25, 0.75, 0.1, 0.9)


@dataclass(frozen=True, eq=False)
class MainFunctions:
    """Functions of a corner that solve highest derivatives alone."""

    functions: CornerFunctions
    angle: float  # between the sides, of z
    parts: tuple[str, str]  # what the two sides are called
    most: float  # powers of what lower terms add are below that
    bends: tuple[Bend | None, Bend | None] = (None, None)  # how the two sides bend
    alone: bool = False  # whether what lower terms and curved sides add is left to patches

    @property
    def jumps(self) -> bool:
        """Whether one of them jumps."""
        return bool(jumps_of([self.functions]))

    def completed(self, problem: Problem) -> CornerFunctions:
        """Return the functions with what a problem's lower terms and curved sides add to them."""
        if self.alone:
            return self.functions
        own = self.parts, self.bends
        return completed(problem, self.functions, self.angle, *own, self.most)


@dataclass(frozen=True, eq=False)
class PlaneCorners:
    """The corners of a problem's domain in the plane."""

    problem: Problem
    tiling: Tiling
    tol: float
    fading: bool = False  # whether functions fade where layers end
    jumps: Sequence[tuple[float, ...]] = ()  # places at which given values jump

    @property
    def main(self) -> tuple[MainFunctions, ...]:
        """The functions of the corners, and of other places of jumps, at which they are known."""
        corners = self.tiling.corners
        beside = [np.array(place) for place in self.jumps if not self._is_near(place, corners)]
        found = (self._at(corner) for corner in (*corners, *beside))
        return tuple(own for own in found if own is not None)

    def _is_near(self, place: Sequence[float], places: FloatArray) -> bool:
        gaps = np.abs(places - np.array(place)).max(axis=1)
        return bool(np.any(gaps <= ROUNDED * self._extent))

    @property
    def _jumping(self) -> FloatArray:
        return np.array(self.jumps).reshape(-1, 2)

    @property
    def _order(self) -> int:
        return self.problem.forms[0].order

    @cached_property
    def _extent(self) -> float:
        return float(np.ptp(self.problem.domain.bounds, axis=0).max())

    def _at(self, corner: FloatArray) -> MainFunctions | None:
        """Return the functions of a corner; None where they are not known."""
        sides = sides_at(self.tiling, corner, self._extent, bends=not self.fading)
        # Where data are infinite nothing is known of what they add.
        if len(sides) != 2 or tuple(corner.tolist()) in self.tiling.marked:
            return None
        if np.abs(sides[0].direction - sides[1].direction).max() <= ROUNDED:
            return None  # one wall, of the boxes on both sides of a curve: the other side is curved
        if not self.is_finite(corner):
            return None
        even = self._made_even(corner)
        if even is None:
            return None
        reach = self._reach(corner)
        most = SETTINGS.bent if self.fading else SETTINGS.bends
        if reach is None:
            return None
        first, second = self._in_order(corner, sides, self._extent)
        one, two = (complex(*(even @ side.direction)) for side in (first, second))
        turn = abs(one) / one / (reach * float(np.linalg.norm(even, 2)))
        angle = _positive(np.angle(two * turn))
        slopes = complex(*even[:, 0]) * turn, complex(*even[:, 1]) * turn
        place = float(corner[0]), float(corner[1])
        none = np.zeros((0, 0), dtype=complex)
        bare = CornerFunctions(place, slopes, angle + math.pi, (), none, fades=self.fading)
        cut = self._free(corner, angle, slopes, (FADED if self.fading else 2.0) * reach)
        support = None
        if cut is None and not self._is_near(place, self._jumping):
            cut, support = self._held(corner, angle, slopes)
        if cut is None or reach * max(side.curvature for side in sides) > most:
            return self._jump_alone(bare, angle, cut, (first, second))
        bare = replace(bare, cut=cut, support=support)
        of_order = self._of_plate if self._order == 4 else self._of_second_order
        return of_order(bare, angle, (first, second))

    def _jump_alone(
        self,
        bare: CornerFunctions,
        angle: float,
        cut: float | None,
        sides: tuple[CornerSide, CornerSide],
    ) -> MainFunctions | None:
        """Return the angle about a place at which values jump; None elsewhere.

        Without a cut, on the rim of a hole, as seen beside a point in the hole.
        """
        found = self._jump(bare, sides)
        pole = self._in_hole(bare, angle) if cut is None else None
        if found is None or (cut is None and pole is None):
            return None
        own = replace(found, cut=cut or bare.cut, pole=pole, fades=False)
        return MainFunctions(own, angle, (sides[0].part, sides[1].part), 0.0, alone=True)

    def _in_hole(self, bare: CornerFunctions, angle: float) -> complex | None:
        """Return z half way from a place on the rim of a hole to the other side of the hole."""
        back = np.linalg.inv(np.array([[s.real, s.imag] for s in bare.slopes]).T)
        cut = angle + 0.5 * (2 * math.pi - angle)
        lengths = 2.0 * np.geomspace(SLIGHT, 1.0, ADAPT.places)
        ray = lengths[:, None] * (back @ np.array([math.cos(cut), math.sin(cut)]))
        inside = self.problem.domain.contains(np.array(bare.place) + ray)
        half = 0.5 * lengths[int(np.argmax(inside))]
        return complex(half * np.exp(1j * cut)) if inside.any() and not inside[0] else None

    def _jump(
        self, bare: CornerFunctions, sides: tuple[CornerSide, CornerSide]
    ) -> CornerFunctions | None:
        """Return the angle, the imaginary part of log z, at a place where values jump."""
        corner = np.array(bare.place)
        kinds = {self._kind(corner, s, i) for s, i in zip(sides, (1, -1), strict=True)}
        near = self._is_near(bare.place, self._jumping)
        if self._order != 2 or kinds != {"value"} or not near:
            return None
        return replace(bare, terms=(Term(0.0, 0, True),), factors=np.ones((1, 1), dtype=complex))

    def _reach(self, corner: FloatArray) -> float | None:
        """Return how far functions of a corner reach; None where layers that end them are wide."""
        if not self.fading:
            return self._extent
        winds, widths = layer_rates(self.problem, corner[None])
        if widths <= max(winds, SETTINGS.widths / self._extent):
            return None
        return SETTINGS.fading * math.sqrt(SETTINGS.layer(self.tol)) / widths

    def _made_even(self, corner: FloatArray) -> FloatArray | None:
        """Return the map of space after which highest derivatives are Laplace's; None without."""
        if self._order == 4:
            tensor = square_root(
                highest_terms(self.problem.forms[0], self.problem.coordinates, corner)
            )
        else:
            tensor = tensors(self.problem, corner[None])[0]
        if tensor is None:
            return None
        values, vectors = np.linalg.eigh(tensor)
        return (vectors / np.sqrt(values)) @ vectors.T if np.min(values) > 0 else None

    def _of_plate(
        self, bare: CornerFunctions, angle: float, sides: tuple[CornerSide, CornerSide]
    ) -> MainFunctions | None:
        """Return the functions of a corner, two conditions on each side."""
        corner, held = np.array(bare.place), []
        for side, inside in zip(sides, (1, -1), strict=True):
            forms = [f for c in self.problem.conditions if c.part == side.part for f in c.forms]
            normal = side.normal(inside)
            held.append([highest_terms(f, self.problem.coordinates, corner, normal) for f in forms])
        if any(len(own) != 2 or not all(own) for own in held):
            return None
        # As smooth after two derivatives more as functions of second order are.
        most = SETTINGS.powers(self.tol) + 2.0
        found = functions_of_plate(bare, angle, held, most)
        parts, bends = (sides[0].part, sides[1].part), (sides[0].bend, sides[1].bend)
        smoother = min(most, SETTINGS.smoother + 2.0)
        return MainFunctions(found, angle, parts, smoother, bends) if found.size else None

    def _of_second_order(
        self, bare: CornerFunctions, angle: float, sides: tuple[CornerSide, CornerSide]
    ) -> MainFunctions | None:
        """Return the functions of a corner, a value or a flux given on each side."""
        corner = np.array(bare.place)
        kinds = [self._kind(corner, s, i) for s, i in zip(sides, (1, -1), strict=True)]
        if None in kinds:
            return None
        most = SETTINGS.powers(self.tol)
        terms = tuple(leading_terms(kinds, angle, most))
        if (jump := self._jump(bare, sides)) is not None:
            terms = (*jump.terms, *terms)
        if not terms:
            return None
        factors = np.diag(np.full(len(terms), 1.0 if kinds[0] == "value" else 1.0j, dtype=complex))
        found = replace(bare, terms=terms, factors=factors)
        smoother = most + SETTINGS.shadows if self.fading else min(most, SETTINGS.smoother)
        parts, bends = (sides[0].part, sides[1].part), (sides[0].bend, sides[1].bend)
        return MainFunctions(found, angle, parts, smoother, bends)

    def is_finite(self, corner: FloatArray) -> bool:
        """Tell whether data are finite at a corner."""
        form, leaves = self.problem.forms[0], environment(self.problem.coordinates, corner[None])
        asked = [form.source, *(term.coefficient for term in form.terms)]
        with np.errstate(all="ignore"):
            return all(bool(np.isfinite(evaluate(each, leaves)).all()) for each in asked)

    def _in_order(
        self, corner: FloatArray, sides: Sequence[CornerSide], extent: float
    ) -> tuple[CornerSide, CornerSide]:
        """Return the two sides of a corner, the domain on the left of the first one.

        In a slit as narrow as rounding the domain seems to be on both.
        """
        a, b = (complex(*side.direction) for side in sides)
        angles = np.array([_positive(np.angle(b / a)), _positive(np.angle(a / b))])
        middle = np.array([a, b]) * np.exp(0.5j * angles)
        points = corner + SLIGHT * extent * np.stack([middle.real, middle.imag], axis=1)
        inside = self.problem.domain.contains(points)
        turned = angles[1] > angles[0] if inside.all() else inside[1]
        return (sides[1], sides[0]) if turned else (sides[0], sides[1])

    def _kind(self, corner: FloatArray, side: CornerSide, inside: int) -> str | None:
        """Return whether a value or a flux is given on a side; None where it is something else.

        u_n + c u is a flux up to a distance of 1/c and a value farther away.
        """
        stated = [c for c in self.problem.conditions if c.part == side.part]
        if len(stated) != 1 or len(stated[0].forms) != 1:
            return None
        form = stated[0].forms[0]
        if not form.order:
            return "value"
        normal = side.normal(inside)
        highest = highest_terms(form, self.problem.coordinates, corner, normal)
        slope = sum((c * np.array(orders) for orders, c in highest.items()), np.zeros(2))
        flux = tensors(self.problem, corner[None])[0] @ normal
        sine = abs(slope[0] * flux[1] - slope[1] * flux[0])
        across = sine <= SAME * np.linalg.norm(slope) * np.linalg.norm(flux)
        if form.order > 1 or not across or not np.any(slope):
            return None
        own = form_at(form, self.problem.coordinates, corner[None], normal[None])
        pairs = zip(own.terms, own.coefficients, strict=True)
        value = sum(abs(float(c[0])) for term, c in pairs if not any(term.orders))
        stiff = value * self._extent > ADAPT.stiff * np.linalg.norm(slope)
        return None if stiff else "flux"

    def _free(
        self,
        corner: FloatArray,
        angle: float,
        slopes: tuple[complex, complex],
        far: float,
    ) -> float | None:
        """Return an angle outside the domain at which functions may jump; None without one.

        Outside as far as they reach.
        """
        ways = _rays(angle, slopes)
        return next((cut for cut, way in ways if not self._crossed(corner, way, far)), None)

    def _held(
        self, corner: FloatArray, angle: float, slopes: tuple[complex, complex]
    ) -> tuple[float | None, FloatArray | None]:
        """Return an angle in a hole at which functions may jump, and the cells that have them."""
        cells = cells_of(self.tiling.blocks)
        rays, near = _rays(angle, slopes), ROUNDING * self._extent
        found = most_cells(self.problem.domain, cells, corner, [way for _, way in rays], near)
        return (None, None) if found is None else (rays[found[0]][0], found[1])

    def _crossed(self, corner: FloatArray, way: FloatArray, far: float) -> bool:
        """Tell whether a ray of some length from a corner meets the domain again.

        Straight sides tell to rounding, as they have to in a slit; others are looked at.
        """
        if self.tiling.curves or any(block.region is not None for block in self.tiling.blocks):
            lengths = far * np.geomspace(SLIGHT, 1.0, ADAPT.places)
            return bool(self.problem.domain.contains(corner + lengths[:, None] * way).any())
        for block in self.tiling.blocks:
            for wall in block.walls:
                ends = block.ends(wall) - corner
                near = ROUNDING * self._extent
                if np.abs(ends).max(axis=1).min() <= near or is_between(ends, 0 * corner, near):
                    continue
                beside = ends @ np.array([-way[1], way[0]])
                if np.sign(beside[0]) * np.sign(beside[1]) > 0:
                    continue
                share = beside[0] / (beside[0] - beside[1]) if beside[0] != beside[1] else 0.0
                if 0 < (ends[0] + share * (ends[1] - ends[0])) @ way <= far:
                    return True
        return False


def _rays(angle: float, slopes: tuple[complex, complex]) -> list[tuple[float, FloatArray]]:
    """Return angles of z outside of a corner's sides, and directions of space to them."""
    back = np.linalg.inv(np.array([[s.real, s.imag] for s in slopes]).T)
    cuts = [angle + share * (2 * math.pi - angle) for share in RAYS]
    ways = [back @ np.array([math.cos(cut), math.sin(cut)]) for cut in cuts]
    return [(cut, way / np.linalg.norm(way)) for cut, way in zip(cuts, ways, strict=True)]


def _positive(angle: float) -> float:
    """Return an angle between zero and a whole turn."""
    return float(angle % (2 * math.pi))
