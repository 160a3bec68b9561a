"""Where the features of a system are: each unknown alone, with the others zero.

A layer belongs to the highest derivatives of its unknown, and those are seen without the others.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sharpfront.adapt.axis_features import discover
from sharpfront.adapt.resolve import Resolve
from sharpfront.equation.expression import (
    Constant,
    Derivative,
    Expression,
    Leaf,
    derivatives_in,
)
from sharpfront.equation.linearise import substitute
from sharpfront.equation.trace import Symbols
from sharpfront.errors import LinearSystemError, SharpfrontError
from sharpfront.mixture import Mixture
from sharpfront.problem import Condition, Problem


def system_mixtures(problem: Problem, components: int) -> tuple[Mixture | None, ...]:
    """Return one mixture for each axis, of all unknowns' features; None where nothing is narrow."""
    d = problem.domain.dimension
    found: list[list[Mixture]] = [[] for _ in range(d)]
    for unknown in problem.unknowns:
        single = alone(problem, unknown)
        if single is None:
            continue
        for own, mixture in zip(found, _features(single, components), strict=True):
            if mixture is not None:
                own.append(mixture)
    return tuple(_merged(own) for own in found)


def alone(problem: Problem, unknown: str) -> Problem | None:
    """Return the problem of one unknown with all others zero; None if no equation is its own.

    Its equation is the one with its highest derivative; the first of several.
    """
    orders = [_order(equation, unknown) for equation in problem.equations]
    if max(orders) < 1:
        return None
    kept = []
    for condition in problem.conditions:
        own = [_only(r, unknown) for r in condition.residuals if _order(r, unknown) >= 0]
        if own:
            kept.append(Condition(tuple(own), condition.part))
    further = tuple(
        replace(c, residuals=tuple(_only(r, unknown) for r in c.residuals))
        for c in problem.further
        if all(_order(r, unknown) >= 0 for r in c.residuals)
    )
    return problem.rewritten(
        symbols=Symbols((unknown,), problem.symbols.coordinates),
        equations=(_only(problem.equations[int(np.argmax(orders))], unknown),),
        conditions=tuple(kept),
        further=further,
    )


def _order(expression: Expression, unknown: str) -> int:
    """Return the highest order of an unknown in an expression; -1 if it is not there."""
    own = [sum(leaf.orders) for leaf in derivatives_in(expression) if leaf.unknown == unknown]
    return max(own, default=-1)


def _only(expression: Expression, unknown: str) -> Expression:
    def put(leaf: Leaf) -> Expression:
        other = isinstance(leaf, Derivative) and leaf.unknown != unknown
        return Constant(0.0) if other else leaf

    return substitute(expression, put)


def _features(problem: Problem, components: int) -> tuple[Mixture | None, ...]:
    """Return what discovery finds for one unknown; nothing where it cannot work."""
    d = problem.domain.dimension
    try:
        if d == 1:
            return (Resolve(components=components).start(problem, 1e-6, 0).mixture,)
        return discover(problem, components).mixtures
    except (SharpfrontError, LinearSystemError):
        return (None,) * d


def _merged(mixtures: list[Mixture]) -> Mixture | None:
    if not mixtures:
        return None
    weights = np.concatenate([m.weights for m in mixtures]) / len(mixtures)
    means = np.concatenate([m.means for m in mixtures])
    covariances = np.concatenate([m.covariances for m in mixtures])
    return Mixture(weights / weights.sum(), means, covariances)
