"""Whether a run in the plane has seen all that formulas of its start tell of.

A spike of 1e-5 in an initial state lies between all points of a fit; the run is right about
nothing. The first state is compared with the formula where this tells of something.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.across import places_across
from sharpfront.equation.expression import Expression
from sharpfront.equation.focus import axis_places
from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.geometry import Domain
from sharpfront.problem import Problem
from sharpfront.solution import Solution

# What stands at a place counts from this many tolerances on, and is unseen if less than the
# rest of this share of it is there: an edge that was rounded has half of it.
COUNTS, MISSING = 10.0, 0.75


def with_start_seen(problem: Problem, solution: Solution) -> Solution:
    """Return a solution, not called converged if its start has what no function saw."""
    start = problem.initial
    if start is None or problem.time is None or not solution.converged:
        return solution
    for name in start.states:
        graph = start.graph(name) if name in problem.unknowns else None
        places = _places(graph, problem.domain) if graph is not None else np.zeros((0, 2))
        if not len(places):
            continue
        given = start.values(name, places)
        moments = np.column_stack([places, np.full(len(places), problem.time[0])])
        found = solution.approximation.values(name, moments, (0, 0, 0))
        missing = np.abs(found - given) > MISSING * np.abs(given)
        missing &= np.abs(given) > COUNTS * solution.tol * max(1.0, float(np.abs(found).max()))
        if missing.any():
            return _unseen(solution, name, places[np.argmax(missing)])
    return solution


def _places(graph: Expression, domain: Domain) -> FloatArray:
    """Return places in a domain that a formula tells of, (m, 2)."""
    axes = [
        axis_places(graph, name, float(low), float(high))
        for name, (low, high) in zip(domain.coordinates, domain.bounds.T, strict=True)
    ]
    along = np.stack([m.ravel() for m in np.meshgrid(*axes)], axis=1)
    places = np.concatenate([along, places_across([graph], domain.coordinates, domain.bounds)])
    return np.asarray(places[domain.contains(places)])


def _unseen(solution: Solution, name: str, place: FloatArray) -> Solution:
    where = ", ".join(f"{x:.4g}" for x in place)
    outcome = Outcome(
        OutcomeKind.UNRESOLVED,
        f"Near ({where}) the initial state of {name} has something so narrow that nothing sees it.",
    )
    value = max(solution.estimate.value, 1.0)
    return replace(solution, outcome=outcome, estimate=replace(solution.estimate, value=value))
