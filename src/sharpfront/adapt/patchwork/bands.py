"""Strips on both sides of curves inside the domain, on which data jump or are narrow.

A front along a curve, and an edge of a material, are to strips along it what a layer is to strips
along the boundary: they take the same patches whatever their width and wherever the curve runs.
Boxes go on where strips end, on either side with functions of their own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sharpfront.adapt.patchwork.blocks import Block, Tiling
from sharpfront.adapt.patchwork.data import Holding, crossings
from sharpfront.adapt.patchwork.layers import decay_rates
from sharpfront.adapt.patchwork.ribbons import (
    DEEPEST,
    LOOKED,
    WIDE,
    Ribbon,
    distances,
    evened,
    rooms_along,
    samples,
    tree_of,
)
from sharpfront.adapt.patchwork.settings import PatchSettings
from sharpfront.adapt.patchwork.solids import Wall
from sharpfront.arrays import FloatArray
from sharpfront.bases.cut import Region
from sharpfront.bases.patch import Patch
from sharpfront.equation.edges import jumps_along
from sharpfront.equation.expression import Apply, Expression, derivatives_in, ordered
from sharpfront.equation.interfaces import curved_conditions
from sharpfront.equation.levels import Level, levels_of
from sharpfront.equation.linearise import linear_form
from sharpfront.equation.slanted import goes_on, straight_lines, values_at
from sharpfront.equation.weak import is_weak
from sharpfront.errors import DomainError, EquationError, ProblemError
from sharpfront.geometry.inner import curves_inside
from sharpfront.geometry.levelset import LevelCurve
from sharpfront.geometry.panels import Panels
from sharpfront.maps import AxisMap, Strip
from sharpfront.problem import Problem
from sharpfront.rows.interfaces import interface_lines

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

# Where nothing is narrow a band is as deep as this share of the room: boxes hold the rest as well.
SHALLOW = 0.4
# A curve that meets a wall at a smaller angle than this, as its sine, gets no band.
STEEP = 0.4
# Nor does one with less room than this share of the domain somewhere: boxes would be as small.
NARROWEST = 1e-3
# At a wall a band takes no more than this share of the way to its end.
ASIDE = 0.4
# Patches across a front are as deep as so many functions more than they begin with can hold.
MORE = 4
# Across a front data are held to this share of what they are elsewhere, 30 tolerances: what is left
# of a front in a long patch beside it is found by halving, a circle of 1e-3 took twice the patches.
STRICT = 1 / 30
# Depths that are tried for them, each this factor of the one before, down to rounding.
SHORTER, TRIED = 0.6, 60
# No more patches than this across a front: data that take more are not smooth beside it.
MOST = 20
# Data bend on a curve if no patch across it holds them, after so many of these.
THINNEST = 30
# Boxes along a front, for every one as long as what they can hold across it; they cost half of what
# strips and the boxes that these cut do: a wavy front of 1e-2 took 4.1 s of them, 12.4 s of strips.
BOXES = 1.5
# Points of the domain at which a function's sign is looked at.
SEEN = 2000
# Curves that bend by less than this over the domain are straight.
STRAIGHT = 1e-6
# Curves as close to one another as this share of the domain are one.
SAME = 1e-6

_CROSSING = (
    "A coefficient inside a derivative jumps where {}. Flux conditions are known on lines parallel "
    "to the axes, and in the plane on smooth lines, slanted or curved, that are closed or end on "
    "the sides of a box, and neither cross nor touch others. Let edges of materials keep apart, or "
    "write them along axes."
)

Function = Callable[..., FloatArray]


@dataclass(frozen=True, eq=False)
class _Band:
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
    """

    ribbon: Ribbon
    within: FloatArray
    beyond: FloatArray
    strips: tuple[Strip, ...]

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
    every, told = _curves(problem)
    curves = [found for found in every if _is_wide(found[0], block)]
    if not curves:
        _require_bands(problem, told, ())
        return tiling
    looks = _Surroundings(
        block, [panels for panels, _, _ in curves], Holding(problem, STRICT * tol)
    )
    bands = [
        band
        for i, (panels, level, _) in enumerate(curves)
        if (band := _band(problem, looks, i, panels, level, settings, tol)) is not None
    ]
    patches = sum(len(band.strips) * (len(band.lines) - 1) for band in bands)
    if patches * settings.functions(tol) ** 2 > most / 2 and not problem.is_singular:
        return tiling
    out = _with_bands(tiling, bands, [f for _, _, f in curves]) if bands else tiling
    _require_bands(problem, told, bands if out is not tiling else ())
    return out


