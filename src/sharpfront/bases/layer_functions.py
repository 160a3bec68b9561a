"""Functions that a layer along a closed surface is made of.

Beside a surface a solution of -w^2 lap u + u = f and the like is a smooth function and e^(-d/w)
times another smooth one, d the distance from the surface. These are e^-t L_k(2 t), t = d/w and L_k
Laguerre's polynomials, times spherical harmonics of the direction from a centre, in coordinates in
which the surface is as long along each axis. They belong to all patches together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from scipy.special import eval_genlaguerre

from sharpfront.arrays import FloatArray, Ints, remembered
from sharpfront.bases.corner_functions import Term
from sharpfront.bases.legendre import gauss, product_points
from sharpfront.bases.surface_harmonics import SurfaceHarmonics, degrees_of
from sharpfront.kernels import Orders
from sharpfront.maps import Shell, jacobian
from sharpfront.rounding import SLIGHT

# In files this stands before layers.
LAYER = -2.0
# Points are of a shell if they are no farther out of the solid, where nothing is fitted, than this
# share of its size.
OUT_OF = 0.02
# Points along the surface for every harmonic.
LAYER_OVERSAMPLED = 1.5
# Places along each side of a shell next to which feet of points are looked for.
PLACES = 12
# Sets of points whose distances are kept.
MOST_KEPT = 40


@dataclass(frozen=True, eq=False)
class _Near:
    """Points near a surface: which they are, distances, their slopes and second derivatives."""

    which: Ints  # (n,)
    distance: FloatArray  # (n,)
    slope: FloatArray  # (n, 3)
    bend: FloatArray  # (n, 3, 3)


class SurfaceCollar:
    """What lies beside a closed surface, as deep as shells along it are."""

    def __init__(self, shells: Sequence[Shell]) -> None:
        self.shells = tuple(shells)
        self._last: tuple[tuple[bytes, int], SurfaceHarmonics] | None = None

    @cached_property
    def ends(self) -> FloatArray:
        """The lower and the upper corner of a box about the surface, (2, 3)."""
        points = np.concatenate([s.points(spread_along(s, 9, np.zeros(1))) for s in self.shells])
        return np.stack([points.min(axis=0), points.max(axis=0)])

    @remembered(MOST_KEPT)
    def near(self, points: FloatArray) -> _Near:
        """Return distances of the points that lie in shells."""
        at, out, whose = self._nearest(points)
        # The foot of a point beside an edge may be in another shell than the place next to it.
        lost = np.flatnonzero((out > SLIGHT) & (out < np.inf))
        for i, shell in enumerate(self.shells if len(lost) else ()):
            own = shell.inverse(points[lost])
            gap = _beyond(shell, own)
            better = gap < out[lost]
            here = lost[better]
            out[here], whose[here], at[here] = gap[better], i, own[better]
        which = np.flatnonzero(out <= SLIGHT)
        slope, bend = np.zeros((len(which), 3)), np.zeros((len(which), 3, 3))
        for i in np.unique(whose[which]).tolist():
            here = np.flatnonzero(whose[which] == i)
            slope[here], bend[here] = _slopes(self.shells[i], at[which[here]])
        return _Near(which, at[which, 2], slope, bend)

    def harmonics(self, points: FloatArray, degree: int) -> SurfaceHarmonics:
        """Return the harmonics of directions in which points near the surface lie from its middle.

        Derivatives of the same functions are asked for one after the other: the last are kept.
        """
        key = points.tobytes(), degree
        if self._last is None or self._last[0] != key:
            low, high = self.ends
            at = (points[self.near(points).which] - 0.5 * (low + high)) / (0.5 * (high - low))
            self._last = key, SurfaceHarmonics(at, degree)
        return self._last[1]

    @cached_property
    def _places(self) -> tuple[Any, Ints, FloatArray, float]:
        """Places all over the surface: shells, positions there, (m, 3), and how far apart."""
        # Loaded where there are layers only: a solve on the line needs nothing of it.
        from scipy.spatial import cKDTree

        at = [spread_along(shell, PLACES, np.zeros(1)) for shell in self.shells]
        points = np.concatenate([s.points(x) for s, x in zip(self.shells, at, strict=True)])
        whose, tree = np.repeat(np.arange(len(at)), [len(x) for x in at]), cKDTree(points)
        return tree, whose, np.concatenate(at), float(np.max(tree.query(points, 4)[0]))

    @cached_property
    def bend(self) -> float:
        """The largest curvature of the surface."""
        found = [_slopes(shell, spread_along(shell, 5, np.zeros(1)))[1] for shell in self.shells]
        return max(float(np.linalg.norm(one, 2)) for one in np.concatenate(found))

    def _nearest(self, points: FloatArray) -> tuple[FloatArray, FloatArray, Ints]:
        """Return positions in the shells of the nearest places, how far out, and which shells.

        Out is infinite for points that are deeper than shells are.
        """
        tree, owners, places, apart = self._places
        gap, nearest = tree.query(points)
        at, whose, out = places[nearest], owners[nearest], np.full(len(points), np.inf)
        at[:, 2] = np.minimum(gap, self.shells[0].depth)
        close = gap < self.shells[0].depth + apart
        for i in np.unique(whose[close]).tolist():
            here, shell = np.flatnonzero((whose == i) & close), self.shells[i]
            at[here] = shell.found(points[here], at[here])
            deep = at[here, 2] > (1.0 + OUT_OF) * shell.depth
            out[here] = np.where(deep, np.inf, _beyond(shell, at[here]))
        return at, out, whose


@dataclass(frozen=True, eq=False)
class LayerFunctions:
    """Products of what decays by e^(-d/width) and harmonics up to a degree."""

    beside: SurfaceCollar
    width: float
    degrees: tuple[int, ...]  # of harmonics, for each function across the layer

    @property
    def size(self) -> int:
        """The number of functions."""
        return sum((n + 1) ** 2 for n in self.degrees)

    @property
    def place(self) -> tuple[float, ...]:
        """The centre."""
        x, y, z = self.beside.ends.mean(axis=0).tolist()
        return x, y, z

    @property
    def terms(self) -> tuple[Term, ...]:
        """None: nothing is singular."""
        return ()

    def values(
        self, points: FloatArray, orders: Orders, beside: FloatArray | None = None
    ) -> FloatArray:
        """Return a derivative of each function at points, (m, functions)."""
        near = self.beside.near(points)
        along = self.beside.harmonics(points, self.degrees[0])
        t = near.distance / self.width
        parts = []
        for k, degree in enumerate(self.degrees):
            across = [e[:, None] / self.width**i for i, e in enumerate(_across(k, t))]
            parts.append(_product(across, near, along, (degree + 1) ** 2, orders, self._extent))
        out = np.zeros((len(points), self.size))
        out[near.which] = np.concatenate(parts, axis=1)
        return out

    @cached_property
    def _extent(self) -> FloatArray:
        return np.asarray(0.5 * np.ptp(self.beside.ends, axis=0))

    @cached_property
    def owners(self) -> tuple[Ints, Ints]:
        """The degree along the surface and the number across the layer of each function."""
        along = [degrees_of(n) for n in self.degrees]
        across = np.repeat(np.arange(len(along)), [len(own) for own in along])
        return np.concatenate(along), across

    @cached_property
    def row_points(self) -> FloatArray:
        """Points all over the layer at which an equation sees the functions, (m, 3)."""
        share = LAYER_OVERSAMPLED * (self.degrees[0] + 1) ** 2 / len(self.beside.shells)
        return self.sample(math.ceil(math.sqrt(share)), len(self.degrees) + 3)

    @cached_property
    def at_end(self) -> FloatArray:
        """The functions at places where they end, (m, functions)."""
        shells = self.beside.shells
        ends = [spread_along(s, 3, np.array([(1.0 - SLIGHT) * s.depth])) for s in shells]
        at = np.concatenate([s.points(x) for s, x in zip(shells, ends, strict=True)])
        return self.values(at, (0, 0, 0))

    def sample(self, along: int, across: int) -> FloatArray:
        """Return points all over the layer, so many along each side of a shell and across it."""
        t = _depths(across) * self.width
        depth = min(shell.depth for shell in self.beside.shells)
        t = t[t < depth]
        return np.concatenate([s.points(spread_along(s, along, t)) for s in self.beside.shells])

    def with_degrees(self, degrees: Sequence[int]) -> LayerFunctions:
        """Return the functions with harmonics of other degrees."""
        return replace(self, degrees=tuple(degrees))

    def state(self) -> FloatArray:
        """Return all as numbers: a row of the layer, and one for each shell."""
        shells = self.beside.shells
        n = max(len(s.surface) for s in shells)
        rows = []
        for s in shells:
            both = np.concatenate([s.surface, s.normals], axis=2)
            rest = n - len(both)
            rows.append([*s.size, *np.pad(both, ((0, rest), (0, rest), (0, 0))).ravel()])
        first = [LAYER, self.width, n, len(self.degrees), *self.degrees]
        out = np.zeros((1 + len(rows), max(len(first), len(rows[0]))))
        out[0, : len(first)], out[1:, : len(rows[0])] = first, rows
        return out


def restored_layer(state: FloatArray) -> LayerFunctions:
    """Return the functions that `state` was taken from."""
    width, (n, count) = float(state[0, 1]), state[0, 2:4].astype(int).tolist()
    shells = []
    for row in state[1:]:
        both = row[3 : 3 + 6 * n * n].reshape(n, n, 6)
        # Without the zeros that filled it up: sums over more of them are rounded otherwise.
        own = 1 + int(np.max(np.nonzero(both)[:2]))
        both = both[:own, :own]
        lengths = float(row[0]), float(row[1])
        shells.append(Shell(both[..., :3], both[..., 3:], lengths, float(row[2])))
    return LayerFunctions(SurfaceCollar(shells), width, tuple(state[0, 4 : 4 + count].astype(int)))


def spread_along(shell: Shell, along: int, depths: FloatArray) -> FloatArray:
    """Return positions in a shell: Gauss points along it, at depths."""
    z = 0.5 * (1.0 + gauss(along)[0])
    return product_points([z * shell.lengths[0], z * shell.lengths[1], depths])


@lru_cache(maxsize=64)
def _depths(count: int) -> FloatArray:
    """Return depths in widths at which a layer is looked at, the surface among them."""
    nodes, _ = np.polynomial.laguerre.laggauss(count)
    return np.concatenate([[0.0], 0.5 * nodes])


def _beyond(shell: Shell, at: FloatArray) -> FloatArray:
    """Return how far positions are out of a shell, in units of its size; less out of the solid."""
    out = np.maximum(-at, at - shell.size) / shell.size
    out[:, 2] = np.where(at[:, 2] < 0.0, SLIGHT / OUT_OF * out[:, 2], out[:, 2])
    return np.asarray(out.max(axis=1))


def _slopes(shell: Shell, at: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return slopes and second derivatives of the depth at positions, (m, 3) and (m, 3, 3)."""
    taylor = shell.taylor(at)
    inverse = np.linalg.inv(jacobian(taylor))
    bend = sum(taylor[key][:, :, None] * inverse[:, a, None] for a, key in enumerate(_TURNS))
    return np.asarray(inverse[:, 2], dtype=float), np.asarray(
        0.5 * (bend + np.swapaxes(bend, 1, 2))
    )


