"""SymPy expressions as one more way into the graph.

Nothing is ever sympified: what is read here was built by the user with SymPy itself. Texts go
through the parser of `text`, whoever wrote them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.special as sp

from sharpfront.checks import shown
from sharpfront.equation.expression import Constant, Expression, Normal, apply, as_expression
from sharpfront.equation.opaque import OpaqueFunction
from sharpfront.equation.printer import NORMAL
from sharpfront.equation.trace import Symbols, is_coordinate_name, refuse_condition
from sharpfront.equation.weak import delta
from sharpfront.errors import EquationError

Numbers = Mapping[str, float | Expression]
Build = Callable[..., Any]

RELATIONS: dict[str, np.ufunc] = {
    "StrictLessThan": np.less,
    "LessThan": np.less_equal,
    "StrictGreaterThan": np.greater,
    "GreaterThan": np.greater_equal,
    "Equality": np.equal,
    "Unequality": np.not_equal,
    "Not": np.logical_not,
}
JOINED: dict[str, np.ufunc] = {
    "Add": np.add,
    "Max": np.maximum,
    "Min": np.minimum,
    "And": np.logical_and,
    "Or": np.logical_or,
    "Xor": np.logical_xor,
}
NAMED: dict[str, np.ufunc] = {
    **{n: getattr(np, n) for n in ("exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{f"a{n}": getattr(np, f"arc{n}") for n in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{"atan2": np.arctan2, "Abs": np.absolute, "sign": np.sign, "Mod": np.remainder},
    **{"floor": np.floor, "ceiling": np.ceil, "Heaviside": np.heaviside},
    **{"erf": sp.erf, "erfc": sp.erfc, "besselj": sp.jv},
}
_WRITTEN_OUT: dict[str, Build] = {
    "sec": lambda a: 1 / np.cos(a),
    "csc": lambda a: 1 / np.sin(a),
    "cot": lambda a: 1 / np.tan(a),
    "sech": lambda a: 1 / np.cosh(a),
    "csch": lambda a: 1 / np.sinh(a),
    "coth": lambda a: 1 / np.tanh(a),
    "frac": lambda a: a - np.floor(a),
    "ITE": np.where,
    "DiracDelta": delta,
}
KNOWN = (*NAMED, *_WRITTEN_OUT, "Max", "Min", "Piecewise")
_HINTS = {
    "Integral": "State an integral over the domain as sf.integral(integrand, equals=value).",
    "Subs": "Write the condition for all x, u(x).diff(x); the part of the boundary says where.",
    "ImaginaryUnit": "Write real and imaginary part as two unknowns.",
}


def is_symbolic(value: object) -> bool:
    """Tell whether a value comes from SymPy, without importing that."""
    return any(str(c.__module__).partition(".")[0] == "sympy" for c in type(value).__mro__)


def unknowns_in_sympy(expression: Any, coordinates: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the functions u(x, ...) in an expression, in its order."""
    found = [node for node in _nodes(expression) if _is_unknown(node)]
    if not found:
        raise EquationError(
            f"No unknown is found in {shown(expression)}. An unknown is a function of the "
            f"coordinates: u = sympy.Function('u')({', '.join(coordinates)})."
        )
    return tuple(dict.fromkeys(str(node.func.__name__) for node in found))


def from_expression(
    expression: Any, symbols: Symbols, values: Numbers | None = None, *, condition: bool = False
) -> Expression:
    """Return the graph of a SymPy expression; of an equation, left side minus right side.

    Unknowns are functions of the coordinates, other symbols have values. A comparison may stand
    here only as a `condition`.
    """
    _require_values(expression, symbols, values or {})
    reader = _SymPyReader(symbols, values or {})
    try:
        if type(expression).__name__ == "Equality" and not condition:
            left, right = (reader.read(side) for side in expression.args)
            return left - right
        found = reader.read(expression)
    except RecursionError:
        raise EquationError("The expression of SymPy is nested too deeply to be read.") from None
    if not condition:
        refuse_condition(found, "expression")
    return found


