"""Layers that the coefficients tell of: cells are narrow there at once, and no mixture is fitted.

Where a u'' + b u' + c u = f has coefficients and a source without features, its solution is smooth
but for exponentials at the ends, whose rates are the roots of a r^2 + b r + c there. Only work is
saved by this: what is not told shows on cells and in the error equation as it does without it.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from sharpfront.arrays import FloatArray, largest
from sharpfront.mixture import Mixture, fit_bins
from sharpfront.mixture.model import made
from sharpfront.place.line.breakpoints import Survey
from sharpfront.place.line.settings import LINE
from sharpfront.problem.line_problem import LineProblem, Term

# Rates of decay away from the left and from the right end.
Rates = tuple[float, float]
_EVEN_PLACES = np.linspace(0.0, 1.0, 17)


def layers_at_ends(problem: LineProblem, seen: Survey) -> Rates | None:
    """Return the rates of layers at both ends, 0 for none; None if there may be anything else."""
    if problem.order != 2 or seen.cuts or not (_separated(problem) and _smooth(seen)):
        return None
    low, high = problem.interval
    varies = any(map(callable, problem.coefficients))
    x = np.linspace(low, high, LINE.root_places) if varies else np.array([low])
    rates = _end_rates(problem.sample(x)[:-1].T.tolist(), high - low)
    return rates if rates is not None and max(rates) > 0.0 else None


def graded_nodes(interval: tuple[float, float], rates: Rates) -> FloatArray:
    """Return nodes of cells that resolve layers at the ends."""
    (low, high), (left, right) = interval, rates
    length, most = high - low, max(rates)
    # Positions in the first half, even ones and ever closer ones to a layer.
    steps = np.arange(1, LINE.in_layer * math.asinh(0.5 * length * most)) / LINE.in_layer
    graded = np.sinh(steps) / most
    half = np.concatenate([0.5 * length * _EVEN_PLACES, graded])
    half.sort()
    table = np.concatenate([half, length - half[-2::-1]])
    share = np.arcsinh(left * table) - np.arcsinh(right * (length - table))
    share = LINE.even_cells / length * table + LINE.in_layer * share
    cells = math.ceil(share[-1] - share[0])
    even = share[0] + np.arange(cells + 1) * ((share[-1] - share[0]) / cells)
    nodes = low + np.interp(even, share, table)
    nodes[0], nodes[-1] = interval
    return nodes if (nodes[1:] > nodes[:-1]).all() else np.unique(nodes)


def exponentials(
    interval: tuple[float, float], rates: Rates, edges: FloatArray, masses: FloatArray
) -> Mixture | None:
    """Return the mixture of the layers that hold the masses of cells; None if they hold not all.

    It is what EM makes of an exponential, scaled.
    """
    (low, high), total = interval, float(np.add.reduce(masses))
    reach = [min(LINE.tail / rate, 0.5 * (high - low)) if rate else 0.0 for rate in rates]
    first, last = np.searchsorted(edges, [low + reach[0], high - reach[1]]).tolist()
    shares = [float(np.add.reduce(m)) / total for m in (masses[:first], masses[last:])]
    if sum(shares) < 1.0 - LINE.untold:
        return None
    weights, means, widths = _exponential()
    sides = zip((low, high), (1.0, -1.0), rates, shares, strict=True)
    own = [(end, way / rate, share) for end, way, rate, share in sides if share > LINE.untold]
    places = np.concatenate([end + width * means for end, width, _ in own])
    deviations = np.concatenate([abs(width) * widths for _, width, _ in own])
    parts = np.concatenate([share * weights for _, _, share in own])
    return made(parts / np.add.reduce(parts), places[:, None], (deviations**2)[:, None, None])


@lru_cache(maxsize=1)
def _exponential() -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return weights, means and deviations of the mixture fitted to exp(-x)."""
    edges = np.linspace(0.0, 4.0 * LINE.tail, 100 * round(LINE.tail) + 1)
    found = fit_bins(edges, -np.diff(np.exp(-edges)), LINE.most_in_layers)
    return found.weights, found.means[:, 0], np.sqrt(found.covariances[:, 0, 0])


def _separated(problem: LineProblem) -> bool:
    """Tell whether there is one condition at each end."""
    ends = [{t.x if isinstance(t, Term) else None for t in c.terms} for c in problem.conditions]
    low, high = problem.interval
    return ends in ([{low}, {high}], [{high}, {low}])


def _smooth(seen: Survey) -> bool:
    """Tell whether data are polynomials of a low degree, up to what no cells would notice."""
    if any(row is not None for row in seen.narrow):
        return False
    q, step = _polynomials(len(seen.even))
    rows = [row[seen.even[::step]] for row in seen.rows if row is not None]
    return all(largest(y - q @ (y @ q)) <= LINE.faint * np.ptp(y) for y in rows)


@lru_cache(maxsize=1)
def _polynomials(places: int) -> tuple[FloatArray, int]:
    """Return polynomials, orthonormal on some of the even places, and which those are."""
    step = max(places // 1000, 1)
    x = np.linspace(-1.0, 1.0, len(range(0, places, step)))
    return np.linalg.qr(np.polynomial.chebyshev.chebvander(x, LINE.degree))[0], step


def _end_rates(coefficients: list[list[float]], length: float) -> Rates | None:
    """Return the rates of layers at the left and right end; None if there may be others."""
    every = []
    for c, b, a in coefficients:
        if a * coefficients[0][2] <= 0.0 or b * coefficients[0][1] < 0.0:
            return None
        square = (0.5 * b / a) ** 2 - c / a
        if math.sqrt(max(-square, 0.0)) * length > LINE.phase:
            return None
        root = math.sqrt(max(square, 0.0))
        every.append((max(root + 0.5 * b / a, 0.0), max(root - 0.5 * b / a, 0.0)))
    for rates in zip(*every, strict=True):
        if max(rates) * length > LINE.thin_layer and LINE.even_rates * min(rates) < max(rates):
            return None
    left, right = every[0][0], every[-1][1]
    return (
        left if left * length > LINE.thin_layer else 0.0,
        right if right * length > LINE.thin_layer else 0.0,
    )
