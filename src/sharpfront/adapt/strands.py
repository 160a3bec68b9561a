"""Components of a mixture as strands: short pieces of a curved front.

Samples x_i with weights w_i and unit gradients n_i are shared out by the mixture's responsibilities
q_ik. Strand k is the quadric psi_k(x) = n . d + d . Q d / 2, d = x - mu, about which its samples
scatter least across the front. Shapes: m samples in d dimensions, K strands.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order, connected_components

from sharpfront.arrays import FloatArray

# How much a unit of slope error counts against one standard deviation of offset, squared.
SLOPE_WEIGHT = 4.0
# Steps from a component's mean, a fraction of its bend off the front, onto the front.
_NEWTON = 4
# Samples for each coefficient of a quadric, below which a component is no strand.
_SAMPLES = 4
# Strands meet where they share more than this part of the lighter one's weight.
_OVERLAP = 1e-3
# They are one front if their normals there differ by less than 25 degrees and their levels by less
# than this many standard deviations: profiles of the same direction closer than that are one
# profile, those of opposite direction are the two flanks of a ridge unless they lie in one line.
_COSINE, _GAP_ALIKE, _GAP_OPPOSITE = 0.9, 2.0, 0.5
# Strands that share more than this and have not become one front, though their normals are less
# than 45 degrees apart, are too coarse for its bends.
_BREACH, _BREACH_COSINE = 0.005, 0.7


class Samples(NamedTuple):
    """Positions (m, d), unit gradients (m, d), weights (m,) and spacings (m,) of a field."""

    points: FloatArray
    normals: FloatArray
    weights: FloatArray
    spacings: FloatArray


@dataclass(frozen=True, eq=False)
class Strands:
    """K strands.

    Parameters
    ----------
    weights
        (K,), the sums of the samples' weights.
    means, normals
        (K, d), a point on each strand and the unit normal there, along the gradient.
    curvatures
        (K, d, d), the symmetric Q.
    thin, long
        (K,), the standard deviations across the strand and along it.
    """

    weights: FloatArray
    means: FloatArray
    normals: FloatArray
    curvatures: FloatArray
    thin: FloatArray
    long: FloatArray

    def chosen(self, which: NDArray[np.bool_]) -> Strands:
        """Return some of the strands, by a mask (K,)."""
        return Strands(*(getattr(self, field.name)[which] for field in fields(self)))

    def levels(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return psi (m, K) and its unit gradients (m, K, d)."""
        offset = points[:, None, :] - self.means
        bend = np.einsum("kij,mkj->mki", self.curvatures, offset)
        slope = self.normals + bend
        psi = (offset * (self.normals + bend / 2)).sum(axis=2)
        length = np.linalg.norm(slope, axis=2, keepdims=True)
        return psi, slope / np.maximum(length, np.finfo(float).tiny)


class Joint(NamedTuple):
    """For each strand the number of its front (K,) and its direction there, 1 or -1 (K,).

    `broken` is the share of all weight in strands that should continue each other and do not.
    """

    labels: NDArray[np.int64]
    signs: FloatArray
    broken: float


class _Strand(NamedTuple):
    weight: float
    mean: FloatArray
    normal: FloatArray
    curvature: FloatArray
    thin: float
    long: float


