"""Where a state varies: the direction of its fronts, and mixtures along the axes by EM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.product import Orders
from sharpfront.evolve.plane.settings import PRODUCTS
from sharpfront.maps.moving_axis import NONE, Components, MovingAxis
from sharpfront.maps.moving_square import MovingSquare, physical
from sharpfront.mixture import Mixture, fit_bins

StateFunction = Callable[[FloatArray], FloatArray]

# Slopes of a front beside the axes that count as none.
_UPRIGHT = 1e-3


def even_layout(bounds: FloatArray) -> MovingSquare:
    """Return the layout without components."""
    (x0, y0), (x1, y1) = bounds
    return MovingSquare(
        (0, 1), (MovingAxis(x0, x1, 0.5 * (y0 + y1)), MovingAxis(y0, y1, 0.5 * (x0 + x1)))
    )


def look(state: StateFunction, bounds: FloatArray, components: int) -> MovingSquare:
    """Return the layout with at most so many components along each axis that follows a state."""
    layout = even_layout(bounds)
    for number in range(PRODUCTS.rounds):
        view = _view(state, layout, PRODUCTS.first_cells if number == 0 else PRODUCTS.cells)
        axes, slope = _direction(view, layout)
        layout = _layout_of(view, layout, axes, slope, components)
    return layout


def leaving(layout: MovingSquare) -> MovingSquare:
    """Return a layout with components of the second axis where those of the first one leave.

    A front across the axes ends at a side within its width, and the first coordinate with it. That
    is narrow along the second axis too, which differences on a grid do not see of a thin one.
    """
    first, second = layout.maps
    c = first.moving
    if not first.oblique:
        return layout
    where = first.pivot + (np.array([[first.low], [first.high]]) - c.means) / c.slopes
    ends, which = np.nonzero((where > second.low) & (where < second.high))
    if not len(which):
        return layout
    none, weights = np.zeros(len(which)), c.weights[which]
    deviations = c.deviations[which] / np.abs(c.slopes[which])
    shares, means = weights / weights.sum(), where[ends, which]
    moving = Components(shares, means, none, deviations, none, none, none)
    return replace(layout, maps=(first, replace(second, moving=moving)))


class _View(NamedTuple):
    """A state on cells even in the coordinates: positions, differences and slopes."""

    xs: FloatArray
    ys: FloatArray
    x: FloatArray
    y: FloatArray
    along: FloatArray
    across: FloatArray
    tensor: FloatArray


def _view(state: StateFunction, layout: MovingSquare, cells: int) -> _View:
    nodes = np.arange(cells + 1) / cells
    points = layout.grid(nodes, nodes)
    shape = (cells + 1, cells + 1)
    x, y = (points[:, axis].reshape(shape) for axis in layout.axes)
    values = state(points).reshape(shape)
    along = np.diff(_middle(values, 1), axis=0)
    across = np.diff(_middle(values, 0), axis=1)
    mx, my = (_middle(_middle(a, 0), 1) for a in (x, y))
    tensor = _tensor(_averaged(values), _averaged(x), _averaged(y), layout, cells)
    return _View(x[:, 0], y[0], mx, my, np.abs(along), np.abs(across), tensor)


def _middle(a: FloatArray, axis: int) -> FloatArray:
    lower, upper = (slice(None, -1), slice(1, None))
    if axis == 0:
        return np.asarray(0.5 * (a[lower] + a[upper]))
    return np.asarray(0.5 * (a[:, lower] + a[:, upper]))


def _averaged(a: FloatArray) -> FloatArray:
    """Return averages over neighbouring nodes."""
    window = np.ones(PRODUCTS.block) / PRODUCTS.block
    for axis in range(2):
        a = np.apply_along_axis(np.convolve, axis, a, window, "valid")
    return a


def _tensor(
    values: FloatArray, x: FloatArray, y: FloatArray, layout: MovingSquare, cells: int
) -> FloatArray:
    """Return the integral of the slopes' products, (2, 2)."""
    inner = {
        (1, 0): cells * np.diff(_middle(values, 1), axis=0),
        (0, 1): cells * np.diff(_middle(values, 0), axis=1),
    }
    x, y = (_middle(_middle(a, 0), 1) for a in (x, y))
    rest = np.zeros(x.size)
    xi, eta = (
        layout.maps[0].jet(x.ravel(), y.ravel(), rest),
        layout.maps[1].jet(y.ravel(), rest, rest),
    )
    every = dict.fromkeys(((0, 0), (2, 0), (1, 1), (0, 2)), rest)
    every |= {orders: v.ravel() for orders, v in inner.items()}
    outer = physical(every, xi, eta)
    g = np.stack([outer[1, 0], outer[0, 1]])
    return np.asarray((g / (xi.x * eta.x)) @ g.T)


