"""Sensitivities as differences of solutions, where residuals have no derivative.

A parameter that moves the domain, the span of time or a place at which something jumps changes
residuals in no smooth way, yet mostly the solution in a smooth one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.joined import JoinedBasis
from sharpfront.bases.line_basis import LineBasis
from sharpfront.errors import DomainError, Outcome, OutcomeKind
from sharpfront.solution import Solution
from sharpfront.solution.approximation import Approximation
from sharpfront.solution.field import Estimate

# Factors of the four solutions of a difference of fourth order, at -2h, -h, h, 2h, times 12 h; and
# of the second, whose distance from it bounds what is left out.
PLACES = (-2, -1, 1, 2)
FOURTH = np.array([1.0, -8.0, 8.0, -1.0]) / 12.0
SECOND = np.array([0.0, -0.5, 0.5, 0.0])
# How many times as large as that of its solution the relative error of a derivative may be for it.
MOST_INHERITED = 10.0
# Points at which the two are compared.
_POINTS = 2000
_BY_DIFFERENCES = (
    "distance of differences of second and of fourth order, of solutions at four values of the "
    "parameter, and the estimated errors of these over the step; relative to max(1, max|v|)"
)


def differenced(
    solution: Solution,
    values: Mapping[str, Any],
    name: str,
    solve: Callable[[Mapping[str, Any], float], Solution],
    tol: float,
) -> Solution:
    """Return the derivative of a solution by a parameter as a difference of others.

    The tolerance is relative to the size of the derivative.
    """
    value = float(values[name])
    # What the second order leaves out and errors over the step are then of one size.
    step = max(solution.error_estimate, 1e-13) ** (1 / 3) * (abs(value) or 1.0)
    others = [solve({**values, name: value + k * step}, solution.tol) for k in PLACES]
    fourth = combined(solution, others, FOURTH / step)
    second = combined(solution, others, SECOND / step)
    points = np.concatenate([solution.domain.sample(_POINTS, "quasi"), *_between(others)])
    points = points[np.all([o.domain.contains(points) for o in others], axis=0)]
    size, apart = 0.0, 0.0
    for unknown in solution.unknowns:
        zero = (0,) * points.shape[1]
        fine, rough = (a.values(unknown, points, zero) for a in (fourth, second))
        size, apart = max(size, _largest(fine)), max(apart, _largest(fine - rough))
    noise = float(np.abs(FOURTH) @ [o.error_estimate for o in others]) / step
    error = (apart + noise) / max(1.0, size)
    kind = OutcomeKind.CONVERGED if error <= tol * min(1.0, size) else OutcomeKind.UNRESOLVED
    failed = next((o.outcome for o in others if not o.converged), None)
    detail = f"Differences of solutions at four values of {name}, {step:.1e} apart."
    outcome = Outcome(kind, detail, "" if kind is OutcomeKind.CONVERGED else _REMEDY)
    return of_its_own(solution, fourth, Estimate(error, _BY_DIFFERENCES), failed or outcome, tol)


def inherited(error: float, size: float, of_rate: float, parameter: float) -> float:
    """Return what an error of a solution adds to that of its derivative along a parameter.

    It changes about as fast with the parameter as the solution does with a change of the parameter
    of its own size. If that happens to be next to zero it says nothing: the relative error of the
    derivative is not taken to be more than so many times that of the solution.

    Parameters
    ----------
    error
        Of the solution.
    size, of_rate
        The largest values of the solution and of its derivative.
    parameter
        Its size, one if it is zero.
    """
    most = MOST_INHERITED * of_rate / size if size > 0 else np.inf
    return error * min(1.0 / parameter, most)


def of_its_own(
    solution: Solution,
    approximation: Approximation,
    estimate: Estimate,
    outcome: Outcome,
    tol: float,
) -> Solution:
    """Return an approximation as a solution that knows no problem, with no history."""
    return Solution(approximation, solution.domain, estimate, outcome, tol, (), {})


_REMEDY = "Solve with a smaller tol, so that differences over smaller steps can be taken."


def combined(solution: Solution, others: Sequence[Solution], factors: FloatArray) -> Approximation:
    """Return a weighted sum of solutions as an approximation."""
    bases, weights = {}, {}
    for unknown in solution.unknowns:
        own = [o.approximation for o in others]
        bases[unknown] = JoinedBasis(tuple(a.bases[unknown] for a in own))
        scaled = [f * a.weights[unknown] for f, a in zip(factors, own, strict=True)]
        weights[unknown] = np.concatenate(scaled)
    return Approximation(solution.approximation.coordinates, bases, weights)


def _between(others: Sequence[Solution]) -> list[FloatArray]:
    """Return the middles between the ends of patches on a line: what moves lies between them."""
    bases = [basis for o in others for basis in o.approximation.bases.values()]
    edges = [p.axis.low for b in bases if isinstance(b, LineBasis) for p in b.patches]
    places = np.unique(edges)
    return [0.5 * (places[1:] + places[:-1])[:, None]] if len(places) > 1 else []


def _largest(values: FloatArray) -> float:
    if not len(values):
        raise DomainError("The members of the family have no points in common.")
    return float(np.abs(values).max())
