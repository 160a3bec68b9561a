"""One smooth level function through all strands of a front."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from sharpfront.adapt.strands import (
    SLOPE_WEIGHT,
    Samples,
    Strands,
    pairs,
    quadratics,
    quadric,
)
from sharpfront.arrays import FloatArray
from sharpfront.pieces.embedding import Front

# Strands are believed over this many of their standard deviations. It matters more that the level
# function varies slowly along the front than that it lies in its very middle: on a wavy front of
# width 5e-3, 2, 4 and 6 left errors of 9e-5, 1.4e-5 and 4e-6.
_REACH = 6.0
# How much quadrics count that differ where they overlap, against levels that are not zero there.
_AGREEMENT = 0.01
# Pull of the quadrics towards those of the strands, relative to the largest column.
_RIDGE = 1e-3
# The width to resolve in standard deviations across the front: 4 w for tanh(x / 2 w), whose
# derivative has the standard deviation pi w / sqrt 3.
_WIDTH = 2.2
# Differences over a cell of side h spread a front by a variance of about h^2 / 4.
_BLUR = 0.25


def level_front(
    group: Strands, signs: FloatArray, samples: Samples, shares: FloatArray, amplitude: float
) -> Front:
    """Return a front from its strands, their directions (K,) and responsibilities (m, K)."""
    count = len(signs)
    length = _REACH * np.average(group.long, weights=group.weights)
    rough = Front(
        group.means,
        np.zeros(count),
        signs[:, None] * group.normals,
        signs[:, None, None] * group.curvatures,
        np.full(count, length),
        group.weights / group.weights.sum(),
        amplitude,
    )
    own = _own(samples, shares)
    along = (own.normals * rough.slope(own.points)).sum(axis=1)
    turned = own._replace(normals=np.where(along < 0, -1.0, 1.0)[:, None] * own.normals)
    thin = float(np.average(group.thin, weights=group.weights))
    return _in_widths(_refitted(rough, turned, thin), own)


def unevenness(front: Front, group: Strands, samples: Samples, shares: FloatArray) -> float:
    """Return how much of the scatter of z about zero a curve could explain, from 0 to 1.

    About every strand, z is regressed on polynomials of degree 4 along the front: a level function
    that runs through the middle of its samples leaves nothing to explain.
    """
    own = _own(samples, shares)
    z = front.level(own.points)
    explained = 0.0
    for mean, normal, long in zip(group.means, group.normals, group.long, strict=True):
        axes = np.linalg.svd(normal[None, :])[2][1:]
        along = (own.points - mean) @ axes.T / long
        square = ((own.points - mean) ** 2).sum(axis=1) / long**2
        weights = own.weights * np.exp(-square / 2)
        weights = weights / weights.sum()
        powers = itertools.product(range(5), repeat=along.shape[1])
        terms = [np.prod(along**p, axis=1) for p in powers if sum(p) <= 4]
        root = np.sqrt(weights)
        matrix = np.stack(terms, axis=1) * root[:, None]
        fitted = matrix @ np.linalg.lstsq(matrix, z * root, rcond=1e-8)[0]
        share = float(fitted @ fitted / max(weights @ z**2, np.finfo(float).tiny))
        explained = max(explained, share)
    return explained


def _own(samples: Samples, shares: FloatArray) -> Samples:
    """Return the samples of a front's strands, weighted by their part in it."""
    weights = samples.weights * shares.sum(axis=1)
    held = weights > 1e-4 * weights.max()
    points, normals, _, spacings = (array[held] for array in samples)
    return Samples(points, normals, weights[held] / weights[held].sum(), spacings)


