"""Whether a problem has other solutions than the one that was found.

They are looked for by Newton's method on the equation divided by the distance to the first one
(deflation), and count if Newton's method without it, on finer functions, confirms them.

A solution of second order on the line about which the linearised equation has no growing mode is
what u_t = -+F(u) goes to, and is taken as meant. Elsewhere modes are not counted. There, and on the
line too, u = 0 is asked about: it solves what has no data, and is hardly what was meant.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray, largest
from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.estimate.cells import CellSystem, SingularCellsError
from sharpfront.newton.damped import P
from sharpfront.newton.function_corrector import FunctionCorrector
from sharpfront.newton.guess import constants
from sharpfront.newton.other_solutions import elsewhere
from sharpfront.newton.rough_solution import Comparing
from sharpfront.newton.settings import NEWTON
from sharpfront.newton.strategy import LinearStrategy, NewtonState
from sharpfront.problem.line_problem import LinearCondition, LineProblem, Term


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


def another(corrector: Comparing[P], known: P, starts: Iterable[P]) -> Outcome | None:
    """Return what speaks for another solution than a known one, None if nothing does."""
    for start in starts:
        found = deflated(corrector, known, start)
        confirmed = corrector.confirmed(found) if found is not None else None
        if confirmed is None:
            continue
        here, there = corrector.seen_values(known), corrector.seen_values(confirmed)
        apart = largest(there - here)
        if apart > NEWTON.apart * max(largest(here), largest(there)):
            detail = f"There is another solution that differs from this one by {apart:.2g}."
            if not here.any():
                detail = f"Zero solves it, and so does something as large as {apart:.2g}."
            return Outcome(OutcomeKind.SEVERAL_SOLUTIONS, detail)
    return None


def other_than_zero(strategy: LinearStrategy, state: NewtonState, inner: Any) -> Outcome | None:
    """Return what speaks for another solution, where functions in space have found zero."""
    problem = state.tangent.problem
    if any(w.any() for w in inner.answer.approximation.weights.values()):
        return None
    corrector = strategy.corrector(state.tangent, constants(problem), inner.tol, 0)
    assert isinstance(corrector, FunctionCorrector)
    return another(corrector, state.rough.iterate, elsewhere(problem))


def deflated(corrector: Comparing[P], known: P, start: P) -> P | None:
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
