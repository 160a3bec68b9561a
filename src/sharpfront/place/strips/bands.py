"""Strips on both sides of curves inside the domain, on which data jump or are narrow.

A front along a curve, and an edge of a material, are to strips along it what a layer is to strips
along the boundary: they take the same patches whatever their width and wherever the curve runs.
Boxes go on where strips end, on either side with functions of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.bases.cut_cells import Region, StripSide
from sharpfront.equation.interfaces import curved_conditions
from sharpfront.equation.level_curves import Level
from sharpfront.errors import EquationError, ProblemError
from sharpfront.geometry.curves import Segment
from sharpfront.geometry.panels import Panels
from sharpfront.maps import Strip
from sharpfront.place.patches.data_probes import Holding
from sharpfront.place.patches.settings import PatchSettings
from sharpfront.place.strips.crossings import Arm, crossed
from sharpfront.place.strips.cuts_across import held_across, lines_beside
from sharpfront.place.strips.inner_clearance import Surroundings, is_wide, wall_at
from sharpfront.place.strips.inner_curves import (
    LevelFunction,
    are_lines_that_cross,
    changes_sign,
    inner_curves,
)
from sharpfront.place.strips.ribbons import ON_PANEL, Ribbon, samples
from sharpfront.place.strips.settings import STRIPS
from sharpfront.place.tiling.blocks import Block, Tiling
from sharpfront.place.tiling.solids import Wall
from sharpfront.problem import Problem
from sharpfront.rows.interfaces import interface_lines
from sharpfront.rows.materials import material_edges

_CROSSING = (
    "A coefficient inside a derivative jumps where {}. Flux conditions are known on straight lines "
    "that leave out no slivers of the domain, and in the plane on smooth curves that are closed or "
    "end on the sides of a box, and neither cross nor touch others. Let edges of materials keep "
    "apart, or write them along axes."
)


@dataclass(frozen=True, eq=False)
class Band:
    """A curve with the strips on both its sides.

    Parameters
    ----------
    ribbon
        The curve, and directions across it.
    within, beyond
        Places in the strips on the side that normals come from and on the one they lead to, as
        distances from the curve, ascending from 0.
    strips
        One for each panel.
    level
        Positive on one side of the curve.
    more
        By how many functions more than usual strips hold data across it.
    """

    ribbon: Ribbon
    within: FloatArray
    beyond: FloatArray
    strips: tuple[Strip, ...]
    level: LevelFunction
    more: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether it parts what is on its two sides: a strip ends inside nowhere."""
        return not any(self.ribbon.loose)

    @property
    def rim(self) -> list[tuple[Panels, list[StripSide]]]:
        """Its sides where boxes go on, with those of its strips that they belong to."""
        out = [(self.edge(end), [(strip, 1, end) for strip in self.strips]) for end in (0, 1)]
        for end in (0, 1):
            if self.ribbon.loose[end]:
                strip = self.strips[-end]
                out.append((_cap(strip, end), [(strip, 0, end)]))
        return out

    def edge(self, end: int) -> Panels:
        """Return the side of the strips, with normals that lead into them: 1 the inner one."""
        if end:
            return self.ribbon.edge(float(self.within[-1]))
        return self.ribbon.edge(-float(self.beyond[-1])).turned()

    @property
    def lines(self) -> FloatArray:
        """Where strips are cut, as distances from their outer side."""
        across = np.concatenate([-self.beyond[:0:-1], self.within])
        return np.asarray(across + self.beyond[-1])


