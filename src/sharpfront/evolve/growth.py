"""In what units errors count, where they grow until the end of time.

For u_t = D u_xx + f(u) an error grows like exp(f' (T - t)) where f' > 0, but not for longer than
until what is larger nearby has come: a front goes at 2 sqrt(D f'), so that over a distance d an
error grows by no more than exp(d sqrt(f' / D) / 2).
"""

from __future__ import annotations

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.evolve.discrete import Discrete
from sharpfront.pieces.frame import Frame

# Exponents beyond these under- and overflow.
LARGE = 650.0
# Where errors grow by more than exp of this, elements are no longer than so many sqrt(D / f'), but
# for this share of the domain.
MUCH, LONGEST, SHORTEST = 10.0, 4.0, 5e-4
# Ahead of a front the solution is smaller than this share of its largest value.
AHEAD_OF_FRONT = 0.01


def units(
    discrete: Discrete,
    frame: Frame,
    values: FloatArray,
    scale: FloatArray,
    times: tuple[float, float],
    moments: FloatArray,
) -> tuple[FloatArray, FloatArray | None]:
    """Return in what unit errors on an element count, (N, K), and how long elements may be, (N,).

    Where errors grow they count by as much more, but no more than relative to the solution there:
    ahead of a front into an unstable state small stays small. What an element lets through from its
    neighbour does not fall faster than by some factor, so that it must not be long there. The
    equations are looked at at moments from the present on.
    """
    plain = np.empty((frame.elements, len(scale)))
    plain[:] = scale
    if not discrete.reacts:
        return plain, None
    own = frame.local(values)
    local = np.tensordot(frame.tables.middle, own, 1).T
    x = 0.5 * (frame.nodes[1:] + frame.nodes[:-1])
    each, diffusion = _rates(discrete, x, local, moments)
    rate = each.max(axis=0)
    # As long as each moment stands for.
    ends = np.concatenate([times[:1], 0.5 * (moments[1:] + moments[:-1]), times[1:]])
    exponent = np.diff(ends) @ each
    if not np.any(exponent > 0.1):
        return plain, None
    size = np.abs(np.tensordot(frame.tables.inside(0)[0], own, 1)).max(axis=0).T / scale
    grown = np.exp(-np.minimum(exponent, LARGE))[:, None]
    with np.errstate(divide="ignore"):
        size = _spread(np.log(size), 0.5 * np.sqrt(rate / diffusion), frame)
    longest = np.full(len(x), np.inf)
    # Where the solution is about as large all over no neighbour lets in anything larger.
    grows = (exponent > MUCH) & np.any(size < AHEAD_OF_FRONT * size.max(axis=0), axis=1)
    longest[grows] = LONGEST * np.sqrt(diffusion[grows] / rate[grows])
    longest = np.maximum(longest, SHORTEST * (frame.nodes[-1] - frame.nodes[0]))
    return np.asarray(scale * np.minimum(1.0, size + grown)), longest


def _spread(logs: FloatArray, slope: FloatArray, frame: Frame) -> FloatArray:
    """Return the largest of exp(logs) anywhere, less what falls on the way from there, (N, K)."""
    steep = np.minimum(np.nan_to_num(slope, nan=0.0, posinf=1e300), 1e290)
    way = np.minimum(steep * frame.lengths[0], 2.0 * LARGE)
    at = (np.cumsum(way) - 0.5 * way)[:, None]
    ahead = np.maximum.accumulate(logs + at, axis=0) - at
    back = np.maximum.accumulate((logs - at)[::-1], axis=0)[::-1] + at
    return np.asarray(np.exp(np.clip(np.maximum(ahead, back), -LARGE, LARGE)))


def _rates(
    discrete: Discrete, x: FloatArray, values: FloatArray, t: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return f' at moments and positions, (M, N), and D, (N,): the largest and the smallest.

    The smaller f' of those about the state and about zero counts, so that only an unstable state of
    rest is told.
    """
    k, shape = discrete.unknowns, (len(t), 2, len(x))
    levels = np.zeros((k, discrete.levels + 1, *shape))
    rates = np.zeros((k, discrete.mixed + 1, *shape))
    levels[:, 0, :, 0] = values.T[:, None]
    here = discrete.coordinates(
        np.broadcast_to(x, shape).ravel(), np.repeat(t, 2 * len(x)).astype(float)
    )
    leaves = discrete.leaves(here, levels, rates)
    # Factors of the unknown itself, of its second derivative and of its rate.
    own = np.zeros((3, k, len(t) * 2 * len(x)))
    found = discrete.own_tangents.run(leaves, own.shape[2])
    for value, (i, _, space, time) in zip(found, discrete.own_terms, strict=True):
        own[2 if time else space // 2, i] += value
    over = np.where(own[2] == 0, np.inf, own[2])
    reaction = np.nan_to_num(-own[0] / over, posinf=0.0, neginf=0.0).max(axis=0).reshape(shape)
    diffusion = np.nan_to_num(-own[1] / over, posinf=0.0, neginf=0.0).min(axis=0).reshape(shape)
    grows = np.maximum(reaction.min(axis=1), 0.0)
    return grows, np.maximum(diffusion.min(axis=(0, 1)), 1e-300)
