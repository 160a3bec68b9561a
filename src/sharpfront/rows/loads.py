"""Loads on lines, where they act and how strong they are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sharpfront.equation.expression import Expression
from sharpfront.equation.graph import ordered
from sharpfront.equation.interfaces import Load, curved_conditions
from sharpfront.equation.level_places import Along, places
from sharpfront.equation.linearise import linear_form
from sharpfront.equation.values import at_points, environment
from sharpfront.equation.weak import is_delta
from sharpfront.errors import ProblemError
from sharpfront.problem import Problem


@dataclass(frozen=True, eq=False)
class PlacedLoad:
    """A load at a place, its strength divided by the slope of its argument there."""

    place: float
    strength: Expression


def placed_loads(load: Load, name: str, low: float, high: float) -> list[PlacedLoad]:
    """Return a load at every place at which its argument vanishes."""
    along = Along(load.argument, name, low, high)
    found = sorted(set(places(load.argument, 0.0, along)))
    inside = [x for x in found if low < x < high]
    if not inside or len(inside) < len(found):
        raise ProblemError(
            f"The load sf.delta({load.argument!r}) does not lie between {low:g} and {high:g}, "
            f"the ends of the domain along {name}. A load at an end is a condition there."
        )
    slope = load.argument.d(name)
    out = []
    for x in inside:
        steep = abs(float(along.values(slope, np.array([x]))[0]))
        if not 0.0 < steep < math.inf:
            raise ProblemError(
                f"The argument of sf.delta({load.argument!r}) has no slope at {name} = {x:g}."
            )
        out.append(PlacedLoad(x, load.strength / steep))
    return out


class LoadOnFlux(NamedTuple):
    """A load on a line along an axis of the plane, and the number of the flux that jumps there."""

    flux: int
    axis: int
    placed: PlacedLoad


def loads_between_charts(problem: Problem) -> list[LoadOnFlux]:
    """Return the loads of a problem in the plane, for the fluxes of its equations."""
    if not any(is_delta(node) for equation in problem.equations for node in ordered(equation)):
        return []
    found = curved_conditions(problem.equations, problem.unknowns, problem.coordinates)
    ends = list(zip(problem.coordinates, *problem.domain.bounds.tolist(), strict=True))
    out = [
        LoadOnFlux(i, axis, placed)
        for i, own in enumerate(found.loads)
        for axis, loads in enumerate(own)
        for load in loads
        for placed in placed_loads(load, *ends[axis])
    ]
    for _, axis, placed in out:
        if any(term.order for term in linear_form(placed.strength).terms):
            raise ProblemError(
                "Between slanted sides sf.delta can multiply the unknown, not its derivatives."
            )
        require_one_value(problem, placed, axis)
    return out


def require_one_value(problem: Problem, placed: PlacedLoad, axis: int) -> None:
    """Refuse a load whose strength jumps where it acts."""
    low, high = problem.domain.bounds
    shares = np.array([0.03, 0.21, 0.37, 0.52, 0.71, 0.93])
    points = low + (high - low) * shares[:, None]
    near = 1e-9 * (high[axis] - low[axis])
    sides = []
    for step in (-near, near):
        points[:, axis] = placed.place + step
        leaves = environment(problem.coordinates, points)
        # Whatever the value of a spectral parameter is.
        leaves |= {("parameter", name): np.ones(1) for name in problem.parameters_left}
        form = linear_form(placed.strength)
        parts = [form.source, *(t.coefficient for t in form.terms)]
        sides.append(np.stack([at_points(e, leaves, len(points), "load") for e in parts]))
    below, above = sides
    if np.any(np.abs(above - below) > 1e-6 * (1e-300 + np.abs(above) + np.abs(below))):
        raise ProblemError(
            f"What multiplies sf.delta jumps at {problem.coordinates[axis]} = {placed.place:g}, "
            "where the load is: give it one value there."
        )
