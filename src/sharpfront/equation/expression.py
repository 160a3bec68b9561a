"""An immutable graph over the unknowns' derivatives and the coordinates.

A residual function is called once with leaves of this graph in place of the unknown and the
coordinates; Python's operators and NumPy's ufuncs then build the graph instead of computing
numbers. Everything else in this room (linear form, text, linearisation) reads the graph.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfront.equation.operators import Operators
from sharpfront.errors import EquationError

Key = tuple[Any, ...]
Values = NDArray[np.float64]
TIME = "t"


@dataclass(frozen=True, eq=False)
class Function:
    """What an `Apply` node applies: a ufunc, ``np.where`` or an opaque callable.

    Parameters
    ----------
    name
        The word used for it in texts and error messages.
    evaluate
        Vectorised over NumPy arrays.
    """

    name: str
    evaluate: Callable[..., Any] = field(repr=False)


@dataclass(frozen=True, eq=False)
class Expression(Operators):
    """Base of all nodes: operators build new nodes, derivatives are attributes.

    ``e.dx``, ``e.dxy`` and ``e.d("x", 2)`` are total derivatives, so that ``(a(x) * u.dx).dx``
    is the flux form it looks like. ``e.dn`` is the outward normal derivative on a boundary.
    """

    def _apply(self, ufunc: np.ufunc, *arguments: Any) -> Any:
        return apply(ufunc, *arguments)

    def _where(self, *arguments: Any) -> Any:
        return apply_function(_WHERE, *arguments)

    def __getattr__(self, name: str) -> Expression:
        if not name.startswith("d") or len(name) < 2:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if name == "dn":
            return self._normal_derivative()
        names = coordinates_of(self)
        unknown = [letter for letter in name[1:] if letter not in names]
        if unknown:
            # AttributeError keeps hasattr() and copy protocols working.
            raise UnknownCoordinateError(
                f"`.{name}` asks for a derivative along {', '.join(map(repr, unknown))}, but the "
                f"coordinates here are {', '.join(names) or 'none'}. "
                "Write for example .dx, .dxx or .d('x', 2)."
            )
        return functools.reduce(lambda e, letter: e.d(letter), name[1:], self)

    def d(self, coordinate: str, times: int = 1) -> Expression:
        """Return the total derivative along a coordinate, `times` times."""
        names = coordinates_of(self)
        if coordinate not in names:
            raise UnknownCoordinateError(
                f"d({coordinate!r}): the coordinates here are {', '.join(names) or 'none'}."
            )
        if times < 0:
            raise EquationError(f"d({coordinate!r}, {times}): the order must not be negative.")
        result: Expression = self
        for _ in range(times):
            result = total_derivative(result, coordinate)
        return result

    def _normal_derivative(self) -> Expression:
        parts = [Normal(c) * self.d(c) for c in coordinates_of(self) if c != TIME]
        if not parts:
            raise EquationError("`.dn` of an expression without coordinates has no meaning.")
        return functools.reduce(lambda a, b: a + b, parts)


class UnknownCoordinateError(EquationError, AttributeError):
    """A derivative along something that is not a coordinate of the problem."""


@dataclass(frozen=True, eq=False)
class Constant(Expression):
    """A number."""

    value: float


@dataclass(frozen=True, eq=False)
class Leaf(Expression):
    """A node whose values come from outside the graph, found by its key."""

    @property
    def key(self) -> Key:
        """What identifies the leaf in an environment of values."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Coordinate(Leaf):
    """A coordinate, together with the names of all of them."""

    name: str
    coordinates: tuple[str, ...]

    @property
    def key(self) -> Key:
        """``("coordinate", name)``."""
        return ("coordinate", self.name)


@dataclass(frozen=True, eq=False)
class Normal(Leaf):
    """A component of the outward unit normal; has values on a boundary only."""

    name: str

    @property
    def key(self) -> Key:
        """``("normal", name)``."""
        return ("normal", self.name)


@dataclass(frozen=True, eq=False)
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


@dataclass(frozen=True, eq=False)
class Apply(Expression):
    """A function applied to expressions."""

    function: Function
    arguments: tuple[Expression, ...]


_WHERE = Function("where", np.where)


@functools.cache
def _ufunc(ufunc: np.ufunc) -> Function:
    return Function(ufunc.__name__, ufunc)


def as_expression(value: Any) -> Expression:
    """Return `value` as a node; numbers and 0-d arrays become constants."""
    if isinstance(value, Expression):
        return value
    array = np.asarray(value)
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
    nodes = tuple(as_expression(a) for a in arguments)
    if len(nodes) != ufunc.nin:
        raise EquationError(f"np.{ufunc.__name__} takes {ufunc.nin} arguments, got {len(nodes)}.")
    if all(isinstance(n, Constant) for n in nodes):
        return _fold(ufunc, nodes)
    simpler = _neutral(ufunc, nodes)
    return Apply(_ufunc(ufunc), nodes) if simpler is None else simpler


def apply_function(function: Function, *arguments: Any) -> Expression:
    """Return the node for a function that is not a ufunc."""
    return Apply(function, tuple(as_expression(a) for a in arguments))