def _refitted(front: Front, samples: Samples, thin: float) -> Front:
    """Fit all quadrics together: the level vanishes at the samples and climbs along normals.

    Minimises sum_i w_i (psi^2 + c thin^2 |grad psi - n_i|^2 + a sum_k r_k (psi_k - psi)^2) at the
    samples, linear least squares in the coefficients, which are pulled gently towards the strands'.
    """
    values, slopes = _columns(front, samples.points)
    root = np.sqrt(samples.weights)[:, None]
    steep = thin * np.sqrt(SLOPE_WEIGHT) * root
    d = samples.points.shape[1]
    matrix = np.vstack([values * root, *(slopes[:, :, i] * steep for i in range(d))])
    zero = np.zeros(len(root))
    rhs = np.concatenate([zero, *(samples.normals[:, i] * steep[:, 0] for i in range(d))])
    start = _coefficients(front)
    agreement = _AGREEMENT * _disagreement(front, samples, values)
    pull = (_RIDGE * np.linalg.norm(matrix, axis=0).max()) ** 2 * np.eye(len(start))
    # The pull keeps the condition number of these normal equations below 1e7.
    change = np.linalg.solve(
        matrix.T @ matrix + agreement + pull,
        matrix.T @ (rhs - matrix @ start) - agreement @ start,
    )
    return _with_coefficients(front, start + change)


def _disagreement(front: Front, samples: Samples, values: FloatArray) -> FloatArray:
    """Return the matrix of the form sum_i w_i sum_k r_k (psi_k - psi)^2, (n, n)."""
    share = front.believed(samples.points[:, None, :] - front.means)[0]
    count, size = share.shape[1], values.shape[1]
    parts = values.reshape(len(share), count, -1)
    own = np.zeros((count, size // count, count, size // count))
    for k in range(count):
        plain = parts[:, k] / np.maximum(share[:, k, None], np.finfo(float).tiny)
        own[k, :, k, :] = (parts[:, k] * samples.weights[:, None]).T @ plain
    mixed = (values * samples.weights[:, None]).T @ values
    return np.asarray(own.reshape(size, size) - mixed)


def _columns(front: Front, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return r_k times 1, d_i / l and d_i d_j / l^2, (m, n), and their gradients, (m, n, d)."""
    offset = points[:, None, :] - front.means
    share, pull, _ = front.believed(offset)
    drift = pull - (share[:, :, None] * pull).sum(axis=1)[:, None, :]
    value, slope = quadratics(offset / front.lengths[:, None])
    slope = slope / front.lengths[:, None, None]
    slope += value[:, :, :, None] * drift[:, :, None, :]
    m, d = points.shape
    weighted = share[:, :, None] * value, share[:, :, None, None] * slope
    return weighted[0].reshape(m, -1), weighted[1].reshape(m, -1, d)


def _coefficients(front: Front) -> FloatArray:
    """Return the quadrics as coefficients of `_columns`."""
    length = front.lengths
    quadratic = [
        front.curvatures[:, i, j] * length**2 * (0.5 if i == j else 1.0)
        for i, j in pairs(front.means.shape[1])
    ]
    linear = front.slopes * length[:, None]
    return np.column_stack([front.offsets, linear, *quadratic]).ravel()


def _with_coefficients(front: Front, coefficients: FloatArray) -> Front:
    count, d = front.means.shape
    length = front.lengths
    offsets, slopes, curvatures = quadric(coefficients.reshape(count, -1), d)
    return _with_quadrics(
        front, offsets, slopes / length[:, None], curvatures / length[:, None, None] ** 2
    )


def _with_quadrics(
    front: Front, offsets: FloatArray, slopes: FloatArray, curvatures: FloatArray
) -> Front:
    return Front(
        front.means, offsets, slopes, curvatures, front.lengths, front.shares, front.amplitude
    )


def _in_widths(front: Front, samples: Samples) -> Front:
    """Divide the quadrics by the width to resolve, from the scatter of levels near each."""
    share = front.believed(samples.points[:, None, :] - front.means)[0]
    share = share * samples.weights[:, None]
    share = share / share.sum(axis=0)
    square = front.level(samples.points) ** 2
    sharp = (square - _BLUR * samples.spacings**2) @ share
    width: NDArray[np.float64] = _WIDTH * np.sqrt(np.maximum(sharp, square @ share / 4))
    return _with_quadrics(
        front,
        front.offsets / width,
        front.slopes / width[:, None],
        front.curvatures / width[:, None, None],
    )
