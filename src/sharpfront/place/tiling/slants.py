"""How straight lines cut a domain with straight sides."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.oblique_lines import Line
from sharpfront.geometry import Domain
from sharpfront.place.tiling.settings import TILING
from sharpfront.rounding import SAME

Sides = list[tuple[FloatArray, str]]
# Whether something is torn across a stretch of a line, (2, 2).
Torn = Callable[[Line, FloatArray], bool]


def everywhere(_: Line, __: FloatArray) -> bool:
    """Tell that a line counts all along."""
    return True


def arranged(
    domain: Domain, sides: Sides, lines: Sequence[Line], torn: Torn
) -> tuple[Sides, list[FloatArray]] | None:
    """Return the sides of a domain and stretches of lines inside that meet at their ends alone.

    Of a line those stretches are left out, from where it meets a line or a side to where it meets
    the next, across which nothing is torn. None where parts would be slivers.
    """
    near = SAME * float(np.ptp(domain.bounds, axis=0).max())
    whole = [(x, c) for x in lines for c in _inside(domain, _met(sides, x, near), x, near)]
    kept = []
    for line, chord in whole:
        others = [other for x, other in whole if x is not line]
        parts = [_between(chord, *p) for p in itertools.pairwise(_crossings(chord, others, near))]
        kept.append([part for part in parts if torn(line, part)])
    out: list[FloatArray] = []
    for i, parts in enumerate(kept):
        ends = np.array([p for other in (*kept[:i], *kept[i + 1 :]) for p in other])
        joined = _going_on(parts, ends.reshape(-1, 2), near)
        lengths = np.array([np.linalg.norm(p[1] - p[0]) for p in joined])
        if lengths.min(initial=np.inf) < TILING.sliver * lengths.sum():
            return None
        out += joined
    cut = _cut_sides(sides, np.array(out).reshape(-1, 2), near)
    return None if cut is None else (cut, out)


def _met(sides: Sides, line: Line, near: float) -> list[FloatArray]:
    """Return where a line meets sides."""
    out: list[FloatArray] = []
    for ends, _ in sides:
        start, stop = line.distances(ends)
        on = [abs(d) <= near for d in (start, stop)]
        out += [end for end, here in zip(ends, on, strict=True) if here]
        if not any(on) and start * stop < 0.0:
            out.append(_between(ends, start / (start - stop), 1.0)[0])
    return out


def _between(stretch: FloatArray, start: float, stop: float) -> FloatArray:
    """Return the part of a stretch between two shares of it."""
    return np.stack([stretch[0] + share * (stretch[1] - stretch[0]) for share in (start, stop)])


def _crossings(chord: FloatArray, others: Sequence[FloatArray], near: float) -> list[float]:
    """Return the shares of a chord at which it meets others, and both its ends, in order."""
    along = chord[1] - chord[0]
    close = near / float(np.linalg.norm(along))
    shares = [0.0]
    found = []
    for other in others:
        matrix = np.column_stack([along, other[0] - other[1]])
        if abs(np.linalg.det(matrix)) > SAME * float(np.prod(np.linalg.norm(matrix, axis=0))):
            share, there = np.linalg.solve(matrix, other[0] - chord[0]).tolist()
            beyond = near / float(np.linalg.norm(matrix[:, 1]))
            if -beyond <= there <= 1.0 + beyond and share < 1.0 - close:
                found.append(share)
    for share in sorted(found):
        if share > shares[-1] + close:
            shares.append(share)
    return [*shares, 1.0]


def _going_on(parts: Sequence[FloatArray], ends: FloatArray, near: float) -> list[FloatArray]:
    """Return parts of a chord joined where one goes on from another, but not at ends of others."""
    out: list[FloatArray] = []
    for part in parts:
        goes_on = bool(out) and np.abs(out[-1][1] - part[0]).max() <= near
        if goes_on and np.abs(ends - part[0]).max(axis=1).min(initial=np.inf) > near:
            out[-1] = np.stack([out[-1][0], part[1]])
        else:
            out.append(part)
    return out


def _cut_sides(sides: Sides, places: FloatArray, near: float) -> Sides | None:
    """Return sides cut at those places that lie on them; None where parts would be slivers."""
    out: Sides = []
    for ends, part in sides:
        along = ends[1] - ends[0]
        length = float(np.linalg.norm(along))
        shares = (places - ends[0]) @ along / length**2
        away = np.linalg.norm(places - ends[0] - shares[:, None] * along, axis=1)
        inner = (away <= near) & (np.minimum(shares, 1.0 - shares) > near / length)
        own = [0.0]
        for share in np.sort(shares[inner]).tolist():
            if share > own[-1] + near / length:
                own.append(share)
        own.append(1.0)
        if np.diff(own).min() < TILING.sliver:
            return None
        out += [(_between(ends, *pair), part) for pair in itertools.pairwise(own)]
    return out


def _inside(domain: Domain, met: Sequence[FloatArray], line: Line, near: float) -> list[FloatArray]:
    """Return the stretches of a line inside a domain, between points on its sides."""
    a, b = line.normal
    order = sorted(met, key=lambda p: float(p @ np.array([-b, a])))
    pairs = [np.stack(p) for p in itertools.pairwise(order)]
    pairs = [p for p in pairs if np.linalg.norm(p[1] - p[0]) > near]
    # Beside the line, so that no stretch of the boundary counts.
    beside = 100.0 * near * np.array(line.normal)
    return [p for p in pairs if all(domain.contains(p.mean(axis=0) + np.stack([beside, -beside])))]


def meet_within(one: FloatArray, other: FloatArray) -> tuple[float, float] | None:
    """Return where two stretches, (2, 2) each, cross, as shares of both, if not at their ends."""

    def sides(line: FloatArray, points: FloatArray) -> FloatArray:
        along, away = line[1] - line[0], points - line[0]
        return np.asarray(along[0] * away[:, 1] - along[1] * away[:, 0])

    first, second = sides(one, other), sides(other, one)
    if first[0] * first[1] >= 0.0 or second[0] * second[1] >= 0.0:
        return None
    return float(second[0] / (second[0] - second[1])), float(first[0] / (first[0] - first[1]))
