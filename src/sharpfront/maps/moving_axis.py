"""The mixture's own coordinates in the plane, moving with time.

    eta(y, t): the coordinate of a mixture along y;
    xi(x, y, t): that of a mixture along x whose means depend on y,

    mean_k = m_k + v_k tau + (s_k + a_k tau) (y - pivot),    deviation_k = d_k exp(g_k tau),

with tau from the start of a slab of time. This is the conditional distribution of x given y: a
straight front that runs across the axes is as well followed as one along them, and the map takes
the box onto the unit square at every moment.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.maps.mixture_axis import LOGARITHMIC, RADIUS, UNIFORM
from sharpfront.rounding import NEWTON_STEPS, ROUNDED

# The inversion's table has nodes at mean +- scale sinh(k _TABLE).
_TABLE = 0.4


class Jet(NamedTuple):
    """xi and its derivatives at points, (m,) each."""

    xi: FloatArray
    x: FloatArray
    y: FloatArray
    xx: FloatArray
    xy: FloatArray
    yy: FloatArray
    t: FloatArray


@dataclass(frozen=True, eq=False)
class Components:
    """Gaussians along an axis and how they move, (K,) each."""

    # At the start of a slab; the means where the other coordinate is at the pivot.
    weights: FloatArray
    means: FloatArray
    slopes: FloatArray
    deviations: FloatArray
    # Rates of change of means and slopes, and of the logarithm of the deviations.
    speeds: FloatArray
    turns: FloatArray
    stretches: FloatArray

    @property
    def count(self) -> int:
        """K."""
        return len(self.weights)

    def at(self, tau: float) -> Components:
        """Return the components after a time, moving as before."""
        return replace(
            self,
            means=self.means + self.speeds * tau,
            slopes=self.slopes + self.turns * tau,
            deviations=self.deviations * np.exp(self.stretches * tau),
        )

    def still(self) -> Components:
        """Return the components at rest."""
        none = np.zeros(self.count)
        return replace(self, speeds=none, turns=none, stretches=none)

    def table(self) -> FloatArray:
        """Return all parameters, (K, 7)."""
        return np.stack([getattr(self, f.name) for f in fields(self)], axis=1)


def components(table: FloatArray) -> Components:
    """Return the components with these parameters, (K, 7), the inverse of `Components.table`."""
    return Components(*np.asarray(table, dtype=float).reshape(-1, 7).T)


NONE = components(np.zeros((0, 7)))


@dataclass(frozen=True, eq=False)
class MovingAxis:
    """The coordinate along one axis over a slab of time."""

    # The ends of the axis.
    low: float
    high: float
    pivot: float = 0.0  # where the other coordinate meets the components' means
    moving: Components = NONE  # the components

    @property
    def length(self) -> float:
        """From end to end."""
        return self.high - self.low

    @property
    def oblique(self) -> bool:
        """Whether the coordinate depends on the other one."""
        return bool(np.any(self.moving.slopes != 0.0) or np.any(self.moving.turns != 0.0))

    @property
    def moves(self) -> bool:
        """Whether the coordinate depends on time."""
        m = self.moving
        return bool(np.any(m.speeds) or np.any(m.turns) or np.any(m.stretches))

    def at(self, tau: float) -> MovingAxis:
        """Return the coordinate after a time."""
        return replace(self, moving=self.moving.at(tau))

    def still(self) -> MovingAxis:
        """Return the coordinate at rest."""
        return replace(self, moving=self.moving.still())

    def jet(self, x: FloatArray, y: FloatArray, tau: FloatArray) -> Jet:
        """Return the coordinate and its derivatives at points (x, y, tau), (m,) each."""
        if self.moving.count == 0:
            one, none = np.full(x.shape, 1.0 / self.length), np.zeros(x.shape)
            return Jet((x - self.low) / self.length, one, none, none, none, none, none)
        profile = _Profile(self, y, tau)
        parts = profile.jet(x)
        xi = np.clip(UNIFORM * (x - self.low) / self.length + parts.xi, 0.0, 1.0)
        return parts._replace(xi=xi, x=parts.x + UNIFORM / self.length)

    def invert(self, xi: FloatArray, y: FloatArray, tau: float) -> FloatArray:
        """Return x with xi(x, y, tau) = xi, (m,): a table, then Newton steps kept in a bracket."""
        if self.moving.count == 0:
            return np.asarray(self.low + self.length * xi)
        profile = _Profile(self, y, np.full(y.shape, tau))
        x, low, high = self._bracket(xi, y, tau)
        for _ in range(NEWTON_STEPS):
            value, slope = profile.value(x)
            miss = UNIFORM * (x - self.low) / self.length + value - xi
            low, high = np.where(miss < 0, x, low), np.where(miss > 0, x, high)
            new = x - miss / (slope + UNIFORM / self.length)
            new = np.where((new >= low) & (new <= high), new, 0.5 * (low + high))
            moved = float(np.max(np.abs(new - x)))
            x = new
            if moved <= ROUNDED * self.length:
                break
        return np.asarray(np.where(xi <= 0, self.low, np.where(xi >= 1, self.high, x)))

    def _bracket(
        self, xi: FloatArray, y: FloatArray, tau: float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return x from a table for each y, and the ends of the table's cell around it."""
        moved = self.moving.at(tau)
        reach = np.arcsinh(self.length / (RADIUS * moved.deviations.min())) + 1.0
        steps = np.sinh(np.linspace(-reach, reach, 2 * int(reach / _TABLE) + 1))
        once, which = np.unique(y if self.oblique else np.zeros(y.shape), return_inverse=True)
        scale = np.minimum(RADIUS * moved.deviations, self.length)
        means = moved.means + moved.slopes * (once - self.pivot)[:, None]
        graded = (means[:, :, None] + scale[:, None] * steps).reshape(len(once), -1)
        even = np.broadcast_to(np.linspace(self.low, self.high, 9), (len(once), 9))
        table = np.sort(np.clip(np.hstack([graded, even]), self.low, self.high), axis=1)
        flat = _Profile(self, np.repeat(once, table.shape[1]), np.full(table.size, tau))
        found = (flat.value(table.ravel())[0]).reshape(table.shape)
        found += UNIFORM * (table - self.low) / self.length
        x, low, high = np.empty(xi.shape), np.empty(xi.shape), np.empty(xi.shape)
        for row in range(len(once)):
            here = which == row
            cell = np.clip(np.searchsorted(found[row], xi[here]), 1, table.shape[1] - 1)
            low[here], high[here] = table[row, cell - 1], table[row, cell]
            x[here] = np.interp(xi[here], found[row], table[row])
        return x, low, high


