"""In what units errors count, where they grow until the end of time.

For u_t = D u_xx + f(u) an error grows like exp(R), R = f' (T - t), where f' > 0. Ahead of what is
larger it goes on to grow when that has come, for a front carries its tail along: what is left of
an error s sqrt(D / f') ahead, spread by diffusion until the end, is exp(s - s^2 / 4R) of the front,
and exp(R) if the front does not come so far.
"""

from __future__ import annotations

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.evolve.discrete import Discrete
from sharpfront.pieces.frame import Frame

# Exponents beyond these under- and overflow.
LARGE = 650.0
# Where errors grow by more than exp of this, elements are no longer than so many sqrt(D / f'), but
# for this share of the domain. What an element lets through from its neighbour is exp(-4.1) of it,
# what may be let through exp(-3): with 4.0 a start that is zero ahead is not resolved for R = 400.
MUCH, LONGEST, SHORTEST = 10.0, 3.0, 5e-4
# Ahead of a front the solution is smaller than this share of its largest value.
AHEAD_OF_FRONT = 0.01
# Slopes of tangents to the exponent by which errors grow on their way to a front.
TANGENTS = (1.0, 0.75, 0.5, 0.25)


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
        size = _spread(np.log(size), np.sqrt(rate / diffusion), exponent, frame)
    longest = np.full(len(x), np.inf)
    # Where the solution is about as large all over no neighbour lets in anything larger.
    grows = (exponent > MUCH) & np.any(size < AHEAD_OF_FRONT * size.max(axis=0), axis=1)
    longest[grows] = LONGEST * np.sqrt(diffusion[grows] / rate[grows])
    longest = np.maximum(longest, SHORTEST * (frame.nodes[-1] - frame.nodes[0]))
    return np.asarray(scale * np.minimum(1.0, size + grown)), longest


def _spread(logs: FloatArray, slope: FloatArray, exponent: FloatArray, frame: Frame) -> FloatArray:
    """Return the largest of exp(logs) anywhere, less by what errors grow on the way, (N, K).

    For every m the line m s + R (1 - m)^2 touches s - s^2 / 4R from above.
    """
    steep = np.minimum(np.nan_to_num(slope, nan=0.0, posinf=1e300), 1e290)
    way = np.minimum(steep * frame.lengths[0], 2.0 * LARGE)
    m = np.array(TANGENTS)[:, None]
    at = (m * (np.cumsum(way) - 0.5 * way))[:, :, None]
    ahead = np.maximum.accumulate(logs + at, axis=1) - at
    back = np.maximum.accumulate((logs - at)[:, ::-1], axis=1)[:, ::-1] + at
    found = np.maximum(ahead, back) - (exponent * (1.0 - m) ** 2)[:, :, None]
    return np.asarray(np.exp(np.clip(found.max(axis=0), -LARGE, LARGE)))


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
