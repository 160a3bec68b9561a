"""Vector calculus that reads as mathematics: grad, div, laplacian."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sharpfront.equation.expression import TIME, Expression, as_expression, coordinates_of
from sharpfront.errors import EquationError


@dataclass(frozen=True, eq=False)
class Vector:
    """A tuple of expressions, one per space coordinate, with the operations of a vector."""

    components: tuple[Expression, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "components", tuple(as_expression(c) for c in self.components))

    def __iter__(self) -> Iterator[Expression]:
        return iter(self.components)

    def __len__(self) -> int:
        return len(self.components)

    def __getitem__(self, index: int) -> Expression:
        return self.components[index]

    def __add__(self, other: Any) -> Vector:
        return Vector(tuple(a + b for a, b in self._beside(other)))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Vector:
        return Vector(tuple(a - b for a, b in self._beside(other)))

    def __rsub__(self, other: Any) -> Vector:
        return Vector(tuple(b - a for a, b in self._beside(other)))

    def __mul__(self, factor: Any) -> Vector:
        number = as_expression(factor)
        return Vector(tuple(number * a for a in self))

    __rmul__ = __mul__
    # NumPy scalars must leave the product to this class.
    __array_ufunc__ = None

    def __truediv__(self, divisor: Any) -> Vector:
        number = as_expression(divisor)
        return Vector(tuple(a / number for a in self))

    def __neg__(self) -> Vector:
        return Vector(tuple(-a for a in self))

    def __matmul__(self, other: Any) -> Expression:
        """Return the scalar product."""
        return _total(a * b for a, b in self._beside(other))

    def __rmatmul__(self, other: Any) -> Any:
        """Return the scalar product, or with a matrix of rows the vector of products."""
        if _is_sequence(other) and any(_is_sequence(row) for row in other):
            return Vector(tuple(self @ row for row in other))
        return self @ other

    def _beside(self, other: Any) -> Iterator[tuple[Expression, Any]]:
        """Pair the components with those of another vector."""
        if not _is_sequence(other) or len(other) != len(self):
            raise EquationError(
                f"A vector of {len(self)} components meets {other!r}. Write a vector of as many, "
                "such as grad(u) or a tuple (bx, by); a number may multiply or divide a vector."
            )
        return zip(self, other, strict=True)


def _is_sequence(value: Any) -> bool:
    is_array = isinstance(value, np.ndarray) and value.ndim > 0
    return is_array or isinstance(value, Vector | tuple | list)


def _total(parts: Iterable[Expression]) -> Expression:
    return functools.reduce(lambda a, b: a + b, parts, as_expression(0.0))


def _space(expression: Expression) -> tuple[str, ...]:
    return tuple(c for c in coordinates_of(expression) if c != TIME)


def grad(u: Expression) -> Vector:
    """Return the gradient along the space coordinates."""
    names = _space(as_expression(u))
    if not names:
        raise EquationError(
            "grad needs an expression of an unknown or of x; of a constant it is not known how "
            "many components there are. Take a factor out: c * grad(u) instead of grad(c * u)."
        )
    return Vector(tuple(u.d(c) for c in names))


def div(v: Any) -> Expression:
    """Return the divergence of a `Vector` or of a sequence of expressions."""
    if not _is_sequence(v):
        raise EquationError("div expects a vector: write div((a, b)) or div(k * grad(u)).")
    parts = Vector(tuple(v))
    names = max((_space(part) for part in parts), key=len, default=())
    if names and len(parts) != len(names):
        raise EquationError(
            f"div expects one component for each of {', '.join(names)}; got {len(parts)}."
        )
    # Without a coordinate in sight all components are constants.
    return _total(part.d(c) for part, c in zip(parts, names, strict=False))


def laplacian(u: Expression) -> Expression:
    """Return the sum of the second derivatives along the space coordinates."""
    expression = as_expression(u)
    return _total(expression.d(c, 2) for c in _space(expression))
