"""Data that contradict each other where the sides of a box meet."""

from __future__ import annotations

import itertools

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.linearise import LinearForm
from sharpfront.equation.values import environment, form_values
from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.geometry import Domain
from sharpfront.problem import Condition, Problem
from sharpfront.trust.settings import TRUST


def contradicting_sides(problem: Problem, tol: float) -> Outcome | None:
    """Return where two conditions that give u meet and disagree, if they do so by more than tol."""
    if not problem.domain.is_box or len(problem.unknowns) > 1:
        return None
    given = [c for c in problem.conditions if len(c.forms) == 1 and c.forms[0].order == 0]
    worst, size, words = 0.0, 1.0, ""
    for one, two in itertools.combinations(given, 2):
        points = _edge(problem.domain, one.part, two.part)
        if points is None:
            continue
        mine, other = (_values(problem, c, points) for c in (one, two))
        size = max(size, float(np.abs(mine).max()), float(np.abs(other).max()))
        gaps = np.abs(mine - other)
        k = int(np.argmax(gaps))
        if gaps[k] > worst:
            worst, place = float(gaps[k]), ", ".join(f"{x:.4g}" for x in points[k])
            words = (
                f"At ({place}) the condition on {one.part} gives {mine[k]:.4g} and that on "
                f"{two.part} gives {other[k]:.4g}."
            )
    return Outcome(OutcomeKind.CONTRADICTION, words) if worst > TRUST.counts * tol * size else None


def _edge(domain: Domain, one: str, two: str) -> FloatArray | None:
    """Return points at which two sides of a box meet, ends included; None if they do not."""
    (first, start), (second, place) = (_plane(domain, part) for part in (one, two))
    if first == second:
        return None
    low, high = domain.bounds
    corners = np.array(list(itertools.product(*zip(low, high, strict=True))))
    points = np.concatenate([domain.boundary(one, TRUST.places).points, corners])
    points[:, first], points[:, second] = start, place
    return points


def _plane(domain: Domain, part: str) -> tuple[int, float]:
    """Return the axis across a side of a box and its place along it."""
    there = domain.boundary(part, 1)
    axis = int(np.argmax(np.abs(there.normals[0])))
    return axis, float(there.points[0, axis])


def _values(problem: Problem, condition: Condition, points: FloatArray) -> FloatArray:
    """Return the values that a condition gives to u."""
    form: LinearForm = condition.forms[0]
    normal = problem.domain.boundary(condition.part, 1).normals[:1]
    leaves = environment(problem.coordinates, points, np.repeat(normal, len(points), axis=0))
    coefficients, source = form_values(form, leaves, len(points), condition.part)
    factor = sum(coefficients)
    return np.asarray(np.where(factor == 0.0, np.nan, -source / np.where(factor == 0, 1, factor)))
