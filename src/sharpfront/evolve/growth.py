"""In what units errors count, where they grow until the end of time.

For u_t = D u_xx + f(u) an error grows like exp(f' (T - t)) where f' > 0, but not for longer than
until what is larger nearby has come: a front goes at 2 sqrt(D f'), so that over a distance d an
error grows by no more than exp(d sqrt(f' / D) / 2).
"""

from __future__ import annotations

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.evolve.collocation import Discrete
from sharpfront.pieces.frame import Frame

# Exponents beyond these under- and overflow.
LARGE = 650.0
# Where errors grow by more than exp of this, elements are no longer than so many sqrt(D / f'), but
# for this share of the domain.
MUCH, LONGEST, SHORTEST = 10.0, 4.0, 5e-4


def units(
    discrete: Discrete,
    frame: Frame,
    values: FloatArray,
    scale: FloatArray,
    times: tuple[float, float],
    moments: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return in what unit errors on an element count, (N, K), and how long elements may be, (N,).

    Where errors grow they count by as much more, but no more than relative to the solution there:
    ahead of a front into an unstable state small stays small. What an element lets through from its
    neighbour does not fall faster than by some factor, so that it must not be long there.

    Parameters
    ----------
    values
        Coefficients, (n, K).
    scale
        Of each unknown, (K,).
    times
        The present and the end.
    moments
        From the present on, at which the equations are looked at.
    """
    x = 0.5 * (frame.nodes[1:] + frame.nodes[:-1])
    local = np.einsum("l,nlk->nk", frame.tables.table(np.array([0.5]), 0)[0], frame.local(values))
    found = [_rates(discrete, x, local, float(t)) for t in moments]
    each = np.stack([rate for rate, _ in found])
    rate, diffusion = each.max(axis=0), np.min([d for _, d in found], axis=0)
    # As long as each moment stands for.
    ends = np.concatenate([times[:1], 0.5 * (moments[1:] + moments[:-1]), times[1:]])
    exponent = np.diff(ends) @ each
    longest = np.full(len(x), np.inf)
    if not np.any(exponent > 0.1):
        return np.broadcast_to(scale, local.shape).copy(), longest
    grows = exponent > MUCH
    longest[grows] = LONGEST * np.sqrt(diffusion[grows] / rate[grows])
    longest = np.maximum(longest, SHORTEST * (frame.nodes[-1] - frame.nodes[0]))
    inside = frame.tables.inside(0)[0]
    size = np.abs(np.einsum("ql,nlk->nqk", inside, frame.local(values))).max(axis=1) / scale
    grown = np.exp(-np.minimum(exponent, LARGE))[:, None]
    with np.errstate(divide="ignore"):
        size = _spread(np.log(size), 0.5 * np.sqrt(rate / diffusion), frame)
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
    discrete: Discrete, x: FloatArray, values: FloatArray, t: float
) -> tuple[FloatArray, FloatArray]:
    """Return f' and D at positions, the largest and the smallest over the unknowns, (N,).

    The smaller f' of those about the state and about zero counts, so that only an unstable state of
    rest is told.
    """
    k, rows = discrete.unknowns, discrete.equations
    levels = np.zeros((discrete.levels + 1, k, len(x)))
    rates = np.zeros((discrete.mixed + 1, k, len(x)))
    reactions, diffusions = [], []
    for about in (values.T, 0.0):
        levels[0] = about
        leaves = discrete.leaves(x, np.full(len(x), t), levels, rates)
        own = np.zeros((4, k, len(x)))
        for value, (i, j, space, time) in zip(
            rows.tangents.run(leaves, len(x)), rows.terms, strict=True
        ):
            if i == j and (space == 0 or (space == 2 and not time)):
                own[3 if time else space, i] += value
        over = np.where(own[3] == 0, np.inf, own[3])
        reactions.append(np.nan_to_num(-own[0] / over, posinf=0.0, neginf=0.0).max(axis=0))
        diffusions.append(np.nan_to_num(-own[2] / over, posinf=0.0, neginf=0.0).min(axis=0))
    return np.maximum(np.minimum(*reactions), 0.0), np.maximum(np.minimum(*diffusions), 1e-300)
