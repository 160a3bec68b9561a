"""Points on the boundary of a solid at which its data are looked at.

They are spread evenly, and lie on the lines where what stands inside functions of conditions is
zero, where two such lines cross, and where what stands inside is largest or least. A bump of 1e-3
in the values on a face of a cube is where x - a and y - b are zero, and exp(k (a.x - 1)) on a
sphere is one where a.x is largest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Expression
from sharpfront.equation.graph import evaluate
from sharpfront.equation.narrow_features import RESOLVED, steps
from sharpfront.equation.oblique_features import turning_functions, zero_functions
from sharpfront.equation.values import environment
from sharpfront.geometry import BoundaryPoints
from sharpfront.geometry.patches import Triangles
from sharpfront.geometry.shape import pieces_of
from sharpfront.geometry.surfaces import Surface, halves, surfaces_of
from sharpfront.problem import Problem
from sharpfront.rounding import BISECTIONS, SLIGHT
from sharpfront.trust.settings import TRUST
from sharpfront.trust.unseen_boundary_data import Watched, closed_in

Values = Callable[[FloatArray], FloatArray]


class Faces:
    """The surfaces of a solid, and points of them."""

    def __init__(self, problem: Problem) -> None:
        self.surfaces = surfaces_of(pieces_of(problem.domain)) or []
        self.spacing = TRUST.spacing * float(np.ptp(problem.domain.bounds, axis=0).max())
        self.coordinates = problem.coordinates

    def __call__(self, parts: Sequence[str], residual: Expression) -> Watched:
        """Return points of parts, evenly and where formulas of a residual tell of something."""
        own = [_Meshed(s, s.meshed(self.spacing)) for s in self.surfaces if s.part in parts]
        names = set(self.coordinates)
        zeros = self._values(zero_functions([residual], names))
        turning = [
            (self._values([function]), by_ratio)
            for function, by_ratio in turning_functions([residual], names)
        ]
        looks = [meshed.looked_at(lambda x: np.sign(zeros(x)), turning) for meshed in own]
        even = [np.zeros(0, dtype=bool), *(spread for _, spread in looks)]
        return Watched(_joined([found for found, _ in looks]), np.concatenate(even))

    def _values(self, functions: Sequence[Expression]) -> Values:
        """Return what gives functions at points (..., 3), a row of the last axis each, (..., k)."""

        def at(points: FloatArray) -> FloatArray:
            leaves = environment(self.coordinates, points.reshape(-1, 3))
            out = np.zeros((points.size // 3, len(functions)))
            with np.errstate(all="ignore"):
                for k, function in enumerate(functions):
                    out[:, k] = np.asarray(evaluate(function, leaves), dtype=float)
            return np.nan_to_num(out).reshape(*points.shape[:-1], len(functions))

        return at


@dataclass(frozen=True, eq=False)
class _Meshed:
    """A surface with triangles that cover it."""

    surface: Surface
    mesh: Triangles

    def looked_at(
        self, signs: Values, turning: Sequence[tuple[Values, bool]]
    ) -> tuple[BoundaryPoints, NDArray[np.bool_]]:
        """Return middles of triangles and points where functions are zero, or turn.

        Besides, which of them are middles.
        """
        crossed = _crossed(signs(self.mesh.corners))
        found = [self.mesh.middles, self._crossings(signs, crossed)]
        for k, own in enumerate(crossed.T):
            found.append(self._zeros(signs, np.flatnonzero(own), k))
        for values, by_ratio in turning:
            at = values(self.mesh.corners)[..., 0]
            if steps(at, np.roll(at, 1, axis=1), by_ratio).max() > RESOLVED:
                found += [self._turn(values, 1.0), self._turn(values, -1.0)]
        every = _joined(found)
        which, kept = self.surface.kept(every)
        well = self._well_inside(BoundaryPoints(every.points[which], every.normals[which]))
        inner = BoundaryPoints(kept.points[well], kept.normals[well])
        return inner, which[well] < len(self.mesh.corners)

    def _well_inside(self, found: BoundaryPoints) -> NDArray[np.bool_]:
        """Tell which points are not on the line where the surface is cut: beyond data may jump."""
        well = np.ones(len(found.points), dtype=bool)
        across = np.eye(3)[np.argmin(np.abs(found.normals), axis=1)]
        along = np.cross(found.normals, across)
        along /= np.linalg.norm(along, axis=1)[:, None]
        size = SLIGHT * float(np.ptp(self.mesh.corners.reshape(-1, 3), axis=0).max())
        for way in (along, np.cross(found.normals, along)) if self.surface.sieves else ():
            for sign in (size, -size):
                moved = replace(found, points=found.points + sign * way)
                well &= np.isin(np.arange(len(well)), self.surface.kept(moved)[0])
        return well

    def _zeros(self, signs: Values, triangles: NDArray[np.int64], k: int) -> BoundaryPoints:
        """Return points on both sides of the zeros of a function along edges of triangles."""
        corners = self.mesh.corners[triangles]
        start, end = corners.reshape(-1, 3), np.roll(corners, -1, axis=1).reshape(-1, 3)
        normals = np.repeat(self.mesh.normals[triangles], 3, axis=0)
        which = np.flatnonzero(signs(start)[:, k] * signs(end)[:, k] <= 0)
        which = which[:: max(1, len(which) // TRUST.places)]
        normals = normals[which]
        sides = closed_in(
            lambda x: signs(self._moved(x, np.resize(normals, x.shape)).points)[:, k],
            *(start[which], end[which]),
            BISECTIONS,
        )
        both, normals = np.concatenate(sides), np.concatenate([normals, normals])
        return self._moved(both, normals)

    def _crossings(self, signs: Values, crossed: NDArray[np.bool_]) -> BoundaryPoints:
        """Return points where two functions are zero, by halving triangles in which both are."""
        i, j = np.triu_indices(crossed.shape[1], 1)
        which, pair = np.nonzero(crossed[:, i] & crossed[:, j])
        first, second = i[pair], j[pair]
        near = _only(self.mesh, which)
        for _ in range(BISECTIONS):
            if not len(first):
                break
            near, first, second = halves(near), np.tile(first, 2), np.tile(second, 2)
            crossed, rows = _crossed(signs(near.corners)), np.arange(len(first))
            own = np.flatnonzero(crossed[rows, first] & crossed[rows, second])
            own = own[:: max(1, -(-len(own) // TRUST.crossed))]
            near, first, second = _only(near, own), first[own], second[own]
        return near.middles if len(first) else _joined([])

    def _turn(self, values: Values, sign: float) -> BoundaryPoints:
        """Return points where a function is largest, or least."""
        near = _only(self.mesh, self.surface.kept(self.mesh.middles)[0])
        for _ in range(BISECTIONS):
            most = (sign * values(near.corners)[..., 0]).max(axis=1)
            near = halves(_only(near, np.argsort(-most, kind="stable")[: TRUST.turn_triangles]))
        return near.middles

    def _moved(self, points: FloatArray, normals: FloatArray) -> BoundaryPoints:
        """Return points of triangles on the surface that they stand for."""
        onto = self.mesh.onto
        return onto(points) if onto and len(points) else BoundaryPoints(points, normals)


def _crossed(signs: FloatArray) -> NDArray[np.bool_]:
    """Tell in which triangles functions have a zero, by their signs (t, 3, k) at corners, (t, k).

    What is zero all over, as z - 1 on the side z = 1 or exp(-1e4), tells of no place.
    """
    return np.asarray(
        (signs.min(axis=1) <= 0) & (signs.max(axis=1) >= 0) & np.any(signs != 0, axis=1)
    )


def _joined(found: Sequence[BoundaryPoints]) -> BoundaryPoints:
    """Return all points one after the other."""
    none = np.empty((0, 3))
    return BoundaryPoints(
        np.concatenate([none, *(f.points for f in found)]),
        np.concatenate([none, *(f.normals for f in found)]),
    )


def _only(triangles: Triangles, which: NDArray[np.int64]) -> Triangles:
    return replace(triangles, corners=triangles.corners[which], normals=triangles.normals[which])
