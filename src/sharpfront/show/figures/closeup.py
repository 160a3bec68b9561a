"""A solution as a whole, and beside it the places where it is too steep to be seen there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.show.data.kernels import Section, line_points
from sharpfront.show.data.placements import TIME
from sharpfront.show.figures import panels
from sharpfront.show.figures.narrow_axes import round_place
from sharpfront.show.figures.panels import Panel, Wish
from sharpfront.show.figures.time_panels import even, still, timed_panels

# At most so many places are magnified.
_MOST_WINDOWS = 3
# A place is magnified if that makes it so many times larger; below, the whole shows it well.
_LEAST_FACTOR = 8.0
# What is steep must make up such a part of all that the solution varies, to be seen at all.
_LEAST_JUMP = 0.05
# A layer reaches to where the slope is this part of its steepest.
_FOOT = 0.01
# In the plane a window is so many times as wide as the way on which the steepest slope would go
# through all values.
_WIDTHS = 8.0
# A window in the plane shows such a part of all that the solution varies, by so many places along
# each of its sides.
_LEAST_SHOWN, _ALONG_WINDOW = 0.25, 21
# Steep places that are looked at one after the other; kinks and noise are among them.
_TRIED = 64
# Moments among which the one with the steepest slope is looked for.
_MOMENTS = 10


@dataclass(frozen=True)
class Window:
    """A part of a line or plane."""

    ends: tuple[tuple[float, float], ...]  # lower and upper end along each free coordinate
    place: tuple[float, ...]  # the steepest point in it
    factor: float  # how many times larger it is drawn

    def title(self, names: Sequence[str]) -> str:
        """Return where it is and how much it is magnified."""
        rooms = [0.05 * (high - low) for low, high in self.ends]
        near = [round_place(x - r, x + r) for x, r in zip(self.place, rooms, strict=True)]
        where = ", ".join(f"{name} = {x:.15g}" for name, x in zip(names, near, strict=True))
        times = f"{float(f'{self.factor:.2g}'):,.0f}".replace(",", "\u202f")
        return f"near {where}, magnified {times} times"

    def of(self, wish: Wish, names: Sequence[str]) -> Wish:
        """Return the wish for this part."""
        where = dict(zip(names, self.ends, strict=True))
        title = "; ".join(filter(None, [wish.note, self.title(names)]))
        return replace(wish, where={**wish.where, **where}, title=title)


def closeup_panels(wish: Wish) -> list[list[Panel]]:
    """Return the whole, and its steepest places magnified where they are too narrow to be seen."""
    if wish.solution.in_time:
        return _in_time(wish)
    sections = wish.sections()
    if len(sections) > 1:
        return panels.panels(wish, "solution")
    names = sections[0].labels
    if len(sections[0].free) == 1:
        windows = steep_windows(*_slopes(wish, sections[0]))
    else:
        windows = _in_plane(wish, sections[0])
    if not windows:
        return panels.panels(wish, "solution")
    wish = replace(wish, brief=True)
    whole = panels.panels(replace(wish, title=_whole_title(wish)), "solution")
    near = [panels.panels(window.of(wish, names), "solution")[0] for window in windows]
    return _arranged(whole, near)


def _whole_title(wish: Wish) -> str:
    # Maps of several unknowns say which is which.
    several = len(wish.names) > 1 and len(wish.unknowns) > 1
    return "" if several else "; ".join(filter(None, [wish.note, "the whole"]))


def _arranged(whole: list[list[Panel]], near: list[list[Panel]]) -> list[list[Panel]]:
    """Return one close-up beside the whole, several in a row under it."""
    if len(near) == len(whole) == len(whole[0]) == 1:
        return [[*whole[0], *near[0]]]
    if len(whole[0]) > 1:
        return [*whole, *near]
    return [*whole, [panel for row in near for panel in row]]


def _in_time(wish: Wish) -> list[list[Panel]]:
    where = wish.section
    if TIME not in where.labels:
        return closeup_panels(still(wish, float(where.point[-1])))
    if len(where.free) > 2:
        return closeup_panels(still(wish, float(where.window[1, -1])))
    whole = timed_panels(wish, "solution")
    if len(where.free) == 1 or len(wish.names) > 2:
        return whole
    # Not the first moment: what jumps there is the state that was given.
    states = [still(wish, t) for t in even(where.window[:, -1], _MOMENTS + 1)[1:]]
    slopes = [(now, _slopes(now, now.section)) for now in states]
    found = [(s[1].max(), now, windows) for now, s in slopes if (windows := steep_windows(*s))]
    if not found:
        return whole
    _, now, windows = max(found, key=lambda each: each[0])
    window = max(windows, key=lambda each: each.factor)
    near = panels.panels(window.of(now, now.names), "solution")
    brief = replace(wish, brief=True, title=_whole_title(wish))
    return _arranged(timed_panels(brief, "solution"), near)


def _slopes(wish: Wish, where: Section) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return places on a line, the steepest slope of any unknown there, and its jumps between them.

    Values as parts of all that an unknown varies, places as parts of the window.
    """
    solution, axis = wish.solution, where.free[0]
    kernels = [wish.kernels_of(unknown).on(where) for unknown in wish.unknowns]
    found = [line_points(solution.domain, where, each) for each in kernels]
    x = np.unique(np.concatenate([places[inside] for places, inside in found]))
    points, length = where.lift(x[:, None]), float(np.ptp(where.window[:, 0]))
    slopes, jumps = np.zeros(len(x)), np.zeros(max(0, len(x) - 1))
    along = tuple(int(i == axis) for i in range(len(where.names)))
    for unknown in wish.unknowns:
        values = solution.approximation.values(unknown, points, (0,) * len(along))
        size = _variation(values, solution)
        if size:
            slope = solution.approximation.values(unknown, points, along)
            slopes = np.maximum(slopes, np.abs(slope) * length / size)
            jumps = np.maximum(jumps, np.abs(np.diff(values)) / size)
    return x, slopes, jumps