# How normals turn along a shell, in its derivatives: they are those along its depth, but for signs.
_TURNS = ((1, 0, 1), (0, 1, 1))


def _across(k: int, t: FloatArray) -> list[FloatArray]:
    """Return e^-t L_k(2 t) and its first two derivatives, (m,) each."""
    fall = np.exp(-t)
    own, slope, bend = (
        (-1.0) ** j * (eval_genlaguerre(k - j, j, 2.0 * t) if k >= j else np.zeros_like(t))
        for j in range(3)
    )
    return [fall * own, fall * (2 * slope - own), fall * (4 * bend - 4 * slope + own)]


def _product(
    across: Sequence[FloatArray],
    near: _Near,
    along: SurfaceHarmonics,
    count: int,
    orders: Orders,
    extent: FloatArray,
) -> FloatArray:
    """Return a derivative of functions across a layer times the first harmonics, (m, count)."""
    axes = [a for a, times in enumerate(orders) for _ in range(times)]
    if len(axes) == 0:
        return np.asarray(across[0] * along.values[:, :count])
    slope = [near.slope[:, a, None] for a in axes]
    turn = [along.slopes[a][:, :count] / extent[a] for a in axes]
    plain = along.values[:, :count]
    if len(axes) == 1:
        return np.asarray(across[1] * slope[0] * plain + across[0] * turn[0])
    a, b = axes
    bend = near.bend[:, a, b, None]
    own = (across[2] * slope[0] * slope[1] + across[1] * bend) * plain
    own += across[1] * (slope[0] * turn[1] + slope[1] * turn[0])
    return np.asarray(own + across[0] * along.bend(a, b)[:, :count] / (extent[a] * extent[b]))
