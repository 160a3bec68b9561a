"""The first patches, from the statement alone: edges of the data, layers, waves, sources."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.patch import Patch
from sharpfront.bases.total_degree import is_joint
from sharpfront.equation.edges import places_along
from sharpfront.equation.oblique_lines import Line, steep_lines, straight_lines
from sharpfront.maps import AxisMap, Quadrilateral, Strip
from sharpfront.place.patches.beside_walls import sources_of_layers
from sharpfront.place.patches.bumps import bumps_of, cut_about
from sharpfront.place.patches.cuts import Cell
from sharpfront.place.patches.data_probes import DataProbes, Holding
from sharpfront.place.patches.data_resolution import with_resolved_data
from sharpfront.place.patches.poles import cut_at, with_poles
from sharpfront.place.patches.refine import balanced
from sharpfront.place.patches.settings import SETTINGS, PatchSettings
from sharpfront.place.patches.wakes import wakes, with_wakes
from sharpfront.place.patches.waves import Waves, short_enough
from sharpfront.place.strips.bands import banded
from sharpfront.place.strips.characteristics import Shear
from sharpfront.place.strips.cuts_across import lines_in_chart
from sharpfront.place.strips.settings import STRIPS
from sharpfront.place.strips.shears import short_along
from sharpfront.place.strips.tangencies import Tangency, graded, tangencies
from sharpfront.place.tiling.blocks import Block, Tiling, snap
from sharpfront.place.tiling.curved import fitted
from sharpfront.place.tiling.materials import cut_along_materials
from sharpfront.place.tiling.tiling import cut_along
from sharpfront.problem import Problem
from sharpfront.rounding import ROUNDED, SAME
from sharpfront.rows.interfaces import interface_lines

# Functions across strips, and the maps of their sides.
Strips = dict[tuple[float, float], tuple[int, AxisMap]]


def first_cells(
    problem: Problem,
    tiling: Tiling,
    settings: PatchSettings,
    tol: float,
    most: int,
    waves: Waves,
    looks: DataProbes | None = None,
    shears: Sequence[Shear] = (),
) -> list[Cell]:
    """Return the cells that the first solve is made on, with `most` functions at most."""
    base = settings.functions(tol)
    cells = []
    touched = tangencies(problem, tiling.strips)
    for block in _cut_where_touched(touched, tiling.blocks):
        lines, strips = _lines(problem, block, settings, tol, tiling.corners)
        walls, strip = {axis for axis, *_ in block.walls}, block.chart
        for axis, more in block.layered.items():
            if strips[axis]:
                continue
            side = 0.0, float(block.lines[axis][-1])
            if block.decays:
                strips = [
                    *_along_shell(block, base),
                    {side: (base, AxisMap(*side, 0.0, block.decays))},
                ]
            else:
                strips[axis] = _strips(side, 0, settings, tol, is_joint(len(lines)), more)
            lines[axis] = np.union1d(lines[axis], side)
        if isinstance(strip, Strip) and walls == {1} and _ends_at(strip, tiling.corners):
            # Across the other side's layer as well.
            whole = 0.0, strip.length
            strips[0] = {whole: (math.ceil(SETTINGS.mitred * settings.layer(tol)), AxisMap(*whole))}
        for low, high in block.boxes(lines):
            ends = list(zip(low.tolist(), high.tolist(), strict=True))
            usual = [base + more for more in block.more or (0,) * len(ends)]
            across = [
                strips[a].get(side, (usual[a], AxisMap(*side))) for a, side in enumerate(ends)
            ]
            functions, maps = zip(*across, strict=True)
            own = [Cell(Patch(maps, functions, block.chart, block.region))]
            cells += fitted(own, block, tiling.corners) if block.region else own
    cells = with_wakes(cells, wakes(problem, touched, settings.layer(tol)), settings.layer(tol))
    cells = short_along(cells, shears, most)
    looks = looks or DataProbes(problem, tiling.marked, tol)
    cells = short_enough(cells, waves, tol, settings.most(tol, problem.domain.dimension), most)
    cells = cut_at(cells, tiling.marked)
    cells = cut_about(cells, bumps_of(problem, settings.layer(tol)), most)
    several = len(tiling.blocks) > 1 or tiling.blocks[0].region is not None
    if several or not waves.everywhere or tiling.marked:
        cells = balanced(cells, tiling.periods)
    return with_resolved_data(looks, tiling, cells, settings, tol, most)


def poorer(
    settings: PatchSettings, tol: float, fewest: int
) -> Iterator[tuple[PatchSettings, float]]:
    """Yield settings with ever fewer functions to begin with, then ever looser tolerances."""
    while settings.functions(tol) > fewest:
        settings = replace(settings, base=settings.base - 1)
        yield settings, tol
    while tol < SETTINGS.loosest:
        tol = 10.0 * tol
        yield replace(settings, base=settings.base + fewest - settings.functions(tol)), tol


def _cut_where_touched(found: Sequence[Tangency], blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield blocks, strips along the boundary cut to where a wind touches it."""
    for block in blocks:
        if not found or not isinstance(block.chart, Strip):
            yield block
            continue
        for low, high in itertools.pairwise(graded(block.chart, found).tolist()):
            walls = [
                (axis, place, *((np.array([low]), np.array([high])) if axis else (a, b)), part)
                for axis, place, a, b, part in block.walls
                if axis or low <= place <= high
            ]
            yield replace(block, lines=(np.array([low, high]), block.lines[1]), walls=tuple(walls))


