"""How straight lines cut a domain with straight sides."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.slanted import ROUNDING, Line
from sharpfront.geometry import Domain

# A line that meets a side closer to its end, as a share of it, is left to splitting: charts beside
# it would be slivers. One that meets an end does not cut the side.
SLIVER = 0.02

Sides = list[tuple[FloatArray, str]]


def chords(domain: Domain, sides: Sides, line: Line) -> tuple[Sides, list[FloatArray]] | None:
    """Return the sides of a domain cut where a line meets them, and what of it lies inside.

    None where it meets a side close to its end, but not there.
    """
    near = ROUNDING * float(np.ptp(domain.bounds, axis=0).max())
    cut: Sides = []
    met: list[FloatArray] = []
    for ends, part in sides:
        start, stop = line.distances(ends)
        on = [abs(d) <= near for d in (start, stop)]
        met += [end for end, here in zip(ends, on, strict=True) if here]
        if any(on) or start * stop > 0.0:
            cut.append((ends, part))
            continue
        share = start / (start - stop)
        if min(share, 1.0 - share) < SLIVER:
            return None
        place = ends[0] + share * (ends[1] - ends[0])
        met.append(place)
        cut += [(np.stack([ends[0], place]), part), (np.stack([place, ends[1]]), part)]
    return cut, _inside(domain, met, line, near)


def _inside(domain: Domain, met: Sequence[FloatArray], line: Line, near: float) -> list[FloatArray]:
    """Return the stretches of a line inside a domain, between points on its sides."""
    a, b = line.normal
    order = sorted(met, key=lambda p: float(p @ np.array([-b, a])))
    pairs = [np.stack(p) for p in itertools.pairwise(order)]
    pairs = [p for p in pairs if np.linalg.norm(p[1] - p[0]) > near]
    # Beside the line, so that no stretch of the boundary counts.
    beside = 100.0 * near * np.array(line.normal)
    return [p for p in pairs if all(domain.contains(p.mean(axis=0) + np.stack([beside, -beside])))]


def cut_at_crossings(
    stretches: Sequence[FloatArray], fresh: FloatArray
) -> tuple[list[FloatArray], list[FloatArray]] | None:
    """Return stretches and a fresh one in parts that do not cross, but for their ends.

    None where parts would be slivers.
    """
    kept: list[FloatArray] = []
    shares = [0.0, 1.0]
    for one in stretches:
        found = meet_within(one, fresh)
        if found is None:
            kept.append(one)
            continue
        if any(min(share, 1.0 - share) < SLIVER for share in found):
            return None
        place = one[0] + found[0] * (one[1] - one[0])
        kept += [np.stack([one[0], place]), np.stack([place, one[1]])]
        shares.append(found[1])
    shares.sort()
    if np.diff(shares).min() < SLIVER:
        return None
    places = [fresh[0] + share * (fresh[1] - fresh[0]) for share in shares]
    return kept, [np.stack(pair) for pair in itertools.pairwise(places)]


def meet_within(one: FloatArray, other: FloatArray) -> tuple[float, float] | None:
    """Return where two stretches, (2, 2) each, cross, as shares of both, if not at their ends."""

    def sides(line: FloatArray, points: FloatArray) -> FloatArray:
        along, away = line[1] - line[0], points - line[0]
        return np.asarray(along[0] * away[:, 1] - along[1] * away[:, 0])

    first, second = sides(one, other), sides(other, one)
    if first[0] * first[1] >= 0.0 or second[0] * second[1] >= 0.0:
        return None
    return float(second[0] / (second[0] - second[1])), float(first[0] / (first[0] - first[1]))
