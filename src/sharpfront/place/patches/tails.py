"""How the weights of a patch fall along each axis, and how many functions it would need."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.bases.inside import Frame
from sharpfront.bases.joint import is_joint, leading_degrees
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.solution.approximation import Approximation

# Weights below this share of the largest are rounding.
ROUNDED_OFF = 3e-14
# So many last functions count as the tail: odd and even ones may differ.
LAST = 2


@dataclass(frozen=True, eq=False)
class Tails:
    """Of every patch along every axis."""

    # The last weights, or what those to come add up to if they do not fall geometrically, in units
    # of each unknown's scale, (patches, d).
    tail: FloatArray
    # How many functions would bring it to what is aimed at; inf if weights do not fall.
    wanted: FloatArray
    analytic: NDArray[np.bool_]  # whether weights fall geometrically
    last: FloatArray  # the last weights themselves
    rest: FloatArray  # what the weights to come add up to

    @classmethod
    def worst_of(cls, found: Sequence[Tails]) -> Tails:
        """Return the longest of several unknowns' tails."""
        most = {
            f.name: np.max([getattr(t, f.name) for t in found], axis=0)
            for f in fields(cls)
            if f.name != "analytic"
        }
        return cls(analytic=np.all([t.analytic for t in found], axis=0), **most)

    @property
    def singular(self) -> float:
        """What the weights to come add up to at most where they do not fall geometrically."""
        return float(self.tail[~self.analytic].max(initial=0.0))


@dataclass(frozen=True, eq=False)
class SoftMode:
    """How the weights of the softest mode fall."""

    tails: Tails  # in units of the mode's size
    aim: float  # what they are to become
    size: float  # of the mode under a load of one
    grows: bool  # whether it is larger than with the functions before

    def added(self, tails: Tails, aim: float) -> Tails:
        """Return the tails of a solution that are to become `aim`, or longer where the mode's are.

        Whether weights fall geometrically, which estimates rest on, is told of the solution alone.
        """
        factor = aim / self.aim
        return replace(
            tails,
            tail=np.maximum(tails.tail, factor * self.tails.tail),
            wanted=np.maximum(tails.wanted, self.tails.wanted),
            last=np.maximum(tails.last, factor * self.tails.last),
            rest=np.maximum(tails.rest, factor * self.tails.rest),
        )


def tails_of(
    approximation: Approximation,
    scales: Sequence[float],
    aim: float,
    shares: Sequence[FloatArray],
    at_corner: Sequence[bool],
) -> Tails:
    """Return the tails of an approximation on patches, the same for all unknowns.

    Given are the size of each unknown, what tails are to become, how much each patch's counts for
    each unknown, and whether each patch lies at a corner of the domain.
    """
    least = [SETTINGS.at_corner if at else SETTINGS.analytic for at in at_corner]
    found: list[Tails] = []
    for scale, share, (unknown, basis) in zip(
        scales, shares, approximation.bases.items(), strict=True
    ):
        assert isinstance(basis, PatchworkBasis)
        blocks = basis.blocks(approximation.weights[unknown] / scale)
        own = [part * block for part, block in zip(share, blocks, strict=True)]
        frames = [patch.frame for patch in basis.patches]
        found.append(tails_of_blocks(own, aim, least, frames=frames))
    return Tails.worst_of(found)


def loudest(tails: Tails, aim: float) -> Tails:
    """Return tails; those that may be others' doing wait while others are too long.

    Weights that fall slowly on one patch may be what the fit leaves of an error on another, if they
    are below the last ones where weights fall geometrically.
    """
    clear = float(tails.last[tails.analytic].max(initial=0.0))
    quiet = ~tails.analytic & (tails.last < clear)
    loud = replace(tails, tail=np.where(quiet, np.minimum(tails.tail, aim), tails.tail))
    return loud if np.any(loud.tail > aim) else tails


