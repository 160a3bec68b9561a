"""Where to look if nothing is told: points that follow kernels, and ever closer to the worst."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sharpfront.arrays import Flags, FloatArray
from sharpfront.geometry import Domain
from sharpfront.measure.errors import Field, distances, size_of, values_at
from sharpfront.measure.points import cloud
from sharpfront.show.data.kernels import dense_places, kernels_of
from sharpfront.solution import Solution

_EVEN = 1001
_CLOUD = 20_000
_MOST_KERNELS = 2000
# Places beside a kernel, in standard deviations along each axis of it.
_BESIDE = np.array([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0])
_MOMENTS = 40
# The worst points are looked at more closely, each time within a fifth of the distance.
_WORST, _NEAR, _ROUNDS, _CLOSER = 8, 60, 8, 0.2


def true_errors(
    solution: Solution, exact: Mapping[str, Field], points: FloatArray | None = None
) -> dict[str, float]:
    """Return the largest error of each unknown whose exact solution is known.

    Like the estimate it is relative to max(1, max|u|), so that the two can be compared. Points
    (m, d) or (m,) come from someone who knows the features; by default they follow the kernels, and
    go from the worst of them ever closer by.
    """
    return {name: _largest(solution, name, field, points) for name, field in exact.items()}


def _held(solution: Solution, points: FloatArray) -> Flags:
    """Tell where the solution has a meaning and its estimate holds."""
    inside = np.asarray(solution.domain.contains(points))
    since = solution.error_estimate_since
    return inside if since is None else inside & (points[:, -1] >= since)


def following_points(solution: Solution, unknown: str) -> FloatArray:
    """Return points of the domain, spread over it and dense where the kernels are, (m, d)."""
    domain = solution.domain
    if domain.time is not None:
        return _moments(solution, domain.time)
    kernels = kernels_of(solution.approximation.bases[unknown])
    if domain.dimension == 1:
        low, high = domain.bounds[:, 0]
        return dense_places(kernels, (low, high))[:, None]
    order = np.argsort(np.linalg.eigvalsh(kernels.covariances)[:, 0], kind="stable")
    narrow = order[:_MOST_KERNELS]
    variances, directions = np.linalg.eigh(kernels.covariances[narrow])
    axes = np.sqrt(np.maximum(variances, 0.0))[:, None, :] * directions
    steps = _BESIDE[:, None, None, None] * np.moveaxis(axes, 2, 0)
    beside = (kernels.centres[narrow] + steps).reshape(-1, domain.dimension)
    points = np.concatenate([cloud(domain, _CLOUD), kernels.centres, beside])
    return points[domain.contains(points)]


def _moments(solution: Solution, span: tuple[float, float]) -> FloatArray:
    """Return points of space at some moments, denser at the mixture of each."""
    domain, steps = solution.domain, solution.history
    found = [_at_moment(domain.space, t, None) for t in np.linspace(*span, _MOMENTS)]
    for i in np.unique(np.linspace(0, len(steps) - 1, _MOMENTS).astype(int)) if steps else ():
        moment = min(steps[i].time, span[1])
        found.append(_at_moment(domain.space, moment, steps[i].mixture))
    points = np.concatenate(found)
    return points[domain.contains(points)]


def _at_moment(space: Domain, moment: float, mixture: Any) -> FloatArray:
    if space.dimension > 1:
        places = cloud(space, _CLOUD // _MOMENTS)
    else:
        low, high = space.bounds[:, 0]
        places = np.linspace(low, high, _EVEN)[:, None]
        if mixture is not None:
            widths = np.sqrt(np.asarray(mixture.covariances).reshape(len(mixture.means), -1)[:, 0])
            steps = np.concatenate([[0.0], np.geomspace(0.01, 100.0, 25)])
            steps = np.concatenate([-steps, steps])
            near = np.asarray(mixture.means)[:, 0, None] + widths[:, None] * steps
            places = np.concatenate([places, near.reshape(-1, 1)])
    return np.hstack([places, np.full((len(places), 1), moment)])


def _largest(solution: Solution, unknown: str, exact: Field, points: FloatArray | None) -> float:
    """Return the largest error at the points, or ever closer to the worst that follow kernels."""
    rounds = _ROUNDS if points is None else 0
    start = following_points(solution, unknown) if points is None else points
    points = start[:, None] if start.ndim == 1 else start
    # A problem in time may have been left before its end.
    points = points[_held(solution, points)]
    field, truth = getattr(solution, unknown), values_at(exact, points)
    size, errors = size_of(truth), distances(values_at(field, points), truth)
    draw, reach = np.random.default_rng(0), np.ptp(solution.domain.bounds, axis=0)
    for _ in range(rounds):
        worst = points[np.argsort(errors)[-_WORST:]]
        reach = reach * _CLOSER
        offsets = draw.normal(size=(_NEAR, 1, points.shape[1])) * reach
        near = (worst + offsets).reshape(-1, points.shape[1])
        near = np.clip(near, *solution.domain.bounds)
        points = np.concatenate([worst, near[_held(solution, near)]])
        errors = distances(values_at(field, points), values_at(exact, points))
    return float(np.max(errors)) / size