def _nodes(expression: Any) -> Iterable[Any]:
    waiting = [expression]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(getattr(node, "args", ())))


def _is_unknown(node: Any) -> bool:
    """Tell u(x) from sin(x) and from a function that computes."""
    names = [c.__name__ for c in type(node).__mro__]
    return "AppliedUndef" in names and not hasattr(node, "_imp_")


def _is_symbol(node: Any) -> bool:
    return "Symbol" in (c.__name__ for c in type(node).__mro__)


def _require_values(expression: Any, symbols: Symbols, values: Numbers) -> None:
    """Refuse symbols without a meaning, all of them at once."""
    known = (*symbols.coordinates, *values)
    names = {str(n.name) for n in _nodes(expression) if _is_symbol(n)}
    free = sorted(n for n in names if n not in known and _word(n, symbols) is None)
    if not free:
        return
    foreign = [n for n in free if is_coordinate_name(n)]
    hint = (
        f" The coordinates here are {', '.join(symbols.coordinates)}; t is one with time=(t0, t1)."
        if foreign
        else f" Give parameters={{{', '.join(f'{n!r}: ...' for n in free)}}}."
    )
    unknown = [n for n in free if n in symbols.unknowns]
    if unknown:
        u, names_ = unknown[0], ", ".join(symbols.coordinates)
        hint = f" The unknown is a function: sympy.Function({u!r})({names_})."
    raise EquationError(
        f"{', '.join(free)} in {shown(expression)} has no value.{hint}".replace(
            " has no", " have no" if len(free) > 1 else " has no"
        )
    )


def _word(name: str, symbols: Symbols) -> Expression | None:
    """Return what normal_x and u_n stand for, as in texts; None for any other name."""
    head, _, tail = name.rpartition("_")
    if head == NORMAL and tail in symbols.coordinates:
        return Normal(tail)
    return symbols.stand_in(head).dn if head in symbols.unknowns and tail == "n" else None


