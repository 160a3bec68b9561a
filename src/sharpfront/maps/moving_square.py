"""A box of the plane onto the unit square by two moving mixtures' coordinates, with the chain rule.

xi(x, y, t) may depend on both coordinates, eta(y, t) on its own only; which coordinates of the
plane x and y are, the axes say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sharpfront.arrays import FloatArray
from sharpfront.errors import BasisError
from sharpfront.maps.chain import Orders
from sharpfront.maps.moving_axis import Jet, MovingAxis, components

# Orders of a derivative along the first and the second axis.
Along = tuple[int, int]
# Numbers of an axis that are saved beside its components.
_HEAD = 4


@dataclass(frozen=True, eq=False)
class MovingSquare:
    """The unit square in a box; lapses of time are from the start of a step."""

    axes: tuple[int, int]  # which coordinates of the plane are the first and the second axis
    maps: tuple[MovingAxis, MovingAxis]  # the coordinates of both

    @property
    def moves(self) -> bool:
        """Whether the coordinates depend on time."""
        return self.maps[0].moves or self.maps[1].moves

    def at(self, lapse: float) -> MovingSquare:
        """Return the square after a time, moving as before."""
        return replace(self, maps=(self.maps[0].at(lapse), self.maps[1].at(lapse)))

    def still(self) -> MovingSquare:
        """Return the square at rest."""
        return replace(self, maps=(self.maps[0].still(), self.maps[1].still()))

    def grid(self, xi: FloatArray, eta: FloatArray) -> FloatArray:
        """Return the places of a grid in (xi, eta) at the start, (n1 n2, 2)."""
        y = self.maps[1].invert(eta, eta, 0.0)
        xis, ys = (a.ravel() for a in np.meshgrid(xi, y, indexing="ij"))
        return self.placed(self.maps[0].invert(xis, ys, 0.0), ys)

    def placed(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return points of the plane from positions along the first and the second axis."""
        return np.stack((x, y) if self.axes[0] == 0 else (y, x), axis=1)

    def points(self, s: FloatArray, lapse: float) -> FloatArray:
        """Return the places of positions in the square (m, 2) after a time, (m, 2)."""
        y = self.maps[1].invert(s[:, 1], s[:, 1], lapse)
        return self.placed(self.maps[0].invert(s[:, 0], y, lapse), y)

    def jets(self, points: FloatArray, lapse: FloatArray | float) -> tuple[Jet, Jet]:
        """Return both coordinates with their derivatives at points, all or each after a time."""
        x, y = (points[:, axis] for axis in self.axes)
        tau = np.broadcast_to(np.asarray(lapse, dtype=float), x.shape)
        return self.maps[0].jet(x, y, tau), self.maps[1].jet(y, x, tau)

    def inverse(self, points: FloatArray, lapse: FloatArray | float) -> FloatArray:
        """Return the positions of points in the square, (m, 2)."""
        xi, eta = self.jets(points, lapse)
        return np.stack([xi.xi, eta.xi], axis=1)

    def at_rest(
        self, points: FloatArray, lapses: FloatArray, orders: Orders
    ) -> tuple[FloatArray, dict[Orders, FloatArray]]:
        """Return positions in the square, and what derivatives there make d^orders at points.

        Orders are those along x, y and t; in the square t is that of weights.
        """
        *space, rate = orders
        if sum(space) > 2 or (self.moves and (rate > 1 or (rate and any(space)))):
            raise BasisError(
                "Derivatives are carried in space up to the second and, where functions move, in "
                f"time to the first, not both at once; asked for {orders}."
            )
        xi, eta = self.jets(points, lapses)
        chain = _chain(xi, eta)
        own = chain[space[self.axes[0]], space[self.axes[1]]]
        found: dict[Orders, FloatArray] = {(*along, rate): c for along, c in own.items()}
        if rate and self.moves:
            found |= {(1, 0, 0): xi.t, (0, 1, 0): eta.t}
        return np.stack([xi.xi, eta.xi], axis=1), found

    def covariances(self, points: FloatArray, lapse: float, widths: FloatArray) -> FloatArray:
        """Return how wide at points is what has widths (2,) in the square, (m, 2, 2)."""
        xi, eta = self.jets(points, lapse)
        slopes = np.stack([np.stack([xi.x, xi.y]), np.stack([eta.y, eta.x])])
        inverse = np.linalg.inv(np.moveaxis(slopes, 2, 0)) * widths
        back = inverse[:, np.argsort(self.axes)]
        return np.asarray(back @ np.swapaxes(back, 1, 2))

    def state(self) -> FloatArray:
        """Return the numbers from which `restored_square` makes it again."""
        parts = [np.array(self.axes, dtype=float)]
        for own in self.maps:
            head = np.array([own.low, own.high, own.pivot, own.moving.count])
            parts += [head, own.moving.table().ravel()]
        return np.concatenate(parts)


def restored_square(state: ArrayLike) -> MovingSquare:
    """Return the square that `MovingSquare.state` was taken from."""
    numbers = np.asarray(state, dtype=float)
    maps, at = [], 2
    for _ in range(2):
        low, high, pivot, count = numbers[at : at + _HEAD].tolist()
        stop = at + _HEAD + 7 * int(count)
        maps.append(MovingAxis(low, high, pivot, components(numbers[at + _HEAD : stop])))
        at = stop
    return MovingSquare((int(numbers[0]), int(numbers[1])), (maps[0], maps[1]))


def _chain(xi: Jet, eta: Jet) -> dict[Along, dict[Along, Any]]:
    """Return what derivatives along (xi, eta) make each of those along the axes."""
    return {
        (0, 0): {(0, 0): np.ones_like(xi.xi)},
        (1, 0): {(1, 0): xi.x},
        (0, 1): {(1, 0): xi.y, (0, 1): eta.x},
        (2, 0): {(2, 0): xi.x**2, (1, 0): xi.xx},
        (1, 1): {(2, 0): xi.x * xi.y, (1, 1): xi.x * eta.x, (1, 0): xi.xy},
        (0, 2): {
            (2, 0): xi.y**2,
            (1, 1): 2.0 * xi.y * eta.x,
            (0, 2): eta.x**2,
            (1, 0): xi.yy,
            (0, 1): eta.xx,
        },
    }


def physical(inner: Mapping[Along, FloatArray], xi: Jet, eta: Jet) -> dict[Along, FloatArray]:
    """Return derivatives along the axes from those in (xi, eta), up to the second."""
    out = {(0, 0): inner[0, 0]}
    for orders, own in _chain(xi, eta).items():
        if any(orders):
            out[orders] = np.asarray(sum(c * inner[along] for along, c in own.items()))
    return out


def carried(inner: Mapping[Along, FloatArray], xi: Jet, eta: Jet) -> FloatArray:
    """Return the part of u_t at a fixed place that comes from the moving coordinates."""
    return np.asarray(xi.t * inner[1, 0] + eta.t * inner[0, 1])


def pulled(
    outer: Mapping[Along, FloatArray], rate: FloatArray, xi: Jet, eta: Jet
) -> dict[Along, FloatArray]:
    """Return the coefficients of derivatives in (xi, eta) of a form along the axes.

    Of u_t, whose coefficient is the rate, only what the moving coordinates carry is taken.
    """
    chain = _chain(xi, eta)
    result: dict[Along, FloatArray] = {(1, 0): rate * xi.t, (0, 1): rate * eta.t}
    for orders, c in outer.items():
        for along, part in chain[orders].items():
            result[along] = result[along] + c * part if along in result else c * part
    return {orders: values for orders, values in result.items() if np.any(values)}
