"""Several expressions evaluated together, in one pass over what they share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import (
    Apply,
    Constant,
    Expression,
    Key,
    Leaf,
    ordered,
)


class Program:
    """Expressions as a list of calls, walked once and run often.

    Newton's method evaluates an equation and its tangents at a few hundred points again and again:
    walking their graphs would cost more than the arithmetic.
    """

    def __init__(self, expressions: Sequence[Expression]) -> None:
        self._slots: dict[int, int] = {}
        self._constants: list[Any] = []
        self._leaves: list[tuple[int, Key]] = []
        self._calls: list[tuple[int, Callable[..., Any], tuple[int, ...]]] = []
        # Kept alive: slots are found by identity.
        self._expressions = tuple(expressions)
        for expression in self._expressions:
            for node in ordered(expression):
                self._place(node)
        self._outputs = [self._slots[id(e)] for e in self._expressions]

    @property
    def leaves(self) -> frozenset[Key]:
        """The keys of the leaves that occur."""
        return frozenset(key for _, key in self._leaves)

    def run(self, environment: Mapping[Key, Any], count: int) -> FloatArray:
        """Return the values at `count` points, (expressions, count).

        What overflows or is no number is for the caller to ignore: `np.errstate` around all runs.
        """
        values = list(self._constants)
        for slot, key in self._leaves:
            values[slot] = environment[key]
        for slot, function, arguments in self._calls:
            values[slot] = function(*[values[i] for i in arguments])
        out = np.empty((len(self._outputs), count))
        for row, slot in zip(out, self._outputs, strict=True):
            row[:] = values[slot]
        return out

    def _place(self, node: Expression) -> None:
        if id(node) in self._slots:
            return
        slot = self._slots[id(node)] = len(self._constants)
        self._constants.append(node.value if isinstance(node, Constant) else None)
        if isinstance(node, Leaf):
            self._leaves.append((slot, node.key))
        elif isinstance(node, Apply):
            arguments = tuple(self._slots[id(a)] for a in node.arguments)
            self._calls.append((slot, _as_float(node.function.evaluate), arguments))


def _as_float(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function; conditions count as 0 and 1, for NumPy would refuse -(x > 0)."""
    if isinstance(function, np.ufunc) and function.types[0].endswith("?"):
        return lambda *arguments: np.asarray(function(*arguments), dtype=float)
    return function
