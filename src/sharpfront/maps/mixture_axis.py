"""A mixture's own coordinate along an axis: a smooth, increasing map of its side onto [0, 1].

    xi(x) = U (x - low) / length + (1 - U) sum_k p_k [S asinh z_k + (1 - S) atan z_k],
    z_k = (x - mu_k) / (R sd_k), each part normalised to run from 0 to 1 over the side.

Each component appears with all widths between its own and the side at once: the densities
1/sqrt(1 + z^2) and 1/(1 + z^2) are scale mixtures of Gaussians. In this coordinate the solution
is smooth, whatever the width of its layers.

Points are pairs (anchor, offset), x = anchor + offset, and every difference is taken within an
anchor first, so that positions beside an end keep all their digits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.maps.axis import AxisMap
from sharpfront.mixture import Mixture

# In brackets: kernels in all on drawn problems with a number halved and doubled.
# Share of kernels spread evenly, so that nowhere is left without. (1.36, 1.10 and one of 9 not
# solved)
UNIFORM = 0.1
# Share of a component's kernels that grade as 1/distance all the way to the ends. (0.98 and one of
# 9 not solved, 3.07)
LOGARITHMIC = 0.6
# Kernels are densest within this many deviations of a component. (0.97 and one of 9 not solved,
# 1.55)
RADIUS = 6.0
# The inversion starts from a table at mu +- scale sinh(k TABLE_STEP) and takes Newton steps: with
# two of them one of 11 answers was wrong.
TABLE_STEP = 0.25
NEWTON_STEPS = 3
_EVEN = np.linspace(0.0, 1.0, 33)
# What is known of each component.
COMPONENT_ARRAYS = ("anchor", "offset", "scale", "log_share", "bell_share")


@dataclass(frozen=True, eq=False)
class Points:
    """x = anchor + offset, (n,) each, and where they are known xi', xi'', ... there, (order, n)."""

    anchor: FloatArray
    offset: FloatArray
    rates: FloatArray | None = None

    @property
    def x(self) -> FloatArray:
        """The positions."""
        return self.anchor + self.offset


