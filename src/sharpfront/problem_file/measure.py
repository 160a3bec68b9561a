"""The true error of a solution whose exact one is known, sought where it is largest."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sharpfront.arrays import Flags, FloatArray
from sharpfront.geometry import Domain
from sharpfront.show.data.kernels import dense_places, kernels_of
from sharpfront.solution import Solution

Exact = Mapping[str, Callable[..., Any]]

_EVEN = 1001
_CLOUD = 20_000
_MOST_KERNELS = 2000
# Places beside a kernel, in standard deviations along each axis of it.
_BESIDE = np.array([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0])
_MOMENTS = 40
# The worst points are looked at more closely, each time within a fifth of the distance.
_WORST, _NEAR, _ROUNDS, _CLOSER = 8, 60, 8, 0.2
_CHUNK = 20_000
# Boundary points are drawn in by this part of the domain's size: rounding must not put them out.
_INSET = 1e-12


def true_errors(
    solution: Solution, exact: Exact, points: FloatArray | None = None
) -> dict[str, float]:
    """Return the largest error of each unknown whose exact solution is known.

    Like the estimate it is relative to max(1, max|u|), so that the two can be compared. Points
    (m, d) or (m,) come from someone who knows the features; by default they follow the kernels, and
    go from the worst of them ever closer by.
    """
    found = {}
    for unknown, function in exact.items():
        start = following_points(solution, unknown) if points is None else points
        columns = start[:, None] if start.ndim == 1 else start
        # A problem in time may have been left before its end.
        columns = columns[_held(solution, columns)]
        rounds = _ROUNDS if points is None else 0
        size = size_of(function(*columns.T))
        found[unknown] = _largest(solution, unknown, function, columns, rounds) / size
    return found


def _held(solution: Solution, points: FloatArray) -> Flags:
    """Tell where the solution has a meaning and its estimate holds."""
    inside = np.asarray(solution.domain.contains(points))
    since = solution.error_estimate_since
    return inside if since is None else inside & (points[:, -1] >= since)


def size_of(values: Any) -> float:
    """Return max(1, max|u|), the scale of errors and estimates."""
    sizes = np.abs(np.asarray(values, dtype=float))
    return max(1.0, float(np.max(sizes, initial=0.0, where=np.isfinite(sizes))))


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


def cloud(domain: Domain, count: int = 20_000) -> FloatArray:
    """Return quasi-random points of the domain and of each part of its boundary, (m, d).

    A box also gives its corners, which no draw hits.
    """
    each = max(10, int(np.sqrt(count)) * domain.dimension)
    inset = _INSET * float(np.max(np.ptp(domain.bounds, axis=0)))
    parts = [domain.sample(count)]
    for part in domain.parts:
        on = domain.boundary(part, each)
        parts.append(on.points - inset * on.normals)
    if domain.is_box:
        parts.append(np.array(list(itertools.product(*domain.bounds.T))))
    points = np.concatenate(parts)
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


def _largest(
    solution: Solution, unknown: str, exact: Callable[..., Any], points: FloatArray, rounds: int
) -> float:
    """Return the largest error at the points, and ever closer to the worst of them."""
    draw = np.random.default_rng(0)
    reach = np.ptp(solution.domain.bounds, axis=0)
    field = getattr(solution, unknown)
    errors = errors_at(field, exact, points)
    for _ in range(rounds):
        worst = points[np.argsort(errors)[-_WORST:]]
        reach = reach * _CLOSER
        offsets = draw.normal(size=(_NEAR, 1, points.shape[1])) * reach
        near = (worst + offsets).reshape(-1, points.shape[1])
        near = np.clip(near, *solution.domain.bounds)
        near = near[_held(solution, near)]
        points = np.concatenate([worst, near])
        errors = errors_at(field, exact, points)
    return float(np.max(errors))


def errors_at(
    found: Callable[..., Any],
    exact: Callable[..., Any] | FloatArray,
    points: FloatArray,
    chunk: int = _CHUNK,
) -> FloatArray:
    """Return the errors at points (m,) of an interval, or (m, d) of a region.

    Both functions are called with one array per coordinate, of at most `chunk` points at a time,
    so that memory does not grow with the number of points; the exact solution may be given by its
    values (m,) too. A value that is not a number counts as an infinite error.
    """
    columns, errors = (points[:, None] if points.ndim == 1 else points), [np.zeros(0)]
    for start in range(0, len(columns), chunk):
        own = columns[start : start + chunk].T
        true = exact(*own) if callable(exact) else exact[start : start + chunk]
        errors.append(np.abs(found(*own) - true))
    return np.asarray(np.nan_to_num(np.concatenate(errors), nan=np.inf, posinf=np.inf))
