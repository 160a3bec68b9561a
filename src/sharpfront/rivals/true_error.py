"""The true error, for all methods alike: at the catalogue's test points, or those of a reference.

Where no exact solution is known our own at a tighter tolerance takes its place. No error is then
given below what that solution is estimated to be off by.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.errors import ProblemError, SharpfrontError
from sharpfront.measure import cloud, following_points, max_error
from sharpfront.measure.errors import values_at
from sharpfront.problem_file import Statement
from sharpfront.rivals.collocation import region
from sharpfront.rivals.contract import Found, Subject
from sharpfront.rivals.ours import solved
from sharpfront.solution import Solution
from sharpfront.solve import SPACE_TOLERANCE, TOLERANCE

# Test points that are looked at; more of the catalogue's are drawn from.
_JUDGED_AT = 4000
# A reference is asked for these parts of the usual tolerance, until one is met.
_TIGHTER = (1e-2, 1e-1, 1.0)
# Seconds of the processor that a reference may take for each second of a method.
_PATIENCE, _LEAST = 10.0, 30.0


@dataclass(frozen=True, eq=False)
class Judge:
    """Measures errors."""

    # By the unknowns' names: test points (m, d) and the values there.
    points: Mapping[str, FloatArray]
    truth: Mapping[str, FloatArray]
    floor: float  # the least error that can be told from none
    words: str  # what the errors are measured against

    def __call__(self, found: Found) -> float:
        """Return the largest error of any unknown, relative to max(1, max|u|)."""
        errors = [max_error(found[n], self.truth[n], self.points[n]) for n in self.truth]
        return max(self.floor, *errors)


def judge_of(statement: Statement, subject: Subject, seconds: float) -> Judge:
    """Return who measures the errors of a statement's solutions.

    Seconds are those that a method has; a reference may take ten times as long.
    """
    limit = max(_LEAST, _PATIENCE * seconds)
    exact, floor, words = dict(statement.exact), 0.0, "the exact solution"
    reference = None
    if not exact or statement.points is None or subject.problem.time:
        reference = _reference(statement, subject, limit, needed=not exact)
    if not exact:
        assert reference is not None
        exact = {n: getattr(reference, n) for n in reference.unknowns}
        floor = reference.error_estimate
        words = f"our own solution with tol {reference.tol:.0e}, estimated to be off by {floor:.0e}"
    points = {n: _points(statement, subject, reference, n) for n in exact}
    truth = {n: values_at(f, points[n]) for n, f in exact.items()}
    return Judge(points, truth, floor, words)


def _points(
    statement: Statement, subject: Subject, reference: Solution | None, name: str
) -> FloatArray:
    """Return some of the test points, those that lie in the domain, (m, d)."""
    domain = region(subject.problem)
    if statement.points is not None and statement.exact:
        found = np.asarray(statement.points())
        found = found[:, None] if found.ndim == 1 else found
    elif reference is not None:
        found = following_points(reference, name)
    elif domain.time is not None:
        found = domain.sample(_JUDGED_AT, "quasi")
    else:
        found = cloud(domain, _JUDGED_AT)
    since = reference.error_estimate_since if reference is not None else None
    inside = domain.contains(found)
    found = found[inside if since is None else inside & (found[:, -1] >= since)]
    few = min(len(found), _JUDGED_AT)
    return found[np.sort(np.random.default_rng(0).choice(len(found), few, replace=False))]


def _reference(
    statement: Statement, subject: Subject, limit: float, *, needed: bool
) -> Solution | None:
    """Return our solution at the tightest of a few tolerances that it meets in time."""
    line = subject.problem.domain.dimension == 1
    usual = statement.options.get("tol") or (TOLERANCE if line else SPACE_TOLERANCE)
    words, stop = "", 0.0

    def look(_: Any) -> None:
        if time.process_time() > stop:
            raise TimeoutError(f"there was none within {limit:.0f} s.")

    for part in _TIGHTER if needed else (1.0,):
        stop = time.process_time() + limit
        try:
            solution = solved(subject, max(part * usual, 1e-11), look)
        except (SharpfrontError, TimeoutError) as error:
            words = str(error)
            continue
        if solution.converged or not needed:
            return solution
        words = str(solution.outcome)
    if needed:
        raise ProblemError(
            "No exact solution is given, and none of ours could take its place: "
            f"{words} Give exact=, more seconds=, or a milder problem."
        )
    return None
