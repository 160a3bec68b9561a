"""Places on a curve at which a wind touches it.

A layer along a curve that a wind leaves the domain through ends where the wind touches the curve.
Beside such a place a layer that decays as e^(-b d / eps) would be as thick as one likes, but is no
thicker than what diffuses while the wind goes along: about the place the two are equal on a length
of the order of eps^(1/3), and eps^(2/3) thick.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.maps import Strip
from sharpfront.place.strips.decay_rates import decay_rates
from sharpfront.place.strips.settings import STRIPS
from sharpfront.problem import Problem
from sharpfront.rounding import BISECTIONS, SAME, SLIGHT

# A length of more than so many times a strip is not looked for.
LONGEST = 1.0


@dataclass(frozen=True)
class Tangency:
    """A place at which a wind touches a curve.

    Parameters
    ----------
    place
        Where, (x, y).
    length
        As far from it along the curve the layer is as thick as what diffuses on the way.
    width
        How thick that is: what it decays by e over.
    """

    place: tuple[float, float]
    length: float
    width: float

    def is_at(self, other: Tangency) -> bool:
        """Tell whether it is another one, seen from both sides of a joint."""
        return math.dist(self.place, other.place) < 0.1 * self.length

    def depth(self, widths: float) -> float:
        """Return how deep a layer is about it, that is so many widths deep where it is thin.

        What begins along a wall fades as e^(-n^2 / 2).
        """
        return math.sqrt(2.0 * widths) * self.width

    def reach(self, widths: float) -> float:
        """Return how far from it layers become thinner than that."""
        return math.sqrt(0.5 * widths) * self.length


def graded(strip: Strip, found: Sequence[Tangency]) -> FloatArray:
    """Return where to cut a strip along its curve, so that parts are short beside tangencies.

    As long as they are far, or as the place's own length.
    """
    left, ends = [(0.0, strip.length)] if found else [], [0.0, strip.length]
    while left:
        low, high = left.pop()
        s = np.linspace(low, high, STRIPS.places_along)
        points = strip.points(np.stack([s, np.zeros(len(s))], axis=1))
        for one in found:
            far = float(np.linalg.norm(points - one.place, axis=1).min())
            if high - low > STRIPS.lengthened * max(one.length, far):
                middle = 0.5 * (low + high)
                ends.append(middle)
                left += [(low, middle), (middle, high)]
                break
    return np.unique(ends)


def tangencies(problem: Problem, strips: Sequence[Strip]) -> list[Tangency]:
    """Return where layers beside the outer sides of strips end since a wind touches them."""
    out: list[Tangency] = []
    for strip in strips:
        s = strip.length * np.linspace(0.0, 1.0, STRIPS.places_along)
        rates = _least_rates(problem, strip, s)
        thin = rates > SLIGHT * float(rates.max(initial=0.0))
        for i in np.flatnonzero(thin[1:] != thin[:-1]):
            here, other = (s[i + 1], s[i]) if thin[i + 1] else (s[i], s[i + 1])
            inside = float(rates[i + 1] if thin[i + 1] else rates[i])
            found = _tangency(problem, strip, float(here), float(other), inside)
            if found is not None and not any(found.is_at(one) for one in out):
                out.append(found)
    return out


def _least_rates(problem: Problem, strip: Strip, s: FloatArray, wave: float = 0.0) -> FloatArray:
    """Return the least rates at which solutions decay beside the outer side of a strip, or 0."""
    places = np.stack([s, np.full(len(s), 1e-6 * strip.depth)], axis=1)
    found = decay_rates(problem, places, 1, 0, wave, strip, bends=False)
    return np.array([float(own[0]) if len(own) else 0.0 for own in found])


def _tangency(
    problem: Problem, strip: Strip, thin: float, other: float, rate: float
) -> Tangency | None:
    """Return the place between one with a thin layer, of a rate, and one without."""
    low, high, first = other, thin, thin
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if _least_rates(problem, strip, np.array([middle]))[0] > SLIGHT * rate:
            high = middle
        else:
            low = middle
    slope = rate / max(abs(first - high), 1e-300)
    at = np.array([high])

    def diffused(length: float) -> float:
        return float(_least_rates(problem, strip, at, 1.0 / length)[0])

    short, long = SAME * strip.length, LONGEST * strip.length
    if diffused(long) > slope * long or diffused(short) < slope * short:
        return None
    for _ in range(BISECTIONS):
        length = math.sqrt(short * long)
        if diffused(length) > slope * length:
            short = length
        else:
            long = length
    place = strip.points(np.array([[high, 0.0]]))[0].tolist()
    # Where solutions oscillate along the curve nothing decays at longer lengths.
    return Tangency((place[0], place[1]), short, 1.0 / diffused(short))
