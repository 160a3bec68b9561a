"""Curves inside the domain that formulas tell of: where data jump, bend or may be narrow."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Expression
from sharpfront.equation.level_curves import Level, levels_of
from sharpfront.equation.oblique_lines import values_at
from sharpfront.errors import DomainError
from sharpfront.geometry.inner_curves import curves_inside
from sharpfront.geometry.levelset import LevelCurve
from sharpfront.geometry.panels import Panels
from sharpfront.place.formula_features import crossings
from sharpfront.place.strips.ribbons import distances, samples, spacing, tree_of
from sharpfront.place.strips.settings import STRIPS
from sharpfront.place.tiling.slants import meet_within
from sharpfront.problem import Problem
from sharpfront.rounding import SLIGHT
from sharpfront.rows.materials import material_edges

if TYPE_CHECKING:
    from scipy.spatial import cKDTree


LevelFunction = Callable[..., FloatArray]


def inner_curves(
    problem: Problem,
) -> tuple[list[tuple[Panels, Level, LevelFunction]], dict[str, list[Panels]]]:
    """Return the curves that the equations tell of, each once, and which belong to each level."""
    out: list[tuple[Panels, Level, LevelFunction]] = []
    told: dict[str, list[Panels]] = {}
    size = float(np.ptp(problem.domain.bounds, axis=0).max())
    known: list[_Known] = []
    materials = {level.told for level in material_edges(problem)}
    for level in levels_of(problem.equations):
        f = _as_function(level.argument, problem.coordinates)
        try:
            found, complete = curves_inside(f, problem.domain)
        except DomainError:
            continue
        if not complete:
            # Nobody has all of it.
            told.setdefault(level.told, []).append(Panels([]))
        for curve in found:
            panels = Panels([("", curve)])
            if (
                is_straight(panels, size)
                and (level.jumps or level.bends)
                and level.told not in materials
            ):
                # Charts are cut along it.
                continue
            places = samples(panels)[0]
            same = [one.is_along(places, SLIGHT * size) for one in known]
            if any(same):
                told.setdefault(level.told, []).append(out[same.index(True)][0])
                continue
            known.append(_Known(tree_of(places), curve))
            out.append((panels, level, f))
            told.setdefault(level.told, []).append(panels)
    return out, told


def is_straight(panels: Panels, size: float) -> bool:
    """Tell whether a curve is straight, in a domain of some size."""
    return bool(np.abs(panels.curvatures[1]).max() < SLIGHT / size)


def are_lines_that_cross(curves: Sequence[Panels], size: float) -> bool:
    """Tell whether all curves are straight and some cross: charts along them need not end."""
    if not all(is_straight(panels, size) for panels in curves):
        return False
    last = [len(panels.parts) - 1 for panels in curves]
    ends = [
        p.at(np.array([0, n]), np.array([-1.0, 1.0])) for p, n in zip(curves, last, strict=True)
    ]
    return any(meet_within(*pair) is not None for pair in itertools.combinations(ends, 2))


@dataclass(frozen=True, eq=False)
class _Known:
    """A curve that was found before."""

    tree: cKDTree
    curve: LevelCurve

    def is_along(self, places: FloatArray, near: float) -> bool:
        """Tell whether places lie on it, to within a distance."""
        if distances(self.tree, places).max() > spacing(self.tree):
            return False
        moved = self.curve.region.onto(places).points - places
        return bool(np.linalg.norm(moved, axis=1).max() < near)


def _as_function(argument: Expression, coordinates: Sequence[str]) -> LevelFunction:
    def f(*x: FloatArray) -> FloatArray:
        points = np.stack(np.broadcast_arrays(*x), axis=-1).reshape(-1, len(x))
        return values_at(argument, coordinates, points)

    return f


def changes_sign(problem: Problem, level: Level) -> bool:
    """Tell whether a function has both signs in a domain, also where formulas tell of places."""
    domain = problem.domain
    places = np.concatenate([domain.sample(STRIPS.seen), crossings(problem)])
    values = values_at(level.argument, problem.coordinates, places[domain.contains(places)])
    return bool(np.any(values > 0) and np.any(values <= 0))
