"""How the weights of a patch fall along each axis, and how many functions it would need."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.bases.cut_interior import Frame
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.bases.total_degree import is_joint, leading_degrees
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


def without_echoes(tails: Tails, functions: FloatArray) -> Tails:
    """Return tails of a solution that is known to be smooth, what others' errors leave as noise.

    Where a patch with few functions is what is left to resolve, weights on all others end in what
    the fit leaves of its error, which falls as slowly as those of a singularity. Functions are
    those of the patches along each axis, (n, d).
    """
    clear = float(tails.last[tails.analytic].max(initial=0.0))
    echo = ~tails.analytic & (tails.last < clear)
    noise = tails.last * functions**SETTINGS.noise_power
    tail, rest = (np.where(echo, np.minimum(own, noise), own) for own in (tails.tail, tails.rest))
    return replace(tails, tail=tail, rest=rest)


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
        for i, *own_profiles in zip(members, *every, strict=True):
            profiles[i] = own_profiles
    flat = [profile for each in profiles for profile in each]
    falls = np.repeat(np.array(least, dtype=float), [len(each) for each in profiles])
    lengths = np.array([len(profile) for profile in flat])
    found = np.empty((len(flat), 5))
    for p in np.unique(lengths).tolist():
        here = np.flatnonzero(lengths == p)
        stack = np.stack([flat[i] for i in here.tolist()])
        found[here] = _along(stack, aim, falls[here], is_joint(len(profiles[0])))
    tail, wanted, analytic, last, rest = np.moveaxis(found.reshape(len(blocks), -1, 5), -1, 0)
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


def _along(profiles: FloatArray, aim: float, least: FloatArray, joint: bool) -> FloatArray:
    """Return tail, functions wanted, whether it falls geometrically, last weights, rest, (b, 5).

    Of b profiles of one length, (b, p). Functions up to a joint degree have all that are as high in
    one weight of the profile: where it falls as k^-s, the weights to come add up to p / (s - 1)
    last ones.
    """
    p = profiles.shape[1]
    envelope = np.maximum.accumulate(profiles[:, ::-1], axis=1)[:, ::-1]
    last, first, end = profiles[:, -LAST:].max(axis=1), envelope[:, 0], envelope[:, -1]
    floor = np.maximum(ROUNDED_OFF * first, 1e-300)
    start = p // 2 - 1 if p > 5 else 0
    above = p - 1 - np.argmax((envelope > floor[:, None])[:, ::-1], axis=1)
    stop = np.minimum(np.maximum(above, start + 1), p - 1)
    at_start = envelope[:, start]
    at_stop = np.take_along_axis(envelope, stop[:, None], axis=1)[:, 0]
    fall = np.log(np.maximum(at_start, floor) / np.maximum(at_stop, floor))
    small = (first <= 0.1 * aim) | (last <= floor)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        slow = _slow(profiles, last, floor, fall, start, stop, joint)
        # Odd and even weights may differ: from the larger of the last ones, and LAST beyond that.
        place = p - LAST + np.argmax(profiles[:, -LAST:], axis=1)
        rate = np.log(at_start / last) / np.maximum(1, place - start)
        share = np.where(rate > 0, np.exp(-LAST * rate) / -np.expm1(-rate), 1.0)
        more = np.log(end / (SETTINGS.shorter * aim)) * (stop - start) / fall
    enough = np.argmax(
        envelope <= np.where(small, np.maximum(0.1 * aim, floor), 0.1 * aim)[:, None], axis=1
    )
    wanted = np.where(end <= 0.1 * aim, enough, np.where(end > aim, p + more, p))
    slowly = ~small & (fall < least)
    tail = np.where(slowly, slow, last)
    wanted = np.where(slowly, np.where(tail > aim, np.inf, p), np.where(small, enough, wanted))
    rest = np.where(small | slowly, tail, last * np.minimum(1.0, share))
    return np.stack([tail, wanted, ~slowly, last, rest], axis=1)


def _slow(
    profiles: FloatArray,
    last: FloatArray,
    floor: FloatArray,
    fall: FloatArray,
    start: int,
    stop: NDArray[np.int64],
    joint: bool,
) -> FloatArray:
    """Return what the weights to come add up to where they fall as a power, (b,)."""
    p = profiles.shape[1]
    end = np.log(
        np.maximum(profiles[:, -4:-2].max(axis=1, initial=0.0), floor) / np.maximum(last, floor)
    )
    most = p ** np.where(end > SETTINGS.flat, SETTINGS.power, SETTINGS.noise_power)
    if not joint:
        return np.asarray(last * most)
    power = fall / np.log((stop + 1) / (start + 1))
    return np.asarray(last * np.minimum(most, p / np.maximum(power - 1.0, 1e-9)))