def strands(samples: Samples, shares: FloatArray) -> tuple[Strands | None, FloatArray]:
    """Return the strands of components with responsibilities (m, K), and those of the strands.

    Components with too few samples to tell a quadric are left out; None if all are.
    """
    d = samples.points.shape[1]
    least = _SAMPLES * (1 + d + d * (d + 1) // 2)
    found, kept = [], []
    for k in range(shares.shape[1]):
        weight = shares[:, k] * samples.weights
        held = weight > 1e-6 * weight.max()
        if np.count_nonzero(held) >= least:
            found.append(_strand(samples.points[held], samples.normals[held], weight[held]))
            kept.append(k)
    if not found:
        return None, shares[:, :0]
    return Strands(*(np.array(values) for values in zip(*found, strict=True))), shares[:, kept]


def _strand(points: FloatArray, normals: FloatArray, weights: FloatArray) -> _Strand:
    """Fit a quadric that vanishes at the samples and climbs along their normals.

    Minimises sum_i w_i (psi(x_i)^2 + c v |grad psi(x_i) - n_i|^2) with the samples' variance v
    along the mean normal. Normals tell the bend of strands that are hardly longer than thick.
    """
    total = float(weights.sum())
    w = weights / total
    mean = w @ points
    # The main axis of the normals, as they may point both ways where a jump changes sign.
    normal = np.linalg.eigh((normals.T * w) @ normals)[1][:, -1]
    normal = normal if w @ normals @ normal >= 0 else -normal
    turned = np.where(normals @ normal < 0, -1.0, 1.0)[:, None] * normals
    offset = points - mean
    values, slopes = quadratics(offset)
    root = np.sqrt(w)
    steep = root * np.sqrt(SLOPE_WEIGHT * (w @ (offset @ normal) ** 2))
    axes = range(points.shape[1])
    matrix = np.vstack([values * root[:, None], *(slopes[:, :, i] * steep[:, None] for i in axes)])
    rhs = np.concatenate([0 * root, *(turned[:, i] * steep for i in axes)])
    found = np.linalg.lstsq(matrix, rhs, rcond=1e-10)[0]
    level, slope, tensor = quadric(found, points.shape[1])
    # To the front along the gradient by Newton's method, where the quadric is written anew.
    move = np.zeros_like(mean)
    for _ in range(_NEWTON):
        steps = slope + tensor @ move
        move = move - (level + (slope + steps) @ move / 2) * steps / (steps @ steps)
    slope = slope + tensor @ move
    size = float(np.linalg.norm(slope))
    normal = slope / size
    along = offset - np.outer(offset @ normal, normal)
    thin = np.sqrt(w @ (values @ found) ** 2) / size
    long = np.sqrt(np.linalg.eigvalsh((along.T * w) @ along)[-1])
    return _Strand(total, mean + move, normal, tensor / size, float(thin), float(long))


def pairs(dimension: int) -> list[tuple[int, int]]:
    """Return the places of a symmetric matrix on and above its diagonal."""
    return [(i, j) for i in range(dimension) for j in range(i, dimension)]


def quadratics(offset: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return 1, d_i and d_i d_j at offsets d (..., d), (..., n), and gradients, (..., n, d)."""
    d = offset.shape[-1]
    products = [offset[..., i] * offset[..., j] for i, j in pairs(d)]
    values = np.stack([np.ones(offset.shape[:-1]), *np.moveaxis(offset, -1, 0), *products], axis=-1)
    slopes = np.zeros((*values.shape, d))
    for i in range(d):
        slopes[..., 1 + i, i] = 1
    for place, (i, j) in enumerate(pairs(d), start=1 + d):
        slopes[..., place, i] += offset[..., j]
        slopes[..., place, j] += offset[..., i]
    return values, slopes


def quadric(coefficients: FloatArray, dimension: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a (...), b (..., d) and Q (..., d, d) from coefficients of `quadratics` (..., n)."""
    tensor = np.zeros((*coefficients.shape[:-1], dimension, dimension))
    for place, (i, j) in enumerate(pairs(dimension), start=1 + dimension):
        tensor[..., i, j] += coefficients[..., place]
        tensor[..., j, i] += coefficients[..., place]
    return coefficients[..., 0], coefficients[..., 1 : 1 + dimension], tensor


def joined(group: Strands, samples: Samples, shares: FloatArray) -> Joint:
    """Join strands into fronts.

    Strands continue each other where they overlap and agree: with weights w_i q_ik q_ij, the mean
    square of psi_k - psi_j is small and the mean cosine of their normals near one. A front
    whose jump changes sign on the way, as where two fronts cross, turns strands around.
    """
    psi, normals = group.levels(samples.points)
    mass = samples.weights[:, None] * shares
    overlap = mass.T @ shares
    safe = np.maximum(overlap, np.finfo(float).tiny)
    cosine = sum(
        (mass * normals[:, :, i]).T @ (shares * normals[:, :, i]) for i in range(normals.shape[2])
    )
    cosine = cosine / safe
    square = (mass * psi**2).T @ shares
    product = (mass * psi).T @ (shares * psi)
    gap = (square + square.T - 2 * np.sign(cosine) * product) / safe
    thin = (group.thin[:, None] + group.thin) / 2
    limit = np.where(cosine > 0, _GAP_ALIKE, _GAP_OPPOSITE) * thin
    shared = overlap / np.minimum(group.weights[:, None], group.weights)
    linked = (shared > _OVERLAP) & (gap < limit**2) & (np.abs(cosine) > _COSINE)
    labels, signs = _labelled(linked, np.sign(cosine))
    apart = labels[:, None] != labels
    breach = (apart & (shared > _BREACH) & (np.abs(cosine) > _BREACH_COSINE)).any(axis=1)
    return Joint(labels, signs, float(group.weights[breach].sum() / group.weights.sum()))


def _labelled(linked: NDArray[np.bool_], turns: FloatArray) -> tuple[NDArray[np.int64], FloatArray]:
    """Give connected strands one number, and all of them the direction of the first."""
    count, labels = connected_components(linked, directed=False)
    signs = np.ones(len(labels))
    for number in range(count):
        first = int(np.argmax(labels == number))
        order, before = breadth_first_order(linked, first, directed=False)
        for k in order[1:]:
            signs[k] = signs[before[k]] * turns[before[k], k]
    return np.asarray(labels, dtype=np.int64), signs
