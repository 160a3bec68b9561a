"""What a run is scored by beside its largest error: the paper's measure, what lies near layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.geometry import Domain
from sharpfront.measure import Feature
from sharpfront.mixture import Mixture
from sharpfront.paper.cases import NEAR


def uniform_rmse(solution: Callable[..., Any], exact: Callable[..., Any], domain: Domain) -> float:
    """Return the root mean square error on 1500 uniform interior points: the paper's measure.

    It does not see a layer thinner than the spacing of its points.
    """
    low, high = (float(end) for end in domain.bounds[:, 0])
    points = np.linspace(low, high, 1502)[1:-1]
    return float(np.sqrt(np.mean((solution(points) - exact(points)) ** 2)))


def mixture_share(
    mixture: Mixture, domain: Domain, features: Sequence[Feature], widths: float = NEAR
) -> float:
    """Return the part of a mixture's mass in the domain that lies near the features.

    Near means within `widths` feature widths; features that overlap are counted once.
    """
    low, high = (float(end) for end in domain.bounds[:, 0])
    spans = sorted((f.position - widths * f.width, f.position + widths * f.width) for f in features)
    near, reached = 0.0, low
    for first, last in spans:
        start, end = max(first, reached), min(last, high)
        if end > start:
            near += mixture.mass(start, end)
            reached = end
    return near / mixture.mass(low, high)


def count_near(points: FloatArray, features: Sequence[Feature], widths: float = NEAR) -> int:
    """Return how many points lie within that many widths of a feature."""
    near = [np.abs(points - f.position) <= widths * f.width for f in features]
    return int(np.sum(np.any(near, axis=0)))


def effective_length(density: FloatArray) -> float:
    """Return 1 / integral p^2 for p at random uniform points of a unit interval.

    It is the length of the interval on which an even density has the same integral of p^2: one for
    a flat p, and as small as the part of the domain into which p has collapsed.
    """
    return 1 / float(np.mean(density**2))


def mixture_length(mixture: Mixture) -> float:
    """Return 1 / integral p^2 of a mixture in one dimension, in closed form.

    The integral of N(x | a, s) N(x | b, t) over x is N(a | b, s + t), s and t the variances.
    """
    means, variances = mixture.means[:, 0], mixture.covariances[:, 0, 0]
    sums = variances[:, None] + variances[None, :]
    gaps = means[:, None] - means[None, :]
    products = np.exp(-(gaps**2) / (2 * sums)) / np.sqrt(2 * np.pi * sums)
    return 1 / float(mixture.weights @ products @ mixture.weights)
