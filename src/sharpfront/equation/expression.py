"""An immutable graph over the unknowns' derivatives and the coordinates.

A residual function is called once with leaves of this graph in place of the unknown and the
coordinates; Python's operators and NumPy's ufuncs then build the graph instead of computing
numbers. Everything else in this room (linear form, text, linearisation) reads the graph.
"""

from __future__ import annotations

import functools
import numbers
import operator
import re
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sharpfront.equation.operators import Operators
from sharpfront.errors import EquationError

Key = tuple[Any, ...]
Values = NDArray[np.float64]
TIME = "t"
COORDINATE_NAME = r"x\d+|[xyzt]"
# The spectral parameter of an eigenvalue problem, and the imaginary unit, as names of parameters.
SPECTRAL, IMAGINARY = "lam", "1j"


@dataclass(frozen=True, eq=False)
class Function:
    """What an `Apply` node applies: a ufunc, ``np.where`` or an opaque callable."""

    name: str  # the word used for it in texts and error messages
    evaluate: Callable[..., Any] = field(repr=False)  # vectorised over NumPy arrays


@dataclass(frozen=True, eq=False, repr=False)
class Expression(Operators):
    """Base of all nodes: operators build new nodes, derivatives are attributes.

    ``e.dx``, ``e.dxy`` and ``e.d("x", 2)`` are total derivatives, so that ``(a(x) * u.dx).dx``
    is the flux form it looks like. ``e.dn`` is the outward normal derivative on a boundary.
    """

    def _apply(self, ufunc: np.ufunc, *arguments: Any) -> Any:
        for a in arguments:
            if not isinstance(a, (Expression, float, int)) and _refuses_ufuncs(a):
                # Python then asks the other operand: k(x) * grad(u) is the vector's to compute.
                return NotImplemented
        return apply(ufunc, *arguments)

    def _where(self, *arguments: Any) -> Any:
        return apply_function(_WHERE, *arguments)

    def __repr__(self) -> str:
        # Imported here: texts are made of expressions, so that module needs this one first.
        from sharpfront.equation.text import to_text

        return to_text(self, limit=200)

    def __getattr__(self, name: str) -> Expression:
        if name.startswith("_"):
            # Copying asks for these before there is anything to name coordinates from.
            raise AttributeError(name)
        if not name.startswith("d") or len(name) < 2:
            raise UnknownCoordinateError(
                f"An expression has no attribute {name!r}. For derivatives {_what_to_write(self)}"
            )
        if name == "dn":
            names = _names(self)
            parts = [Normal(c) * self.d(c) for c in names if c != TIME]
            if names and not parts:
                raise EquationError("`.dn` has no meaning where time is the only coordinate.")
            return functools.reduce(lambda a, b: a + b, parts, Constant(0.0))
        if isinstance(self, Derivative):
            return _raised(self, name)
        return functools.reduce(lambda e, coordinate: e.d(coordinate), _along(self, name), self)

    def d(self, coordinate: str, times: int = 1) -> Expression:
        """Return the total derivative along a coordinate, `times` times."""
        from sharpfront.equation.differentiation import total_derivative

        names = _names(self)
        if not isinstance(coordinate, str) or split_names(coordinate, names) != (coordinate,):
            raise UnknownCoordinateError(
                f"`.d({coordinate!r})` is not a derivative: {_what_to_write(self)}"
            )
        if times < 0 or times != int(times):
            raise EquationError(
                f"`.d({coordinate!r}, {times!r})`: the order is a whole number, 0 or more."
            )
        result: Expression = self
        for _ in range(int(times)):
            result = total_derivative(result, coordinate)
        return result


class UnknownCoordinateError(EquationError, AttributeError):
    """A derivative along something that is not a coordinate of the problem."""


@dataclass(frozen=True, eq=False, repr=False)
class Constant(Expression):
    """A number."""

    value: float


