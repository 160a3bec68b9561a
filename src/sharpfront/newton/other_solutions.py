"""From where other solutions than a known one are looked for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Constant, Coordinate, Expression
from sharpfront.equation.graph import derivatives_in, evaluate
from sharpfront.equation.values import environment
from sharpfront.newton.guess import constants
from sharpfront.newton.iterate import Iterate, Traced
from sharpfront.newton.settings import NEWTON
from sharpfront.problem import Problem

# Heights of shapes that are tried, up and down. Units of u are the user's: a beam in metres buckles
# by thousandths.
HEIGHTS = np.geomspace(1e-9, 1e9, 109)


def elsewhere(problem: Problem) -> Iterator[Iterate]:
    """Yield starts: shapes as high as the equation asks for, a hump of one, one and zero.

    About a constant whatever depends on slopes alone is as about zero.
    """
    points = problem.domain.sample(NEWTON.places, "quasi", 0)
    humps = shapes(problem)
    for shape in humps:
        for height in heights(problem, shape, points):
            yield _scaled(problem, shape, height)
    yield _scaled(problem, humps[0], 1.0)
    zero, one = constants(problem)
    yield from (one, zero)


def shapes(problem: Problem) -> list[Expression]:
    """Return humps over the bounds of the domain, and on a line what rises from an end."""
    names = problem.coordinates
    low, high = problem.domain.bounds
    hump: Expression = Constant(1.0)
    for name, a, b in zip(names, low, high, strict=True):
        share = (Coordinate(name, names) - float(a)) * float(1.0 / (b - a))
        hump = hump * (4.0 * share * (1.0 - share))
    if len(names) > 1:
        return [hump**power for power in NEWTON.powers[:2]]
    return [*(hump**power for power in NEWTON.powers), share**2, (1.0 - share) ** 2]


def heights(problem: Problem, shape: Expression, points: FloatArray) -> list[float]:
    """Return the heights at which what a shape leaves of the equations is orthogonal to it.

    That is Galerkin's method with one function: the first guess of how large a solution is.
    """
    signed = np.concatenate([-HEIGHTS[::-1], HEIGHTS])
    traced = _scaled(problem, shape, 1.0)
    many = np.tile(points, (len(signed), 1))
    factors = np.repeat(signed, len(points))
    leaves = environment(problem.coordinates, many)
    for equation in problem.equations:
        for leaf in derivatives_in(equation):
            values = traced.values(leaf.unknown, points, leaf.orders)
            leaves[leaf.key] = factors * np.tile(values, len(signed))
    weight = traced.values(problem.unknowns[0], points, (0,) * points.shape[1])
    with np.errstate(all="ignore"):
        left = sum(np.broadcast_to(evaluate(e, leaves), many.shape[:1]) for e in problem.equations)
        share = np.reshape(left, (len(signed), -1)) @ weight / signed
    crossed = np.flatnonzero((share[1:] * share[:-1] < 0) & (signed[1:] * signed[:-1] > 0))
    found = [float(signed[i] * (signed[i + 1] / signed[i]) ** 0.5) for i in crossed]
    # What is as high downwards is a mirror image.
    return [h for h in found if h > 0 or not np.any(np.isclose(np.abs(h), found))]


def _scaled(problem: Problem, shape: Expression, height: float) -> Traced:
    return Traced(dict.fromkeys(problem.unknowns, height * shape), problem.coordinates)
