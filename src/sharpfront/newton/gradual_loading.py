"""Whether a solution is the one to which data and what is nonlinear lead little by little.

Newton's method may settle on any of several solutions. One of them is led to by
(1 - s) F'(0) u + s F(u) = 0 as s goes from 0, a linear problem without sources, to 1, unless the
way turns back. It is what grows out of the data, the attached flow over a wedge for example; if the
answer is another, both are told.
"""

from __future__ import annotations

from typing import Protocol, Self

from sharpfront.arrays import largest
from sharpfront.equation.values import is_finite
from sharpfront.errors import EquationError, Outcome, OutcomeKind
from sharpfront.newton.damped import P
from sharpfront.newton.iterate import Constants
from sharpfront.newton.rough_solution import Comparing, RoughSolution, Search
from sharpfront.newton.settings import NEWTON
from sharpfront.newton.tangent import Tangent
from sharpfront.problem import Problem


class Mixing(Comparing[P], Protocol[P]):
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
    confirmed = corrector.confirmed(found) if found is not None else None
    if confirmed is None:
        return None
    here, there = corrector.seen_values(known), corrector.seen_values(confirmed)
    apart = largest(there - here)
    if apart <= NEWTON.apart * max(largest(here), largest(there)):
        return None
    detail = (
        "Sources and what is nonlinear, turned on little by little, lead to another solution, "
        f"which differs from this one by {apart:.2g}: continuation= in a factor on them finds it."
    )
    return Outcome(OutcomeKind.SEVERAL_SOLUTIONS, detail)


def led(corrector: Mixing[P], start: P) -> P | None:
    """Return where the gradual way leads from zero; None if it turns back, or there is none.

    There is none to nonlinear conditions, loads and materials and about what is not finite at zero,
    and initial values need none: they have one solution.
    """
    problem = corrector.problem
    if problem.is_singular or not corrector.steady or _begins(problem):
        return None
    try:
        plain = Tangent(problem, 1.0, Constants()).at(Constants())
    except EquationError:
        return None
    inside = problem.domain.sample(NEWTON.looked_at, "quasi", 0)
    finite = all(is_finite(f, problem.coordinates, inside).all() for f in plain.forms)
    if not finite:
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


def _begins(problem: Problem) -> bool:
    """Tell whether all conditions stand at one end: from initial values there is one solution."""
    stated = {condition.part for condition in problem.conditions}
    return len(stated) == 1 and not problem.further