class _SymPyReader:
    """Walks a SymPy tree; each distinct part of it becomes one node."""

    def __init__(self, symbols: Symbols, values: Numbers) -> None:
        self.symbols = symbols
        self.values = values
        self.known: dict[Any, Expression] = {}

    def read(self, node: Any) -> Expression:
        """Return the graph of a node."""
        if node not in self.known:
            self.known[node] = self.built(node)
        return self.known[node]

    def built(self, node: Any) -> Expression:
        kind = type(node).__name__
        if kind in ("BooleanTrue", "BooleanFalse"):
            return Constant(float(bool(node)))
        if getattr(node, "is_number", False) and not node.args:
            return self.number(node)
        if _is_symbol(node):
            return self.symbol(str(node.name))
        if _is_unknown(node):
            return self.unknown(node)
        if kind == "Derivative":
            return self.derivative(node)
        if kind == "Piecewise":
            return self.choice(node)
        if kind == "Mul":
            return self.product(node)
        if kind == "Pow":
            return self.power(node)
        return self.applied(node, kind)

    def number(self, node: Any) -> Expression:
        try:
            value = float(node)
        except TypeError:
            value = math.nan
        if not math.isfinite(value):
            raise self.refused(node, "is not a finite real number")
        return Constant(value)

    def symbol(self, name: str) -> Expression:
        if name in self.symbols.coordinates:
            return self.symbols.stand_in(name)
        if name in self.values:
            return as_expression(self.values[name])
        found = _word(name, self.symbols)
        assert found is not None
        return found

    def unknown(self, node: Any) -> Expression:
        name = str(node.func.__name__)
        arguments = tuple(str(a) for a in node.args)
        if name not in self.symbols.unknowns:
            known = ", ".join(self.symbols.unknowns) or "none"
            raise self.refused(node, f"is not an unknown here; the unknowns are {known}")
        if sorted(arguments) != sorted(self.symbols.coordinates):
            names = ", ".join(self.symbols.coordinates)
            raise self.refused(
                node,
                f"is not written for all points: write {name}({names}). Where a condition holds, "
                "the part of the boundary or sf.at says",
            )
        return self.symbols.stand_in(name)

    def derivative(self, node: Any) -> Expression:
        result = self.read(node.expr)
        for variable, times in node.variable_count:
            name = str(variable)
            if name not in self.symbols.coordinates or not getattr(times, "is_Integer", False):
                names = ", ".join(self.symbols.coordinates)
                raise self.refused(node, f"is not a derivative along one of {names}")
            result = Constant(0.0) if isinstance(result, Constant) else result.d(name, int(times))
        return result

    def choice(self, node: Any) -> Expression:
        # Where no condition holds there is no value, and whoever asks for it is told so.
        result: Expression = Constant(math.nan)
        for value, when in reversed(node.args):
            always = type(when).__name__ == "BooleanTrue"
            chosen = self.read(value)
            result = chosen if always else as_expression(np.where(self.read(when), chosen, result))
        return result

    def product(self, node: Any) -> Expression:
        """Return a product with a division where SymPy has negative powers."""
        above, below, negative = [], [], False
        for factor in node.args:
            base, exponent = _power_of(factor)
            if getattr(factor, "is_number", False) and factor == -1:
                negative = True
                continue
            if exponent is not None and exponent < 0:
                below.append(self.raised(base, -exponent))
            else:
                above.append(self.read(factor))
        top = functools.reduce(lambda a, b: a * b, above, Constant(1.0))
        whole = top / functools.reduce(lambda a, b: a * b, below) if below else top
        return -whole if negative else whole

    def power(self, node: Any) -> Expression:
        base, exponent = _power_of(node)
        if exponent is None:
            return self.read(node.args[0]) ** self.read(node.args[1])
        raised = self.raised(base, abs(exponent))
        return 1.0 / raised if exponent < 0 else raised

    def raised(self, base: Any, exponent: Any) -> Expression:
        root = 2 * exponent == 1
        return as_expression(np.sqrt(self.read(base)) if root else self.read(base) ** exponent)

    def applied(self, node: Any, kind: str) -> Expression:
        own = getattr(node, "_imp_", None)
        if kind not in (*RELATIONS, *JOINED, *NAMED, *_WRITTEN_OUT) and own is None:
            hint = _HINTS.get(kind, f"Known functions: {', '.join(KNOWN)}.")
            raise self.refused(node, "has no counterpart here", hint)
        arguments = [self.read(a) for a in node.args]
        if isinstance(own, OpaqueFunction):
            return as_expression(own(*arguments))
        if own is not None:
            return as_expression(OpaqueFunction(kind, own)(*arguments))
        if kind in _WRITTEN_OUT:
            return as_expression(_WRITTEN_OUT[kind](*arguments))
        if kind in JOINED:
            return functools.reduce(lambda a, b: apply(JOINED[kind], a, b), arguments)
        return apply(RELATIONS.get(kind) or NAMED[kind], *arguments)

    def refused(self, node: Any, why: str, hint: str = "") -> EquationError:
        known = _HINTS.get(type(node).__name__, "")
        return EquationError(f"{shown(node)} {why}. {hint or known}".rstrip())


def _power_of(factor: Any) -> tuple[Any, Any]:
    """Return base and exponent as a float, None where that is no number."""
    if type(factor).__name__ == "Pow" and getattr(factor.args[1], "is_number", False):
        return factor.args[0], float(factor.args[1])
    return factor, None


def names_of(coordinates: Any) -> tuple[str, ...]:
    """Return the names of coordinates given as text, ``"x t"``, as names or as symbols of SymPy."""
    several = coordinates.replace(",", " ").split() if isinstance(coordinates, str) else coordinates
    if is_symbolic(several) or not isinstance(several, Sequence):
        several = (several,)
    names = tuple(str(c) for c in several)
    if not names or not all(map(is_coordinate_name, names)):
        raise EquationError(
            f"Coordinates are x, y, z, t or x1, x2, ...; got {shown(coordinates)}. Try 'x t'."
        )
    return names