def _fold(ufunc: np.ufunc, nodes: tuple[Expression, ...]) -> Expression:
    with np.errstate(all="ignore"):
        return Constant(float(ufunc(*(n.value for n in nodes if isinstance(n, Constant)))))


def _is(node: Expression, value: float) -> bool:
    return isinstance(node, Constant) and node.value == value


def _neutral(ufunc: np.ufunc, nodes: tuple[Expression, ...]) -> Expression | None:
    """Simplify by the neutral and absorbing elements, which keeps derivatives small."""
    a, b = nodes[0], nodes[-1]
    if ufunc is np.add:
        return b if _is(a, 0) else a if _is(b, 0) else None
    if ufunc is np.subtract:
        return a if _is(b, 0) else apply(np.negative, b) if _is(a, 0) else None
    if ufunc is np.multiply:
        if _is(a, 0) or _is(b, 0):
            return Constant(0.0)
        return b if _is(a, 1) else a if _is(b, 1) else None
    if ufunc is np.true_divide:
        return Constant(0.0) if _is(a, 0) else a if _is(b, 1) else None
    if ufunc is np.power:
        return Constant(1.0) if _is(b, 0) else a if _is(b, 1) else None
    return None


def ordered(expression: Expression) -> Iterator[Expression]:
    """Yield every node once, arguments before the nodes that use them (no recursion limit)."""
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
            stack.extend((argument, False) for argument in reversed(node.arguments))


def derivatives_in(expression: Expression) -> tuple[Derivative, ...]:
    """Return the distinct derivatives of unknowns in the graph, in order of appearance."""
    found = {node.key: node for node in ordered(expression) if isinstance(node, Derivative)}
    return tuple(found.values())


def coordinates_of(expression: Expression) -> tuple[str, ...]:
    """Return the names of the coordinates that the leaves know of."""
    for node in ordered(expression):
        if isinstance(node, Coordinate | Derivative):
            return node.coordinates
    return ()


def evaluate(expression: Expression, environment: Mapping[Key, Values]) -> Values:
    """Return the values of the expression.

    Parameters
    ----------
    expression
        The graph.
    environment
        Values of each leaf by its `key`, arrays that broadcast together.

    Returns
    -------
    ndarray
        Of the broadcast shape of the leaves that occur; 0-d for a constant.
    """
    values: dict[int, Values] = {}
    for node in ordered(expression):
        values[id(node)] = _value(node, values, environment)
    return values[id(expression)]


def _value(
    node: Expression, values: Mapping[int, Values], environment: Mapping[Key, Values]
) -> Values:
    if isinstance(node, Constant):
        return np.asarray(node.value)
    if isinstance(node, Leaf):
        try:
            return environment[node.key]
        except KeyError:
            raise EquationError(_missing(node)) from None
    assert isinstance(node, Apply)
    return np.asarray(node.function.evaluate(*(values[id(a)] for a in node.arguments)))


def _missing(leaf: Leaf) -> str:
    if isinstance(leaf, Normal):
        return (
            "`.dn` is the derivative along the outward normal and has a meaning on a boundary only."
        )
    return f"No values were given for {leaf.key}."


def substitute(expression: Expression, replace: Callable[[Leaf], Expression]) -> Expression:
    """Return the graph with every leaf replaced, simplified on the way."""
    new: dict[int, Expression] = {}
    for node in ordered(expression):
        new[id(node)] = node
        if isinstance(node, Leaf):
            new[id(node)] = replace(node)
        elif isinstance(node, Apply):
            arguments = tuple(new[id(a)] for a in node.arguments)
            ufunc = node.function.evaluate
            new[id(node)] = (
                apply(ufunc, *arguments)
                if isinstance(ufunc, np.ufunc)
                else apply_function(node.function, *arguments)
            )
    return new[id(expression)]


def total_derivative(expression: Expression, coordinate: str) -> Expression:
    """Return d/d(coordinate) by the chain rule, raising the derivatives of the unknowns."""

    def seed(leaf: Leaf) -> Expression:
        if isinstance(leaf, Derivative):
            return leaf.raised(coordinate)
        if isinstance(leaf, Normal):
            raise EquationError("A normal has no derivative: differentiate before `.dn`.")
        return Constant(float(isinstance(leaf, Coordinate) and leaf.name == coordinate))

    return differentiate(expression, seed)


def partial_derivative(expression: Expression, key: Key) -> Expression:
    """Return the derivative with respect to one leaf, all other leaves held."""
    return differentiate(expression, lambda leaf: Constant(float(leaf.key == key)))


def differentiate(expression: Expression, seed: Callable[[Leaf], Expression]) -> Expression:
    """Return the derivative of the graph, given the derivative of each leaf."""
    # Imported here: the rules build expressions, so they need this module first.
    from sharpfront.equation.rules import partial

    tangents: dict[int, Expression] = {}
    for node in ordered(expression):
        tangent: Expression = Constant(0.0)
        if isinstance(node, Leaf):
            tangent = seed(node)
        elif isinstance(node, Apply):
            for i, argument in enumerate(node.arguments):
                if not _is(tangents[id(argument)], 0):
                    tangent = tangent + partial(node, i) * tangents[id(argument)]
        tangents[id(node)] = tangent
    return tangents[id(expression)]
