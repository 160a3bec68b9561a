"""How the components move: speeds from the equation, and a lean back to where they were placed.

For each component u_t + (v + g (x - mean)) u_x = 0 is solved for speed and stretch in the least
squares, weighted by the component's responsibilities. What that leaves over a slab, above all the
bend of a path, shows in one step of EM: it would pull the component further aside than at the
placement, and part of the difference is added to the speed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.evolve.plane.galerkin import RATE, Galerkin
from sharpfront.evolve.plane.quadrature import Square
from sharpfront.evolve.plane.settings import PRODUCTS
from sharpfront.maps import MovingAxis


class ComponentShift(NamedTuple):
    """What one step of EM would change: means in deviations, and logarithms of deviations."""

    aside: FloatArray
    wider: FloatArray


class Rates(NamedTuple):
    """Speeds, turns and stretches of the components of an axis."""

    speeds: FloatArray
    turns: FloatArray
    stretches: FloatArray


def leans(square: Square, weights: FloatArray) -> tuple[ComponentShift, ComponentShift]:
    """Return the leans of both axes' components at the start of a slab."""
    grid = square.grid(0.0)
    first, second = square.product.lines
    inner = square.product.derivatives(weights)
    along = np.abs(inner[1, 0]) * np.outer(first.weights, second.weights)
    across = np.max(np.abs(inner[0, 1]), axis=0) * second.weights
    x, y = (grid.points[:, axis] for axis in square.axes)
    rows = y.reshape(grid.areas.shape)[0]
    return (
        _lean(square.maps[0], x, y, along.ravel()),
        _lean(square.maps[1], rows, rows, across),
    )


def _lean(where: MovingAxis, x: FloatArray, y: FloatArray, masses: FloatArray) -> ComponentShift:
    shares, offsets = _responsibilities(where, x, y)
    mass = masses @ shares + np.finfo(float).tiny
    aside = (masses @ (shares * offsets)) / mass
    spread = (masses @ (shares * (offsets - aside) ** 2)) / mass
    deviations = where.moving.deviations
    return ComponentShift(
        aside / deviations, 0.5 * np.log(spread / deviations**2 + np.finfo(float).tiny)
    )


def _responsibilities(
    where: MovingAxis, x: FloatArray, y: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the share of each component in each point, and the offsets from its mean, (m, K)."""
    c = where.moving
    offsets = x[:, None] - (c.means + c.slopes * (y - where.pivot)[:, None])
    wide = PRODUCTS.wide * c.deviations
    bells = c.weights / wide * np.exp(-0.5 * np.minimum((offsets / wide) ** 2, 1400.0))
    return bells / (bells.sum(axis=1) + PRODUCTS.background / where.length)[:, None], offsets


def rates(galerkin: Galerkin, weights: FloatArray) -> tuple[Rates, Rates]:
    """Return how both axes' components move by the equation, from functions at rest."""
    square = galerkin.square
    grid = square.grid(0.0)
    known = galerkin.state(weights, np.zeros(square.product.size), 0.0)
    left, rate = (
        galerkin.value(galerkin.equation, known),
        galerkin.tangents(galerkin.equation, known)[RATE],
    )
    usable = rate != 0.0
    u_t = np.where(usable, -left / np.where(usable, rate, 1.0), 0.0)
    areas = np.where(usable, grid.areas.ravel(), 0.0)
    x, y = (known.points[:, axis] for axis in square.axes)
    slopes = known.derivatives[1, 0, 0], known.derivatives[0, 1, 0]
    u_x, u_y = (slopes[axis] for axis in square.axes)
    first = _axis_rates(square.maps[0], x, y, areas, (u_t, u_x, u_y))
    jet = _with(square.maps[0], first, 0.0).jet(x, y, np.zeros(len(x)))
    # On a line of constant xi: what is left for the second axis to follow.
    along = (u_t - jet.t / jet.x * u_x, u_y - jet.y / jet.x * u_x, None)
    return first, _axis_rates(square.maps[1], y, x, areas, along)


def _axis_rates(
    where: MovingAxis,
    x: FloatArray,
    y: FloatArray,
    areas: FloatArray,
    slopes: tuple[FloatArray, FloatArray, FloatArray | None],
) -> Rates:
    c = where.moving
    u_t, u_x, u_y = slopes
    shares, offsets = _responsibilities(where, x, y)
    found = np.zeros((3, c.count))
    for k in range(c.count):
        columns = [u_x, u_x * offsets[:, k] / c.deviations[k]]
        if where.oblique:
            columns.append(u_x * (y - where.pivot))
        elif u_y is not None:
            # A front that moves along the other axis must not be taken for one along this.
            columns.append(u_y)
        matrix = np.stack(columns, axis=1) * np.sqrt(areas * shares[:, k])[:, None]
        size = np.linalg.norm(matrix, axis=0)
        if not size[0] > 0:
            continue
        size = np.where(size > 0, size, 1.0)
        target = -u_t * np.sqrt(areas * shares[:, k])
        solved = np.linalg.lstsq(matrix / size, target, rcond=1e-6)[0] / size
        found[0, k], found[2, k] = solved[0], solved[1] / c.deviations[k]
        found[1, k] = solved[2] if where.oblique else 0.0
    return Rates(*found)


def _with(where: MovingAxis, motion: Rates, dt: float) -> MovingAxis:
    limit = PRODUCTS.stretch / dt if dt > 0 else np.inf
    moving = replace(
        where.moving,
        speeds=motion.speeds,
        turns=motion.turns,
        stretches=np.clip(motion.stretches, -limit, limit),
    )
    return replace(where, moving=moving)


def moved(
    where: MovingAxis,
    now: Rates,
    before: tuple[Rates, float] | None,
    lean: tuple[ComponentShift, ComponentShift],
    dt: float,
) -> MovingAxis:
    """Return the coordinate of an axis with its motion over a slab of length dt.

    The speed at the middle is extrapolated from rates at its start and those at the start of the
    slab before, which come with that slab's length. `lean` is that at the placement and now.
    """
    motion = now
    if before is not None and len(before[0].speeds) == len(now.speeds):
        ahead = 0.5 * dt / before[1]
        motion = Rates(*(n + ahead * (n - b) for n, b in zip(now, before[0], strict=True)))
    placed, present = lean
    deviations = where.moving.deviations
    aside = np.clip(PRODUCTS.relax * (present.aside - placed.aside), -1.0, 1.0) * deviations
    wider = PRODUCTS.relax * (present.wider - placed.wider)
    motion = motion._replace(
        speeds=motion.speeds + aside / dt, stretches=motion.stretches + wider / dt
    )
    return _with(where, motion, dt)