def _is_wide(panels: Panels, block: Block) -> bool:
    """Tell whether a curve is large enough for strips: else it takes no room from others either."""
    least = NARROWEST * float(np.ptp(block.domain.bounds, axis=0).max())
    return bool(np.ptp(samples(panels)[0], axis=0).max() > least)


def _require_bands(
    problem: Problem, told: Mapping[str, Sequence[Panels]], bands: Sequence[_Band]
) -> None:
    """Refuse fluxes that jump along curves without strips, or along axes across strips."""
    for axis, places in enumerate(interface_lines(problem)):
        for edge in (band.edge(end) for band in bands for end in (0, 1)):
            low, high = np.min(samples(edge)[0], axis=0), np.max(samples(edge)[0], axis=0)
            if np.any((places > low[axis]) & (places < high[axis])):
                raise ProblemError(_CROSSING.format(f"{problem.coordinates[axis]} = {places[0]:g}"))
    kept = {id(band.ribbon.panels) for band in bands}
    materials = _materials(problem)
    for level in materials:
        own = told.get(level.told, ())
        followed = own and all(id(panels) in kept for panels in own)
        if not followed and (own or _changes_sign(problem, level)):
            raise ProblemError(_CROSSING.format(level.told))
    if materials and bands:
        try:
            curved_conditions(problem.equations, problem.unknowns, problem.coordinates)
        except EquationError as error:
            raise ProblemError(str(error)) from error


def _materials(problem: Problem) -> list[Level]:
    """Return the curves on which something jumps inside a derivative."""
    nodes = [n for equation in problem.equations for n in ordered(equation)]
    weak = [n for n in nodes if is_weak(n) and derivatives_in(n) and not _goes_on(problem, n)]
    return [level for level in levels_of(weak) if level.jumps]


def _changes_sign(problem: Problem, level: Level) -> bool:
    """Tell whether a function has both signs in a domain, also where formulas tell of places."""
    domain = problem.domain
    places = np.concatenate([domain.sample(SEEN), crossings(problem)])
    values = values_at(level.argument, problem.coordinates, places[domain.contains(places)])
    return bool(np.any(values > 0) and np.any(values <= 0))


def _goes_on(problem: Problem, node: Expression) -> bool:
    """Tell whether what is differentiated goes on across straight lines across the axes.

    As u - np.where(x + y > 1, (x + y - 1)**1.5, 0) does: then there is nothing to ask for on them.
    """
    assert isinstance(node, Apply)
    form, names, bounds = linear_form(node.arguments[1]), problem.coordinates, problem.domain.bounds
    if len(names) != 2 or any(jumps_along(t.coefficient, n) for t in form.terms for n in names):
        return False
    every = straight_lines([form.source], names, bounds)
    lines = [line for line in every if line.is_slanted]
    return bool(lines) and all(goes_on(form.source, line, names, bounds) for line in lines)


