"""Functions of the vertices of a solid made of boxes, for one equation of second order."""

from __future__ import annotations

import itertools
import math

import numpy as np

from sharpfront.adapt.patchwork.cones import Octants, functions_of
from sharpfront.adapt.patchwork.edges import boxes_beside, conductivities_of
from sharpfront.adapt.patchwork.settings import ADAPT
from sharpfront.arrays import FloatArray
from sharpfront.bases.corner_functions import SharedFunctions
from sharpfront.bases.local_functions import HeldFunctions
from sharpfront.bases.vertex_functions import VertexFunctions
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.problem import Problem
from sharpfront.rounding import SLIGHT


def vertex_functions(problem: Problem, tiling: Tiling, tol: float) -> tuple[SharedFunctions, ...]:
    """Return the functions of all vertices at which they are known.

    Where the cone about a vertex does not hold the whole domain they belong to the boxes beside it.
    """
    conductivities, block = conductivities_of(problem), tiling.blocks[0]
    if conductivities is None or np.ptp(conductivities) or len(tiling.blocks) > 1:
        return ()
    if block.region is not None or any(
        len(c.forms) != 1 or c.forms[0].order for c in problem.conditions
    ):
        return ()
    extent = float(np.ptp(problem.domain.bounds, axis=0).max())
    most = ADAPT.orders + ADAPT.for_a_digit * max(2, math.ceil(-math.log10(tol) - 0.01))
    found: list[SharedFunctions] = []
    for place in itertools.product(*(x.tolist() for x in block.lines)):
        at = np.array(place)
        octants = _octants(problem, at, SLIGHT * extent)
        if octants is None:
            continue
        fans, degrees, weights = functions_of(octants, most, SETTINGS.powers(tol))
        ends = np.cumsum([len(fan.orders) for fan in fans])[:-1]
        if weights.shape[1]:
            own = tuple(np.split(weights, ends))
            functions = VertexFunctions(place, extent, fans, degrees, own)
            whole = _holds_all(problem, tiling, at, octants)
            beside = functions if whole else HeldFunctions(functions, boxes_beside(tiling, at, at))
            found.append(beside)
    return tuple(found)


def _octants(problem: Problem, place: FloatArray, size: float) -> Octants | None:
    """Return the octants of the domain about a place, if it is a vertex."""
    ways = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
    inside = problem.domain.contains(place + size * ways).reshape(2, 2, 2)
    # Along an edge, or a face, it is the same on both sides.
    same = (np.array_equal(*np.moveaxis(inside, axis, 0)) for axis in range(3))
    return None if any(same) else tuple(inside.ravel().tolist())


def _holds_all(problem: Problem, tiling: Tiling, place: FloatArray, octants: Octants) -> bool:
    """Tell whether the whole domain lies in the cone about a vertex."""
    middles = [0.5 * (x[1:] + x[:-1]) for x in tiling.blocks[0].lines]
    every = np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1).reshape(-1, 3)
    way = (every > place).astype(int) @ np.array([4, 2, 1])
    return not np.any(problem.domain.contains(every) & ~np.array(octants)[way])
