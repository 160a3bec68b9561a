"""Fronts found in a coarse solution by a Gaussian mixture.

The mixture is fitted by weighted EM to where a coarse solution varies: samples weigh as much as the
solution changes over their cell, beyond its ordinary slope. Samples carry their direction, (x, l n)
with the unit gradient n, so that fronts that cross, or the two flanks of a ridge, are far
apart and never share a component.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpfront.adapt.levels import level_front, unevenness
from sharpfront.adapt.strands import Samples, Strands, joined, strands
from sharpfront.arrays import FloatArray
from sharpfront.errors import MixtureError
from sharpfront.mixture import Mixture, fit
from sharpfront.pieces.embedding import Embedding, Front

# A slope that is not steeper than this many times the median is background.
_BACKGROUND = 4.0
# What a turn by one radian counts as, in sizes of the domain.
_TURN = 0.2
# Numbers of components to try, and the iterations for each: the quadrics do the fine work.
_LADDER = (4, 6, 9, 13, 19, 28, 42)
_ITERATIONS = 60
# More samples than this only take time; more components that fit no better end the search.
_MOST_SAMPLES, _PATIENCE = 5000, 2
# Enough components: what they leave uneven, and the weight of those that are no strands or do not
# continue each other.
_UNEVEN, _STRAY = 0.1, 0.08
# A component is a strand if it is this much longer than thick, and not far thicker than others.
_ASPECT, _THICKEST = 1.5, 3.0
# Fronts of less weight than this are noise.
_LEAST_FRONT = 0.01
# The length that a front's climb counts for, in sizes of the domain and of the front itself: with
# these, front and smooth surroundings ran out of kernels together for widths from 2e-2 to 1e-3.
_CLIMB, _CLIMB_OF_FRONT = 0.4, 1.6


class Found(NamedTuple):
    """The fronts as an embedding, and the mixture in space that they came from."""

    embedding: Embedding
    mixture: Mixture


class _Attempt(NamedTuple):
    fronts: tuple[Front, ...]
    mixture: Mixture
    uneven: float
    stray: float

    @property
    def misfit(self) -> float:
        """Below one where there are enough components."""
        return max(self.uneven / _UNEVEN, self.stray / _STRAY)


def find_fronts(
    points: FloatArray,
    gradients: FloatArray,
    volumes: FloatArray,
    bounds: FloatArray,
    seed: int = 0,
) -> Found | None:
    """Find the fronts of a coarse solution.

    Parameters
    ----------
    points
        (m, d), in two or more dimensions.
    gradients
        (m, d), of the coarse solution there.
    volumes
        (m,), of the cells that the points stand for.
    bounds
        (2, d), the lower and upper corner of the domain's bounding box.
    seed
        For the start of EM.

    Returns
    -------
    Found or None
        None where nothing is much steeper than the rest.
    """
    _check(points, gradients, volumes)
    size = float(np.prod(bounds[1] - bounds[0]) ** (1 / points.shape[1]))
    samples = _samples(points, gradients, volumes, seed)
    best: _Attempt | None = None
    idle = 0
    for components in _LADDER:
        # A dozen samples are the least that tell a component's shape.
        if 12 * components > len(samples.weights):
            break
        attempt = _attempt(samples, components, size, seed)
        idle += 1
        if attempt is not None and (best is None or attempt.misfit < best.misfit):
            best, idle = attempt, 0
        if best is not None and (best.misfit < 1 or idle == _PATIENCE):
            break
    if best is None or not best.fronts:
        return None
    return Found(Embedding(best.fronts), best.mixture)


def _check(points: FloatArray, gradients: FloatArray, volumes: FloatArray) -> None:
    fits = (
        points.ndim == 2 and gradients.shape == points.shape and volumes.shape == points.shape[:1]
    )
    if not fits or points.shape[1] < 2:
        raise MixtureError(
            f"got points {points.shape}, gradients {gradients.shape} and volumes {volumes.shape}, "
            "expected (m, d), (m, d) and (m,) with d at least 2; in one dimension try a coordinate"
        )


def _samples(points: FloatArray, gradients: FloatArray, volumes: FloatArray, seed: int) -> Samples:
    """Keep some of the samples steeper than the background, weighted by their variation."""
    steep = np.linalg.norm(gradients, axis=1)
    order = np.argsort(steep, kind="stable")
    level = np.cumsum(volumes[order])
    median = steep[order[np.searchsorted(level, level[-1] / 2)]]
    weights = np.maximum(steep - _BACKGROUND * median, 0) * volumes
    held = np.flatnonzero(weights > 1e-3 * weights.max())
    if len(held) > _MOST_SAMPLES:
        chosen = np.random.default_rng(seed).permutation(len(held))[:_MOST_SAMPLES]
        held = held[np.sort(chosen)]
    spacings = volumes[held] ** (1 / points.shape[1])
    normals = gradients[held] / steep[held, None]
    return Samples(points[held], normals, weights[held], spacings)


def _attempt(samples: Samples, components: int, size: float, seed: int) -> _Attempt | None:
    """Fit that many components and make fronts of them; None if they are no strands."""
    d = samples.points.shape[1]
    features = np.hstack([samples.points, _TURN * size * samples.normals])
    mixture, _ = fit(
        features,
        samples.weights,
        components,
        # Thinner than a cell, components would follow its rows of samples and not the front.
        floor=float(np.median(samples.spacings)),
        max_iterations=_ITERATIONS,
        tolerance=1e-5,
        seed=seed,
    )
    group, shares = strands(samples, mixture.responsibilities(features))
    if group is None:
        return None
    good = _good(group)
    if not good.any():
        return None
    stray = 1 - float(group.weights[good].sum() / samples.weights.sum())
    fronts, uneven, broken = _fronts(group.chosen(good), samples, shares[:, good], size)
    space = Mixture(mixture.weights, mixture.means[:, :d], mixture.covariances[:, :d, :d])
    return _Attempt(fronts, space, uneven, max(stray, broken))


def _good(group: Strands) -> NDArray[np.bool_]:
    """Tell which strands are thin: blobs and those that hold two fronts at once are not, (K,)."""
    order = np.argsort(group.thin)
    level = np.cumsum(group.weights[order])
    typical = group.thin[order[np.searchsorted(level, level[-1] / 2)]]
    return np.asarray((_ASPECT * group.thin < group.long) & (group.thin < _THICKEST * typical))


def _fronts(
    group: Strands, samples: Samples, shares: FloatArray, size: float
) -> tuple[tuple[Front, ...], float, float]:
    """Return the fronts, the worst unevenness among them and the share that is broken."""
    labels, signs, broken = joined(group, samples, shares)
    fronts, uneven = [], 0.0
    for number in range(labels.max() + 1):
        mine = labels == number
        part = group.chosen(mine)
        if part.weights.sum() < _LEAST_FRONT * samples.weights.sum():
            continue
        own = shares[:, mine]
        climb = min(_CLIMB * size, _CLIMB_OF_FRONT * _extent(samples, own))
        front = level_front(part, signs[mine], samples, own, climb)
        fronts.append(front)
        uneven = max(uneven, unevenness(front, part, samples, own))
    return tuple(fronts), uneven, broken


def _extent(samples: Samples, shares: FloatArray) -> float:
    """Return the root mean square distance of a front's samples from their middle."""
    weights = samples.weights * shares.sum(axis=1)
    weights = weights / weights.sum()
    offset = samples.points - weights @ samples.points
    return float(np.sqrt(weights @ (offset**2).sum(axis=1)))
