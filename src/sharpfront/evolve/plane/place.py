"""Where the kernels go: mixtures fitted to how a state varies, and how many functions it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sharpfront.arrays import Host
from sharpfront.evolve.plane.basis import Piece
from sharpfront.evolve.plane.metric import physical
from sharpfront.evolve.plane.moving import AxisMap, Components, Jet
from sharpfront.evolve.plane.product import Orders, Product
from sharpfront.mixture import Mixture, fit_bins

State = Callable[[Host], Host]

# Cells along an axis of the grid on which a state is looked at, and how often it is graded anew.
CELLS, ROUNDS = 100, 6
# A state varies along one direction if its slopes in the other add up to this share at most.
ONE_WAY = 0.05
# Slopes of a front beside the axes that count as none.
_UPRIGHT = 1e-3
# How much steeper the other axis must be to become the first one.
_CLEARLY = 1.2
# Bins of a mixture's sample.
_BINS = 240
# Functions along an axis: at first, at most, and the step of the search for their number.
FIRST, STEP = 20, 1.2
_TRIAL = 32
# Check points along an axis, for each layout.
_CHECKS = 41


class Layout(NamedTuple):
    """Which coordinate is the first axis, and the coordinates along both."""

    axes: Orders
    maps: tuple[AxisMap, AxisMap]


class Placement(NamedTuple):
    """A layout, its products, the weights of a state, and by how much they miss it."""

    layout: Layout
    product: Product
    weights: Host
    miss: float


def even_layout(bounds: Host) -> Layout:
    """Return the layout without components."""
    (x0, y0), (x1, y1) = bounds
    return Layout((0, 1), (AxisMap(x0, x1, 0.5 * (y0 + y1)), AxisMap(y0, y1, 0.5 * (x0 + x1))))


def look(state: State, bounds: Host, components: int) -> Layout:
    """Return the layout with at most so many components along each axis that follows a state."""
    layout = even_layout(bounds)
    for _ in range(ROUNDS):
        view = _view(state, layout)
        axes, slope = _direction(view, layout.axes)
        layout = _fitted(view, layout, axes, slope, components)
    return layout


class _View(NamedTuple):
    """A state on cells even in the coordinates: middles, differences, slopes and areas."""

    points: Host
    ys: Host
    along: Host
    across: Host
    slopes: dict[Orders, Host]
    areas: Host


def _view(state: State, layout: Layout) -> _View:
    nodes = np.arange(CELLS + 1) / CELLS
    y = layout.maps[1].invert(nodes, nodes, 0.0)
    xis, ys = (a.ravel() for a in np.meshgrid(nodes, y, indexing="ij"))
    x = layout.maps[0].invert(xis, ys, 0.0)
    shape = (CELLS + 1, CELLS + 1)
    values = state(_placed(x, ys, layout.axes)).reshape(shape)
    along = np.diff(0.5 * (values[:, 1:] + values[:, :-1]), axis=0)
    across = np.diff(0.5 * (values[1:] + values[:-1]), axis=1)
    mx, my = (_middles(a.reshape(shape)) for a in (x, ys))
    rest = np.zeros(mx.size)
    xi = layout.maps[0].jet(mx.ravel(), my.ravel(), rest)
    eta = layout.maps[1].jet(my.ravel(), mx.ravel(), rest)
    none = np.zeros(mx.size)
    inner = dict.fromkeys(((0, 0), (2, 0), (1, 1), (0, 2)), none)
    inner |= {(1, 0): CELLS * along.ravel(), (0, 1): CELLS * across.ravel()}
    outer = physical(inner, xi, eta)
    slopes = {o: outer[o].reshape(mx.shape) for o in ((1, 0), (0, 1))}
    areas = (1.0 / (CELLS**2 * xi.x * eta.x)).reshape(mx.shape)
    points = np.stack([mx, my])
    return _View(points, y, np.abs(along), np.abs(across), slopes, areas)


def _middles(a: Host) -> Host:
    return 0.25 * (a[1:, 1:] + a[:-1, 1:] + a[1:, :-1] + a[:-1, :-1])


def _placed(x: Host, y: Host, axes: Orders) -> Host:
    return np.stack((x, y) if axes[0] == 0 else (y, x), axis=1)


def _direction(view: _View, axes: Orders) -> tuple[Orders, float]:
    """Return the axis that the state varies along most, and the slope of its fronts."""
    g = np.stack([view.slopes[1, 0].ravel(), view.slopes[0, 1].ravel()])
    tensor = (g * view.areas.ravel()) @ g.T
    values, vectors = np.linalg.eigh(tensor)
    if not values[0] < ONE_WAY * values[1]:
        return (0, 1), 0.0
    normal = vectors[:, 1]
    # At 45 degrees either will do: the one that is there stays.
    if abs(normal[1]) > _CLEARLY * abs(normal[0]):
        axes, normal = (axes[1], axes[0]), normal[::-1]
    slope = -float(normal[1] / normal[0])
    return axes, slope if abs(slope) > _UPRIGHT else 0.0


def _fitted(
    view: _View, layout: Layout, axes: Orders, slope: float, components: int
) -> Layout:
    turned = axes != layout.axes
    x, y = view.points[::-1] if turned else view.points
    maps = layout.maps[::-1] if turned else layout.maps
    bare = [AxisMap(m.low, m.high, m.pivot) for m in maps]
    pivot = 0.5 * (maps[1].low + maps[1].high)
    along = view.across if turned else view.along
    first = _mixture(*binned(x - slope * (y - pivot), along), components)
    second = None
    if not turned:
        # Known only where the first axis stays what it was; a further round sees to the others.
        second = _mixture(view.ys, view.across.max(axis=0), components)
    return Layout(
        axes,
        (
            AxisMap(bare[0].low, bare[0].high, pivot, _at_rest(first, slope)),
            AxisMap(bare[1].low, bare[1].high, bare[1].pivot, _at_rest(second, 0.0)),
        ),
    )


def binned(positions: Host, masses: Host) -> tuple[Host, Host]:
    """Return edges and masses of bins that follow positions and masses alike."""
    order = np.argsort(positions, axis=None)
    s, m = positions.ravel()[order], masses.ravel()[order]
    total = m.sum()
    level = np.cumsum(m / total if total > 0 else np.zeros(m.shape))
    level = 0.5 * level + 0.5 * (np.arange(len(s)) + 1.0) / len(s)
    edges = np.interp(np.linspace(0.0, level[-1], _BINS + 1), level, s)
    edges = np.unique(edges)
    edges[0], edges[-1] = s[0], s[-1]
    return edges, np.histogram(s, bins=edges, weights=m)[0]


def _mixture(edges: Host, masses: Host, components: int) -> Mixture | None:
    varies = components > 0 and len(edges) > 2 and float(np.sum(masses)) > 0
    return fit_bins(edges, masses, components) if varies else None


def _at_rest(mixture: Mixture | None, slope: float) -> Components:
    if mixture is None:
        return AxisMap(0.0, 1.0).moving
    means, deviations = mixture.means[:, 0], np.sqrt(mixture.covariances[:, 0, 0])
    none = np.zeros(len(means))
    slopes = np.full(len(means), slope)
    return Components(mixture.weights, means, slopes, deviations, none, none, none)


def fitted(state: State, layout: Layout, product: Product) -> Host:
    """Return the weights of a state on a box, (size,)."""
    points = _gauss_points(layout, product)
    return product.projected(state(points).reshape(product.grid_shape))


def _gauss_points(layout: Layout, product: Product) -> Host:
    first, second = product.lines
    y = layout.maps[1].invert(second.points, second.points, 0.0)
    xis, ys = (a.ravel() for a in np.meshgrid(first.points, y, indexing="ij"))
    return _placed(layout.maps[0].invert(xis, ys, 0.0), ys, layout.axes)


class _Check(NamedTuple):
    points: Host
    values: Host

    def miss(self, layout: Layout, product: Product, weights: Host) -> float:
        piece = Piece(0.0, 1.0, layout.axes, layout.maps, product)
        return float(np.max(np.abs(piece.value(weights, self.points, 0.0) - self.values)))


def place(
    state: State, bounds: Host, components: int, goal: float, max_kernels: int
) -> Placement:
    """Return the placement that represents a state on a box to a goal with fewest products.

    Every number of components up to `components` is tried; the one that misses the state least
    with a fixed number of functions is taken.
    """
    layouts = [even_layout(bounds)]
    layouts += [look(state, bounds, k) for k in range(1, components + 1)]
    trial = Product((_TRIAL, _TRIAL))
    points = np.concatenate([_check_points(layout) for layout in layouts])
    check = _Check(points, state(points))
    misses = [check.miss(o, trial, fitted(state, o, trial)) for o in layouts]
    best = layouts[int(np.argmin(misses))]
    return _grown(state, best, check, goal, max_kernels)


def _check_points(layout: Layout) -> Host:
    even = (np.arange(_CHECKS) + 0.5) / _CHECKS
    y = layout.maps[1].invert(even, even, 0.0)
    xis, ys = (a.ravel() for a in np.meshgrid(even, y, indexing="ij"))
    return _placed(layout.maps[0].invert(xis, ys, 0.0), ys, layout.axes)


def _grown(
    state: State, layout: Layout, check: _Check, goal: float, max_kernels: int
) -> Placement:
    """Add functions along the axis that gains most until the goal is met."""

    def tried(shape: Orders) -> Placement:
        product = Product(shape)
        weights = fitted(state, layout, product)
        return Placement(layout, product, weights, check.miss(layout, product, weights))

    best = tried((FIRST, FIRST))
    while best.miss > goal:
        n1, n2 = best.product.shape
        more = _larger(n1), _larger(n2)
        options = [tried((more[0], n2)), tried((n1, more[1])), tried(more)]
        options = [o for o in options if o.product.size <= max_kernels]
        if not options:
            break
        gains = [np.log(best.miss / o.miss) / (o.product.size - best.product.size) for o in options]
        best = options[int(np.argmax(gains))]
    return best


def _larger(functions: int) -> int:
    return max(functions + 2, int(STEP * functions))


__all__ = ["Jet", "Layout", "Placement", "binned", "even_layout", "fitted", "look", "place"]
