"""Points along the boundary of a domain in the plane at which its data are looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.equation.edges import named_in
from sharpfront.equation.expression import Expression, Normal
from sharpfront.equation.graph import derivatives_in, evaluate, ordered
from sharpfront.equation.narrow_features import RESOLVED, inner_arguments, steps
from sharpfront.equation.oblique_features import turning_functions
from sharpfront.equation.values import environment
from sharpfront.geometry import BoundaryPoints, Domain
from sharpfront.geometry.curves import Curve, ring
from sharpfront.geometry.panels import Ints, Panels
from sharpfront.geometry.shape import pieces_of
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.problem import Problem
from sharpfront.rounding import BISECTIONS, ROUNDED
from sharpfront.trust.settings import TRUST
from sharpfront.trust.unseen_boundary_data import Watched, closed_in

# Panels are looked at up to here: formulas need not be defined at corners.
BEFORE_END = 1.0 - 1e-12


class PlaneBoundaryPoints:
    """Panels along a boundary, and points of them.

    Parameters
    ----------
    problem
        What is solved.
    tiling
        Its domain.
    away
        Tells which points are far enough from places at which the solution jumps.
    """

    def __init__(
        self, problem: Problem, tiling: Tiling, away: Callable[[FloatArray], NDArray[np.bool_]]
    ) -> None:
        self.panels = Panels(_curves(tiling))
        self.count = TRUST.on_panel if tiling.outline else TRUST.straight * TRUST.on_panel
        self.coordinates, self.bounds = problem.coordinates, problem.domain.bounds
        self.away = away

    def __call__(self, parts: Sequence[str], residual: Expression) -> Watched:
        """Return points of parts, evenly and where formulas of a residual tell of something."""
        own = np.flatnonzero(np.isin(self.panels.parts, parts))
        where = [np.repeat(own, self.count)]
        at = [np.tile(np.linspace(-1.0, 1.0, self.count), len(own))]
        if len(own):
            inner = [
                each
                for each in inner_arguments(residual)
                if named_in(each) and not derivatives_in(each)
            ]
            turning = turning_functions([residual], set(self.coordinates))
            for panel, t in (self.zeros(own, inner), self.turns(own, turning)):
                where.append(panel)
                at.append(t)
        parameters = np.clip(np.concatenate(at), -BEFORE_END, BEFORE_END)
        found = self.panels.boundary(np.concatenate(where), parameters)[0]
        away = self.away(found.points)
        # Rounding may lead out of the domain, where formulas need not be defined.
        points = np.clip(found.points[away], *self.bounds)
        even = np.flatnonzero(away) < self.count * len(own)
        return Watched(BoundaryPoints(points, found.normals[away]), even)

    def zeros(self, own: Ints, functions: Sequence[Expression]) -> tuple[Ints, FloatArray]:
        """Return panels and parameters at which functions are zero or change their signs."""
        t = np.linspace(-1.0, 1.0, TRUST.on_panel)
        with np.errstate(all="ignore"):
            every = np.repeat(own, TRUST.on_panel), np.tile(t, len(own))
            seen = self._signs(functions, *every).reshape(-1, len(own), TRUST.on_panel)
            _, known, at = np.nonzero(seen == 0.0)
            which, i, j = np.nonzero(seen[:, :, :-1] * seen[:, :, 1:] < 0.0)
            some = np.unique(which)
            crossed = [functions[k] for k in some.tolist()]
            turn = np.searchsorted(some, which)

            def signs(t: FloatArray) -> FloatArray:
                found = self._signs(crossed, np.resize(own[i], len(t)), t)
                return np.asarray(found[np.resize(turn, len(t)), np.arange(len(t))])

            low, high = closed_in(signs, t[j], t[j + 1], BISECTIONS)
        return own[np.concatenate([known, i])], np.concatenate([t[at], 0.5 * (low + high)])

    def turns(
        self, own: Ints, functions: Sequence[tuple[Expression, bool]]
    ) -> tuple[Ints, FloatArray]:
        """Return panels and parameters at which functions turn that points do not resolve."""
        t = np.linspace(-1.0, 1.0, TRUST.on_panel)
        panels, found = [own[:0]], [t[:0]]
        for function, by_ratio in functions:
            seen = self._values([function], np.repeat(own, TRUST.on_panel), np.tile(t, len(own)))
            seen = seen.reshape(len(own), TRUST.on_panel)
            if not np.nanmax(steps(seen[:, 1:], seen[:, :-1], by_ratio), initial=0.0) <= RESOLVED:
                for sign in (1.0, -1.0):
                    i, j = np.nonzero(_is_top(sign * seen))
                    panels.append(own[i])
                    found.append(self._top(function, sign, own[i], t[j]))
        return np.concatenate(panels), np.concatenate(found)

    def _top(self, function: Expression, sign: float, panels: Ints, t: FloatArray) -> FloatArray:
        """Return where a function is largest about parameters of panels, (m,)."""
        reach, every = 2.0 / (TRUST.on_panel - 1.0), np.arange(len(t))
        shares = np.linspace(-1.0, 1.0, TRUST.turn_points)[:, None]
        while reach > ROUNDED:
            near = np.clip(t + reach * shares, -1.0, 1.0)
            found = self._values([function], np.resize(panels, near.size), near.ravel())
            t = near[np.argmax(sign * found.reshape(near.shape), axis=0), every]
            reach *= 2.0 / (TRUST.turn_points - 1.0)
        return t

    def _signs(self, functions: Sequence[Expression], panels: Ints, t: FloatArray) -> FloatArray:
        """Return the signs of functions at parameters of panels, (functions, m)."""
        return np.sign(self._values(functions, panels, t))

    def _values(self, functions: Sequence[Expression], panels: Ints, t: FloatArray) -> FloatArray:
        """Return functions at parameters of panels, (functions, m)."""
        normals = any(isinstance(n, Normal) for f in functions for n in ordered(f))
        points = self.panels.at(panels, t)
        leaves = environment(
            self.coordinates,
            points,
            self.panels.boundary(panels, t)[0].normals if normals else None,
        )
        out = np.empty((len(functions), len(t)))
        for own, function in zip(out, functions, strict=True):
            own[:] = evaluate(function, leaves)
        return out


def _is_top(values: FloatArray) -> NDArray[np.bool_]:
    """Tell where values are no less than those before and after them along the last axis."""
    beyond = np.pad(values, ((0, 0), (1, 1)), constant_values=-np.inf)
    return np.asarray((values >= beyond[:, :-2]) & (values >= beyond[:, 2:]))


def _curves(tiling: Tiling) -> list[tuple[str, Curve]]:
    """Return the pieces of a boundary, the domain on their left."""
    if tiling.outline:
        return [(part, curve) for part, curve, _ in tiling.outline]
    if tiling.domain.is_box:
        return _sides(tiling.domain)
    pieces = pieces_of(tiling.domain).items()
    return [(part, c) for part, own in pieces for c in own if isinstance(c, Curve)]


def _sides(box: Domain) -> list[tuple[str, Curve]]:
    """Return the sides of a box in the plane that are not joined to others."""
    (x0, y0), (x1, y1) = box.bounds
    corners = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
    sides = ring(corners)
    # Named by where they are: x has no sides if it is periodic.
    middles = [box.boundary(part, 1).points[0] for part in box.parts]
    own = np.array([0.5 * (side.start + side.end) for side in sides])
    gaps = np.abs(np.array(middles).reshape(-1, 1, 2) - own).max(axis=2)
    same = np.argwhere(gaps <= 1e-9 * (x1 - x0 + y1 - y0))
    return [(box.parts[i], sides[j]) for i, j in same.tolist()]
