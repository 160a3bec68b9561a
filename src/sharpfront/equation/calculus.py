"""Vector calculus that reads as mathematics: grad, div, laplacian."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sharpfront.equation.expression import TIME, Expression, as_expression, coordinates_of
from sharpfront.errors import EquationError


@dataclass(frozen=True, eq=False)
class Vector:
    """A tuple of expressions, one per space coordinate, with the operations of a vector."""

    components: tuple[Expression, ...]

    def __iter__(self) -> Iterator[Expression]:
        return iter(self.components)

    def __len__(self) -> int:
        return len(self.components)

    def __getitem__(self, index: int) -> Expression:
        return self.components[index]

    def __add__(self, other: Any) -> Vector:
        return Vector(tuple(a + b for a, b in zip(self, other, strict=True)))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Vector:
        return Vector(tuple(a - b for a, b in zip(self, other, strict=True)))

    def __rsub__(self, other: Any) -> Vector:
        return Vector(tuple(b - a for a, b in zip(self, other, strict=True)))

    def __mul__(self, factor: Any) -> Vector:
        return Vector(tuple(a * factor for a in self))

    __rmul__ = __mul__
    # NumPy scalars must leave the product to this class.
    __array_ufunc__ = None

    def __truediv__(self, divisor: Any) -> Vector:
        return Vector(tuple(a / divisor for a in self))

    def __neg__(self) -> Vector:
        return Vector(tuple(-a for a in self))

    def __matmul__(self, other: Any) -> Expression:
        """Return the scalar product."""
        return _total(as_expression(a * b) for a, b in zip(self, other, strict=True))

    __rmatmul__ = __matmul__


def _total(parts: Iterable[Expression]) -> Expression:
    return functools.reduce(lambda a, b: a + b, parts)


def _space(expression: Expression) -> tuple[str, ...]:
    names = tuple(c for c in coordinates_of(expression) if c != TIME)
    if not names:
        raise EquationError("grad, div and laplacian need an expression of an unknown or of x.")
    return names


def grad(u: Expression) -> Vector:
    """Return the gradient along the space coordinates."""
    return Vector(tuple(u.d(c) for c in _space(u)))


def div(v: Any) -> Expression:
    """Return the divergence of a `Vector` or of a sequence of expressions."""
    parts = tuple(as_expression(part) for part in v)
    names = _space(_total(parts))
    if len(parts) != len(names):
        raise EquationError(
            f"div expects one component for each of {', '.join(names)}; got {len(parts)}."
        )
    return _total(
        part.d(c) if coordinates_of(part) else as_expression(0.0)
        for part, c in zip(parts, names, strict=True)
    )


def laplacian(u: Expression) -> Expression:
    """Return the sum of the second derivatives along the space coordinates."""
    return _total(u.d(c, 2) for c in _space(u))
