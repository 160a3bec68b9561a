"""Shear layers that a wind carries away from where it touches the boundary.

Behind such a place the layer goes on along the wind, and grows as the root of the way. Where the
wind is parallel to an axis boxes are cut along it: strips on both sides as thick as the layer, each
four times as far away as the one before, where the layer is twice as thick.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.maps import AxisMap
from sharpfront.place.patches.cuts import Cell
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.strips.characteristics import Shear, shears_from, wind_at
from sharpfront.place.strips.tangencies import Tangency, tangencies
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.problem import Problem


@dataclass(frozen=True)
class Wake:
    """A layer along an axis.

    Parameters
    ----------
    axis, sign
        Where the wind blows.
    origin
        Where it begins.
    length, depth
        How far from its origin the layer is so deep, to either side.
    """

    axis: int
    sign: int
    origin: tuple[float, float]
    length: float
    depth: float

    def _ways(self, low: FloatArray, high: FloatArray) -> tuple[float, float]:
        """Return how far from the origin a box begins and ends."""
        first, last = sorted(
            self.sign * (x[self.axis] - self.origin[self.axis]) for x in (low, high)
        )
        near = SETTINGS.same_place * self.length
        return (0.0 if abs(first) < near else first), (0.0 if abs(last) < near else last)

    def _line(self, low: FloatArray, high: FloatArray) -> float:
        """Return the place of the layer across, that of a box's side if it lies there."""
        line, across = self.origin[1 - self.axis], 1 - self.axis
        sides = [
            x[across]
            for x in (low, high)
            if abs(x[across] - line) < SETTINGS.same_place * self.depth
        ]
        return float(sides[0]) if sides else line

    def is_beside(self, low: FloatArray, high: FloatArray) -> bool:
        """Tell whether the layer goes along a side of a box."""
        across = 1 - self.axis
        line = self._line(low, high)
        return self._ways(low, high)[1] > 0.0 and line in (low[across], high[across])

    def cut(self, low: FloatArray, high: FloatArray) -> tuple[int, float] | None:
        """Return where to cut a box so that the layer has boxes of its own: axis and place."""
        along, across = self.axis, 1 - self.axis
        (first, last), line = self._ways(low, high), self._line(low, high)
        if last <= 0.0 or not low[across] <= line <= high[across]:
            return None
        end = 0.0 if first < 0.0 else max(SETTINGS.longer * first, self.length)
        if end < SETTINGS.room * last:
            return along, self.origin[along] + self.sign * end
        if low[across] < line < high[across]:
            return across, line
        deep = self.depth * math.sqrt(max(1.0, last / self.length))
        if deep > SETTINGS.room * (high[across] - low[across]):
            return None
        return across, line + deep if line == low[across] else line - deep


def wakes(problem: Problem, found: Sequence[Tangency], widths: float) -> list[Wake]:
    """Return the layers that begin at tangencies and go along an axis, so many widths deep."""
    out: list[Wake] = []
    domain = problem.domain
    for one in found if len(problem.unknowns) == 1 else ():
        wind = wind_at(problem, np.array([one.place]))[0][0]
        axis = int(np.argmax(np.abs(wind)))
        sign = 1 if wind[axis] > 0 else -1
        way = np.tile(one.place, (SETTINGS.places_on_way, 1))
        far = domain.bounds[1 if sign > 0 else 0, axis]
        way[:, axis] = np.linspace(one.place[axis], far, SETTINGS.places_on_way)
        if not domain.contains(way[1:-1]).all():
            continue
        winds = sign * wind_at(problem, way)[0]
        parallel = np.abs(winds[:, 1 - axis]) < one.width / one.length * winds[:, axis]
        if parallel.all():
            out.append(Wake(axis, sign, one.place, one.length, one.depth(widths)))
    return out


def shears_of(
    problem: Problem, tiling: Tiling, widths: float, jumps: Iterable[Sequence[float]] = ()
) -> list[Shear]:
    """Return the layers of the plane along winds that follow no axis, from tangencies and jumps."""
    one_equation = len(problem.unknowns) == 1 and problem.forms[0].order == 2
    if problem.domain.dimension != 2 or not one_equation:
        return []
    touched = [
        one for one in tangencies(problem, tiling.strips) if not wakes(problem, [one], widths)
    ]
    return list(shears_from(problem, touched, jumps, widths))


def with_wakes(cells: Sequence[Cell], found: Sequence[Wake], widths: float) -> list[Cell]:
    """Return cells, boxes cut along wakes, with functions for so many widths across these."""
    if not found:
        return list(cells)
    out, left = [], list(cells)
    while left:
        cell = left.pop()
        patch = cell.patch
        cuts = () if patch.chart else (wake.cut(patch.low, patch.high) for wake in found)
        cut = next((c for c in cuts if c is not None), None)
        if cut is None:
            out.append(cell)
            continue
        axis, place = cut
        whole = patch.maps[axis]
        for side in (AxisMap(whole.low, place), AxisMap(place, whole.high)):
            maps = [side if a == axis else m for a, m in enumerate(patch.maps)]
            own = replace(patch, maps=tuple(maps))
            if not own.is_empty:
                left.append(replace(cell, patch=own))
    return [_richer(cell, found, math.ceil(widths)) for cell in out[::-1]]


def _richer(cell: Cell, found: Sequence[Wake], functions: int) -> Cell:
    """Return a cell with more functions across a layer that it lies in."""
    patch = cell.patch
    most = list(patch.functions)
    for wake in () if patch.chart else found:
        if wake.is_beside(patch.low, patch.high):
            most[1 - wake.axis] = max(most[1 - wake.axis], functions)
    return replace(cell, patch=replace(patch, functions=tuple(most)))
