"""How the weights of a patch fall along each axis, and how many functions it would need."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sharpfront.approximation import Approximation
from sharpfront.arrays import Host
from sharpfront.bases.patchwork import PatchworkBasis

# Weights below this share of the largest are rounding.
ROUNDING = 3e-14
# So many last functions count as the tail: odd and even ones may differ.
LAST = 2
# Weights of a function that is analytic beyond its patch fall by e^-ANALYTIC over their second
# half; if they fall by less the patch has a singularity, and all the weights to come add up to
# count^1.5 last ones.
ANALYTIC = 3.5
SUM = 1.5


@dataclass(frozen=True, eq=False)
class Tails:
    """Of every patch along every axis.

    Parameters
    ----------
    tail
        What the weights to come add up to, in units of each unknown's scale, (patches, d).
    wanted
        How many functions would bring it to what is aimed at; inf if weights do not fall.
    analytic
        Whether weights fall geometrically.
    """

    tail: Host
    wanted: Host
    analytic: NDArray[np.bool_]


def tails_of(
    approximation: Approximation, scales: Sequence[float], aim: float, shares: Sequence[Host]
) -> Tails:
    """Return the tails of an approximation on patches.

    Parameters
    ----------
    approximation
        On the same patches for all unknowns.
    scales
        The size of each unknown.
    aim
        What tails are to become.
    shares
        How much each patch's counts, for each unknown.
    """
    found: list[Tails] = []
    for scale, share, (unknown, basis) in zip(
        scales, shares, approximation.bases.items(), strict=True
    ):
        assert isinstance(basis, PatchworkBasis)
        blocks = basis.blocks(approximation.weights[unknown] / scale)
        own = (part * block for part, block in zip(share, blocks, strict=True))
        found.append(tails_of_blocks(own, aim))
    return Tails(
        np.max([f.tail for f in found], axis=0),
        np.max([f.wanted for f in found], axis=0),
        np.all([f.analytic for f in found], axis=0),
    )


def tails_of_blocks(blocks: Iterable[Host], aim: float) -> Tails:
    """Return the tails of weights of Legendre products, one array over the axes for each patch."""
    rows = [[_along(profile, aim) for profile in _profiles(block)] for block in blocks]
    tail, wanted, analytic = np.moveaxis(np.array(rows, dtype=float), -1, 0)
    return Tails(tail, wanted, analytic > 0)


def _profiles(block: Host) -> list[Host]:
    """Return how large the terms of each degree are along each axis."""
    d = block.ndim
    size = np.abs(block)
    for axis, p in enumerate(block.shape):
        # sqrt(2k + 1) P_k is sqrt(2k + 1) at the ends.
        norm = np.sqrt(2.0 * np.arange(p) + 1.0)
        size = size * norm.reshape([-1 if a == axis else 1 for a in range(d)])
    square = size * size
    return [np.sqrt(square.sum(axis=tuple(a for a in range(d) if a != axis))) for axis in range(d)]


def _along(profile: Host, aim: float) -> tuple[float, float, bool]:
    """Return the tail, the functions wanted and whether one profile falls geometrically."""
    p = len(profile)
    envelope = np.maximum.accumulate(profile[::-1])[::-1]
    tail = float(profile[-LAST:].max())
    floor = max(ROUNDING * float(envelope[0]), 1e-300)
    if envelope[0] <= 0.1 * aim or tail <= floor:
        return tail, float(np.argmax(envelope <= max(0.1 * aim, floor))), True
    start = p // 2 - 1 if p > 5 else 0
    stop = max(int(np.flatnonzero(envelope > floor)[-1]), start + 1)
    fall = math.log(max(envelope[start], floor) / max(envelope[stop], floor))
    if fall < ANALYTIC:
        tail *= p**SUM
        return tail, math.inf if tail > aim else float(p), False
    if envelope[-1] <= 0.1 * aim:
        return tail, float(np.argmax(envelope <= 0.1 * aim)), True
    if envelope[-1] <= aim:
        return tail, float(p), True
    return tail, p + math.log(float(envelope[-1]) / aim) * (stop - start) / fall, True
