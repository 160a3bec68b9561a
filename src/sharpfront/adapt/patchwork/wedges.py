"""Functions of the corners of a domain, for one equation of second order in the plane.

What a solution is made of at a corner follows from the angle, from what is given on the two sides
and from the second derivatives of the equation. Functions are added for all patches together, and
how much of each there is comes out of the same least squares; patches have to resolve what is left,
which is smoother. Where the functions are no help, patches are cut towards the corner as elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sharpfront.adapt.patchwork.exponents import tensors
from sharpfront.adapt.patchwork.shadows import completed
from sharpfront.arrays import FloatArray
from sharpfront.bases.corner_functions import CornerFunctions, Term
from sharpfront.equation.expression import Constant, evaluate
from sharpfront.equation.values import environment, form_values
from sharpfront.place.patches.cuts import Cell, at_corners
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.patches.tails import Tails
from sharpfront.place.tiling.blocks import ROUNDING, Tiling
from sharpfront.problem import IntegralCondition, Problem
from sharpfront.rows.values import form_at

# Powers closer to a whole number than this are one.
WHOLE = 1e-9
# Ends of sides as close as that to a corner, in units of the domain, are it: a slit is wider.
SAME_CORNER = 1e-12
# The inside of a corner is looked at so far from it, in units of the domain.
INSIDE_AT = 1e-6
# Directions in which a function may jump, as shares of the angle outside; places on a ray and in
# the domain that are looked at.
RAYS = (0.5, 0.25, 0.75, 0.1, 0.9)
LOOKED = 400
# Powers below this are singular enough for functions before the first solve.
SINGULAR = 2.0


@dataclass(frozen=True, eq=False)
class _Side:
    """A straight side at a corner: its direction from there, and what is given on it."""

    direction: FloatArray
    part: str


@dataclass(frozen=True, eq=False)
class Wedges:
    """The corners of a problem's domain, and what solutions are made of there.

    Parameters
    ----------
    problem, tiling
        The problem on its domain.
    tol
        The tolerance.
    lower
        Whether lower terms are what they seem. About a guess of Newton's method they are not, and
        functions that make up for them hold what patches have to take away again.
    wanted
        Whether functions are used at all: not once they were tried and did not lead on.
    """

    problem: Problem
    tiling: Tiling
    tol: float
    lower: bool = True
    wanted: bool = True

    @cached_property
    def functions(self) -> tuple[CornerFunctions, ...]:
        """Functions of the corners at which they are known."""
        if not self._suited:
            return ()
        found = (self._at(corner) for corner in self.tiling.corners)
        return tuple(own for own in found if own is not None)

    @property
    def at_first(self) -> tuple[CornerFunctions, ...]:
        """The functions, if every solution is singular at some corner."""
        first = [corner.terms[0] for corner in self.functions]
        singular = any(t.order < SINGULAR and not t.logarithmic for t in first)
        return self.functions if singular else ()

    @property
    def later(self) -> tuple[CornerFunctions, ...]:
        """The functions, where lower terms are so small that they are nearly the solution's."""
        if not self.functions:
            return ()
        winds, widths = self._stiffness
        weak = self.tol**0.25
        mild = winds <= SETTINGS.mild_winds * weak and widths <= SETTINGS.mild_widths * weak
        return self.functions if mild else ()

    @property
    def _suited(self) -> bool:
        """Whether functions are known: second derivatives with constant coefficients, no jumps."""
        problem = self.problem
        if not self.wanted or len(problem.unknowns) > 1 or problem.domain.dimension != 2:
            return False
        if any(problem.domain.periodic_axes) or problem.forms[0].order != 2:
            return False
        if problem.is_singular or any(isinstance(c, IntegralCondition) for c in problem.further):
            return False
        second = [t for t in problem.forms[0].terms if t.order == 2]
        if not all(isinstance(t.coefficient, Constant) for t in second):
            return False
        # Layers so thin that functions of the whole domain say little of a corner.
        winds, widths = self._stiffness
        most = SETTINGS.winds * min(1.0, math.sqrt(self.tol / SETTINGS.loose))
        return winds <= most and widths <= SETTINGS.widths

    @cached_property
    def _stiffness(self) -> tuple[float, float]:
        """The domain in units of layers of winds, and of reactions or waves."""
        problem = self.problem
        points, extent = problem.domain.sample(LOOKED), self._extent
        form = form_at(problem.forms[0], problem.coordinates, points)
        sizes = [0.0, 0.0, 0.0]
        for term, c in zip(form.terms, form.coefficients, strict=True):
            order = sum(term.orders)
            sizes[order] = max(sizes[order], float(np.abs(c).max()))
        return sizes[1] * extent / sizes[2], extent * math.sqrt(sizes[0] / sizes[2])

    @cached_property
    def _extent(self) -> float:
        return float(np.ptp(self.problem.domain.bounds, axis=0).max())

    def asked(self, cells: Sequence[Cell], tails: Tails, aim: float) -> bool:
        """Tell whether weights fall too slowly at a corner."""
        at = np.array([end is not None for end in at_corners(cells, self.tiling.corners)])
        slow = (tails.tail > aim) & ~tails.analytic
        return bool(np.any(slow[at]))

    def _sides(self, corner: FloatArray) -> list[_Side]:
        near = SAME_CORNER * self._extent
        out = []
        for block in self.tiling.blocks:
            for wall in block.walls:
                ends = block.ends(wall)
                for here, there in (ends, ends[::-1]):
                    if np.abs(here - corner).max() <= near:
                        way = there - here
                        out.append(_Side(way / np.linalg.norm(way), wall[4]))
        return out

    def _at(self, corner: FloatArray) -> CornerFunctions | None:
        """Return the functions of a corner; None where they are not known."""
        sides = self._sides(corner)
        # Where data are infinite nothing is known of what they add.
        if len(sides) != 2 or tuple(corner.tolist()) in self.tiling.marked:
            return None
        if not self._is_finite(corner):
            return None
        values, vectors = np.linalg.eigh(tensors(self.problem, corner[None])[0])
        if np.min(values) <= 0:
            return None
        extent = self._extent
        even = (vectors / np.sqrt(values)) @ vectors.T
        first, second = self._in_order(corner, sides, extent)
        kinds = [self._kind(corner, side, inside) for side, inside in ((first, 1), (second, -1))]
        if None in kinds:
            return None
        one, two = (complex(*(even @ side.direction)) for side in (first, second))
        turn = abs(one) / one / (extent * float(np.linalg.norm(even, 2)))
        angle = _positive(np.angle(two * turn))
        slopes = complex(*even[:, 0]) * turn, complex(*even[:, 1]) * turn
        cut = self._free(corner, angle, slopes, extent)
        if cut is None:
            return None
        half = 0.0 if kinds[0] == kinds[1] else 0.5
        most = SETTINGS.powers(self.tol)
        powers: FloatArray = np.asarray((np.arange(1, 100) - half) * (math.pi / angle), dtype=float)
        whole = np.abs(powers - np.round(powers)) < WHOLE
        powers = np.where(whole, np.round(powers), powers)
        own = zip(powers.tolist(), whole.tolist(), strict=True)
        terms = tuple(Term(p, 0, log) for p, log in own if p < most)
        if not terms:
            return None
        factors = np.diag(np.full(len(terms), 1.0 if kinds[0] == "value" else 1.0j, dtype=complex))
        place = float(corner[0]), float(corner[1])
        found = CornerFunctions(place, slopes, cut, terms, factors)
        if not self.lower:
            return found
        smoother = min(most, SETTINGS.smoother)
        return completed(self.problem, found, angle, (first.part, second.part), powers, smoother)

    def _is_finite(self, corner: FloatArray) -> bool:
        form, leaves = self.problem.forms[0], environment(self.problem.coordinates, corner[None])
        asked = [form.source, *(term.coefficient for term in form.terms)]
        with np.errstate(all="ignore"):
            return all(bool(np.isfinite(evaluate(each, leaves)).all()) for each in asked)

    def _in_order(
        self, corner: FloatArray, sides: Sequence[_Side], extent: float
    ) -> tuple[_Side, _Side]:
        """Return the two sides of a corner, the domain on the left of the first one.

        In a slit as narrow as rounding the domain seems to be on both.
        """
        a, b = (complex(*side.direction) for side in sides)
        angles = np.array([_positive(np.angle(b / a)), _positive(np.angle(a / b))])
        middle = np.array([a, b]) * np.exp(0.5j * angles)
        points = corner + INSIDE_AT * extent * np.stack([middle.real, middle.imag], axis=1)
        inside = self.problem.domain.contains(points)
        turned = angles[1] > angles[0] if inside.all() else inside[1]
        return (sides[1], sides[0]) if turned else (sides[0], sides[1])

    def _kind(self, corner: FloatArray, side: _Side, inside: int) -> str | None:
        """Return whether a value or a flux is given on a side; None where it is something else."""
        stated = [c for c in self.problem.conditions if c.part == side.part]
        if len(stated) != 1 or len(stated[0].forms) != 1:
            return None
        form = stated[0].forms[0]
        if not form.order:
            return "value"
        normal = inside * np.array([side.direction[1], -side.direction[0]])
        leaves = environment(self.problem.coordinates, corner[None], normal[None])
        coefficients, _ = form_values(form, leaves, 1)
        slope = np.zeros(2)
        for term, c in zip(form.terms, coefficients, strict=True):
            if term.order == 1:
                slope += float(c[0]) * np.array(term.orders)
        flux = tensors(self.problem, corner[None])[0] @ normal
        sine = abs(slope[0] * flux[1] - slope[1] * flux[0])
        across = sine <= WHOLE * np.linalg.norm(slope) * np.linalg.norm(flux)
        return "flux" if form.order == 1 and across and np.any(slope) else None

    def _free(
        self,
        corner: FloatArray,
        angle: float,
        slopes: tuple[complex, complex],
        extent: float,
    ) -> float | None:
        """Return an angle outside the domain at which functions may jump; None without one."""
        back = np.linalg.inv(np.array([[s.real, s.imag] for s in slopes]).T)
        for share in RAYS:
            cut = angle + share * (2 * math.pi - angle)
            way = back @ np.array([math.cos(cut), math.sin(cut)])
            if not self._crossed(corner, way / np.linalg.norm(way), extent):
                return cut
        return None

    def _crossed(self, corner: FloatArray, way: FloatArray, extent: float) -> bool:
        """Tell whether a ray from a corner meets the domain again.

        Straight sides tell to rounding, as they have to in a slit; others are looked at.
        """
        if self.tiling.curves or any(block.region is not None for block in self.tiling.blocks):
            lengths = 2 * extent * np.geomspace(INSIDE_AT, 1.0, LOOKED)
            return bool(self.problem.domain.contains(corner + lengths[:, None] * way).any())
        for block in self.tiling.blocks:
            for wall in block.walls:
                ends = block.ends(wall) - corner
                if np.abs(ends).max(axis=1).min() <= ROUNDING * extent:
                    continue
                beside = ends @ np.array([-way[1], way[0]])
                if np.sign(beside[0]) * np.sign(beside[1]) > 0:
                    continue
                share = beside[0] / (beside[0] - beside[1]) if beside[0] != beside[1] else 0.0
                if (ends[0] + share * (ends[1] - ends[0])) @ way > 0:
                    return True
        return False


def _positive(angle: float) -> float:
    """Return an angle between zero and a whole turn."""
    return float(angle % (2 * math.pi))
