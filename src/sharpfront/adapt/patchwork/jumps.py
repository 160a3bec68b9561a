"""Corners at which a solution jumps: no patch is small enough there, but all is well elsewhere.

What goes wrong in a patch of size h beside such a corner is felt at a distance R as a share h / R
of it, and in unknowns that are rougher by t orders (a pressure, 1/r where the velocity jumps) as
(h / R)^(1 + t). So patches are cut until these shares are small, and the rest of the solution is
estimated by itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sharpfront.adapt.patchwork.cuts import ENOUGH, Cell
from sharpfront.adapt.patchwork.solids import Wall
from sharpfront.adapt.patchwork.tails import Tails
from sharpfront.adapt.patchwork.tiling import ROUNDING, Block, Tiling
from sharpfront.arrays import FloatArray
from sharpfront.bases.patch import Patch
from sharpfront.equation.edges import places_along
from sharpfront.equation.values import environment, form_values
from sharpfront.errors import EquationError
from sharpfront.problem import Problem

Place = tuple[float, ...]

# Within this share of the domain's size of a jump nothing is said of the solution.
BESIDE = 0.1
# A tail that over `ENOUGH` cuts towards one corner does not fall by this factor with each cut
# belongs to a jump: r^0.1, the strongest singularity of the published sets, falls by 0.93.
FALLING = 0.97
# How close to a place on a side values are compared, of the side's length.
CLOSE = (1e-10, 1e-9)


@dataclass(frozen=True)
class Jumps:
    """Where a solution jumps.

    Parameters
    ----------
    radius
        How far from a place the solution is estimated again.
    places
        The corners.
    stated
        In words, which conditions disagree at those that the statement tells of.
    """

    radius: float
    places: tuple[Place, ...] = ()
    stated: tuple[str, ...] = ()

    @classmethod
    def of(cls, problem: Problem, tiling: Tiling, tol: float) -> Jumps:
        """Return the corners at which conditions give an unknown two values."""
        extent = float(np.ptp(problem.domain.bounds, axis=0).max())
        if problem.domain.dimension != 2:
            return cls(BESIDE * extent)
        found = {}
        sides = [(block.ends(wall), wall[4]) for block in tiling.blocks for wall in block.walls]
        for (ends, part), (others, beside) in itertools.combinations(sides, 2):
            gaps = np.linalg.norm(ends[:, None] - others[None], axis=2)
            i, j = divmod(int(np.argmin(gaps)), 2)
            if gaps[i, j] > ROUNDING * extent:
                continue
            one, two = _given(problem, part, ends, i), _given(problem, beside, others, j)
            for name in one.keys() & two.keys():
                u, v = one[name], two[name]
                if abs(u - v) > tol * max(1.0, abs(u), abs(v)):
                    place = tuple(ends[i].tolist())
                    told = f"for {name} the condition on {part} gives {u:.3g}"
                    found[place] = f"{told}, that on {beside} gives {v:.3g}"
        inside = {
            p
            for block in tiling.blocks
            for wall in block.walls
            for p in _within(problem, block, wall, tol)
        }
        stated = tuple(found[p] for p in sorted(found))
        return cls(BESIDE * extent, tuple(sorted({*found, *inside})), stated)

    def away(self, points: FloatArray) -> NDArray[np.bool_]:
        """Tell which points are far enough from all places, (m,)."""
        out = np.ones(len(points), dtype=bool)
        for place in self.places:
            out &= np.linalg.norm(points - np.array(place), axis=1) > self.radius
        return out

    def shares(self, patches: Sequence[Patch], rough: Mapping[str, int]) -> dict[str, FloatArray]:
        """Return how much of what goes wrong in each patch counts, for each unknown, (patches,)."""
        size = np.ones(len(patches))
        for i, patch in enumerate(patches):
            for place in self.places:
                if np.linalg.norm(_corners(patch) - place, axis=1).max() <= self.radius:
                    size[i] = min(size[i], float(patch.sides.max()) / self.radius)
        return {unknown: size ** (1.0 + t) for unknown, t in rough.items()}

    def with_more(self, cells: Sequence[Cell], tails: Tails, aim: float) -> Jumps:
        """Return the places with those at which tails did not fall while they were cut."""
        found = set(self.places)
        for cell, tail in zip(cells, tails.tail.max(axis=1), strict=True):
            if tail > aim and cell.levels >= ENOUGH and tail >= FALLING**cell.levels * cell.tail:
                corner = cell.patch.points([np.array([1.0 if e else -1.0]) for e in cell.corner])
                found.add(tuple(corner[0].tolist()))
        return replace(self, places=tuple(sorted(found)))

    def __str__(self) -> str:
        said = [f"({', '.join(f'{c:.4g}' for c in place)})" for place in self.places]
        return " and ".join(said)


def _corners(patch: Patch) -> FloatArray:
    """Return the corners of a patch in space."""
    return patch.points([np.array([-1.0, 1.0])] * patch.dimension)


def _within(problem: Problem, block: Block, wall: Wall, tol: float) -> Iterator[Place]:
    """Yield the places on a wall, not at its ends, at which the condition's own value jumps.

    Where a line ends across which a jump is stated, the solution jumps with it.
    """
    if block.chart is not None:
        return
    start, stop = block.ends(wall)
    along = 1 - wall[0]
    low, high = float(start[along]), float(stop[along])
    for condition in (c for c in problem.conditions if c.part == wall[4]):
        graphs = condition.residuals
        name = problem.domain.coordinates[along]
        lines = {j.place for j in problem.jumps if j.coordinate == name}
        found = {float(p) for g in graphs for p in places_along(g, name, low, high)}
        for place in found - lines:
            here = np.insert(start[1 - along : 2 - along], along, place)
            near, far = (_apart(problem, wall[4], here, along, f * (high - low)) for f in CLOSE)
            # A slope, however steep, makes less of a difference closer by.
            if any(d > tol and d > 0.5 * far[u] for u, d in near.items()):
                yield tuple(here.tolist())


def _apart(
    problem: Problem, part: str, place: FloatArray, along: int, beside: float
) -> dict[str, float]:
    """Return how far values given on both sides of a place are apart, relative to their size."""
    sides = np.stack([place, place])
    sides[:, along] += np.array([-beside, beside])
    one, two = (_given(problem, part, sides, k) for k in (0, 1))
    return {
        u: abs(one[u] - two[u]) / max(1.0, abs(one[u]), abs(two[u]))
        for u in one.keys() & two.keys()
    }


def _given(problem: Problem, part: str, ends: FloatArray, which: int) -> dict[str, float]:
    """Return the values of unknowns that conditions on a part give at an end of a wall."""
    along = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
    normals = np.array([[along[1], -along[0]]])
    leaves = environment(problem.coordinates, ends[which : which + 1], normals)
    out = {}
    for form in (f for c in problem.conditions if c.part == part for f in c.forms):
        try:
            coefficients, source = form_values(form, leaves, 1, "condition")
        except EquationError:
            continue
        terms = [(t, c[0]) for t, c in zip(form.terms, coefficients, strict=True) if c[0]]
        if len(terms) == 1 and not any(terms[0][0].orders):
            out[terms[0][0].unknown] = 0.0 - float(source[0] / terms[0][1])
    return out