def _ends_at(strip: Strip, corners: FloatArray) -> bool:
    """Tell whether the outer side of a strip ends at one of some corners."""
    ends = np.array([strip.edge(0, end)[0] for end in (0, 1)])
    near = ROUNDED * strip.length
    gaps = np.abs(ends[:, None] - corners).max(axis=2)
    return bool(np.any(gaps < 1e3 * near))


def _lines(
    problem: Problem,
    block: Block,
    settings: PatchSettings,
    tol: float,
    corners: FloatArray,
) -> tuple[list[FloatArray], list[Strips]]:
    """Return where to cut along each axis, and the functions across strips that hold a layer."""
    edges = [np.empty(0) for _ in block.lines]
    if block.chart is None:
        edges = [
            _new_lines(edges_of_data(problem, name, float(x[0]), float(x[-1])), x)
            for x, name in zip(block.lines, problem.domain.coordinates, strict=True)
        ]
    elif isinstance(block.chart, Strip) and block.chart.front is not None:
        edges[1] = np.array([block.chart.front])
    lines = [np.union1d(x, e) for x, e in zip(block.lines, edges, strict=True)]
    strips: list[Strips] = [{} for _ in lines]
    for beside in sources_of_layers(problem, block, edges, lines, corners):
        for side in beside.strips(settings.layer(tol)):
            own = _strips(side, beside.end, settings, tol, is_joint(len(lines)))
            strips[beside.axis] |= own
    for axis in range(len(lines)):
        lines[axis], strips[axis] = _without_slivers(lines[axis], strips[axis])
        if block.domain.periodic_axes[axis] and len(lines[axis]) == 2:
            # A trace is shared by two patches: none may be its own neighbour.
            lines[axis] = np.insert(lines[axis], 1, lines[axis].mean())
    return lines, strips


def _without_slivers(lines: FloatArray, strips: Strips) -> tuple[FloatArray, Strips]:
    """Return where to cut so that strips are cut off, and these with their ends there.

    What begins at both ends of a wall decays along it as deep but for rounding, and so does what
    begins at two lines: the deepest strip ends where it does, and others that end next to a line
    end there, or nothing but a sliver would lie between them.
    """
    out: Strips = {}
    for side, (functions, own) in sorted(strips.items(), key=lambda s: s[0][0] - s[0][1]):
        near = SETTINGS.apart * (side[1] - side[0])
        low, high = (snap(x, lines) if np.abs(lines - x).min() < near else x for x in side)
        lines = np.union1d(lines, [low, high])
        # Beside a thinner layer of the same wall the deeper one begins where that ends.
        for deep in [d for d in out if low == d[0] or high == d[1]]:
            rest = (high, deep[1]) if low == deep[0] else (deep[0], low)
            more, whole = out.pop(deep)
            if rest[0] < rest[1]:
                out[rest] = more, replace(whole, low=rest[0], high=rest[1])
        out[low, high] = functions, replace(own, low=low, high=high)
    return lines, out


def _strips(
    side: tuple[float, float],
    end: int,
    settings: PatchSettings,
    tol: float,
    in_space: bool,
    more: float = 1.0,
) -> Strips:
    """Return the strip of a layer, with so many times the functions of one."""
    functions = max(settings.functions(tol), math.ceil(more * settings.layer(tol)))
    if not in_space:
        return {side: (functions, AxisMap(*side))}
    fewer = max(settings.functions(tol), math.ceil(SETTINGS.part * functions))
    return {side: (fewer, AxisMap(*side, -SETTINGS.bent_to if end else SETTINGS.bent_to))}