@dataclass(frozen=True, eq=False, kw_only=True)
class MixtureAxis(AxisMap):
    """The map of [low, high]; as one of an axis z = 2 xi - 1."""

    # Each component's centre as a pair, and its radius, (K,).
    anchor: FloatArray
    offset: FloatArray
    scale: FloatArray
    # Factors of asinh and atan for each component, (K,).
    log_share: FloatArray
    bell_share: FloatArray
    uniform: float  # slope of the even part

    # Two axes are the same only if they are one: arrays do not compare.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @property
    def is_affine(self) -> bool:
        """Never said to be."""
        return False

    def points(self, z: FloatArray) -> FloatArray:
        """Return x at reference positions."""
        return self.invert(0.5 * (1.0 + z)).x

    def inverse(self, x: FloatArray) -> FloatArray:
        """Return the reference positions of x."""
        return 2.0 * self.xi(self.nearest(x)) - 1.0

    def slopes(self, z: FloatArray, order: int) -> FloatArray:
        """Return dz/dx, d2z/dx2, ... up to an order, (order, n)."""
        return 2.0 * self.derivatives(self.invert(0.5 * (1.0 + z)), order)

    @property
    def components(self) -> int:
        """The number of components."""
        return len(self.scale)

    @property
    def ends(self) -> Points:
        """Both ends as points."""
        return Points(np.array([self.low, self.high]), np.zeros(2))

    def nearest(self, x: FloatArray) -> Points:
        """Return positions measured from the nearer end, where the subtraction is exact."""
        anchor = np.where(x - self.low < self.high - x, self.low, self.high)
        return Points(anchor, x - anchor)

    def xi(self, points: Points) -> FloatArray:
        """Return the coordinate of points, in [0, 1]."""
        start, stop = self._span
        xi = (self._raw(points) - start) / (stop - start)
        return np.asarray(np.minimum(np.maximum(xi, 0.0), 1.0))

    def derivatives(self, points: Points, order: int) -> FloatArray:
        """Return xi', xi'', ... up to an order of at most four, (order, n)."""
        out = np.zeros((order, len(points.offset)))
        out[0] = self.uniform
        if self.components:
            z = self._z(points)
            log_share, bell_share = self.log_share, self.bell_share
            for row, (log, bell) in zip(out, _profiles(z, order), strict=True):
                log_share, bell_share = log_share / self.scale, bell_share / self.scale
                row += log_share @ log
                row += bell_share @ bell
        return out

    def invert(self, xi: FloatArray) -> Points:
        """Return the points with these coordinates: a table, then Newton from the nearer end."""
        if not self.components:
            left = xi <= 0.5
            offset = np.where(left, xi, xi - 1.0) * self.length
            return Points(np.where(left, self.low, self.high), offset)
        start, stop = self._span
        target = start + (stop - start) * xi
        guess = self.nearest(np.interp(target, *self._table()[::-1]))
        offset, scale = guess.offset, self.scale[:, None]
        least, most = self.low - guess.anchor, self.high - guess.anchor
        base = (guess.anchor - self.anchor[:, None]) - self.offset[:, None]
        even = self.uniform * (guess.anchor - self.low) - target
        log_slope, bell_slope = self.log_share / self.scale, self.bell_share / self.scale
        for _ in range(NEWTON_STEPS):
            z = (base + offset) / scale
            r = 1.0 / (1.0 + z * z)
            slope = self.uniform + log_slope @ np.sqrt(r) + bell_slope @ r
            shape = self.log_share @ np.arcsinh(z) + self.bell_share @ np.arctan(z)
            miss = even + self.uniform * offset + shape
            offset = np.minimum(np.maximum(offset - miss / slope, least), most)
        offset[(xi <= 0.0) | (xi >= 1.0)] = 0.0
        return Points(guess.anchor, offset)

    def _table(self) -> tuple[FloatArray, FloatArray]:
        """Return positions graded into every component, and their unnormalised coordinate."""
        reach = np.arcsinh(self.length / self.scale.min()) + 1.0
        step = np.sinh(np.arange(-reach, reach, TABLE_STEP))
        centres = self.anchor + self.offset
        graded = (centres[:, None] + self.scale[:, None] * step).ravel()
        even = self.low + self.length * _EVEN
        table = np.concatenate([graded[(graded > self.low) & (graded < self.high)], even])
        table.sort()
        return table, self._raw(self.nearest(table))

    def _z(self, points: Points) -> FloatArray:
        """Return how far points are from each component in units of its radius, (K, n)."""
        gap = (points.anchor - self.anchor[:, None]) - self.offset[:, None]
        return np.asarray((gap + points.offset) / self.scale[:, None])

    def _raw(self, points: Points) -> FloatArray:
        """Return the coordinate before its value at `low` is subtracted."""
        xi = self.uniform * ((points.anchor - self.low) + points.offset)
        if not self.components:
            return xi
        z = self._z(points)
        return np.asarray(xi + (self.log_share @ np.arcsinh(z) + self.bell_share @ np.arctan(z)))

    @cached_property
    def _span(self) -> tuple[float, float]:
        """The unnormalised coordinate of both ends."""
        z = ((np.array([[self.low], [self.high]]) - self.anchor) - self.offset) / self.scale
        return self._between(np.arcsinh(z), np.arctan(z))

    def _between(self, log: FloatArray, bell: FloatArray) -> tuple[float, float]:
        """Return the same from asinh and atan at the ends, (2, K), to the bit."""
        start, stop = (
            float(self.log_share @ x + self.bell_share @ y) for x, y in zip(log, bell, strict=True)
        )
        return start, self.uniform * self.length + stop


def _profiles(z: FloatArray, order: int) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield the derivatives of asinh z and atan z, from the first on."""
    r = 1.0 / (1.0 + z * z)
    root = np.sqrt(r)
    yield root, r
    if order > 1:
        yield -z * r * root, -2.0 * z * r**2
    if order > 2:
        yield (2.0 * z * z - 1.0) * r**2 * root, (6.0 * z * z - 2.0) * r**3
    if order > 3:
        yield (9.0 * z - 6.0 * z**3) * r**3 * root, 24.0 * z * (1.0 - z * z) * r**4


def mixture_axis(low: float, high: float, mixture: Mixture | None = None) -> MixtureAxis:
    """Return the coordinate of a one-dimensional mixture on [low, high]; even without one."""
    if mixture is None:
        nothing: dict[str, Any] = dict.fromkeys(COMPONENT_ARRAYS, np.zeros(0))
        return MixtureAxis(low, high, uniform=1.0 / (high - low), **nothing)
    means, deviations = mixture.means[:, 0], np.sqrt(mixture.covariances[:, 0, 0])
    nearest = np.where(means - low < high - means, low, high)
    scale = np.minimum(RADIUS * deviations, high - low)
    offset = means - nearest
    ends = ((np.array([[low], [high]]) - nearest) - offset) / scale
    log, bell = np.arcsinh(ends), np.arctan(ends)
    share = (1.0 - UNIFORM) * mixture.weights
    found = MixtureAxis(
        *(low, high),
        anchor=nearest,
        offset=offset,
        scale=scale,
        log_share=LOGARITHMIC * share / (log[1] - log[0]),
        bell_share=(1.0 - LOGARITHMIC) * share / (bell[1] - bell[0]),
        uniform=UNIFORM / (high - low),
    )
    # Known here: asking for the ends again takes a tenth of an inversion.
    vars(found)["_span"] = found._between(log, bell)
    return found