def _curves(
    problem: Problem,
) -> tuple[list[tuple[Panels, Level, Function]], dict[str, list[Panels]]]:
    """Return the curves that the equations tell of, each once, and which belong to each level."""
    out: list[tuple[Panels, Level, Function]] = []
    told: dict[str, list[Panels]] = {}
    size = float(np.ptp(problem.domain.bounds, axis=0).max())
    known: list[_Known] = []
    materials = {level.told for level in _materials(problem)}
    for level in levels_of(problem.equations):
        f = _as_function(level.argument, problem.coordinates)
        try:
            found = curves_inside(f, problem.domain)
        except DomainError:
            continue
        for curve in found or ():
            panels = Panels([("", curve)])
            straight = np.abs(panels.curvatures[1]).max() < STRAIGHT / size
            if straight and (level.jumps or level.bends) and level.told not in materials:
                # Charts are cut along it.
                continue
            places = samples(panels)[0]
            same = [one.is_along(places, SAME * size) for one in known]
            if any(same):
                told.setdefault(level.told, []).append(out[same.index(True)][0])
                continue
            known.append(_Known(tree_of(places), curve))
            out.append((panels, level, f))
            told.setdefault(level.told, []).append(panels)
    return out, told


@dataclass(frozen=True, eq=False)
class _Known:
    """A curve that was found before."""

    tree: cKDTree
    curve: LevelCurve

    def is_along(self, places: FloatArray, near: float) -> bool:
        """Tell whether places lie on it, to within a distance."""
        if distances(self.tree, places).max() > _spacing(self.tree):
            return False
        moved = self.curve.region.onto(places).points - places
        return bool(np.linalg.norm(moved, axis=1).max() < near)


def _spacing(tree: cKDTree) -> float:
    """Return how far points of a tree are apart at the most, about."""
    return float(np.max(np.asarray(tree.query(tree.data, 2)[0])[:, 1]))


def _as_function(argument: Expression, coordinates: Sequence[str]) -> Function:
    def f(*x: FloatArray) -> FloatArray:
        points = np.stack(np.broadcast_arrays(*x), axis=-1).reshape(-1, len(x))
        return values_at(argument, coordinates, points)

    return f


class _Surroundings:
    """What curves inside a domain have around them."""

    def __init__(self, block: Block, curves: Sequence[Panels], holding: Holding) -> None:
        self.block, self.holding = block, holding
        self.trees = [tree_of(samples(p, np.linspace(-1.0, 1.0, 41))[0]) for p in curves]
        self.size = float(np.ptp(block.domain.bounds, axis=0).max())

    def rooms(self, ribbon: Ribbon, which: int) -> FloatArray:
        """Return how far below a curve strips may go, at the ends of its panels.

        Half the way to other curves, which may have strips as well, and two thirds of that to
        walls that it does not end on.
        """
        others = [tree for i, tree in enumerate(self.trees) if i != which]
        spacing = _spacing(self.trees[which])

        def clearance(points: FloatArray, depth: float) -> FloatArray:
            # To the nearest of points it is a little farther than to the curve.
            own = np.where(depth < spacing, depth, distances(self.trees[which], points))
            gaps = [own, *(distances(tree, points) for tree in others)]
            if ribbon.is_closed:
                gaps.append(2.0 * self.block.domain.distance(points))
            else:
                gaps.append(np.where(self.block.domain.contains(points), depth, 0.0))
            return np.asarray(np.min(gaps, axis=0))

        return rooms_along(ribbon, 0.5 * self.size, clearance)


def _band(
    problem: Problem,
    looks: _Surroundings,
    which: int,
    panels: Panels,
    level: Level,
    settings: PatchSettings,
    tol: float,
) -> _Band | None:
    """Return a curve's band; None where it has no room for one, or needs none."""
    ends = _ends(panels, looks.block)
    if ends is None:
        return None
    ribbon = _between_walls(Ribbon(panels, panels.normals), ends)
    sides, base, holding = [ribbon, ribbon.turned()], settings.functions(tol), looks.holding
    rooms = np.min([looks.rooms(side, which) for side in sides], axis=0)
    for k, _, room in ends:
        rooms[k] = min(rooms[k], room)
    rooms = evened(rooms, ribbon.lengths, closed=ribbon.is_closed)
    if rooms.min() <= NARROWEST * looks.size:
        return None
    room = float(rooms.max())
    scaled = [side.scaled(rooms / room) for side in sides]
    thick = 0.0 if level.jumps else _held_across(holding, scaled[0], room, base)
    jumps = level.jumps or (level.bends and not thick)
    lines = []
    for side in scaled:
        depth = DEEPEST * room
        whole = side.strips(depth)
        layer = _layers(problem, whole, room, settings.layer(tol))
        rest = [_across(strip, layer, depth, (base, base)) for strip in whole]
        # Where data are as smooth as elsewhere beyond the operator's layers, these are all.
        if jumps or (layer < SHALLOW * room and all(map(holding, rest))):
            depth = layer
        lines.append(_graded(holding, side.strips(depth), depth, base))
    within, beyond = lines
    front = float(beyond[-1]) if jumps else None
    strips = tuple(scaled[0].strips(float(within[-1]), float(beyond[-1]), front))
    band = _Band(scaled[0], within, beyond, strips)
    return band if jumps or _pays(band, thick) else None


