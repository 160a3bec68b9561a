"""Vector calculus that reads as mathematics: grad, div, laplacian."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sharpfront.checks import explained
from sharpfront.equation.expression import TIME, Coordinate, Expression, apply, as_expression
from sharpfront.equation.graph import coordinates_of
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


# Coordinates in which derivatives alone are no gradient, and the systems that have them.
_CURVED = frozenset(("r", "theta", "phi"))
SYSTEMS = {
    "cartesian": (),
    "polar": ("r", "theta"),
    "cylindrical": ("r", "theta", "z"),
    "spherical": ("r", "theta", "phi"),
}


@dataclass(frozen=True)
class _System:
    """The metric of coordinates: how long a step along each is, and how volumes grow with r.

    Of spherical coordinates theta is the angle from the axis, phi the one around it.
    """

    name: str
    coordinates: tuple[str, ...]

    @property
    def spherical(self) -> bool:
        """Whether spheres are surfaces of equal r."""
        return self.name == "spherical"

    def length(self, name: str) -> Expression:
        """Return the length of a unit of a coordinate."""
        if self.name == "cartesian" or name in ("r", "z"):
            return as_expression(1.0)
        r = Coordinate("r", self.coordinates)
        if name == "phi":
            return r * apply(np.sin, Coordinate("theta", self.coordinates))
        return r

    def spreading(self, name: str) -> Expression:
        """Return what volumes grow by along a coordinate, relative to themselves."""
        if name == "r":
            return (2.0 if self.spherical else 1.0) / Coordinate("r", self.coordinates)
        if name == "theta" and self.spherical:
            theta = Coordinate("theta", self.coordinates)
            return apply(np.cos, theta) / apply(np.sin, theta)
        return as_expression(0.0)


def _system(name: str | None, coordinates: tuple[str, ...], what: str) -> _System:
    """Return the system of coordinates that is meant, or refuse to guess."""
    curved = [c for c in coordinates if c in _CURVED]
    if name is None and not curved:
        return _System("cartesian", coordinates)
    known = ", ".join(map(repr, SYSTEMS))
    names = ", ".join(coordinates)
    if name not in SYSTEMS:
        got = "nothing" if name is None else repr(name)
        raise EquationError(
            f"{what} along {names} depends on what these are: say which of {known}, got {got}. "
            f'Write for example sf.laplacian(u, "polar").'
        )
    if name == "cartesian":
        return _System(name, coordinates)
    foreign = [c for c in coordinates if c not in SYSTEMS[name]]
    if foreign or "r" not in coordinates:
        raise EquationError(
            f"{name.capitalize()} coordinates are {', '.join(SYSTEMS[name])}, or some of them with "
            f"r; those here are {names}. Name the sides of the domain: sf.Box(r=(0.5, 1), ...)."
        )
    if "phi" in coordinates and "theta" not in coordinates:
        raise EquationError("Along phi the length of a step depends on theta; take both, or none.")
    return _System(name, coordinates)


@explained("sf.grad(u)")
def grad(u: Expression, system: str | None = None) -> Vector:
    """Return the gradient along the space coordinates.

    Parameters
    ----------
    u
        An expression of an unknown or of the coordinates.
    system
        ``"polar"``, ``"cylindrical"`` or ``"spherical"`` where coordinates are called r, theta,
        phi: components are then those along unit vectors, (u_r, u_theta / r).
    """
    names = _space(as_expression(u))
    if not names:
        raise EquationError(
            "grad needs an expression of an unknown or of x; of a constant it is not known how "
            "many components there are. Take a factor out: c * grad(u) instead of grad(c * u)."
        )
    metric = _system(system, names, "grad")
    return Vector(tuple(u.d(c) / metric.length(c) for c in names))


@explained("sf.div(k * sf.grad(u))")
def div(v: Any, system: str | None = None) -> Expression:
    """Return the divergence of a `Vector` or of a sequence of expressions.

    Parameters
    ----------
    v
        One component for each coordinate of space.
    system
        As for `grad`, ``"polar"`` and so on: components are those along unit vectors.
    """
    if not _is_sequence(v):
        raise EquationError("div expects a vector: write div((a, b)) or div(k * grad(u)).")
    parts = Vector(tuple(v))
    names = max((_space(part) for part in parts), key=len, default=())
    if names and len(parts) != len(names):
        raise EquationError(
            f"div expects one component for each of {', '.join(names)}; got {len(parts)}."
        )
    metric = _system(system, names, "div")
    # Without a coordinate in sight all components are constants.
    return _total(
        (part.d(c) + part * metric.spreading(c)) / metric.length(c)
        for part, c in zip(parts, names, strict=False)
    )


@explained("sf.laplacian(u)")
def laplacian(u: Expression, system: str | None = None) -> Expression:
    """Return the Laplacian: the sum of the second derivatives along x, y, z.

    Parameters
    ----------
    u
        An expression of an unknown or of the coordinates.
    system
        ``"polar"`` (r, theta), ``"cylindrical"`` (r, theta, z) or ``"spherical"`` (r, theta from
        the axis, phi around it) where coordinates are called so. What does not depend on an angle
        may leave that out: ``sf.laplacian(u, "spherical")`` of r alone is u_rr + 2 u_r / r.
    """
    expression = as_expression(u)
    names = _space(expression)
    metric = _system(system, names, "laplacian")
    return _total(
        (expression.d(c, 2) + expression.d(c) * metric.spreading(c)) / metric.length(c) ** 2
        for c in names
    )