def _along_shell(block: Block, base: int) -> list[Strips]:
    """Return the functions along a shell."""
    sides = [(float(x[0]), float(x[-1])) for x in block.lines[:-1]]
    return [{side: (math.ceil(SETTINGS.more_along * base), AxisMap(*side))} for side in sides]


def cut_for_data(
    problem: Problem, plain: Tiling, settings: PatchSettings, tol: float, most: int
) -> Tiling:
    """Return a tiling with strips or charts along what formulas tell of, for so many functions."""
    tiling = cut_along_materials(problem, plain)
    if tiling is plain:
        tiling = banded(problem, plain, settings, tol, most)
    if tiling is plain:
        cut = cut_along_edges(problem, plain, settings, tol)
        tiling = plain if cut is plain else with_poles(problem, cut)
    return tiling


def cut_along_edges(
    problem: Problem, tiling: Tiling, settings: PatchSettings, tol: float
) -> Tiling:
    """Return a tiling with charts cut along the lines on which data jump or bend.

    And about which they are steep, where there are charts anyway: across a chart a front takes
    patches all along, on its side those of a layer. Boxes of space are cut along lines parallel to
    the axes later, and if something else jumps there, lines across the axes are left to splitting.
    """
    if problem.domain.dimension != 2 or tiling.blocks[0].region is not None:
        return tiling
    lines = straight_lines(problem.equations, problem.coordinates, problem.domain.bounds)
    charted = tiling.blocks[0].chart is not None
    names, bounds = problem.coordinates, problem.domain.bounds
    steep = steep_lines(problem.equations, names, bounds, SETTINGS.steep)
    if not charted and not any(line.is_slanted for line in (*lines, *steep)):
        return tiling
    if problem.is_singular and any(len(x) for x in interface_lines(problem)):
        return tiling
    fronts = cut_along(problem.domain, lines, steep) if steep else None
    if fronts is not None:
        holding, base = Holding(problem, STRIPS.strict * tol), settings.functions(tol)
        blocks = [_beside_fronts(holding, block, steep, base) for block in fronts.blocks]
        return replace(fronts, blocks=tuple(blocks))
    return cut_along(problem.domain, lines) or tiling


def _beside_fronts(holding: Holding, block: Block, steep: Sequence[Line], base: int) -> Block:
    """Return a chart cut beside those of its sides that lie on lines about which data are steep."""
    chart = block.chart
    assert isinstance(chart, Quadrilateral)
    lines = list(block.lines)
    for axis, end in itertools.product(range(2), range(2)):
        side = np.array(chart.edge(axis, end))
        near = ROUNDED * float(chart.size.max())
        if any(np.abs(line.distances(side)).max() < 1e3 * near for line in steep):
            lines[axis] = np.union1d(lines[axis], lines_in_chart(holding, chart, axis, end, base))
    return replace(block, lines=tuple(lines))


def has_edges(problem: Problem) -> bool:
    """Tell whether data jump or bend on a line across the domain."""
    ends = zip(problem.domain.coordinates, *problem.domain.bounds, strict=True)
    return any(len(edges_of_data(problem, name, float(a), float(b))) > 0 for name, a, b in ends)


def edges_of_data(problem: Problem, name: str, low: float, high: float) -> FloatArray:
    """Return where data jump or bend on a line across the domain, and where loads act.

    What holds on the boundary next to an end is meant for the end: x > 1e-9.
    """
    graphs = [*problem.equations, *(r for c in problem.further for r in c.residuals)]
    graphs += [e for j in problem.jumps for e in j.equals]
    found = [places_along(g, name, low, high) for g in graphs]
    given = [r for c in problem.conditions for r in c.residuals]
    near = SAME * (high - low)
    found += [places_along(r, name, low + near, high - near) for r in given]
    if problem.is_singular:
        found.append(interface_lines(problem)[problem.domain.coordinates.index(name)])
    return np.concatenate(found)


def _new_lines(places: FloatArray, lines: FloatArray) -> FloatArray:
    """Return places without those that are another, or a line, but for rounding."""
    near = ROUNDED * float(np.ptp(lines))
    places = np.unique(places)
    places = places[np.diff(places, prepend=-np.inf) > near]
    return np.asarray(places[np.abs(places[:, None] - lines).min(axis=1) > near])