def _variation(values: FloatArray, solution: Any) -> float:
    """Return the largest difference of values; zero where it is no more than their error."""
    size = float(np.ptp(values)) if len(values) else 0.0
    least = max(1e-12 * float(np.max(np.abs(values), initial=1.0)), solution.error_estimate)
    return size if size > least else 0.0


def steep_windows(x: FloatArray, slopes: FloatArray, jumps: FloatArray) -> list[Window]:
    """Return where a curve is steep and narrow, from left to right; the steepest of many.

    At increasing places x (m,) slopes are in ranges of the values over the length of x, (m,), and
    jumps the differences between each two as a part of that range, (m - 1,).
    """
    length = float(np.ptp(x)) if len(x) else 0.0
    free, found = np.ones(len(x), dtype=bool), list[Window]()
    for _ in range(_TRIED):
        left = np.where(free, slopes, 0.0)
        if len(found) == _MOST_WINDOWS or not len(x) or left.max() < _LEAST_FACTOR:
            break
        peak = int(np.argmax(left))
        low, high = _reach(~free | (slopes < _FOOT * slopes[peak]), peak)
        free[low : high + 1] = False
        wide = 2.0 * (x[high] - x[low])
        if wide * _LEAST_FACTOR > length:
            # It is seen on the whole, and so is what is less steep: a part of a wave at an end.
            break
        if jumps[low:high].sum() >= _LEAST_JUMP:
            first = max(x[low] - 0.25 * wide, x[0])
            last = min(x[high] + 0.25 * wide, x[-1])
            ends = ((float(first), float(last)),)
            found.append(Window(ends, (float(x[peak]),), length / (last - first)))
            free &= (x < first) | (x > last)
    return sorted(found, key=lambda window: window.ends)


def _reach(flat: Any, peak: int) -> tuple[int, int]:
    """Return the first and the last place around a peak that is not flat."""
    before, after = np.flatnonzero(flat[:peak]), np.flatnonzero(flat[peak:])
    low = int(before[-1]) if len(before) else 0
    high = peak + int(after[0]) if len(after) else len(flat) - 1
    return low, high


def _in_plane(wish: Wish, where: Section) -> list[Window]:
    """Return a window around the steepest place of any unknown on a plane."""
    solution, low, high = wish.solution, *where.window
    side, best = float(np.max(high - low)), Window((), (), 0.0)
    for unknown in wish.unknowns:
        points = where.lift(_looked_at(wish, unknown, where))
        values = solution.approximation.values(unknown, points, (0,) * points.shape[1])
        size = _variation(values, solution)
        if not size:
            continue
        units = np.eye(points.shape[1], dtype=int)[list(where.free)]
        gradient = [solution.approximation.values(unknown, points, tuple(u)) for u in units]
        slopes = np.linalg.norm(gradient, axis=0) * side / size
        for _ in range(_TRIED):
            i = int(np.argmax(slopes))
            factor = float(slopes[i]) / _WIDTHS
            if factor <= max(best.factor, _LEAST_FACTOR):
                break
            # Within all that is drawn.
            place, half = points[i, list(where.free)], 0.5 * side / factor
            middle = np.clip(place, low + half, high - half)
            ends = zip((middle - half).tolist(), (middle + half).tolist(), strict=True)
            window = Window(tuple(ends), tuple(place.tolist()), factor)
            if _variation_shown(wish, unknown, where, window) >= _LEAST_SHOWN * size:
                best = window
                break
            # At a corner slopes have no limit, and little of the solution is there.
            slopes = np.where(slopes > 0.5 * slopes[i], 0.0, slopes)
    return [best] if best.ends else []


def _variation_shown(wish: Wish, unknown: str, where: Section, window: Window) -> float:
    """Return how much a solution varies within a window on a plane."""
    sides = [np.linspace(*ends, _ALONG_WINDOW) for ends in window.ends]
    points = where.lift(np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2))
    points = points[wish.solution.domain.contains(points)]
    if not len(points):
        return 0.0
    values = wish.solution.approximation.values(unknown, points, (0,) * points.shape[1])
    return float(np.ptp(values))


def _looked_at(wish: Wish, unknown: str, where: Section) -> FloatArray:
    """Return places on a plane: an even grid, where kernels are, and the boundary."""
    domain = wish.solution.domain
    kernels = wish.kernels_of(unknown).on(where)
    low, high = where.window
    grid = np.stack(np.meshgrid(*np.linspace(low, high, 61).T), axis=-1).reshape(-1, 2)
    flat = np.concatenate([grid, kernels.centres])
    if domain.dimension == 2:
        parts = [domain.boundary(part, 400).points for part in domain.parts]
        flat = np.concatenate([flat, *parts])
        flat = flat[where.within(flat)]
    return np.asarray(flat[domain.contains(where.lift(flat))])