def _direction(view: _View, layout: MovingSquare) -> tuple[Orders, float]:
    """Return the axis that the state varies along most, and the slope of its fronts."""
    values, vectors = np.linalg.eigh(view.tensor)
    share = PRODUCTS.still_one_way if layout.maps[0].oblique else PRODUCTS.one_way
    if not values[0] < share * values[1]:
        return (0, 1), 0.0
    normal, axes = vectors[:, 1], layout.axes
    # At 45 degrees either will do: the one that is there stays.
    if abs(normal[1]) > PRODUCTS.clearly * abs(normal[0]):
        axes, normal = (axes[1], axes[0]), normal[::-1]
    slope = -float(normal[1] / normal[0])
    return axes, slope if abs(slope) > _UPRIGHT else 0.0


def _layout_of(
    view: _View, layout: MovingSquare, axes: Orders, slope: float, components: int
) -> MovingSquare:
    turned = axes != layout.axes
    maps = layout.maps[::-1] if turned else layout.maps
    x, y = (view.y, view.x) if turned else (view.x, view.y)
    along = view.across if turned else view.along
    pivot = 0.5 * (maps[1].low + maps[1].high)
    if slope == 0.0 and not layout.maps[0].oblique:
        edges = view.ys if turned else view.xs
        first = _mixture(edges, along.sum(axis=0 if turned else 1), components)
    else:
        first = _mixture(*binned(x - slope * (y - pivot), along), components)
    second = None
    if not turned:
        # Known only where the first axis stays what it was; a further round sees to the others.
        second = _mixture(view.ys, view.across.max(axis=0), components)
    one = MovingAxis(maps[0].low, maps[0].high, pivot, _at_rest(first, slope))
    return MovingSquare(
        axes, (one, MovingAxis(maps[1].low, maps[1].high, maps[1].pivot, _at_rest(second, 0.0)))
    )


def binned(positions: FloatArray, masses: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return edges and masses of bins that follow positions and masses alike."""
    order = np.argsort(positions, axis=None)
    s, m = positions.ravel()[order], masses.ravel()[order]
    share = np.cumsum(m) / max(float(m.sum()), np.finfo(float).tiny)
    even = (np.arange(len(s)) + 1.0) / len(s)
    edges = np.interp(np.linspace(0.0, 1.0, PRODUCTS.bins + 1), 0.5 * (share + even), s)
    edges[0], edges[-1] = s[0], s[-1]
    least = PRODUCTS.least_width * float(np.diff(np.interp([0.1, 0.9], share, s))[0])
    kept = [float(edges[0])]
    for edge in edges[1:-1]:
        if edge - kept[-1] > least and edges[-1] - edge > least:
            kept.append(float(edge))
    every = np.array([*kept, float(edges[-1])])
    return every, np.histogram(s, bins=every, weights=m)[0]


def _mixture(edges: FloatArray, masses: FloatArray, components: int) -> Mixture | None:
    varies = components > 0 and float(np.sum(masses)) > 0 and bool(np.all(np.diff(edges) > 0))
    return fit_bins(edges, masses, components) if varies else None


def _at_rest(mixture: Mixture | None, slope: float) -> Components:
    if mixture is None:
        return NONE
    means, deviations = mixture.means[:, 0], np.sqrt(mixture.covariances[:, 0, 0])
    none, slopes = np.zeros(len(means)), np.full(len(means), slope)
    return Components(mixture.weights, means, slopes, deviations, none, none, none)
