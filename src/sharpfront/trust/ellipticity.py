"""Whether equations are elliptic, and of which order together: half of it are conditions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.problem import Problem
from sharpfront.rounding import SLIGHT
from sharpfront.rows.form_values import form_at
from sharpfront.trust.settings import TRUST

# Waves so many times shorter than the domain tell the order of equations together, once twice as
# short ones agree: lower terms are small beside the highest.
SHORT = (1e6, 1e9, 1e12)


def elliptic_order(problem: Problem) -> int | None:
    """Return the order of elliptic equations together, that of the determinant of their symbol.

    None if they are not elliptic: if it vanishes in a direction, or changes its sign between two.
    Beyond the line the order of elliptic equations is even.
    """
    points = problem.domain.sample(TRUST.in_domain)
    ways = _directions(problem)
    for short in SHORT:
        one, two = (_symbol(problem, points, factor * ways) for factor in (short, 2 * short))
        sizes = np.abs(one)
        if not np.all(sizes > SLIGHT * sizes.max(axis=1, keepdims=True)):
            return None
        orders = np.log2(np.abs(two) / sizes)
        order = round(float(orders.mean()))
        if np.abs(orders - order).max() < 1e-3:
            turned = np.real(one / one[:, :1]) < 0
            return None if problem.domain.dimension > 1 and turned.any() else order
    return None


def is_of_waves(problem: Problem) -> bool:
    """Tell whether one equation of order two is hyperbolic at all points that are looked at."""
    if len(problem.unknowns) > 1 or problem.forms[0].order != 2:
        return False
    points = problem.domain.sample(TRUST.in_domain)
    symbol = _symbol(problem, points, SHORT[1] * _directions(problem))
    least = SLIGHT * np.abs(symbol).max(axis=1)
    most, lowest = symbol.real.max(axis=1), symbol.real.min(axis=1)
    return bool(np.all((most > least) & (lowest < -least)))


def _directions(problem: Problem) -> FloatArray:
    ways = np.random.default_rng(0).normal(size=(TRUST.directions, problem.domain.dimension))
    return np.asarray(ways / np.linalg.norm(ways, axis=1, keepdims=True))


def _symbol(problem: Problem, points: FloatArray, ways: FloatArray) -> NDArray[np.complex128]:
    """Return the determinant of the symbol at points, (m, k) for k waves over the domain."""
    waves = 1j / float(np.ptp(problem.domain.bounds, axis=0).max()) * ways
    names = list(problem.unknowns)
    symbol = np.zeros((len(points), len(ways), len(names), len(names)), dtype=complex)
    for i, stated in enumerate(problem.forms):
        form = form_at(stated, problem.coordinates, points)
        for term, c in zip(form.terms, form.coefficients, strict=True):
            powers = np.prod(waves ** np.array(term.orders), axis=1)
            symbol[:, :, i, names.index(term.unknown)] += np.outer(c, powers)
    return symbol[:, :, 0, 0] if len(names) == 1 else np.linalg.det(symbol)
