"""Places at which a solution is tabulated: as close together as its kernels are."""

from __future__ import annotations

from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.geometry import Domain
from sharpfront.show.data.kernels import Function, Kernels, Section, centres_of

# Every other place is an even one, in case that kernels are rare somewhere.
_EVEN_SHARE = 2
# Of curves: even places, and into how many steps the way from one kernel to the next is divided.
_EVEN, _STEPS = 1001, 8
# Halvings of the way across the boundary.
_BISECTIONS = 40


def graded_axis(basis: Any, axis: int, bounds: FloatArray, count: int) -> FloatArray:
    """Return up to `count` increasing places along an axis with both ends, dense like kernels.

    Even ones where a basis does not say where its kernels are in these bounds (2, d).
    """
    low, high = bounds[:, axis]
    centres = centres_of(basis)
    if not len(centres) or centres.shape[1] != bounds.shape[1]:
        return np.linspace(low, high, count)
    inner = shared_places(centres[:, axis], (low, high), count - 2)
    return np.unique(np.concatenate([[low], np.clip(inner, low, high), [high]]))


def shared_places(centres: FloatArray, ends: tuple[float, float], count: int) -> FloatArray:
    """Return places between two ends, half of them even and half at quantiles of the centres."""
    low, high = ends
    shares = np.linspace(0.0, 1.0, count + 2)
    inside = np.clip(centres, low, high)
    graded = np.quantile(inside, shares[1:-1:_EVEN_SHARE]) if len(inside) else np.zeros(0)
    return np.concatenate([low + (high - low) * shares[_EVEN_SHARE:-1:_EVEN_SHARE], graded])


def graded_line(kernels: Kernels, ends: tuple[float, float], most: int) -> FloatArray:
    """Return about `most` increasing places on a line, both ends among them.

    Even ones, kernels' centres and some between each two.
    """
    count = len(_stops(kernels, ends))
    steps = max(1, min(_STEPS, (2 * most // 3) // count))
    places = dense_places(kernels, ends, max(2, most // 3), steps)
    thin = max(1, -(-len(places) // most))
    return np.unique(np.concatenate([places[::thin], [ends[1]]]))


def _stops(kernels: Kernels, ends: tuple[float, float]) -> FloatArray:
    """Return both ends of a line and the centres between them."""
    low, high = ends
    centres = kernels.centres[:, 0]
    return np.unique(np.concatenate([[low, high], centres[(centres > low) & (centres < high)]]))


def dense_places(
    kernels: Kernels, ends: tuple[float, float], even: int = _EVEN, steps: int = _STEPS
) -> FloatArray:
    """Return even places on a line, and the way from each kernel to the next in so many steps."""
    stops = _stops(kernels, ends)
    graded = stops[:-1, None] + np.diff(stops)[:, None] * np.arange(steps) / steps
    return np.unique(np.concatenate([np.linspace(*ends, even), stops, graded.ravel()]))


def line_points(domain: Domain, where: Section, kernels: Kernels) -> tuple[FloatArray, Any]:
    """Return increasing places along a line, and which of them are inside the domain.

    Even places, the kernels' centres and some between each two, and the places where the line
    enters and leaves the domain, so that a layer narrower than even spacing is drawn where it is.
    """
    low, high = where.window[:, 0]
    x = dense_places(kernels, (low, high))
    inside = domain.contains(where.lift(x[:, None]))
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    entered = _crossings(domain, where, x[edges], x[edges + 1], inside[edges])
    x = np.concatenate([x, entered])
    inside = np.concatenate([inside, np.ones(len(entered), dtype=bool)])
    order = np.argsort(x, kind="stable")
    return x[order], inside[order]


def curve(
    function: Function, domain: Domain, where: Section, kernels: Kernels
) -> tuple[FloatArray, FloatArray]:
    """Return increasing places along a line, and a function there; NaN outside the domain."""
    x, inside = line_points(domain, where, kernels)
    values = np.full(len(x), np.nan)
    values[inside] = function(where.lift(x[inside, None]))
    return x, values


def _crossings(
    domain: Domain, where: Section, left: FloatArray, right: FloatArray, first: Any
) -> FloatArray:
    """Return the last places inside before the line crosses the boundary."""
    inner, outer = np.where(first, left, right), np.where(first, right, left)
    for _ in range(_BISECTIONS if len(inner) else 0):
        middle = (inner + outer) / 2
        inside = domain.contains(where.lift(middle[:, None]))
        inner, outer = np.where(inside, middle, inner), np.where(inside, outer, middle)
    return np.asarray(inner)
