"""In what units errors count, where they grow until the end of time.

For u_t = D u_xx + f(u) an error grows like exp(R), R = f' (T - t), where f' > 0. Ahead of what is
larger it goes on to grow when that has come, for a front carries its tail along: what is left of
an error s sqrt(D / f') ahead, spread by diffusion until the end, is exp(s - s^2 / 4R) of the front,
and exp(R) if the front does not come so far.
"""

from __future__ import annotations

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.evolve.discretisation import Discrete
from sharpfront.evolve.settings import LINE_MARCH
from sharpfront.pieces.frame import Frame

# Exponents beyond these under- and overflow.
LARGE = 650.0
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
    # In the middle and at the Gauss points, (1 + q, K, N).
    own = frame.local(values)
    found = frame.tables.seen @ own.reshape(len(own), -1)
    found = found.reshape(-1, *own.shape[1:])
    x = 0.5 * (frame.nodes[1:] + frame.nodes[:-1])
    each, diffusion = _growth_and_diffusion(discrete, x, found[0], moments)
    rate = each.max(axis=0)
    # As long as each moment stands for.
    ends = np.concatenate([times[:1], 0.5 * (moments[1:] + moments[:-1]), times[1:]])
    exponent = np.diff(ends) @ each
    if not np.any(exponent > 0.1):
        return plain, None
    size = np.abs(found[1:]).max(axis=0) / scale[:, None]
    grown = np.exp(-np.minimum(exponent, LARGE))
    with np.errstate(divide="ignore"):
        size = _largest_on_the_way(np.log(size), np.sqrt(rate / diffusion), exponent, frame)
    np.multiply(scale, np.minimum(1.0, size + grown).T, out=plain)
    if not np.any(exponent > LINE_MARCH.much_growth):
        return plain, None
    longest = np.full(len(x), np.inf)
    # Where the solution is about as large all over no neighbour lets in anything larger.
    ahead = size < LINE_MARCH.ahead_of_front * size.max(axis=1, keepdims=True)
    grows = (exponent > LINE_MARCH.much_growth) & ahead.any(axis=0)
    longest[grows] = LINE_MARCH.longest_ahead * np.sqrt(diffusion[grows] / rate[grows])
    return plain, np.maximum(
        longest, LINE_MARCH.shortest_ahead * (frame.nodes[-1] - frame.nodes[0])
    )


def _largest_on_the_way(
    logs: FloatArray, slope: FloatArray, exponent: FloatArray, frame: Frame
) -> FloatArray:
    """Return the largest of exp(logs) anywhere, less by what errors grow on the way, (K, N).

    For every m the line m s + R (1 - m)^2 touches s - s^2 / 4R from above.
    """
    way = np.minimum(slope * frame.lengths[0], 2.0 * LARGE)
    m = np.array(TANGENTS)[:, None, None]
    at = m * (np.cumsum(way) - 0.5 * way)
    ahead = np.maximum.accumulate(logs + at, axis=2) - at
    back = np.maximum.accumulate((logs - at)[..., ::-1], axis=2)[..., ::-1] + at
    found = np.maximum(ahead, back) - exponent * (1.0 - m) ** 2
    return np.asarray(np.exp(np.clip(found.max(axis=0), -LARGE, LARGE)))


def _growth_and_diffusion(
    discrete: Discrete, x: FloatArray, values: FloatArray, t: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return f' at moments and positions, (M, N), and D, (N,): the largest and the smallest.

    Unknowns there are (K, N).

    The smaller f' of those about the state and about zero counts, so that only an unstable state of
    rest is told.
    """
    k, shape = discrete.unknowns, (len(t), 2, len(x))
    levels = np.zeros((k, *shape))
    levels[:, :, 0] = values[:, None]
    count = levels[0].size
    leaves = discrete.coordinates(np.tile(x, count // len(x)), np.repeat(t, 2 * len(x)))
    # Derivatives are zero, all of them one array.
    leaves |= dict.fromkeys(discrete.own_tangents.leaves - leaves.keys(), np.zeros(count))
    for name, own in zip(discrete.names, levels, strict=True):
        leaves["derivative", name, (0, 0)] = own.ravel()
    # Factors of the unknown itself, of its second derivative and of its rate.
    factors = np.zeros((3, k, count))
    found = discrete.own_tangents.run(leaves, count)
    for value, (i, _, space, time) in zip(found, discrete.own_terms, strict=True):
        factors[2 if time else space // 2, i] += value
    held = factors[2] == 0.0
    factors[2, held] = 1.0
    over = -factors[:2] / factors[2]
    over[~np.isfinite(over) | held] = 0.0
    reaction, diffusion = over[0].max(axis=0).reshape(shape), over[1].min(axis=0).reshape(shape)
    grows = np.maximum(reaction.min(axis=1), 0.0)
    return grows, np.maximum(diffusion.min(axis=(0, 1)), 1e-300)
