"""Walks through graphs of expressions: their nodes in order, what occurs in them, their values."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np

from sharpfront.equation.expression import (
    Apply,
    Constant,
    Coordinate,
    Derivative,
    Expression,
    Key,
    Leaf,
    Normal,
    Parameter,
    Values,
)
from sharpfront.errors import EquationError

T = TypeVar("T")


def ordered(
    expression: Expression, arguments: Callable[[Apply], Sequence[Expression]] | None = None
) -> Iterator[Expression]:
    """Yield every node once, arguments before the nodes that use them.

    `arguments` tells which arguments of a node belong to it; all by default.
    """
    if arguments is not None:
        return _walked(expression, arguments)
    return iter(_sequence(expression) if isinstance(expression, Apply) else (expression,))


@functools.lru_cache(maxsize=512)
def _sequence(expression: Expression) -> tuple[Expression, ...]:
    """Return all nodes in order: a graph is walked once, and read and evaluated often."""
    return tuple(_walked(expression, lambda node: node.arguments))


def _walked(
    expression: Expression, arguments: Callable[[Apply], Sequence[Expression]]
) -> Iterator[Expression]:
    """Yield the nodes in order, without a limit on how deep they are."""
    seen: set[int] = set()
    stack: list[tuple[Expression, bool]] = [(expression, False)]
    while stack:
        node, expanded = stack.pop()
        if id(node) in seen:
            continue
        if expanded or not isinstance(node, Apply):
            seen.add(id(node))
            yield node
        else:
            stack.append((node, True))
            stack.extend([(argument, False) for argument in reversed(arguments(node))])


def folded(
    expression: Expression, leaf: Callable[[Expression], T], applied: Callable[[Apply, list[T]], T]
) -> T:
    """Return what a graph becomes: `leaf` of what has no arguments, `applied` of these for a call.

    Each node is looked at once, however often it stands in the graph.
    """
    made: dict[int, T] = {}
    for node in ordered(expression):
        if isinstance(node, Apply):
            made[id(node)] = applied(node, [made[id(a)] for a in node.arguments])
        else:
            made[id(node)] = leaf(node)
    return made[id(expression)]


@functools.lru_cache(maxsize=512)
def derivatives_in(expression: Expression) -> tuple[Derivative, ...]:
    """Return the distinct derivatives of unknowns in the graph, in order of appearance."""
    found = {node.key: node for node in ordered(expression) if isinstance(node, Derivative)}
    return tuple(found.values())


@functools.lru_cache(maxsize=512)
def parameters_in(expression: Expression) -> frozenset[str]:
    """Return the names of the parameters in the graph: what an eigenvalue problem has."""
    return frozenset([node.name for node in ordered(expression) if isinstance(node, Parameter)])


def coordinates_of(expression: Expression) -> tuple[str, ...]:
    """Return the names of the coordinates that the leaves know of."""
    for node in ordered(expression):
        if isinstance(node, Derivative | Coordinate):
            return node.coordinates
    return ()


def evaluate(expression: Expression, environment: Mapping[Key, Values]) -> Values:
    """Return the values of the expression, of the broadcast shape of the leaves that occur.

    The environment has the values of each leaf by its `key`.
    """
    return evaluate_nodes(expression, environment)[id(expression)]


def evaluate_nodes(expression: Expression, environment: Mapping[Key, Values]) -> dict[int, Values]:
    """Return the values of every node of the graph, by the node's id."""
    values: dict[int, Values] = {}
    for node in ordered(expression):
        values[id(node)] = _value(node, values, environment)
    return values


def _value(
    node: Expression, values: Mapping[int, Values], environment: Mapping[Key, Values]
) -> Values:
    if isinstance(node, Apply):
        # Conditions count as 0 and 1: NumPy would refuse -(x > 0) and read a sum as "or".
        result = node.function.evaluate(*[values[id(a)] for a in node.arguments])
        return np.asarray(result, dtype=float)
    if isinstance(node, Constant):
        return np.asarray(node.value)
    assert isinstance(node, Leaf)
    try:
        return np.asarray(environment[node.key], dtype=float)
    except KeyError:
        raise EquationError(
            "`.dn` is the derivative along the outward normal and has a meaning on a boundary only."
            if isinstance(node, Normal)
            else f"No values were given for {node.key}."
        ) from None
