"""Equations on the line with too few conditions, too many, or none of their order somewhere."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.estimate.cells import CellSystem, SingularCellsError, grid
from sharpfront.place.line.breakpoints import Cut, Survey
from sharpfront.problem.line_problem import LinearCondition, LineProblem, Term
from sharpfront.solution.approximation import Approximation
from sharpfront.trust.settings import TRUST


def miscounted(problem: LineProblem) -> Outcome | None:
    """Return what is wrong with too few or too many conditions."""
    given, needed = len(problem.conditions), problem.order
    if given == needed:
        return None
    return Outcome(
        OutcomeKind.ILL_POSED,
        f"The equation has order {needed} and {given} condition(s) were given.",
    )


def without_implied(problem: LineProblem) -> tuple[LineProblem, tuple[LinearCondition, ...]]:
    """Return the problem without as many conditions as it has too many, and those left out.

    Slopes at both ends, or a periodic interval, leave a constant free, and balance the source: a
    further condition is needed to hold the constant, and one of the others follows from the rest.
    Nothing is left out unless the conditions before the further ones leave something free.
    """
    extra = len(problem.conditions) - problem.order
    if extra <= 0 or not _free(problem, problem.conditions[:-extra]):
        return problem, ()
    held = problem.conditions[:-extra]
    for out in itertools.combinations(range(len(held) - 1, -1, -1), extra):
        rest = tuple(c for i, c in enumerate(problem.conditions) if i not in out)
        if not _free(problem, rest):
            return replace(problem, conditions=rest), tuple(held[i] for i in sorted(out))
    return problem, ()


def _free(problem: LineProblem, conditions: Sequence[LinearCondition]) -> bool:
    """Tell whether conditions leave a solution of the homogeneous equation free, on rough cells."""
    low, high = problem.interval
    cells = grid(np.linspace(low, high, TRUST.free_cells + 1))
    try:
        with np.errstate(all="ignore"):
            system = CellSystem(cells, problem.sample(cells.middles)[:-1], conditions)
            nothing = np.zeros(len(cells.steps))
            found = system.solve_u(nothing, np.ones(len(conditions)))
    except SingularCellsError:
        return True
    return not np.abs(found).max() < TRUST.singular * max(1.0, (high - low) ** problem.order)


def implied_missed(
    conditions: Sequence[LinearCondition], approximation: Approximation, tol: float
) -> Outcome | None:
    """Return what is wrong where a condition that should follow from the others does not."""
    (name,) = approximation.bases
    for condition in conditions:
        terms = [t for t in condition.terms if isinstance(t, Term)]
        parts = [
            t.weight * float(approximation.values(name, np.array([[t.x]]), (t.order,))[0])
            for t in terms
        ]
        miss = abs(sum(parts) - condition.value)
        if miss > TRUST.implied * tol * max(1.0, abs(condition.value), *map(abs, parts)):
            words = " and ".join(dict.fromkeys(f"{t.x:g}" for t in terms))
            detail = (
                f"The equation with its conditions leaves a solution free, so that its data must "
                f"balance, and they do not: the condition on the derivative of order "
                f"{terms[0].order} at x = {words} is missed by {miss:.2g}."
            )
            remedy = "Change the source or the data at the ends until they balance."
            return Outcome(OutcomeKind.ILL_POSED, detail, remedy)
    return None


def vanished(problem: LineProblem, seen: Survey, cuts: Sequence[Cut]) -> Outcome | None:
    """Return what is wrong with an equation that loses its order inside."""
    place = _vanishing(problem, seen, cuts)
    if place is None:
        return None
    return Outcome(
        OutcomeKind.ILL_POSED,
        f"The coefficient of the derivative of order {problem.order} vanishes near "
        f"x = {place:.6g}, where the equation loses its order. Solve on intervals that end there.",
    )


def _vanishing(problem: LineProblem, seen: Survey, cuts: Sequence[Cut]) -> float | None:
    """Return where the leading coefficient is zero or changes its sign without a jump, if it does.

    A zero at an end of the interval is no obstacle: a regular solution goes on to it.
    """
    y = problem.coefficients[-1]
    if not callable(y):
        return seen.x[0] if y == 0.0 else None
    x = seen.x[seen.even]
    row = y(x)
    size = np.abs(row)
    zero = np.append(row[1:] * row[:-1] <= 0.0, False)
    # Where it only touches zero it is tiny, and three places on it is not.
    around = np.minimum(size[6:], size[:-6])
    touches = np.zeros_like(zero)
    touches[3:-3] = size[3:-3] < np.minimum(0.2 * around, 1e-6 * size.max())
    for i in np.flatnonzero(zero | touches):
        if any(x[i] <= cut.above <= x[i + 1] for cut in cuts):
            continue
        if zero[i] or _least(y, x[i - 3], x[i + 3]) < TRUST.touches * size.max():
            return float(x[i])
    return None


def _least(f: Callable[[FloatArray], FloatArray], low: float, high: float) -> float:
    """Return the least size of a function between two places, which has one there."""
    while True:
        x = np.linspace(low, high, 17)
        size = np.abs(f(x))
        i = int(np.argmin(size))
        ends = float(x[max(i - 1, 0)]), float(x[min(i + 1, 16)])
        if ends[1] - ends[0] >= 0.9 * (high - low) or x[1] - x[0] <= np.spacing(abs(x[i])):
            return float(size[i])
        low, high = ends