def _held_across(holding: Holding, ribbon: Ribbon, room: float, base: int) -> float:
    """Return how thick patches across a curve may be that hold data; 0 where data bend on it."""
    for thin in room * SHORTER ** np.arange(THINNEST):
        strips = ribbon.strips(thin, thin)
        patches = [_across(s, 0.0, 2.0 * thin, (base, base + MORE)) for s in strips]
        if all(map(holding, patches)):
            return 2.0 * float(thin)
    return 0.0


def _pays(band: _Band, thick: float) -> bool:
    """Tell whether strips take fewer patches than boxes as thick as that along the curve would."""
    strips = len(band.strips) * (len(band.lines) - 1)
    return strips * thick < BOXES * float(band.ribbon.lengths.sum())


def _layers(problem: Problem, strips: Sequence[Strip], room: float, widths: float) -> float:
    """Return how deep strips are beside a curve on which data jump."""
    share = 0.5 * (LOOKED + 1.0)
    deep = []
    for strip in strips:
        places = np.stack([share * strip.length, np.full(len(share), 1e-6 * room)], axis=1)
        deep += [widths / own for own in decay_rates(problem, places, 1, 0, chart=strip)]
    found = np.concatenate(deep)
    thin = found[found < WIDE * room]
    return float(min(thin.max(), DEEPEST * room)) if len(thin) else SHALLOW * room