@dataclass(frozen=True, eq=False, repr=False)
class Leaf(Expression):
    """A node whose values come from outside the graph, found by its key."""

    @property
    def key(self) -> Key:
        """What identifies the leaf in an environment of values."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False, repr=False)
class Named(Leaf):
    """A leaf that its kind and its name tell from others."""

    kind: ClassVar[str]
    name: str

    @property
    def key(self) -> Key:
        """``("coordinate", "x")`` for example."""
        return (self.kind, self.name)


@dataclass(frozen=True, eq=False, repr=False)
class Coordinate(Named):
    """A coordinate, together with the names of all of them."""

    kind = "coordinate"
    coordinates: tuple[str, ...]
    seam: tuple[float, float] | None = None  # where the domain is closed to a ring along it


@dataclass(frozen=True, eq=False, repr=False)
class Normal(Named):
    """A component of the outward unit normal; has values on a boundary only."""

    kind = "normal"


@dataclass(frozen=True, eq=False, repr=False)
class Parameter(Named):
    """A number of a family of problems with respect to which its residuals are differentiated."""

    kind = "parameter"


@dataclass(frozen=True, eq=False, repr=False)
class Derivative(Leaf):
    """A partial derivative of an unknown; all orders zero is the unknown itself."""

    unknown: str
    coordinates: tuple[str, ...]
    orders: tuple[int, ...]

    @property
    def key(self) -> Key:
        """``("derivative", unknown, orders)``."""
        return ("derivative", self.unknown, self.orders)

    def raised(self, coordinate: str) -> Derivative:
        """Return the derivative of this derivative along one coordinate."""
        i = self.coordinates.index(coordinate)
        orders = (*self.orders[:i], self.orders[i] + 1, *self.orders[i + 1 :])
        return Derivative(self.unknown, self.coordinates, orders)


@functools.lru_cache(maxsize=256)
def _raised(leaf: Derivative, name: str) -> Derivative:
    """Return ``leaf.name``, the same node each time: what is read of it is then known already."""
    return functools.reduce(Derivative.raised, _along(leaf, name), leaf)


def _along(expression: Expression, name: str) -> tuple[str, ...]:
    """Return the coordinates along which ``expression.name`` is a derivative, ``dxy`` for one."""
    along = split_names(name[1:], _names(expression))
    if along is None:
        # AttributeError keeps hasattr() and copy protocols working.
        raise UnknownCoordinateError(f"`.{name}` is not a derivative: {_what_to_write(expression)}")
    return along


@dataclass(frozen=True, eq=False, repr=False)
class Apply(Expression):
    """A function applied to expressions."""

    function: Function
    arguments: tuple[Expression, ...]


_WHERE = Function("where", np.where)


@functools.cache
def _ufunc(ufunc: np.ufunc) -> Function:
    try:
        ufunc.resolve_dtypes((np.dtype(float),) * ufunc.nin + (None,) * ufunc.nout)
        works_by_point = ufunc.signature is None
    except TypeError:
        works_by_point = False
    if not works_by_point:
        raise EquationError(
            f"np.{ufunc.__name__} is not a function of real numbers, point by point, so it cannot "
            "stand in an equation. For a vector, write v @ grad(u)."
        )
    return Function(ufunc.__name__, ufunc)


def _refuses_ufuncs(value: Any) -> bool:
    return getattr(value, "__array_ufunc__", ...) is None


def as_expression(value: Any) -> Expression:
    """Return `value` as a node; numbers and 0-d arrays become constants."""
    if isinstance(value, Expression):
        return value
    if type(value) is float:
        return Constant(value)
    if _refuses_ufuncs(value):
        raise EquationError(
            "A vector stands in the equation where a number is expected. Write v @ w for a scalar "
            "product, v[0] for a component, div(v) for the divergence."
        )
    if (instead := getattr(value, "in_equations", None)) is not None:
        raise EquationError(instead)
    try:  # NumPy keeps whole numbers beyond 64 bits, and fractions, as objects.
        array = np.asarray(float(value) if isinstance(value, numbers.Real) else value)
    except OverflowError:
        raise EquationError("A whole number in the equation is too large for a float.") from None
    if array.dtype.kind == "c" and not array.ndim:
        real, imaginary = Constant(float(array.real)), Constant(float(array.imag))
        return apply(np.add, real, apply(np.multiply, imaginary, Parameter(IMAGINARY)))
    if array.dtype.kind not in "buif":
        raise EquationError(
            f"An equation holds real numbers, coordinates and unknowns; got {value!r} "
            f"of type {type(value).__name__}."
        )
    if array.ndim:
        raise EquationError(
            f"An array of shape {array.shape} stands in the equation where a number is expected. "
            "If it is a table over the domain, write sf.function(lambda x: np.interp(x, xs, ys))(x)"
        )
    return Constant(float(array))


def apply(ufunc: np.ufunc, *arguments: Any) -> Expression:
    """Return the node for a ufunc call, with the obvious simplifications."""
    function = _ufunc(ufunc)
    nodes = tuple([as_expression(a) for a in arguments])
    values = [n.value for n in nodes if isinstance(n, Constant)]
    if len(values) == len(nodes):
        if ufunc in _PLAIN:
            return Constant(_PLAIN[ufunc](*values))
        with np.errstate(all="ignore"):
            return Constant(float(ufunc(*values)))
    simpler = _neutral(ufunc, nodes) if values else None
    if simpler is not None:
        return simpler
    # What is written twice is one node, evaluated once.
    key = (function, *[repr(n.value) if isinstance(n, Constant) else id(n) for n in nodes])
    node = _NODES.get(key)
    if node is None:
        node = _NODES[key] = Apply(function, nodes)
    return node


# Nodes by function and arguments, as long as they are alive; while one is, so are its arguments.
_NODES: weakref.WeakValueDictionary[tuple[Any, ...], Apply] = weakref.WeakValueDictionary()


def apply_function(function: Function, *arguments: Any) -> Expression:
    """Return the node for a function that is not a ufunc."""
    return Apply(function, tuple(as_expression(a) for a in arguments))


# Python's own arithmetic on two numbers gives the same bits and warns of nothing.
_PLAIN: dict[np.ufunc, Callable[..., float]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.negative: operator.neg,
}


def is_zero(node: Expression) -> bool:
    """Tell whether the node is the constant zero."""
    return isinstance(node, Constant) and node.value == 0


def _neutral(ufunc: np.ufunc, nodes: tuple[Expression, ...]) -> Expression | None:
    """Simplify by the neutral and absorbing elements, which keeps derivatives small."""
    a, b = nodes[0], nodes[-1]
    # The number of each, if it is one.
    first, last = (n.value if isinstance(n, Constant) else None for n in (a, b))
    if ufunc is np.add:
        return b if first == 0 else a if last == 0 else None
    if ufunc is np.subtract:
        return a if last == 0 else apply(np.negative, b) if first == 0 else None
    if ufunc is np.multiply:
        if first == 0 or last == 0:
            return Constant(0.0)
        return b if first == 1 else a if last == 1 else None
    if ufunc is np.true_divide:
        return Constant(0.0) if first == 0 else a if last == 1 else None
    if ufunc is np.power:
        return Constant(1.0) if last == 0 else a if last == 1 else None
    return None


@functools.lru_cache(maxsize=256)
def split_names(letters: str, coordinates: tuple[str, ...]) -> tuple[str, ...] | None:
    """Split what follows the d of ``u.dxy`` or the _ of ``u_xy``; None if it does not fit.

    An expression without coordinates is a constant: any name of a coordinate will do.
    """
    by_length = sorted(map(re.escape, coordinates), key=len, reverse=True)
    found = tuple(re.findall("|".join(by_length) or COORDINATE_NAME, letters))
    return found if found and "".join(found) == letters else None


def _names(expression: Expression) -> tuple[str, ...]:
    # Imported here: walks through graphs tell kinds of nodes apart, and need this module first.
    from sharpfront.equation.graph import coordinates_of

    return coordinates_of(expression)


def _what_to_write(expression: Expression) -> str:
    names = _names(expression)
    first = names[0] if names else "x"
    return (
        f"the coordinates here are {', '.join(names) or 'none'}. "
        f"Write for example .d{first}, .d{first}{first} or .d({first!r}, 2)."
    )
