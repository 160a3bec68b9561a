"""Homogeneous harmonic functions in the cone that a solid made of boxes is about a vertex.

About each of the six rays along axes there is a series of solid harmonics that vanish on the faces
beside the ray. Series of neighbours have to agree, with their slopes, half way between rays: of a
degree for which that leaves something, r^a g(direction) is a function of the vertex.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from scipy.linalg import eigvals, lstsq, svd

from sharpfront.adapt.patchwork.settings import ADAPT
from sharpfront.arrays import FloatArray
from sharpfront.bases.solid_harmonics import Fan
from sharpfront.bases.vertex_functions import OF_SOURCE, of_source
from sharpfront.kernels import Orders
from sharpfront.rounding import NEWTON_STEPS, SAME

# Which octants about a vertex lie in the domain: below or above it along each axis in turn.
Octants = tuple[bool, ...]
# Degrees closer than this are one, of several functions; guesses closer than that may be.
ONE_DEGREE, NEARLY_SAME = 1e-4, 1e-3
_QUADRANTS = ((1, 1), (-1, 1), (-1, -1), (1, -1))


@dataclass(frozen=True)
class Cone:
    """A cone made of octants.

    Parameters
    ----------
    octants
        Which there are.
    most
        Orders of solid harmonics are no larger.
    """

    octants: Octants
    most: float

    @cached_property
    def fans(self) -> tuple[Fan, ...]:
        """Quadrants of the domain about each ray, those side by side together."""
        out = []
        for axis, sign in itertools.product(range(3), (1, -1)):
            frame = Fan(axis, sign, 0, 4, 0.0).frame
            inside = [self._has(np.array([*q, 1]) @ frame) for q in _QUADRANTS]
            if all(inside):
                out.append(Fan(axis, sign, 0, 4, self.most))
            for q in range(4):
                if inside[q] and not inside[q - 1]:
                    count = next(k for k in range(1, 5) if not inside[(q + k) % 4])
                    out.append(Fan(axis, sign, q, count, self.most))
        return tuple(out)

    def _has(self, direction: FloatArray) -> bool:
        x, y, z = (int(v > 0) for v in direction)
        return self.octants[4 * x + 2 * y + z]

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *np.cumsum([len(fan.orders) for fan in self.fans]).tolist()]

    @cached_property
    def _meeting(self) -> tuple[FloatArray, FloatArray, FloatArray, list[tuple[int, int]]]:
        """Points where fans meet, normals, roots of weights, and both fans of each arc."""
        count = int(0.75 * self.most) + 4
        v, w = np.polynomial.legendre.leggauss(count)
        every, normals, pairs = [], [], []
        for signs in itertools.product((-1.0, 1.0), repeat=3):
            way = np.array(signs)
            if not self._has(way):
                continue
            for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
                points, normal = np.tile(way, (count, 1)), np.zeros((count, 3))
                points[:, c] *= 0.5 * (v + 1.0)
                normal[:, a], normal[:, b] = way[a], -way[b]
                every.append(points / np.linalg.norm(points, axis=1)[:, None])
                normals.append(normal / np.sqrt(2.0))
                pairs.append((self._fan(a, way), self._fan(b, way)))
        roots = np.tile(np.sqrt(0.5 * w), len(pairs))
        return np.concatenate(every), np.concatenate(normals), roots, pairs

    def _fan(self, axis: int, way: FloatArray) -> int:
        """Return the fan about the ray along an axis that a direction lies in."""
        own = way.copy()
        own[axis] *= 2.0
        (which,) = [k for k, fan in enumerate(self.fans) if fan.holds(own[None])[0]]
        return which

    def _jumps(self, values: Callable[[Fan, FloatArray, Orders], FloatArray]) -> list[FloatArray]:
        """Return values of each fan where it meets others, and their slopes across, as jumps.

        Values are (m, n, k); each of these is (2, points, n, k), nothing where the fan is not.
        """
        points, normals, roots, pairs = self._meeting
        count = len(points) // len(pairs)
        out = []
        for which, fan in enumerate(self.fans):
            sign = np.repeat([float(a == which) - float(b == which) for a, b in pairs], count)
            here = np.flatnonzero(sign)
            value = values(fan, points[here], (0, 0, 0))
            slope = np.zeros_like(value)
            for axis, order in enumerate(((1, 0, 0), (0, 1, 0), (0, 0, 1))):
                slope += normals[here, axis, None, None] * values(fan, points[here], order)
            found = np.zeros((2, len(points), *value.shape[1:]))
            found[0, here], found[1, here] = value, slope * (2.0 / self.most)
            out.append(found * (sign * roots)[:, None, None])
        return out

    def matrices(self, degree: float) -> tuple[FloatArray, FloatArray]:
        """Return by how much series of fans differ where they meet, and that by the degree."""

        def tables(fan: Fan, points: FloatArray, orders: Orders) -> FloatArray:
            return np.stack(next(fan.tables(points, orders, (degree,))), axis=2)

        found = np.concatenate(self._jumps(tables), axis=2)
        whole, change = found.reshape(-1, *found.shape[2:]).transpose(2, 0, 1)
        return whole, change

    def of_source(self) -> tuple[FloatArray, float]:
        """Return weights of what a source of one makes, and by how much series do not agree."""

        def values(fan: Fan, points: FloatArray, orders: Orders) -> FloatArray:
            return of_source(fan, points, orders)[:, None, None]

        jump = np.sum(self._jumps(values), axis=0).ravel()
        matrix = self.matrices(OF_SOURCE)[0]
        weights = np.asarray(lstsq(matrix, -jump)[0])
        return weights, float(np.linalg.norm(matrix @ weights + jump))

    def near(self, degree: float) -> FloatArray:
        """Return degrees of functions near one, about."""
        whole, change = self.matrices(degree)
        left, values, right = svd(whole, full_matrices=False)
        projected = left[:, -ADAPT.candidates :].T @ change @ right[-ADAPT.candidates :].T
        found = np.asarray(eigvals(-np.diag(values[-ADAPT.candidates :]), projected))
        found = found[np.isfinite(found)]
        near = found.real[np.abs(found.imag) < 0.1 * ADAPT.looked_apart]
        return np.asarray(degree + near[np.abs(near) < ADAPT.looked_apart])

    def settled(self, degree: float) -> tuple[float, FloatArray]:
        """Return a degree by Newton's method, and weights of its functions, (n, functions)."""
        for _ in range(NEWTON_STEPS):
            whole, change = self.matrices(degree)
            left, values, right = svd(whole, full_matrices=False)
            step = -values[-1] / float(left[:, -1] @ change @ right[-1])
            degree += step
            if abs(step) < SAME:
                break
        return degree, right[values < ADAPT.agreed].T


