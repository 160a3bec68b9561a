"""Functions of the corners of a domain, for one equation: which there are, and when they are used.

What a solution is made of at a corner follows from the angle, from what is given on the two sides
and from the highest derivatives of the equation. Functions are added for all patches together, and
how much of each there is comes out of the same least squares; patches have to resolve what is left,
which is smoother. Where the functions are no help, patches are cut towards the corner as elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sharpfront.adapt.patchwork.corner_symbols import layer_rates
from sharpfront.adapt.patchwork.edges import edge_functions
from sharpfront.adapt.patchwork.exponents import tensors
from sharpfront.adapt.patchwork.material_corners import material_functions
from sharpfront.adapt.patchwork.plane_corners import MainFunctions, PlaneCorners
from sharpfront.adapt.patchwork.settings import ADAPT
from sharpfront.adapt.patchwork.shadow_terms import told_by_formulas
from sharpfront.adapt.patchwork.solid_vertices import vertex_functions
from sharpfront.arrays import FloatArray
from sharpfront.bases.corner_functions import CornerFunctions, SharedFunctions, jumps_of
from sharpfront.bases.local_functions import HeldFunctions
from sharpfront.equation.expression import Constant
from sharpfront.place.patches.cuts import Cell, at_corners
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.patches.tails import Tails
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.problem import IntegralCondition, Problem
from sharpfront.rounding import SAME


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
    jumps
        Places on the boundary at which given values jump.
    """

    problem: Problem
    tiling: Tiling
    tol: float
    lower: bool = True
    wanted: bool = True
    jumps: Sequence[tuple[float, ...]] = ()

    @cached_property
    def functions(self) -> tuple[SharedFunctions, ...]:
        """Functions of corners, edges and crossing interfaces, where they are known."""
        if not self._suited:
            return ()
        if self.problem.is_singular:
            found = material_functions(self.problem, self.tiling, SETTINGS.powers(self.tol))
            return tuple(own for own in found if self._is_smooth_about(own))
        if self.problem.domain.dimension == 3:
            return self._in_space
        if not self.lower:
            straight = (own for own in self._main if own.jumps or not any(own.bends))
            return tuple(main.functions for main in straight)
        return tuple(main.completed(self.problem) for main in self._main)

    @property
    def _corners(self) -> PlaneCorners:
        return PlaneCorners(self.problem, self.tiling, self.tol, self._fading, self.jumps)

    @property
    def _finite(self) -> bool:
        """Whether data are finite at all corners."""
        return all(map(self._corners.is_finite, self.tiling.corners))

    @cached_property
    def _main(self) -> tuple[MainFunctions, ...]:
        """What functions of corners in the plane are without lower terms."""
        found = self._corners.main
        if self._is_even and (self.stiffness_allows[0] or self._fading):
            return found
        # Without functions nothing resolves a jump, however thin layers are.
        return tuple(main for main in found if main.jumps)

    def _singular(self, functions: SharedFunctions) -> bool:
        """Tell whether highest derivatives of some functions are infinite at their corner."""
        jumping = bool(jumps_of([functions]))
        return jumping or any(t.order < self._order and not t.logarithmic for t in functions.terms)

    @cached_property
    def _in_space(self) -> tuple[SharedFunctions, ...]:
        """Functions of edges and vertices.

        Those of edges that end inside say little without those of vertices at which they do: with
        fluxes on the faces of an octant that is left out 1e-3 took ten times the functions.
        """
        vertices = vertex_functions(self.problem, self.tiling, self.tol)
        if vertices:
            return (*self._of_edges, *vertices)
        return tuple(own for own in self._of_edges if not isinstance(own, HeldFunctions))

    @cached_property
    def _of_edges(self) -> tuple[SharedFunctions, ...]:
        return edge_functions(self.problem, self.tiling, self.tol)

    @property
    def at_first(self) -> tuple[SharedFunctions, ...]:
        """The functions, if every solution is so singular at some corner that it solves no more.

        That is, if highest derivatives of some of them are infinite there.
        """
        if not self._suited:
            return ()
        if self._is_regular:
            return ()
        if self.problem.domain.dimension == 2 and not self.problem.is_singular:
            # What lower terms add is smoother, and is not looked for in vain.
            some = any(self._singular(main.functions) for main in self._main)
            return self.functions if some else ()
        if self.problem.domain.dimension == 3:
            singular = tuple(filter(self._singular, self._of_edges))
            if any(isinstance(own, HeldFunctions) for own in singular):
                # One ends at a vertex that points inwards.
                return self.functions if any(map(self._singular, self.functions)) else ()
            # Others are many, and degrees of vertices take seconds: a smooth solution on an L times
            # an interval took seven times as long with them.
            return singular
        return self.functions if any(map(self._singular, self.functions)) else ()

    @property
    def _is_regular(self) -> bool:
        """Whether it is plain that highest derivatives are finite at all corners.

        Where values are given beside right angles, and no mixed derivative makes them others.
        """
        problem = self.problem
        return (
            problem.domain.is_box
            and not (problem.is_singular or self.jumps)
            and problem.domain.dimension == self._order == 2
            and all(max(term.orders) == term.order for term in problem.forms[0].terms)
            and not any(form.order for c in problem.conditions for form in c.forms)
        )

    @property
    def later(self) -> tuple[SharedFunctions, ...]:
        """The functions, where lower terms are so small that they are nearly the solution's.

        Not where data are infinite at some corner: those of other corners then made an estimate of
        1e-6 one of 6e-4.
        """
        if not self.functions or (self.problem.domain.dimension == 2 and not self._finite):
            return ()
        return self.functions if self.stiffness_allows[1] or self._fading else ()

    @property
    def stiffness_allows(self) -> tuple[bool, bool]:
        """Whether layers are wide enough for functions at all, and for some that come later."""
        return self._allowed(*self._stiffness)

    def _is_smooth_about(self, functions: CornerFunctions) -> bool:
        """Tell whether layers are wide where functions of a point are held."""
        points = self.problem.domain.sample(ADAPT.places)
        points = np.concatenate([points[functions.has(points)], [functions.place]])
        return self._allowed(*self._stiffness_at(points, 1.0 / abs(functions.slopes[0])))[0]

    def _allowed(self, winds: float, widths: float) -> tuple[bool, bool]:
        # Layers so thin that functions of the whole domain say little of a corner.
        most = SETTINGS.winds * min(1.0, math.sqrt(self.tol / SETTINGS.loose))
        weak = self.tol**0.25
        mild = winds <= SETTINGS.mild_winds * weak and widths <= SETTINGS.mild_widths * weak
        return winds <= most and widths <= SETTINGS.widths, mild

    @property
    def _suited(self) -> bool:
        """Whether functions are known: of one equation without jumps inside."""
        problem = self.problem
        dimension = problem.domain.dimension
        if not self.wanted or len(problem.unknowns) > 1 or dimension not in (2, 3):
            return False
        orders = (2, 4) if dimension == 2 else (2,)
        if any(problem.domain.periodic_axes) or self._order not in orders:
            return False
        if any(isinstance(c, IntegralCondition) for c in problem.further) or problem.jumps:
            return False
        if problem.is_singular:
            return (dimension, self._order) == (2, 2)
        if self.jumps:
            return self._is_even or told_by_formulas(problem)
        return self._is_even and (self.stiffness_allows[0] or self._fading)

    @cached_property
    def _is_even(self) -> bool:
        """Whether highest derivatives have constant coefficients, or of second order ratios.

        So they do in (k u_x)_x + (k u_y)_y, with any smooth k: dividing by that leaves constants.
        """
        form = self.problem.forms[0]
        highest = [t for t in form.terms if t.order == self._order]
        if all(isinstance(t.coefficient, Constant) for t in highest):
            return True
        if (self.problem.domain.dimension, self._order) != (2, 2):
            return False
        if not told_by_formulas(self.problem):
            return False
        found = tensors(self.problem, self.problem.domain.sample(ADAPT.places))
        sizes = np.trace(found, axis1=1, axis2=2)
        if not np.all(sizes * sizes[0] > 0.0):
            return False
        return bool(np.abs(found / sizes[:, None, None] - found[0] / sizes[0]).max() < SAME)

    @property
    def _fading(self) -> bool:
        """Whether layers of reactions are so thin that functions of a corner end where they do."""
        plane = (self.problem.domain.dimension, self._order) == (2, 2)
        return plane and not self.problem.is_singular and self._stiffness[1] > SETTINGS.widths

    @cached_property
    def _stiffness(self) -> tuple[float, float]:
        """The domain in units of layers of winds, and of reactions, waves or tensions."""
        return self._stiffness_at(self.problem.domain.sample(ADAPT.places), self._extent)

    def _stiffness_at(self, points: FloatArray, extent: float) -> tuple[float, float]:
        """Return the same of a part of the domain, by points of it."""
        winds, widths = layer_rates(self.problem, points)
        return extent * winds, extent * widths

    @property
    def _order(self) -> int:
        return self.problem.forms[0].order

    @cached_property
    def _extent(self) -> float:
        return float(np.ptp(self.problem.domain.bounds, axis=0).max())

    def asked(self, cells: Sequence[Cell], tails: Tails, aim: float) -> bool:
        """Tell whether weights fall too slowly at a corner."""
        at = np.array([end is not None for end in at_corners(cells, self.tiling.corners)])
        slow = (tails.tail > aim) & ~tails.analytic
        return bool(np.any(slow[at]))
