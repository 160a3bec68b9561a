"""Whether a run in the plane has seen all that formulas of its start tell of.

A spike of 1e-5 in an initial state lies between all points of a fit; the run is right about
nothing. The first state is compared with the formula where this tells of something.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.corner_functions import jumps_of
from sharpfront.bases.in_time import PatchworkInTime
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.place.formula_features import formula_places
from sharpfront.problem import Problem
from sharpfront.rounding import SAME
from sharpfront.solution import Solution
from sharpfront.trust.settings import TRUST
from sharpfront.trust.unseen_data import written


def with_start_seen(problem: Problem, solution: Solution) -> Solution:
    """Return a solution, not called converged if its start has what no function saw."""
    start = problem.initial
    if start is None or problem.time is None or not solution.converged:
        return solution
    for name in start.states:
        graph = start.graph(name) if name in problem.unknowns else None
        told = None if graph is None else formula_places([graph], problem.domain)
        if told is None:
            continue
        places = _away_from_jumps(told[problem.domain.contains(told)], problem, solution)
        if not len(places):
            continue
        given = start.values(name, places)
        moments = np.column_stack([places, np.full(len(places), problem.time[0])])
        found = solution.approximation.values(name, moments, (0,) * moments.shape[1])
        missing = np.abs(found - given) > TRUST.missing * np.abs(given)
        size = max(1.0, float(np.abs(found).max()))
        missing &= np.abs(given) > TRUST.counts * solution.tol * size
        if missing.any():
            return _unseen(solution, name, places[np.argmax(missing)])
    return solution


def _away_from_jumps(places: FloatArray, problem: Problem, solution: Solution) -> FloatArray:
    """Return places without those at which functions of the start jump: it has no value there."""
    basis = next(iter(solution.approximation.bases.values()))
    first = basis.parts[0] if isinstance(basis, PatchworkInTime) else None
    jumps = jumps_of(first.shared) if isinstance(first, PatchworkBasis) else ()
    near = SAME * float(np.ptp(problem.domain.bounds, axis=0).max())
    for place in jumps:
        places = places[np.linalg.norm(places - np.array(place), axis=1) > near]
    return places


def _unseen(solution: Solution, name: str, place: FloatArray) -> Solution:
    outcome = Outcome(
        OutcomeKind.UNRESOLVED,
        f"Near {written(place)} the initial state of {name} has something so narrow that nothing "
        "sees it.",
    )
    value = max(solution.estimate.value, 1.0)
    return replace(solution, outcome=outcome, estimate=replace(solution.estimate, value=value))
