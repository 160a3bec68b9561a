"""Where a march begins, and how it gets more kernels: along an axis, or all placed anew."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial import cKDTree

from sharpfront.arrays import FloatArray
from sharpfront.bases.product import Product
from sharpfront.evolve.patchwork.settings import MARCH
from sharpfront.evolve.patchwork.system import PlaneSystem
from sharpfront.evolve.plane.component_motion import leans
from sharpfront.evolve.plane.defect import lifted, richer
from sharpfront.evolve.plane.placement import (
    fitted,
    larger,
    lengthened,
    place,
)
from sharpfront.evolve.plane.run import Aim, ProductState, Slab, functions_of
from sharpfront.evolve.plane.settings import PRODUCTS
from sharpfront.geometry import Domain
from sharpfront.place.formula_features import formula_places

# Kernels that a march begins with.
FEWEST_PRODUCTS = Product((PRODUCTS.first_functions, PRODUCTS.first_functions)).size


def begun_march(aim: Aim) -> ProductState:
    """Return the march at its start."""
    domain, limits = aim.domain, aim.limits

    def state(points: FloatArray) -> FloatArray:
        return np.asarray(aim.system.initial(points)[0, 0])

    points = np.concatenate([_check_points(domain), _told_points(aim.system)])
    values = state(points)
    goal = PRODUCTS.at_start * aim.counted(points, values, aim.span[0]).size
    found = place(state, domain.bounds, limits.components, goal, limits.kernels)
    square = functions_of(domain, found.layout, found.product).square
    wide = richer(found.product)
    # What is missed goes on with the equation, and may grow.
    error = fitted(state, found.layout, wide)
    error = error - lifted(found.weights, found.product, wide)
    seen_as = found.product.values(found.weights, found.layout.inverse(points, 0.0), (0, 0))
    missed = float(np.max(np.abs(seen_as - values)))
    march = ProductState(
        aim.span[0],
        PRODUCTS.first_slab * (aim.span[1] - aim.span[0]),
        found.layout,
        found.product,
        found.weights,
        np.zeros(found.product.size),
        error,
        0.0,
        leans(square, found.weights),
    )
    # What richer products do not see of it stays as it is.
    seen = bound_of(domain, march)
    lost = max(found.miss, missed, seen) - seen
    # An initial state that is missed already takes more kernels than there may be.
    return replace(march, lost=lost, limited=lost + seen > aim.size)


def _check_points(domain: Domain) -> FloatArray:
    low, high = domain.bounds
    points = low + (high - low) * np.random.default_rng(0).random((PRODUCTS.inside, 2))
    edges = [domain.boundary(part, PRODUCTS.on_part).points for part in domain.parts]
    return np.concatenate([points, *edges])


def _told_points(system: PlaneSystem) -> FloatArray:
    """Return where the formula of a start may have a tip or an edge: no other point meets it."""
    domain, start = system.problem.domain, system.problem.initial
    graph = None if start is None else start.graph(system.unknowns[0])
    told = None if graph is None else formula_places([graph], domain)
    return np.zeros((0, 2)) if told is None else told[domain.contains(told)]


def bound_of(domain: Domain, march: ProductState) -> float:
    """Return the bound of what richer products see of a march's error."""
    square = functions_of(domain, march.layout, richer(march.product)).square
    return PRODUCTS.unseen * square.largest(march.error)


def too_large(march: ProductState, before: float, slab: Slab, aim: Aim) -> bool:
    """Tell whether the error grew in a slab from a bound before to more than is allowed by then.

    More kernels are of no use for what was there before, nor for what steps in time leave.
    """
    allowed = aim.size * (
        PRODUCTS.at_start + (PRODUCTS.at_end - PRODUCTS.at_start) * aim.share(slab.after.t)
    )
    fresh = PRODUCTS.fresh * aim.size * (aim.share(slab.after.t) - aim.share(march.t))
    largest, rest = slab.error.largest, slab.error.with_all_kernels
    return largest > allowed and largest - max(before, rest) > fresh


def misses_data(aim: Aim, march: ProductState) -> bool:
    """Tell whether products miss data that stand out somewhere, as a narrow source does.

    What they know to be unresolved thereabouts is none of that: the error equation tells of it.
    """
    points, product, wide = aim.watched, march.product, richer(march.product)

    def data(places: FloatArray) -> FloatArray:
        return np.asarray(aim.system.data(places, np.array([march.t]))[0])

    true = data(points)
    if not np.ptp(true) > 0.0:
        return False
    at = march.layout.inverse(points, 0.0)
    seen, closely = (
        own.values(fitted(data, march.layout, own), at, (0, 0)) for own in (product, wide)
    )
    near = cKDTree(points).query(points, k=PRODUCTS.beside)[1]
    unresolved = np.abs(closely - seen)[near].max(axis=1)
    least = np.maximum(MARCH.beyond * unresolved, MARCH.standing_out * np.ptp(true))
    return bool(np.any(np.abs(seen - true) > least))


def sees_events(slab: Slab, aim: Aim) -> bool:
    """Tell whether the points of a slab see what stands out in its time."""
    square, start = slab.galerkin.square, slab.galerkin.start

    def points(t: float) -> FloatArray:
        return square.grid(t - start).points

    return not aim.agenda.unseen(start, start + slab.dt, points)


def enlarged(march: ProductState, aim: Aim) -> ProductState | None:
    """Return the march with more products along both axes; None at the limit."""
    first, second = march.product.shape
    product = Product((larger(first), larger(second)))
    return _with_more(march, product) if product.size <= aim.limits.kernels else None


def grown(march: ProductState, slab: Slab, aim: Aim) -> ProductState | None:
    """Return the march with more products for a slab that needs them; None at the limit."""
    product = lengthened(march.product, richer(march.product).block(slab.after.error))
    return _with_more(march, product) if product.size <= aim.limits.kernels else None


def _with_more(march: ProductState, product: Product) -> ProductState:
    """Return the march in products of more functions."""
    return replace(
        march,
        product=product,
        weights=lifted(march.weights, march.product, product),
        slope=lifted(march.slope, march.product, product),
        error=lifted(march.error, richer(march.product), richer(product)),
        factors=None,
        errors=None,
    )
