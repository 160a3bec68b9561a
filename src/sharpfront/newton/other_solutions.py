"""Whether a problem has other solutions than the one that was found.

They are looked for by Newton's method on the equation divided by the distance to the first one
(deflation), from shapes as high as the equation asks for, and count if Newton's method without it,
on finer functions, confirms them.

A solution of second order on the line about which the linearised equation has no growing mode is
what u_t = -+F(u) goes to, and is taken as meant. Elsewhere modes are not counted. There, and on the
line too, u = 0 is asked about: it solves what has no data, and is hardly what was meant.

One solution is led to by (1 - s) F'(0) u + s F(u) = 0 as s goes from 0, a linear problem without
sources, to 1, unless the way turns back. It is what grows out of the data, the attached flow over a
wedge for example; if the answer is another, both are told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Protocol, Self

import numpy as np

from sharpfront.arrays import FloatArray, largest
from sharpfront.equation.expression import Constant, Coordinate, Expression
from sharpfront.equation.graph import derivatives_in, evaluate
from sharpfront.equation.values import environment, is_finite
from sharpfront.errors import EquationError, Outcome, OutcomeKind
from sharpfront.estimate.cells import CellSystem, SingularCellsError
from sharpfront.newton.damped import P
from sharpfront.newton.guess import constants
from sharpfront.newton.iterate import Constants, Iterate, Traced
from sharpfront.newton.rough_solution import Corrector, RoughSolution, Search
from sharpfront.newton.settings import NEWTON
from sharpfront.newton.strategy import LinearStrategy, NewtonState
from sharpfront.newton.tangent import Tangent
from sharpfront.problem import Problem
from sharpfront.problem.line_problem import LinearCondition, LineProblem, Term

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
        yield from (_scaled(problem, shape, h) for h in heights(problem, shape, points))
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


def other_near(corrector: Corrector[P], known: P, near: P) -> tuple[P, float] | None:
    """Return the solution near an iterate on finer functions, and how far it is from a known one.

    None if there is none, or it is the known one.
    """
    found = corrector.confirmed(near)
    if found is None:
        return None
    here, there = corrector.seen_values(known), corrector.seen_values(found)
    apart = largest(there - here)
    return (found, apart) if apart > NEWTON.apart * max(largest(here), largest(there)) else None


def another(corrector: Corrector[P], known: P, starts: Iterable[P]) -> Outcome | None:
    """Return what speaks for another solution than a known one, None if nothing does."""
    for start in starts:
        found = deflated(corrector, known, start)
        other = other_near(corrector, known, found) if found is not None else None
        if other is not None:
            detail = f"There is another solution that differs from this one by {other[1]:.2g}."
            if not corrector.seen_values(known).any():
                detail = f"Zero solves it, and so does something as large as {other[1]:.2g}."
            return Outcome(OutcomeKind.SEVERAL_SOLUTIONS, detail)
    return None


def other_than_zero(strategy: LinearStrategy, state: NewtonState, inner: Any) -> Outcome | None:
    """Return what speaks for another solution, where functions in space have found zero."""
    problem = state.tangent.problem
    if any(w.any() for w in inner.answer.approximation.weights.values()):
        return None
    corrector = strategy.corrector(state.tangent, constants(problem), inner.tol, 0)
    return another(corrector, state.rough.iterate, elsewhere(problem))


def deflated(corrector: Corrector[P], known: P, start: P) -> P | None:
    """Return where Newton's method goes with (s^2 / |u - known|^2 + 1) F(u).

    The size s is that of the start: units of u change nothing.
    """
    rules, at, weights = corrector.rules(known, 1.0), corrector.seen_values, corrector.weights
    origin, iterate = at(known), start
    unit = float(weights @ at(start) ** 2) or 1.0
    for _ in range(NEWTON.steps):
        new = rules.correct(iterate)
        if new is None:
            return None
        here = at(iterate)
        change = at(new) - here
        iterate = rules.blend(iterate, new, _stretch(here - origin, change, weights / unit))
        if largest(change) < NEWTON.settled * max(largest(at(iterate)), 1e-300):
            return iterate
    return None


def _stretch(gap: FloatArray, change: FloatArray, weights: FloatArray) -> float:
    """Return 1 / (1 - M'(change) / M) for M = 1 / |gap|^2 + 1, with weights in that norm."""
    square = float(weights @ gap**2)
    if square == 0.0:
        return 1.0
    ratio = -2.0 * float(weights @ (gap * change)) / square / (1.0 + square)
    stretched = 1.0 / (1.0 - ratio) if ratio != 1.0 else NEWTON.longest
    return float(np.clip(stretched, -NEWTON.longest, NEWTON.longest))


def growing_modes(linear: LineProblem, system: CellSystem) -> int:
    """Return the number of modes that grow, 0 where it cannot be told.

    It is the number of zeros of the solution of L v = 0 that starts at the left end with that
    end's condition, the right end's condition counted as one more (Sturm).
    """
    ends = _separated(linear)
    if linear.order != 2 or ends is None:
        return 0
    left, right = ends
    # What completes the left condition: the other one of u and u' is given.
    at_left = {t.order: t.weight for t in left.terms if isinstance(t, Term)}
    other = 1 if at_left.get(0, 0.0) else 0
    start = LinearCondition((Term(linear.interval[0], other),), 1.0)
    try:
        with np.errstate(all="ignore"):
            begun = (replace(left, value=0.0), start)
            initial = CellSystem(system.grid, system.coefficients, begun, system.slopes)
            v = initial.solve(np.zeros(len(system.grid.steps)), np.array([0.0, 1.0]))
    except SingularCellsError:
        return 0
    last = sum(t.weight * v[t.order, -1] for t in right.terms if isinstance(t, Term))
    at_right = {t.order: t.weight for t in right.terms if isinstance(t, Term)}
    outward = at_right.get(0, 0.0) or at_right.get(1, 0.0)
    signs = np.sign(np.append(v[0, 1:-1], last * np.sign(outward)))
    signs = signs[signs != 0]
    return int(np.sum(signs[1:] != signs[:-1]))


def _separated(linear: LineProblem) -> tuple[LinearCondition, LinearCondition] | None:
    """Return the conditions of the left and the right end, if that is all there is."""
    if len(linear.conditions) != 2:
        return None
    by_end: dict[float, LinearCondition] = {}
    for condition in linear.conditions:
        places = {t.x if isinstance(t, Term) else np.nan for t in condition.terms}
        if len(places) == 1:
            by_end[places.pop()] = condition
    low, high = linear.interval
    return (by_end[low], by_end[high]) if set(by_end) == {low, high} else None


class Mixing(Corrector[P], Protocol[P]):
    """A corrector that makes one like it for another problem."""

    @property
    def problem(self) -> Problem:
        """What is solved."""

    def of(self, problem: Problem) -> Self:
        """Return what solves another problem roughly."""


def led_elsewhere(
    rough: RoughSolution[P], corrector: Mixing[P], known: P, start: P
) -> Outcome | None:
    """Return what speaks for another solution than a known one: the gradual way leads to one.

    None where Newton's method has gone straight, as `rough` tells.
    """
    changes = rough.history[0][1].changes
    if len(rough.history) == 1 and (len(changes) < 2 or changes[1] < NEWTON.straight):
        return None
    found = led(corrector, start)
    other = other_near(corrector, known, found) if found is not None else None
    if other is None:
        return None
    detail = (
        "Sources and what is nonlinear, turned on little by little, lead to another solution, "
        f"which differs from this one by {other[1]:.2g}: continuation= in a factor on them finds "
        "it."
    )
    return Outcome(OutcomeKind.SEVERAL_SOLUTIONS, detail)


def led(corrector: Mixing[P], start: P) -> P | None:
    """Return where the gradual way leads from zero; None if it turns back, or there is none.

    There is none to nonlinear conditions, loads and materials and about what is not finite at zero,
    and initial values need none: they have one solution.
    """
    problem = corrector.problem
    # From conditions at one end alone, initial values, there is one solution.
    begins = len({c.part for c in problem.conditions}) == 1 and not problem.further
    if problem.is_singular or not corrector.steady or begins:
        return None
    try:
        plain = Tangent(problem, 1.0, Constants()).at(Constants())
    except EquationError:
        return None
    inside = problem.domain.sample(NEWTON.looked_at, "quasi", 0)
    if not all(is_finite(f, problem.coordinates, inside).all() for f in plain.forms):
        return None
    sourceless = [e - f.source for e, f in zip(plain.equations, plain.forms, strict=True)]
    iterate: P | None = start
    for share in NEWTON.shares:
        pairs = zip(sourceless, problem.equations, strict=True)
        mixed = tuple((1.0 - share) * e + share * f for e, f in pairs)
        try:
            own = corrector.of(problem.rewritten(equations=mixed))
        except EquationError:
            return None
        assert iterate is not None
        iterate = Search(own).settled(iterate, 1.0)
        if iterate is None:
            return None
    return iterate