def tails_of_blocks(
    blocks: Sequence[FloatArray],
    aim: float,
    least: Sequence[float],
    functions: Sequence[tuple[int, ...]] | None = None,
    frames: Sequence[Frame | None] | None = None,
) -> Tails:
    """Return the tails of weights of Legendre products, an array over its axes for each patch.

    `least` is by how much analytic weights fall on each patch, as a logarithm; `functions` how many
    each has along each axis, as many as weights if None; `frames` are the functions of patches that
    the boundary cuts.
    """
    own = [b.shape for b in blocks] if functions is None else functions
    profiles: list[Sequence[FloatArray]] = [()] * len(blocks)
    alike: dict[tuple[tuple[int, ...], ...], list[int]] = defaultdict(list)
    for i, frame in enumerate(frames or [None] * len(blocks)):
        if frame is None:
            alike[blocks[i].shape, own[i]].append(i)
        else:
            profiles[i] = frame.profiles(blocks[i])
    for (_, counts), members in alike.items():
        every = _profiles(np.stack([blocks[i] for i in members]), counts)
        for i, *found in zip(members, *every, strict=True):
            profiles[i] = found
    rows = [
        [_along(p, aim, fall, is_joint(len(each))) for p in each]
        for each, fall in zip(profiles, least, strict=True)
    ]
    tail, wanted, analytic, last, rest = np.moveaxis(np.array(rows, dtype=float), -1, 0)
    return Tails(tail, wanted, analytic > 0, last, rest)


def _profiles(blocks: FloatArray, functions: tuple[int, ...]) -> list[FloatArray]:
    """Return how large terms of each degree are on b patches along each axis, (b, p) each."""
    b, *shape = blocks.shape
    size = np.abs(blocks)
    for axis, p in enumerate(shape):
        # sqrt(2k + 1) P_k is sqrt(2k + 1) at the ends.
        norm = np.sqrt(2.0 * np.arange(p) + 1.0)
        size = size * norm.reshape([-1 if a == axis else 1 for a in range(len(shape))])
    square = (size * size).ravel()
    out = []
    for degrees, p in zip(leading_degrees(tuple(shape), functions), shape, strict=True):
        # Products beyond a joint degree count as of degree p.
        slots = np.arange(b)[:, None] * (p + 1) + np.minimum(degrees, p)
        sums = np.bincount(slots.ravel(), square, b * (p + 1)).reshape(b, p + 1)
        out.append(np.sqrt(sums[:, :p]))
    return out


def _along(
    profile: FloatArray, aim: float, least: float, joint: bool
) -> tuple[float, float, bool, float, float]:
    """Return tail, functions wanted, whether a profile falls geometrically, last weights, rest.

    Functions up to a joint degree have all that are as high in one weight of the profile: where it
    falls as k^-s, the weights to come add up to p / (s - 1) last ones.
    """
    p = len(profile)
    envelope = np.maximum.accumulate(profile[::-1])[::-1]
    last = tail = float(profile[-LAST:].max())
    floor = max(ROUNDED_OFF * float(envelope[0]), 1e-300)
    if envelope[0] <= 0.1 * aim or tail <= floor:
        return tail, float(np.argmax(envelope <= max(0.1 * aim, floor))), True, last, tail
    start = p // 2 - 1 if p > 5 else 0
    stop = max(int(np.flatnonzero(envelope > floor)[-1]), start + 1)
    fall = math.log(max(envelope[start], floor) / max(envelope[stop], floor))
    if fall < least:
        end = math.log(max(profile[-4:-2].max(), floor) / max(last, floor))
        most = p ** (SETTINGS.power if end > SETTINGS.flat else SETTINGS.noise_power)
        power = fall / math.log((stop + 1) / (start + 1))
        tail *= min(most, p / max(power - 1.0, 1e-9)) if joint else most
        return tail, math.inf if tail > aim else float(p), False, last, tail
    # Odd and even weights may differ: from the larger of the last ones, and LAST beyond that.
    place = p - LAST + int(np.argmax(profile[-LAST:]))
    rate = math.log(envelope[start] / last) / max(1, place - start)
    rest = tail * min(1.0, math.exp(-LAST * rate) / -math.expm1(-rate)) if rate > 0 else tail
    wanted = float(p)
    if envelope[-1] <= 0.1 * aim:
        wanted = float(np.argmax(envelope <= 0.1 * aim))
    elif envelope[-1] > aim:
        wanted += math.log(float(envelope[-1]) / (SETTINGS.shorter * aim)) * (stop - start) / fall
    return tail, wanted, True, last, rest
