"""Several expressions evaluated together, in one pass over what they share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Apply, Constant, Coordinate, Expression, Key, Leaf
from sharpfront.equation.graph import ordered

# A slot, the function, its first two arguments and those after them.
_Call = tuple[int, Callable[..., Any], int, int, tuple[int, ...]]


class Program:
    """Expressions as a list of calls, walked once and run often.

    Newton's method evaluates an equation and its tangents at a few hundred points again and again:
    walking their graphs would cost more than the arithmetic. What holds coordinates alone is
    evaluated once for all runs at the same points.
    """

    def __init__(self, expressions: Sequence[Expression]) -> None:
        self._slots: dict[int, int] = {}
        self._constants: list[Any] = []
        self._leaves: list[tuple[int, Key]] = []
        # Calls that hold coordinates alone, whose slots these are, and those that hold unknowns.
        self._given: list[_Call] = []
        self._known: set[int] = set()
        self._calls: list[_Call] = []
        # Kept alive: slots are found by identity.
        self._expressions = tuple(expressions)
        for expression in self._expressions:
            for node in ordered(expression):
                self._place(node)
        self._outputs = [self._slots[id(e)] for e in self._expressions]
        # What a call made in this run belongs to nobody else, and need not be copied.
        single = len(self._calls) > 0 and self._outputs == [self._calls[-1][0]]
        self._single = self._outputs[0] if single else None

        # The keys of the leaves that occur.
        self.leaves = frozenset(key for _, key in self._leaves)

    def run(self, environment: Mapping[Key, Any], count: int) -> FloatArray:
        """Return the values at `count` points, (expressions, count).

        What overflows or is no number is for the caller to ignore: `np.errstate` around all runs.
        """
        return self.finished(self.prepared(environment), count)

    def prepared(self, environment: Mapping[Key, Any]) -> list[Any]:
        """Return what `finished` goes on with, for as long as arrays of leaves are the same.

        Values of unknowns may change in their arrays, those of coordinates may not.
        """
        values = self._constants.copy()
        for slot, key in self._leaves:
            values[slot] = environment[key]
        _run(self._given, values)
        return values

    def found(self, environment: Mapping[Key, Any]) -> list[Any]:
        """Return the values as they are: arrays, or numbers where they are the same everywhere."""
        values = self.prepared(environment)
        _run(self._calls, values)
        return [values[slot] for slot in self._outputs]

    def finished(self, values: list[Any], count: int) -> FloatArray:
        """Return the values at `count` points, (expressions, count), from prepared ones."""
        _run(self._calls, values)
        if self._single is not None:
            found = values[self._single]
            if isinstance(found, np.ndarray) and found.dtype == float and found.shape == (count,):
                return found[None]
        out = np.empty((len(self._outputs), count))
        for row, slot in enumerate(self._outputs):
            out[row] = values[slot]
        return out

    def _place(self, node: Expression) -> None:
        if id(node) in self._slots:
            return
        slot = self._slots[id(node)] = len(self._constants)
        self._constants.append(node.value if isinstance(node, Constant) else None)
        if isinstance(node, (Constant, Coordinate)):
            self._known.add(slot)
        if isinstance(node, Leaf):
            self._leaves.append((slot, node.key))
        elif isinstance(node, Apply):
            function, own = _plain(node)
            first, *others = slots = [self._slots[id(a)] for a in own]
            second = others[0] if others else -1
            given = self._known.issuperset(slots)
            if given:
                self._known.add(slot)
            calls = self._given if given else self._calls
            calls.append((slot, function, first, second, tuple(others[1:])))


def _run(calls: list[_Call], values: list[Any]) -> None:
    """Make calls one after another, their results put into their slots."""
    for slot, function, first, second, more in calls:
        if second < 0:
            values[slot] = function(values[first])
        elif more:
            values[slot] = function(values[first], values[second], *[values[i] for i in more])
        else:
            values[slot] = function(values[first], values[second])


def _plain(node: Apply) -> tuple[Callable[..., Any], tuple[Expression, ...]]:
    """Return what is called, and with which arguments; small whole powers are products."""
    function, arguments = node.function.evaluate, node.arguments
    if function is np.power and isinstance(arguments[1], Constant):
        product = _PRODUCTS.get(arguments[1].value)
        if product is not None:
            return product, arguments[:1]
    if isinstance(function, np.ufunc) and _tells(function):
        # Conditions count as 0 and 1, for NumPy would refuse -(x > 0).
        return lambda *values: np.asarray(function(*values), dtype=float), arguments
    return function, arguments


# A power takes thirty times as long.
_PRODUCTS: dict[float, Callable[..., Any]] = {2.0: np.square, 3.0: lambda x: x * x * x}


@cache
def _tells(function: np.ufunc) -> bool:
    """Tell whether a function of numbers returns conditions."""
    try:
        kinds = (np.dtype(float),) * function.nin + (None,) * function.nout
        return bool(function.resolve_dtypes(kinds)[-1] == np.dtype(bool))
    except TypeError:
        return False
