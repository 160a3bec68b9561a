"""In what two problems of a family differ: derivatives and kernels go on between some only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from sharpfront.equation.differentiation import JUMPS
from sharpfront.equation.expression import Apply, Constant, Expression, Leaf, Parameter
from sharpfront.equation.graph import ordered
from sharpfront.equation.opaque import OpaqueFunction
from sharpfront.equation.weak import is_delta
from sharpfront.problem import Problem

# Numbers that differ by more make another problem: layers four times as thin are not looked for.
ALIKE = 4.0


def residuals_of(problem: Problem) -> Iterator[Expression]:
    """Yield the residuals of equations and conditions."""
    yield from problem.equations
    for stated in (*problem.conditions, *problem.further):
        yield from stated.residuals


def alike(one: Problem, other: Problem) -> bool:
    """Tell whether two problems differ in their residuals alone, and none in where it jumps.

    Or in when they end: what is later has no effect on what was before.
    """
    begin = [None if p.time is None else p.time[0] for p in (one, other)]
    if one.is_singular or other.is_singular or begin[0] != begin[1]:
        return False
    if not same_domain(one, other):
        return False
    places = [[getattr(c, "point", None) for c in p.further] for p in (one, other)]
    counts = [[len(c.residuals) for c in (*p.conditions, *p.further)] for p in (one, other)]
    if places[0] != places[1] or counts[0] != counts[1] or one.unknowns != other.unknowns:
        return False
    return list(map(_switches, residuals_of(one))) == list(map(_switches, residuals_of(other)))


def same_domain(one: Problem, other: Problem) -> bool:
    """Tell whether two problems have the same domain."""
    if one.domain is other.domain:
        return True
    try:
        return _same(one.domain.state(), other.domain.state())
    except Exception:
        # A level function with a symbol in it has no boundary.
        return False


def _same(one: Any, other: Any) -> bool:
    """Tell whether words, numbers and arrays from which domains are made are the same."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[k], other[k]) for k in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return np.array_equal(one, other)


def _switched(expression: Expression) -> Iterator[Expression]:
    """Yield what decides where the expression jumps, or stands in Dirac's delta."""
    for node in ordered(expression):
        if isinstance(node, Apply) and (node.function.evaluate in JUMPS or is_delta(node)):
            yield from node.arguments
        elif isinstance(node, Apply) and node.function.evaluate is np.where:
            yield node.arguments[0]


def _switches(expression: Expression) -> list[Any]:
    """Return the numbers on which it depends where the expression jumps."""
    numbers: list[Any] = [
        n.value for e in _switched(expression) for n in ordered(e) if isinstance(n, Constant)
    ]
    opaque = (n.function for n in ordered(expression) if isinstance(n, Apply))
    return numbers + [f.breaks for f in opaque if isinstance(f, OpaqueFunction)]


def moves(expression: Expression) -> bool:
    """Tell whether a parameter decides where the expression jumps."""
    return any(isinstance(n, Parameter) for e in _switched(expression) for n in ordered(e))


def same_but_numbers(one: Problem, other: Problem, most: float = ALIKE) -> bool:
    """Tell whether linear problems differ in coefficients that are plain numbers, and not by far.

    By a factor of `most`. What varies along the coordinates must be the same, node by node.
    """
    if not (one.is_linear and other.is_linear and alike(one, other)):
        return False
    parts = ((p, *p.conditions, *p.further) for p in (one, other))
    for a, b in zip(*parts, strict=True):
        for form, another in zip(a.forms, b.forms, strict=True):
            leaves, data = [], []
            for own in (form, another):
                leaves.append([(t.unknown, t.orders) for t in own.terms])
                data.append([own.source, *(t.coefficient for t in own.terms)])
            if leaves[0] != leaves[1]:
                return False
            if not all(_same_datum(s, t, most) for s, t in zip(*data, strict=True)):
                return False
    return True


def _same_datum(one: Expression, other: Expression, most: float) -> bool:
    if isinstance(one, Constant) and isinstance(other, Constant):
        a, b = one.value, other.value
        return a == b or (a * b > 0 and 1 / most <= a / b <= most)
    nodes = list(ordered(one)), list(ordered(other))
    return len(nodes[0]) == len(nodes[1]) and all(map(_same_node, *nodes))


def _same_node(one: Expression, other: Expression) -> bool:
    if isinstance(one, Apply) and isinstance(other, Apply):
        return one.function is other.function and len(one.arguments) == len(other.arguments)
    if isinstance(one, Leaf) and isinstance(other, Leaf):
        return one.key == other.key
    both = isinstance(one, Constant) and isinstance(other, Constant)
    return both and one.value == other.value
