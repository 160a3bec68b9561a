"""Exact solutions of one coordinate: smooth waves with layers, fronts, spikes and wave packets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hostile.drawn import Function, Rng, log_uniform, pick, sign, silent

# Of an interval; see docs/trust.md for what no solver that samples its data can see.
NARROWEST_SPIKE = 1e-4
Ends = tuple[float, float]


@dataclass(frozen=True)
class Profile:
    """A function of one coordinate, and where it varies fast: pairs of place and width."""

    value: Function
    features: tuple[tuple[float, float], ...]
    words: str


def ends_of(rng: Rng) -> Ends:
    """Return an interval: the unit one, or of any length and place."""
    if rng.uniform() < 0.5:
        return 0.0, 1.0
    length = log_uniform(rng, 1e-2, 1e2)
    low = float(pick(rng, 0.0, -length / 2, -0.3 * length, 3 * length))
    return low, low + length


def wave(rng: Rng, ends: Ends) -> Profile:
    """Return a smooth background."""
    low, length = ends[0], ends[1] - ends[0]
    size, rate, phase = rng.normal(), rng.uniform(0.5, 6), rng.uniform(0, 6)
    return Profile(lambda x: size * np.sin(rate * (x - low) / length + phase), (), "")


def layer(rng: Rng, ends: Ends, width: float, place: float | None = None) -> Profile:
    """Return exp(-distance/width) from an end."""
    end = ends[int(rng.integers(2))] if place is None else place
    inward = 1.0 if end == ends[0] else -1.0
    size = sign(rng) * rng.uniform(0.3, 2)
    name = "left" if inward > 0 else "right"
    f = silent(lambda x: size * np.exp(-inward * (x - end) / width))
    return Profile(f, ((end, width),), f"{name} {width / (ends[1] - ends[0]):.0e}")


def inner(rng: Rng, ends: Ends, width: float) -> Profile:
    """Return a front, a spike or a wave packet inside."""
    length = ends[1] - ends[0]
    place = ends[0] + length * rng.uniform(0.03, 0.97)
    size, turns = sign(rng) * rng.uniform(0.3, 2), rng.uniform(2, 8)
    kind = pick(rng, "tanh", "gauss", "lorentz", "packet", "atan")
    if kind in ("gauss", "lorentz", "packet"):
        width = max(width, NARROWEST_SPIKE * length)
    f = {
        "tanh": lambda x: size * np.tanh((x - place) / width),
        "gauss": lambda x: size * np.exp(-(((x - place) / width) ** 2)),
        "lorentz": lambda x: size / (1 + ((x - place) / width) ** 2),
        "packet": lambda x: (
            size * np.exp(-(((x - place) / width) ** 2)) * np.cos(turns * (x - place) / width)
        ),
        "atan": lambda x: size * np.arctan((x - place) / width),
    }[kind]
    return Profile(silent(f), ((place, width),), f"{kind} {width / length:.0e}")


def summed(profiles: Sequence[Profile]) -> Profile:
    """Return the sum of profiles."""
    return Profile(
        lambda x: sum(p.value(x) for p in profiles),
        tuple(f for p in profiles for f in p.features),
        ", ".join(p.words for p in profiles if p.words),
    )


def profile(rng: Rng, ends: Ends, narrowest: float = 1e-5, most: int = 3) -> Profile:
    """Return a wave with up to `most` features down to a share of the interval."""
    length = ends[1] - ends[0]
    parts = [wave(rng, ends)]
    for _ in range(int(rng.integers(1, most + 1))):
        width = length * log_uniform(rng, narrowest, 0.1)
        parts.append(layer(rng, ends, width) if rng.uniform() < 0.45 else inner(rng, ends, width))
    return summed(parts)
