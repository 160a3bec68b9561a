"""Lengths and scales of the elements of a mesh that moves."""

from __future__ import annotations

from typing import Any

import numpy as np

from sharpfront.pieces.compiled.compiler import compiled


@compiled
def measures(nodes: Any, velocities: Any, gauss: Any, ring: bool) -> Any:
    """Return lengths (2, N), mean lengths beside nodes (2, 2, N), Gauss points (2, q, N).

    Each with its rate; see `sharpfront.pieces.frame.Frame`.
    """
    elements = len(nodes) - 1
    lengths, means = np.empty((2, elements)), np.empty((2, 2, elements))
    places = np.empty((2, len(gauss), elements))
    for i in range(2):
        of = nodes if i == 0 else velocities
        for e in range(elements):
            lengths[i, e] = of[e + 1] - of[e]
            for g in range(len(gauss)):
                places[i, g, e] = of[e] + gauss[g] * lengths[i, e]
        for e in range(elements):
            before = lengths[i, e - 1] if e or ring else lengths[i, e]
            after = e + 1 if e + 1 < elements else 0
            following = lengths[i, after] if after or ring else lengths[i, e]
            means[i, 0, e] = 0.5 * (before + lengths[i, e])
            means[i, 1, e] = 0.5 * (lengths[i, e] + following)
    return lengths, means, places


@compiled
def scales(lengths: Any, means: Any, beside: Any, order: int, points: int, later: Any) -> Any:
    """Return scales of functions and their rates at moments, (2, size, S, N)."""
    elements = lengths.shape[1]
    out = np.zeros((2, points + order, len(later), elements))
    out[0] = 1.0
    for s in range(len(later)):
        for side in range(2):
            for e in range(elements):
                mean, slope = means[0, side, e] + later[s] * means[1, side, e], means[1, side, e]
                ratio = (lengths[0, e] + later[s] * lengths[1, e]) / mean
                rate = (lengths[1, e] - ratio * slope) / mean * beside[side, e]
                ratio *= beside[side, e]
                for j in range(1, order):
                    at = side * points + j
                    out[0, at, s, e] = out[0, at - 1, s, e] * ratio
                    out[1, at, s, e] = j * out[0, at - 1, s, e] * rate
    return out


@compiled
def inverses(lengths: Any, later: Any, count: int) -> Any:
    """Return h^-k at moments, (count, S, N)."""
    out = np.empty((count, len(later), lengths.shape[1]))
    out[0] = 1.0
    for s in range(len(later)):
        for e in range(lengths.shape[1]):
            over = 1.0 / (lengths[0, e] + later[s] * lengths[1, e])
            for k in range(1, count):
                out[k, s, e] = out[k - 1, s, e] * over
    return out