class _Profile:
    """sum_k p_k [S asinh z_k + (1 - S) atan z_k] at given (y, t), each part from 0 to 1."""

    def __init__(self, where: MovingAxis, y: FloatArray, tau: FloatArray) -> None:
        m = where.moving
        # Where all points have the same profile, one row stands for all.
        tau = tau[:1, None] if len(tau) and np.all(tau == tau[0]) else tau[:, None]
        off = (y - where.pivot)[:, None] if where.oblique else np.zeros((1, 1))
        self.slope = m.slopes + m.turns * tau
        self.mean = m.means + m.speeds * tau + self.slope * off
        self.drift = m.speeds + m.turns * off
        radius = RADIUS * m.deviations * np.exp(m.stretches * tau)
        self.scale = np.minimum(radius, where.length)
        self.growth = np.where(radius < where.length, self.scale * m.stretches, 0.0)
        share = (1.0 - UNIFORM) * m.weights
        self.shares = LOGARITHMIC * share, (1.0 - LOGARITHMIC) * share
        self.low, self.high = self._z(where.low), self._z(where.high)
        self.ends = [(shape(self.low), shape(self.high)) for shape in _SHAPES]

    def _z(self, x: FloatArray | float) -> FloatArray:
        return np.asarray((x - self.mean) / self.scale)

    def value(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the sum and its slope in x."""
        z, total, slope = self._z(x[:, None]), np.zeros(x.shape), np.zeros(x.shape)
        for share, (start, stop), shape in zip(self.shares, self.ends, _SHAPES, strict=True):
            here, whole = shape(z), share / (stop[0] - start[0])
            total += (whole * (here[0] - start[0])).sum(axis=1)
            slope += (whole / self.scale * here[1]).sum(axis=1)
        return total, slope

    def jet(self, x: FloatArray) -> Jet:
        """Return the sum and its derivatives."""
        z = self._z(x[:, None])
        # z depends on y through the means only, and z, low and high all alike.
        by_y = -self.slope / self.scale
        by_t = [-(self.drift + s * self.growth) / self.scale for s in (z, self.low, self.high)]
        out = [np.zeros(x.shape) for _ in range(7)]
        for share, ends, shape in zip(self.shares, self.ends, _SHAPES, strict=True):
            (v, d, dd), ((v0, d0, dd0), (v1, d1, dd1)) = shape(z), ends
            whole, part = v1 - v0, (v - v0) / (v1 - v0)
            whole_y, whole_yy = (d1 - d0) * by_y, (dd1 - dd0) * by_y**2
            part_y = ((d - d0) * by_y - part * whole_y) / whole
            part_yy = ((dd - dd0) * by_y**2 - 2.0 * part_y * whole_y - part * whole_yy) / whole
            part_x = d / (self.scale * whole)
            part_xx = dd / (self.scale**2 * whole)
            part_xy = dd * by_y / (self.scale * whole) - part_x * whole_y / whole
            start_t, whole_t = d0 * by_t[1], d1 * by_t[2] - d0 * by_t[1]
            part_t = (d * by_t[0] - start_t - part * whole_t) / whole
            each = (part, part_x, part_y, part_xx, part_xy, part_yy, part_t)
            for total, one in zip(out, each, strict=True):
                total += (share * one).sum(axis=1)
        return Jet(*out)


def _log(z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return asinh z and its derivatives."""
    r = 1.0 / (1.0 + z * z)
    root = np.sqrt(r)
    return np.arcsinh(z), root, -z * r * root


def _bell(z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return atan z and its derivatives."""
    r = 1.0 / (1.0 + z * z)
    return np.arctan(z), r, -2.0 * z * r * r


_SHAPES = (_log, _bell)