def _graded(holding: Holding, strips: Sequence[Strip], depth: float, base: int) -> FloatArray:
    """Return where to cut strips so that data are held across: from 0 on, up to a depth."""
    some = strips[:: max(1, len(strips) // 8)]

    def held(low: float, high: float) -> bool:
        return all(holding(_across(strip, low, high, (base, base + MORE))) for strip in some)

    lines = [0.0]
    while True:
        low = lines[-1]
        shorter = (low + (depth - low) * SHORTER ** np.arange(1, TRIED)).tolist()
        high = next((h for h in (depth, *shorter) if held(low, h)), None)
        lines.append(depth if high is None else high)
        if len(lines) > MOST:
            lines[-1] = depth
        if lines[-1] == depth:
            break
    return np.array(lines)


def _across(strip: Strip, low: float, high: float, functions: tuple[int, int]) -> Patch:
    return Patch((AxisMap(0.0, strip.length), AxisMap(low, high)), functions, strip)


def _ends(panels: Panels, block: Block) -> list[tuple[int, FloatArray, float]] | None:
    """Return which joints of a curve lie on walls, directions along these, and the room there.

    Directions are scaled so that their part along the normal is the normal. None where the curve
    runs along the wall.
    """
    out = []
    for panel, t in () if panels.closed else ((0, -1.0), (len(panels.parts) - 1, 1.0)):
        found, _ = panels.boundary(np.array([panel]), np.array([t]))
        point, normal = found.points[0], found.normals[0]
        wall = _wall_at(block, point)
        if wall is None:
            return None
        rest = 1 - wall[0]
        if abs(normal[rest]) < STEEP:
            return None
        along = np.zeros(2)
        along[rest] = 1.0 / normal[rest]
        gap = min(point[rest] - float(wall[2][0]), float(wall[3][0]) - point[rest])
        out.append((panel + (t > 0), along, ASIDE * gap * abs(normal[rest]) / DEEPEST))
    return out


def _between_walls(ribbon: Ribbon, ends: Sequence[tuple[int, FloatArray, float]]) -> Ribbon:
    """Return a ribbon whose directions lead along walls at its ends, which fades over a panel."""
    out = ribbon.outwards.copy()
    for joint, along, _ in ends:
        t = 1.0 if joint else -1.0
        panel = joint - 1 if joint else 0
        found, _ = ribbon.panels.boundary(np.array([panel]), np.array([t]))
        # The weights of ((1 + t z) / 2)^2.
        out[panel, :3] += np.outer([0.375, 0.5 * t, 0.125], along - found.normals[0])
    return Ribbon(ribbon.panels, out)


def _wall_at(block: Block, point: FloatArray) -> Wall | None:
    """Return the wall that a point lies on, not at its end."""
    size = float(np.ptp(block.domain.bounds, axis=0).max())
    for wall in block.walls:
        axis, place, low, high, _ = wall
        on = abs(point[axis] - place) < 1e-9 * size
        if on and low[0] < point[1 - axis] < high[0]:
            return wall
    return None


def _with_bands(tiling: Tiling, bands: Sequence[_Band], levels: Sequence[Function]) -> Tiling:
    """Return a tiling with bands, and boxes for each of the regions that these leave."""
    block = tiling.blocks[0]

    def signs(points: FloatArray) -> NDArray[np.bool_]:
        return np.stack([np.asarray(f(*points.T)) > 0 for f in levels], axis=1)

    edges: dict[bytes, list[tuple[Panels, Sequence[Strip], int]]] = {}
    for band, end in itertools.product(bands, (0, 1)):
        edge = band.edge(end)
        own = signs(samples(edge)[0])
        if np.any(own != own[0]):
            return tiling
        edges.setdefault(own[0].tobytes(), []).append((edge, band.strips, end))
    outer = block.region.panels if block.region is not None else Panels([])
    whose = _whose(outer, signs)
    if whose is None or not set(whose) <= set(edges):
        return tiling
    blocks: list[Block] = []
    for key, own_edges in edges.items():
        panels = outer.chosen(np.flatnonzero([k == key for k in whose]).astype(np.int64))
        strips: dict[int, tuple[Strip, int]] = {}
        for edge, own_strips, end in own_edges:
            first = len(panels.parts)
            strips |= {first + k: (strip, end) for k, strip in enumerate(own_strips)}
            panels = panels.beside(edge)
        blocks.append(replace(block, region=Region(block.domain, panels, strips)))
    for band in bands:
        blocks += _strip_blocks(band, block)
    return replace(tiling, blocks=tuple(blocks))


def _whose(outer: Panels, signs: Callable[[FloatArray], NDArray[np.bool_]]) -> list[bytes] | None:
    """Return which region each panel of the boundary bounds; None if one bounds several."""
    if not outer.parts:
        return []
    found = signs(samples(outer)[0]).reshape(len(outer.parts), len(LOOKED), -1)
    if np.any(found != found[:, :1]):
        return None
    return [own[0].tobytes() for own in found]


def _strip_blocks(band: _Band, block: Block) -> Iterator[Block]:
    """Yield the blocks of a band's strips."""
    last = len(band.strips) - 1
    for k, strip in enumerate(band.strips):
        walls: list[Wall] = []
        for at, t, place in ((0, -1.0, 0.0), (last, 1.0, strip.length)):
            if k == at and not band.ribbon.is_closed:
                point = band.ribbon.panels.at(np.array([k]), np.array([t]))[0]
                wall = _wall_at(block, point)
                assert wall is not None
                walls.append((0, place, np.zeros(1), np.array([strip.depth]), wall[4]))
        lines = np.array([0.0, strip.length]), band.lines
        yield Block(block.domain, lines, tuple(walls), strip)
