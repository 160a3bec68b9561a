"""Where the kernels go: a layout polished until it represents a state, and how many functions.

The mixtures of `look` say where a state varies. How wide their components should be for the kernels
is another question, answered by trying: widths, places and slope of the components are moved until
a fixed number of functions misses the state least.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.bases.product import Product
from sharpfront.evolve.plane.defect import richer, tails
from sharpfront.evolve.plane.front_detection import (
    StateFunction,
    even_layout,
    leaving,
    look,
)
from sharpfront.evolve.plane.settings import PRODUCTS
from sharpfront.maps import MovingSquare


class Placement(NamedTuple):
    """A layout, its products, the weights of a state, and by how much they miss it."""

    layout: MovingSquare
    product: Product
    weights: FloatArray
    miss: float


class _Check(NamedTuple):
    """Points where a state is known."""

    points: FloatArray
    values: FloatArray

    def misses(self, layout: MovingSquare, product: Product, weights: FloatArray) -> FloatArray:
        found = product.values(weights, layout.inverse(self.points, 0.0), (0, 0))
        return np.abs(found - self.values)

    def size(self, layout: MovingSquare, product: Product, weights: FloatArray) -> float:
        """Return the root mean square of the misses."""
        return float(np.sqrt(np.mean(self.misses(layout, product, weights) ** 2)))


def _check(
    state: StateFunction, layouts: list[MovingSquare], count: int = PRODUCTS.checks
) -> _Check:
    even = (np.arange(count) + 0.5) / count
    points = np.concatenate([layout.grid(even, even) for layout in layouts])
    return _Check(points, state(points))


def fitted(state: StateFunction, layout: MovingSquare, product: Product) -> FloatArray:
    """Return the weights of a state on a box, (size,)."""
    first, second = product.lines
    values = state(layout.grid(first.points, second.points))
    return product.projected(values.reshape(product.grid_shape))


def place(
    state: StateFunction, bounds: FloatArray, components: int, goal: float, max_kernels: int
) -> Placement:
    """Return the placement that represents a state on a box to a goal with few products.

    Every number of components up to `components` is tried; the one that misses the state least
    with a fixed number of functions is taken.
    """
    even, trial = even_layout(bounds), Product((PRODUCTS.compared, PRODUCTS.compared))
    closely = _check(state, [even], PRODUCTS.first_cells)
    smooth = float(np.max(closely.misses(even, trial, fitted(state, even, trial)))) <= goal
    options = [even]
    for count in range(1, 1 if smooth else components + 1):
        seen = look(state, bounds, count)
        tried = [*options, seen, leaving(seen)]
        check = _check(state, tried)
        *sizes, one, other = (check.size(o, trial, fitted(state, o, trial)) for o in tried)
        seen = tried[-1] if other < one else seen
        # A polish gains a digit or so beyond those of fewer components.
        if min(one, other) < PRODUCTS.hopeful * min(sizes):
            options.append(_polished(state, seen, _check(state, [even, seen])))
    check = _check(state, options)
    misses = [np.max(check.misses(o, trial, fitted(state, o, trial))) for o in options]
    return _grown(state, options[int(np.argmin(misses))], check, goal, max_kernels)


def _polished(state: StateFunction, layout: MovingSquare, check: _Check) -> MovingSquare:
    """Return the layout with its components moved for the least misfit."""
    from scipy.optimize import minimize

    product = Product((PRODUCTS.compared, PRODUCTS.compared))
    has = [m.moving.count > 0 for m in layout.maps]
    free = np.flatnonzero([*has, *has, layout.maps[0].oblique])

    def misfit(step: FloatArray) -> float:
        moved = _moved(layout, free, step)
        if np.max(np.abs(step), initial=0.0) > PRODUCTS.furthest:
            return PRODUCTS.furthest
        size = check.size(moved, product, fitted(state, moved, product))
        return float(np.log10(size + np.finfo(float).tiny))

    if not free.size:
        return layout
    step, corners = (
        np.zeros(free.size),
        np.eye(free.size + 1, free.size, -1) * np.array(PRODUCTS.moves)[free],
    )
    options: Any = {
        "maxfev": PRODUCTS.trials // PRODUCTS.polishing_rounds,
        "xatol": 0.03,
        "fatol": 0.03,
    }
    for number in range(PRODUCTS.polishing_rounds):
        options["initial_simplex"] = step + 0.5**number * corners
        step = minimize(misfit, step, method="Nelder-Mead", options=options).x
    return _moved(layout, free, step)


def _moved(layout: MovingSquare, free: NDArray[np.intp], step: FloatArray) -> MovingSquare:
    whole = np.zeros(len(PRODUCTS.moves))
    whole[free] = step
    maps = []
    for axis, where in enumerate(layout.maps):
        c = where.moving
        turn = whole[4] * c.deviations / where.length if axis == 0 else 0.0
        c = replace(
            c,
            deviations=c.deviations * np.exp(whole[axis]),
            means=c.means + whole[2 + axis] * c.deviations,
            slopes=c.slopes + turn,
        )
        maps.append(replace(where, moving=c))
    return MovingSquare(layout.axes, (maps[0], maps[1]))


def _grown(
    state: StateFunction, layout: MovingSquare, check: _Check, goal: float, max_kernels: int
) -> Placement:
    """Add functions along the axes that lack them until the goal is met."""
    product, best = Product((PRODUCTS.first_functions, PRODUCTS.first_functions)), None
    while best is None or product.size <= max_kernels:
        wide = richer(product)
        richly = fitted(state, layout, wide)
        weights = fitted(state, layout, product)
        miss = float(np.max(check.misses(layout, product, weights)))
        if best is None or miss < best.miss:
            best = Placement(layout, product, weights, miss)
        if miss <= goal:
            break
        product = lengthened(product, wide.block(richly))
    return best


def lengthened(product: Product, block: FloatArray) -> Product:
    """Return products of more functions along the axes beyond which most of a richer block is."""
    tail = tails(block, product.shape)
    first, second = (
        larger(n) if own > PRODUCTS.tail * other else n
        for n, own, other in zip(product.shape, tail, tail[::-1], strict=True)
    )
    return Product((first, second))


def larger(functions: int) -> int:
    """Return the next number of functions along an axis."""
    return max(functions + 2, int(PRODUCTS.step * functions))
