"""Curves that a function of the plane tells of: where it jumps, bends, or may be narrow.

Inside np.where(x**2 + y**2 < r**2, ...) stands the circle on which the function jumps, inside
tanh((r - R) / w) the one about which it changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sharpfront.equation.edges import named_in, parallel_parts, switches
from sharpfront.equation.expression import Apply, Constant, Expression
from sharpfront.equation.graph import derivatives_in, ordered
from sharpfront.equation.narrow_features import BY_DIFFERENCE, BY_RATIO

_SQUARES = frozenset((np.square, np.absolute, np.fabs))
_POWERS = frozenset((np.power, np.float_power))


@dataclass(frozen=True, eq=False)
class Level:
    """A function on whose zero another is not smooth, or may be narrow."""

    argument: Expression  # the function
    # Whether values may jump there, or slopes.
    jumps: bool = False
    bends: bool = False

    @property
    def told(self) -> str:
        """Its zero in words."""
        return f"{self.argument!r} = 0"


def levels_of(expressions: Sequence[Expression]) -> tuple[Level, ...]:
    """Return the curves that functions tell of, but no lines along axes; jumps first."""
    found = [
        Level(s.argument - s.first if s.first else s.argument, s.jumps, not s.jumps)
        for e in expressions
        for s in switches(e)
        if _is_curve(s.argument) and not s.period and s.crosses and parallel_parts(s) is None
    ]
    seen = {id(level.argument) for level in found}
    for e in expressions:
        for node in ordered(e):
            for argument in centres(node):
                if _is_curve(argument) and id(argument) not in seen:
                    seen.add(id(argument))
                    found.append(Level(argument))
    return tuple(sorted(found, key=lambda level: -level.jumps))


def _is_curve(argument: Expression) -> bool:
    return len(named_in(argument)) > 1 and not derivatives_in(argument)


def centres(node: Expression) -> Iterator[Expression]:
    """Yield what is zero where a node may be steep: arguments, and what is squared in them."""
    if not isinstance(node, Apply):
        return
    ufunc = node.function.evaluate
    if ufunc in BY_DIFFERENCE:
        yield node.arguments[0]
    if ufunc in BY_DIFFERENCE or ufunc in BY_RATIO or ufunc in _POWERS:
        watched = node.arguments
    elif ufunc is np.true_divide:
        watched = node.arguments[1:]
    else:
        return
    for argument in watched:
        for inner in ordered(argument):
            if isinstance(inner, Apply) and _is_even(inner):
                yield inner.arguments[0]


def _is_even(node: Apply) -> bool:
    """Tell whether a node has its least value where its first argument is zero."""
    ufunc, arguments = node.function.evaluate, node.arguments
    if ufunc in _POWERS:
        power = arguments[1]
        return isinstance(power, Constant) and power.value > 0 and power.value % 2 == 0
    return ufunc in _SQUARES or (ufunc is np.multiply and arguments[0] is arguments[1])
