"""What tells one problem in time from another: numbers that its formulas give at many places.

Formulas are compared by their values, not by their text: a function that was captured, a table, an
interpolant are the same if they give the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Expression
from sharpfront.equation.graph import derivatives_in, evaluate
from sharpfront.equation.values import environment
from sharpfront.errors import ProblemError, SharpfrontError
from sharpfront.problem import Problem
from sharpfront.rounding import ROUNDED

# Places at which formulas and initial states are looked at, and numbers kept of each.
FINGERPRINTED, KEPT = 4096, 4


def fingerprint(problem: Problem, until: float) -> dict[str, Any]:
    """Return what tells one problem from another, up to a moment, as words and numbers.

    What happens after that moment, and the end of time, are left out.
    """
    assert problem.time is not None and problem.initial is not None
    space = problem.domain.sample(FINGERPRINTED)
    rows = [_folded(problem.domain.distance(space)), _folded(space.ravel())]
    rows += [_folded(problem.initial.values(n, space)) for n in problem.initial.states]
    begin = problem.time[0]
    t = begin + (until - begin) * np.random.default_rng(1).random((FINGERPRINTED, 1))
    points = np.concatenate([space, t], axis=1)
    rows += [_formula(e, problem.coordinates, points, None) for e in problem.equations]
    for condition in problem.conditions:
        edge = problem.domain.boundary(condition.part, FINGERPRINTED)
        at = np.concatenate([edge.points, np.resize(t, (len(edge.points), 1))], axis=1)
        rows += [_formula(r, problem.coordinates, at, edge.normals) for r in condition.residuals]
    words = [
        *problem.coordinates,
        *problem.unknowns,
        *problem.initial.states,
        *(c.part for c in problem.conditions),
        repr(problem.domain.periodic_axes),
        repr(problem.time[0]),
    ]
    return {"words": words, "until": until, "numbers": np.stack(rows)}


def require_same(problem: Problem, saved: Mapping[str, Any] | None) -> None:
    """Refuse to go on with a solution of another problem."""
    known = (saved or {}).get("problem")
    if isinstance(known, Mapping) and "numbers" in known:
        own = fingerprint(problem, float(known["until"]))
        numbers = np.asarray(known["numbers"])
        if own["words"] == list(known["words"]) and own["numbers"].shape == numbers.shape:
            size = np.abs(numbers).max(axis=1, keepdims=True)
            if np.all(np.abs(own["numbers"] - numbers) <= ROUNDED * size):
                return
    raise ProblemError(
        "resume= takes a solution of the same problem in time that was interrupted or stopped, "
        "as solve returned it or as load read it. This one belongs to another problem: only "
        "the end of time may differ."
    )


def _folded(values: FloatArray) -> FloatArray:
    """Return a few sums of values with random signs and their size, (KEPT + 1,)."""
    known = np.where(np.isfinite(values), values, 0.0)
    signs = np.random.default_rng(len(values)).choice([-1.0, 1.0], (KEPT, len(values)))
    lost = float(np.sum(~np.isfinite(values)))
    return np.append(signs @ known, np.abs(known).sum() + lost)


def _formula(
    expression: Expression,
    coordinates: Sequence[str],
    points: FloatArray,
    normals: FloatArray | None,
) -> FloatArray:
    """Return the numbers of a formula whose unknowns and derivatives are drawn."""
    draw = np.random.default_rng(2)
    leaves = environment(coordinates, points, normals)
    for leaf in sorted(derivatives_in(expression), key=lambda d: (d.unknown, d.orders)):
        leaves["derivative", leaf.unknown, leaf.orders] = draw.uniform(0.1, 1.0, len(points))
    try:
        with np.errstate(all="ignore"):
            values = np.asarray(evaluate(expression, leaves), dtype=float)
    except SharpfrontError:
        values = np.full(len(points), np.nan)
    return _folded(np.array(np.broadcast_to(values, (len(points),))))
