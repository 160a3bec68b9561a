"""Weighted EM for a mixture on bins of the line, started where the density stands out.

The sample is a histogram: masses on cells of known width. A component's variance includes that of
the cells it sits on, which is its floor, and an even background takes what belongs to no component,
so that one stray cell does not widen a layer.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sharpfront.errors import MixtureError
from sharpfront.mixture.model import FloatArray as FloatArray
from sharpfront.mixture.model import Mixture

# The start is close already; more iterations change no digit of the solution.
ITERATIONS = 5
# A start component covers the bins where the density is above this share of its peak.
PEAK = 0.2
# Mass that no start component needs to cover.
REMAINDER = 0.03
# Least deviation beside the span: rounding.
_LEAST = 1e-15
_SQRT_2PI = math.sqrt(2 * math.pi)


def fit_bins(edges: FloatArray, masses: FloatArray, components: int) -> Mixture:
    """Return a mixture of at most `components` Gaussians fitted to masses (n,) on bins.

    Fewer if fewer peaks cover the mass. Edges (n + 1,) increase; masses are not negative and not
    all zero.
    """
    widths = np.diff(edges)
    _check(widths, masses, components)
    x = 0.5 * (edges[1:] + edges[:-1])
    weights, means, deviations = _peaks(x, masses, widths, components)
    some = masses > 1e-7 * masses.sum()
    weights, means, deviations = _maximised(
        weights, means, deviations, x[some], masses[some], widths[some], float(widths.sum())
    )
    return Mixture(weights, means[:, None], (deviations**2)[:, None, None])


def _check(widths: FloatArray, masses: FloatArray, components: int) -> None:
    if widths.shape != masses.shape or components < 1:
        raise MixtureError(
            f"Expected one mass for each of {len(widths)} bins and a component or more, got masses "
            f"of shape {masses.shape} and {components} component(s)."
        )
    if not (np.all(widths > 0) and np.all(masses >= 0) and 0 < np.sum(masses) < math.inf):
        raise MixtureError(
            "Bins need increasing edges, and finite masses that are not negative and not all zero."
        )


def _peaks(
    x: FloatArray, masses: FloatArray, widths: FloatArray, components: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Cover the bins by stretches around successive peaks; each gives one component's moments.

    The tail of a layer is left over by the stretch over its peak and becomes a wider component of
    its own: the grading between scales starts here.
    """
    density = masses / widths
    free = np.ones(len(x), dtype=bool)
    total, least = masses.sum(), _LEAST * float(widths.sum())
    found: list[tuple[float, float, float]] = []
    while len(found) < components and masses[free].sum() > REMAINDER * total:
        top = int(np.argmax(np.where(free, density, -1.0)))
        low, high = _stretch(density, free, top)
        free[low:high] = False
        w, h = masses[low:high], widths[low:high]
        mass = w.sum()
        mean = float(w @ x[low:high] / mass)
        spread = float(w @ ((x[low:high] - mean) ** 2 + h**2 / 12.0) / mass)
        found.append((mass, mean, math.sqrt(spread) + least))
    p, means, deviations = np.array(found).T
    return p / p.sum(), means, deviations


def _stretch(density: FloatArray, free: NDArray[np.bool_], top: int) -> tuple[int, int]:
    """Return the bins around the top that are free and above PEAK times its density."""
    stop = ~(free & (density > PEAK * density[top]))
    left, right = np.flatnonzero(stop[:top]), np.flatnonzero(stop[top:])
    low = int(left[-1]) + 1 if left.size else 0
    return low, top + int(right[0]) if right.size else len(density)


def _maximised(
    p: FloatArray,
    means: FloatArray,
    deviations: FloatArray,
    x: FloatArray,
    masses: FloatArray,
    widths: FloatArray,
    span: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return weights, means and deviations after EM; offsets are relative to each mean."""
    w = masses / masses.sum()
    floor = widths**2 / 12.0
    least, background = _LEAST * span, 0.01
    for _ in range(ITERATIONS):
        z = (x - means[:, None]) / deviations[:, None]
        share = np.exp(-0.5 * np.minimum(z * z, 1400.0)) * (p / deviations)[:, None]
        share *= w / (share.sum(axis=0) + background * _SQRT_2PI / span)
        mass = share.sum(axis=1) + 1e-300
        means = means + (share * z).sum(axis=1) * deviations / mass
        offset = x - means[:, None]
        # A wide bin in a thin tail says nothing of a component's width.
        cells = np.minimum(floor, (deviations * deviations)[:, None])
        deviations = np.sqrt((share * (offset * offset + cells)).sum(axis=1) / mass) + least
        p = mass
        background = max(1.0 - float(mass.sum()), 1e-3)
    alive = p > min(1e-6, 0.5 * float(p.max()))
    return p[alive] / p[alive].sum(), means[alive], deviations[alive]
