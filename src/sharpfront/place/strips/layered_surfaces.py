"""Which surfaces have functions of their layers, and how many of these there are at first.

Where a solution decays at one rate all along a closed surface, and there is room for it to do so,
what varies along the surface is smooth and a few hundred functions of the whole layer hold it.
Elsewhere shells do (`shells`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sharpfront.bases.layer_functions import LayerFunctions, SurfaceCollar, spread_along
from sharpfront.bases.solid_cut_cells import SolidRegion
from sharpfront.bases.star_charts import shell_of
from sharpfront.geometry.star_surface import Square, squares_of
from sharpfront.place.patches.settings import PatchSettings
from sharpfront.place.strips.decay_rates import decay_rates
from sharpfront.place.strips.ribbons import distances, tree_of
from sharpfront.place.strips.settings import STRIPS
from sharpfront.place.strips.shells import looked_at, may_be_thin, room_along_normals
from sharpfront.place.tiling.blocks import Block, Tiling
from sharpfront.problem import Problem

# Deeper than so many widths layers are rounding.
NOTHING = 37.0


def layers_along(
    problem: Problem, tiling: Tiling, settings: PatchSettings, tol: float
) -> tuple[LayerFunctions, ...]:
    """Return functions of the layers along closed surfaces; none if some of them need shells."""
    if not _is_plain(problem):
        return ()
    regions = [(block, block.region) for block in tiling.blocks]
    widths = settings.layer(tol)
    found = [
        _layer_functions(problem, block, squares, settings, tol)
        for block, region in regions
        if isinstance(region, SolidRegion) and may_be_thin(problem, block, region, widths)
        for surface in region.surfaces
        if surface.wall is None and (squares := squares_of(surface))
    ]
    return () if None in found else tuple(own for each in found for own in each or ())


def _is_plain(problem: Problem) -> bool:
    """Tell whether there is one linear equation of second order in space, as it is stated."""
    return (
        problem.domain.dimension == 3
        and len(problem.unknowns) == 1
        and not problem.is_singular
        and all(form.order == 2 and form.stated is None for form in problem.forms)
    )


def _layer_functions(
    problem: Problem, block: Block, squares: Sequence[Square], settings: PatchSettings, tol: float
) -> list[LayerFunctions] | None:
    """Return the functions of a surface's layer, none if it is wide; None if it needs shells."""
    room = _room(squares, float(np.ptp(block.domain.bounds, axis=0).max()))
    rates: list[float] = []
    single = True
    for square in squares:
        shell = shell_of(square, STRIPS.deepest * room)
        at = looked_at(shell, 0.0)
        found = decay_rates(problem, at, 2, 0, chart=shell, bends=False)
        # Two rates at a place are an oscillation, or a layer of something else.
        single &= all(len(own) == 1 for own in found)
        rates += [float(own.max(initial=0.0)) for own in found]
    fastest, slowest = max(rates), min(rates)
    if fastest * STRIPS.wide * room <= settings.layer(tol):
        return []
    decays = STRIPS.within * room * slowest
    alike = single and fastest - slowest < STRIPS.alike * fastest
    if not alike or decays < math.log(1.0 / tol) + STRIPS.left:
        return None
    width = 2.0 / (fastest + slowest)
    depth = min(STRIPS.within * room, NOTHING * width)
    beside = SurfaceCollar([shell_of(square, depth) for square in squares])
    across = 1 + math.ceil(math.log(tol) / math.log(min(STRIPS.bent, width * beside.bend)))
    return [LayerFunctions(beside, width, joint_degrees(settings.functions(tol), across))]


def _room(squares: Sequence[Square], most: float) -> float:
    """Return how far from a surface its normals meet neither each other nor the surface again.

    What else is there does not matter: distances from this surface are smooth there too.
    """
    shells = [shell_of(square, most) for square in squares]
    own = [s.points(spread_along(s, STRIPS.shell_places, np.zeros(1))) for s in shells]
    tree = tree_of(np.concatenate(own))
    depths = (most * STRIPS.shell_factor ** np.arange(STRIPS.shell_depths)).tolist()
    return room_along_normals(shells, depths, lambda points: distances(tree, points))


def joint_degrees(along: int, across: int) -> tuple[int, ...]:
    """Return degrees of harmonics for so many functions across a layer: less and less."""
    return tuple(math.ceil(along * (1.0 - k / across)) for k in range(across))
