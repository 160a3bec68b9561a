"""Whether a run in the plane has seen all that formulas of its start tell of.

A spike of 1e-5 in an initial state lies between all points of a fit; the run is right about
nothing. The first state is compared with the formula where this tells of something.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.place.told import told_places
from sharpfront.problem import Problem
from sharpfront.solution import Solution
from sharpfront.trust.unseen import written

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
        told = None if graph is None else told_places([graph], problem.domain)
        places = told if told is None else told[problem.domain.contains(told)]
        if places is None or not len(places):
            continue
        given = start.values(name, places)
        moments = np.column_stack([places, np.full(len(places), problem.time[0])])
        found = solution.approximation.values(name, moments, (0,) * moments.shape[1])
        missing = np.abs(found - given) > MISSING * np.abs(given)
        missing &= np.abs(given) > COUNTS * solution.tol * max(1.0, float(np.abs(found).max()))
        if missing.any():
            return _unseen(solution, name, places[np.argmax(missing)])
    return solution


def _unseen(solution: Solution, name: str, place: FloatArray) -> Solution:
    outcome = Outcome(
        OutcomeKind.UNRESOLVED,
        f"Near {written(place)} the initial state of {name} has something so narrow that nothing "
        "sees it.",
    )
    value = max(solution.estimate.value, 1.0)
    return replace(solution, outcome=outcome, estimate=replace(solution.estimate, value=value))