def banded(
    problem: Problem, tiling: Tiling, settings: PatchSettings, tol: float, most: int
) -> Tiling:
    """Return a tiling with strips along curves inside on which data jump or are narrow.

    Parameters
    ----------
    problem, tiling
        What is solved, and the boxes over its domain.
    settings
        The constants.
    tol
        The tolerance.
    most
        The most functions. Strips that take half of them are left out, but for materials.
    """
    block = tiling.blocks[0]
    if problem.domain.dimension != 2 or len(tiling.blocks) > 1 or block.chart is not None:
        _require_bands(problem, {}, ())
        return tiling
    every, told = inner_curves(problem)
    curves = [found for found in every if is_wide(found[0], block)]
    panels_of = [panels for panels, _, _ in curves]
    if not curves:
        _require_bands(problem, told, ())
        return tiling
    base = settings.functions(tol)
    if block.region is None and not any(level.jumps or level.bends for _, level, _ in curves):
        found = crossed(
            Holding(problem, STRIPS.at_crossings * STRIPS.strict * tol), block, panels_of, base
        )
        if found is not None:
            return _with_crossings(tiling, found, [f for _, _, f in curves])
    size = float(np.ptp(problem.domain.bounds, axis=0).max())
    charts = block.region is None and are_lines_that_cross(panels_of, size)
    if charts and not material_edges(problem):
        _require_bands(problem, told, ())
        return tiling
    holding = Holding(problem, STRIPS.strict * tol)
    looks = Surroundings(block, panels_of)
    bands = [
        band
        for i, (panels, level, f) in enumerate(curves)
        for ribbon, room in looks.ribbons(panels, i)
        if (band := _band(problem, holding, ribbon, room, level, f, settings, tol)) is not None
    ]
    patches = sum(len(band.strips) * (len(band.lines) - 1) for band in bands)
    if patches * base**2 > most / 2 and not problem.is_singular:
        return tiling
    out = _with_bands(tiling, bands) if bands else tiling
    _require_bands(problem, told, bands if out is not tiling else ())
    return out


def _with_crossings(
    tiling: Tiling, found: tuple[list[Arm], list[Block]], levels: Sequence[LevelFunction]
) -> Tiling:
    """Return a tiling with the strips of fronts that cross, and what lies between these."""
    arms, tiles = found
    bands = [
        Band(a.ribbon, a.lines, a.lines, a.strips(tiles), levels[a.curve], STRIPS.more)
        for a in arms
    ]
    out = _with_bands(tiling, bands)
    return out if out is tiling else replace(out, blocks=(*out.blocks, *tiles))


def _require_bands(
    problem: Problem, told: Mapping[str, Sequence[Panels]], bands: Sequence[Band]
) -> None:
    """Refuse fluxes that jump along curves without strips, or along axes across strips."""
    for axis, places in enumerate(interface_lines(problem)):
        for edge in (band.edge(end) for band in bands for end in (0, 1)):
            low, high = np.min(samples(edge)[0], axis=0), np.max(samples(edge)[0], axis=0)
            if np.any((places > low[axis]) & (places < high[axis])):
                raise ProblemError(_CROSSING.format(f"{problem.coordinates[axis]} = {places[0]:g}"))
    kept = {id(band.ribbon.panels) for band in bands}
    jumping = material_edges(problem)
    for level in jumping:
        own = told.get(level.told, ())
        followed = own and all(id(panels) in kept for panels in own)
        if not followed and (own or changes_sign(problem, level)):
            raise ProblemError(_CROSSING.format(level.told))
    if jumping and bands:
        try:
            found = curved_conditions(problem.equations, problem.unknowns, problem.coordinates)
        except EquationError as error:
            raise ProblemError(str(error)) from error
        if any(load for own in found.loads for load in own):
            raise ProblemError("Beside materials with curved edges sf.delta is not understood.")


def _band(
    problem: Problem,
    holding: Holding,
    ribbon: Ribbon,
    room: float,
    level: Level,
    function: LevelFunction,
    settings: PatchSettings,
    tol: float,
) -> Band | None:
    """Return the band of a curve with some room; None where it needs none."""
    base = settings.functions(tol)
    thick = 0.0 if level.jumps else held_across(holding, ribbon, room, base)
    jumps = level.jumps or (level.bends and not thick)
    functions = base, settings.layer(tol)
    lines = [
        lines_beside(problem, holding, side, room, functions, jumps=jumps)
        for side in (ribbon, ribbon.turned())
    ]
    within, beyond = lines
    ribbon = _shortened(ribbon, (len(within) + len(beyond) - 2) * thick)
    front = float(beyond[-1]) if jumps else None
    strips = tuple(ribbon.strips(float(within[-1]), float(beyond[-1]), front))
    band = Band(ribbon, within, beyond, strips, function)
    return band if jumps or _pays(band, thick) else None


