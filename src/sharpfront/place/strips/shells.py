"""Layers along the surface of a solid: shells in which they decay, or functions of their own.

Where a solution decays at one rate all along a closed surface, and there is room for it to do so,
what varies along the surface is smooth, and a few hundred functions of the whole layer hold it.
Elsewhere shells do: what strips along curves are in the plane, charts with the distance from the
surface and two angles along it. Boxes go on where shells end, and are cut there.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.layer_functions import LayerFunctions, SurfaceCollar, spread_along
from sharpfront.bases.legendre import product_points
from sharpfront.bases.solid_cut_cells import SolidRegion
from sharpfront.bases.star_charts import shell_of
from sharpfront.geometry.domain import BoundaryPoints
from sharpfront.geometry.patches import Triangles
from sharpfront.geometry.star_surface import Square, squares_of
from sharpfront.geometry.surfaces import Surface
from sharpfront.maps import Shell
from sharpfront.maps.shell import SHELL_ORDERS
from sharpfront.place.patches.settings import PatchSettings
from sharpfront.place.strips.decay_rates import decay_rates
from sharpfront.place.strips.ribbons import distances, tree_of
from sharpfront.place.strips.settings import STRIPS
from sharpfront.place.tiling.blocks import Block, Tiling
from sharpfront.problem import Problem


def shelled(problem: Problem, block: Block, widths: float) -> list[Block]:
    """Return a block with shells along closed surfaces beside which layers are thin.

    These are so many widths of layers deep, but no deeper than strips may be in the plane.
    """
    region = block.region
    if not isinstance(region, SolidRegion) or max(f.order for f in problem.forms) > SHELL_ORDERS:
        return [block]
    if not may_be_thin(problem, block, region, widths):
        return [block]
    blocks: list[Block] = []
    surfaces: list[Surface] = []
    shells: list[Shell] = []
    for surface in region.surfaces:
        squares = squares_of(surface) if surface.wall is None else None
        layer = _layer(problem, block, squares, widths) if squares else None
        if squares is None or layer is None:
            surfaces.append(surface)
            continue
        own = [shell_of(square, layer.depth) for square in squares]
        surfaces.append(_moved(surface, layer.depth))
        shells += own
        blocks += [_block(block, shell, surface.part, layer.decays) for shell in own]
    if not shells:
        return [block]
    inner = SolidRegion(block.domain, surfaces, shells)
    return [replace(block, region=inner), *blocks]


def may_be_thin(problem: Problem, block: Block, region: SolidRegion, widths: float) -> bool:
    """Tell whether some layer may be so thin, wherever it lies, that it has charts of its own.

    Looking at surfaces takes seconds, and most problems have no layers. Along its normal a solution
    decays no faster than so many times what it does along the fastest of the axes.
    """
    curved = [s.triangles.corners.reshape(-1, 3) for s in region.surfaces if s.wall is None]
    if not curved:
        return False
    points = np.concatenate([own[:: max(1, len(own) // STRIPS.rates_seen)] for own in curved])
    rates = [
        float(own.max(initial=0.0))
        for axis, end in itertools.product(range(3), (0, 1))
        for own in decay_rates(problem, points, axis, end)
    ]
    extent = float(np.ptp(block.domain.bounds, axis=0).max())
    return math.sqrt(3.0) * max(rates) * STRIPS.wide * extent > widths


def _block(block: Block, shell: Shell, part: str, decays: float) -> Block:
    """Return the block of a shell whose outer side lies on a part of the boundary."""
    lines = tuple(np.array([0.0, x]) for x in shell.size.tolist())
    wall = (2, 0.0, np.zeros(2), np.array(shell.lengths), part)
    return Block(block.domain, lines, (wall,), shell, layered={2: 1.0}, decays=decays)


def _moved(surface: Surface, depth: float) -> Surface:
    """Return the inner sides of shells along a surface, which are of no part."""
    whole = surface.triangles.onto
    assert whole is not None

    def onto(points: FloatArray) -> BoundaryPoints:
        found = surface.kept(whole(points))[1]
        return BoundaryPoints(found.points - depth * found.normals, found.normals)

    corners = onto(surface.triangles.corners.reshape(-1, 3)).points.reshape(-1, 3, 3)
    return Surface("", Triangles(corners, surface.triangles.normals, onto))


@dataclass(frozen=True)
class _Layer:
    """How deep a layer is, and how often it decays by 1/e, if it does so everywhere alike."""

    depth: float
    decays: float


def _layer(
    problem: Problem, block: Block, squares: Sequence[Square], widths: float
) -> _Layer | None:
    """Return the layer along a surface, or as much of it as there is room for; None without."""
    most = float(np.ptp(block.domain.bounds, axis=0).max())
    shells = [shell_of(square, most) for square in squares]
    depths = (most * STRIPS.factor ** np.arange(STRIPS.depths)).tolist()
    room = room_along_normals(shells, depths, block.domain.distance)
    found: list[FloatArray] = []
    for square in squares:
        shell = shell_of(square, STRIPS.deepest * room)
        found += decay_rates(problem, looked_at(shell, 1e-6 * shell.depth), 2, 0, chart=shell)
    rates = np.concatenate(found)
    thin = rates[rates * STRIPS.wide * room > widths]
    if not len(thin):
        return None
    depth = min(widths / float(thin.min()), STRIPS.deepest * room)
    alike = len(thin) == len(found) and np.ptp(thin) < STRIPS.alike * thin.min()
    return _Layer(depth, depth * float(thin.mean()) if alike else 0.0)


def looked_at(shell: Shell, depth: float) -> FloatArray:
    """Return positions all over a shell at a depth."""
    shares = (np.arange(STRIPS.on_shell) + 0.5) / STRIPS.on_shell
    at = product_points([shares * x for x in shell.lengths])
    return np.insert(at, 2, depth, axis=1)


def room_along_normals(
    shells: Sequence[Shell], depths: Sequence[float], distance: Callable[[FloatArray], FloatArray]
) -> float:
    """Return the first depth at which normals of a surface have met neither each other nor others.

    These are what points have a distance from. Zero if it is none.
    """
    at = [(shell, looked_at(shell, 0.0)) for shell in shells]
    points = np.concatenate([shell.points(x) for shell, x in at])
    inwards = np.concatenate([shell.taylor(x, 1)[0, 0, 1] for shell, x in at])
    for depth in depths:
        if np.all(distance(points + depth * inwards) >= STRIPS.clear * depth):
            return depth
    return 0.0


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
