"""Charts that no edge of a material lies across, where edges are straight."""

from __future__ import annotations

import itertools

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.interfaces import curved_conditions
from sharpfront.equation.oblique_lines import Line, distinct, straight_lines
from sharpfront.errors import EquationError, ProblemError
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.place.tiling.slants import everywhere
from sharpfront.place.tiling.solids import ROUNDING
from sharpfront.place.tiling.tiling import cut_along
from sharpfront.problem import Problem
from sharpfront.rows.loads import loads_between_charts
from sharpfront.rows.materials import material_lines, torn_across


def cut_along_materials(problem: Problem, tiling: Tiling) -> Tiling:
    """Return a tiling with charts cut along straight edges of materials, if some are slanted.

    Or if there are charts anyway. Boxes of space are cut along axes later, and edges along curves
    are left to strips.
    """
    block = tiling.blocks[0]
    if problem.domain.dimension != 2 or not problem.is_singular or block.region is not None:
        return tiling
    charted = block.chart is not None
    lines = material_lines(problem)
    if lines is None and charted:
        raise ProblemError(_REFUSED.format("on a curve, or nobody knows where"))
    if not charted and not any(line.is_slanted for line in lines or ()):
        return tiling
    try:
        if lines:
            curved_conditions(problem.equations, problem.unknowns, problem.coordinates)
        loads = [Line(_NORMALS[q.axis], q.placed.place) for q in loads_between_charts(problem)]
    except EquationError as error:
        raise ProblemError(str(error)) from error
    size, corners = float(np.ptp(problem.domain.bounds, axis=0).max()), _corners(tiling)
    bounds = problem.domain.bounds
    around = [(x, x.distances(corners) / size) for x in distinct([*(lines or ()), *loads], bounds)]
    inside = [x for x, d in around if d.min() < -ROUNDING and d.max() > ROUNDING]
    if not inside or not (charted or any(line.is_slanted for line in inside)):
        return tiling
    told = straight_lines(problem.equations, problem.coordinates, bounds)
    every = distinct([*told, *inside], bounds)

    def torn(line: Line, stretch: FloatArray) -> bool:
        return line not in (lines or ()) or line in loads or torn_across(problem, line, stretch)

    # Whole lines make better charts, stretches of them fewer slivers.
    ways = itertools.product((everywhere, torn), (every, inside))
    tried = (cut_along(problem.domain, own, torn=which) for which, own in ways)
    found = next((tiling for tiling in tried if tiling is not None), None)
    if found is None and charted:
        raise ProblemError(_REFUSED.format("so close to a corner that charts would be slivers"))
    return found or tiling


_NORMALS = (1.0, 0.0), (0.0, 1.0)
_REFUSED = (
    "A coefficient inside a derivative jumps, or a load acts, {}. Between slanted sides flux "
    "conditions are known on straight lines, given as in np.where(x + y > 1, ...) or "
    "sf.delta(x - 0.3), that leave out no slivers."
)


def _corners(tiling: Tiling) -> FloatArray:
    """Return corners of charts or boxes that have the domain between them, (m, 2)."""
    found = []
    for block in tiling.blocks:
        ends = [(x[0], x[-1]) for x in block.lines]
        found.append(block.in_space(np.array(list(itertools.product(*ends)))))
    return np.concatenate(found)