def _shortened(ribbon: Ribbon, least: float) -> Ribbon:
    """Return a ribbon without ends inside that are so short that boxes cost less."""
    pays = np.flatnonzero(STRIPS.boxes * ribbon.lengths > least)
    if not any(ribbon.loose) or not len(pays):
        return ribbon
    last = len(ribbon.lengths)
    first = int(pays[0]) if ribbon.loose[0] else 0
    return ribbon.chosen(first, int(pays[-1]) + 1 if ribbon.loose[1] else last)


def _pays(band: Band, thick: float) -> bool:
    """Tell whether strips take fewer patches than boxes as thick as that along the curve would."""
    strips = len(band.strips) * (len(band.lines) - 1)
    return strips * thick < STRIPS.boxes * float(band.ribbon.lengths.sum())


def _cap(strip: Strip, end: int) -> Panels:
    """Return the side at an end of a strip, with normals that lead into it."""
    start, stop = (np.array(x) for x in strip.edge(0, end))
    panels = Panels([("", Segment(start, stop))])
    at = np.array([[strip.place(0, end), 0.5 * strip.depth]])
    outwards = strip.normals_at(at, 0, end)[0]
    return panels.turned() if samples(panels)[1][0] @ outwards > 0 else panels


def _with_bands(tiling: Tiling, bands: Sequence[Band]) -> Tiling:
    """Return a tiling with bands, and boxes for each of the regions that these leave."""
    block = tiling.blocks[0]
    levels = [band.level for band in bands if band.is_whole]

    def signs(points: FloatArray) -> NDArray[np.bool_]:
        found = [np.asarray(f(*points.T)) > 0 for f in levels]
        return np.stack(found, axis=1) if found else np.zeros((len(points), 0), dtype=bool)

    edges: dict[bytes, list[tuple[Panels, list[StripSide]]]] = {}
    kept = []
    for band in bands:
        rim = band.rim
        own = [signs(samples(edge)[0]) for edge, _ in rim]
        if any(np.any(one != one[0]) for one in own):
            return tiling
        keys = [one[0].tobytes() for one in own]
        if band.is_whole or len(set(keys)) == 1:
            kept.append(band)
            for key, side in zip(keys, rim, strict=True):
                edges.setdefault(key, []).append(side)
    outer = block.region.panels if isinstance(block.region, Region) else Panels([])
    whose = _whose(outer, signs)
    if whose is None or not set(whose) <= set(edges):
        return tiling
    blocks: list[Block] = []
    for key, own_edges in edges.items():
        panels = outer.chosen(np.flatnonzero([k == key for k in whose]).astype(np.int64))
        strips: dict[int, StripSide] = {}
        for edge, sides in own_edges:
            strips |= dict(enumerate(sides, len(panels.parts)))
            panels = panels.beside(edge)
        blocks.append(replace(block, region=Region(block.domain, panels, strips)))
    for band in kept:
        blocks += _strip_blocks(band, block)
    return replace(tiling, blocks=tuple(blocks))


def _whose(outer: Panels, signs: Callable[[FloatArray], NDArray[np.bool_]]) -> list[bytes] | None:
    """Return which region each panel of the boundary bounds; None if one bounds several."""
    if not outer.parts:
        return []
    found = signs(samples(outer)[0]).reshape(len(outer.parts), len(ON_PANEL), -1)
    if np.any(found != found[:, :1]):
        return None
    return [own[0].tobytes() for own in found]


def _strip_blocks(band: Band, block: Block) -> Iterator[Block]:
    """Yield the blocks of a band's strips."""
    for k, strip in enumerate(band.strips):
        lines = np.array([0.0, strip.length]), band.lines
        yield Block(block.domain, lines, strip_walls(band, block, k), strip, more=(0, band.more))


def strip_walls(band: Band, block: Block, which: int) -> tuple[Wall, ...]:
    """Return the walls that one of a band's strips ends on."""
    walls: list[Wall] = []
    strip = band.strips[which]
    for end, at, t in ((0, 0, -1.0), (1, len(band.strips) - 1, 1.0)):
        if which == at and not (band.ribbon.is_closed or band.ribbon.loose[end]):
            point = band.ribbon.panels.at(np.array([which]), np.array([t]))[0]
            wall = wall_at(block, point)
            if wall is not None:
                depth = np.array([strip.depth])
                walls.append((0, strip.place(0, end), np.zeros(1), depth, wall[4]))
    return tuple(walls)