def is_flat(octants: Octants) -> bool:
    """Tell whether there are no octants on one side of a plane through the vertex."""
    inside = np.array(octants).reshape(2, 2, 2)
    return not all(half.any() for axis in range(3) for half in np.moveaxis(inside, axis, 0))


@cache
def functions_of(
    octants: Octants, most: float, below: float
) -> tuple[tuple[Fan, ...], FloatArray, FloatArray]:
    """Return fans, degrees and weights of the functions of a cone; that of a source comes last.

    Functions with whole degrees are polynomials, and where a face goes on through the vertex
    all of them are those of an edge times polynomials along it: neither is asked for.
    """
    cone = Cone(octants, most)
    degrees: list[float] = []
    weights = []
    for guess in _guesses(octants, below):
        degree, own = cone.settled(guess)
        is_new = not any(abs(degree - a) < ONE_DEGREE for a in degrees)
        if 0.0 < degree < below and abs(degree - round(degree)) > ONE_DEGREE and is_new:
            degrees += [degree] * own.shape[1]
            weights.append(own)
    made, left = cone.of_source()
    if left < ADAPT.agreed:
        weights.append(made[:, None])
    none = np.zeros((len(made), 0))
    # Fans that remember nothing of the search.
    fans = Cone(octants, most).fans
    return fans, np.array(degrees), np.concatenate([none, *weights], axis=1)


def _guesses(octants: Octants, below: float) -> list[float]:
    """Return degrees below one at which a cone has functions, about."""
    if is_flat(octants):
        return []
    rough = Cone(octants, ADAPT.rough)
    places = np.arange(0.5 * ADAPT.looked_apart, below, ADAPT.looked_apart)
    found = np.sort(np.concatenate([rough.near(place) for place in places]))
    return [a for k, a in enumerate(found.tolist()) if not k or a - found[k - 1] > NEARLY_SAME]
