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


def _metric(
    system: str | None, coordinates: tuple[str, ...], what: str
) -> dict[str, tuple[Expression, Expression]]:
    """Return how long a unit of each coordinate is, and what volumes grow by along it.

    Of spherical coordinates theta is the angle from the axis, phi the one around it.
    """
    _require_system(system, coordinates, what)
    one, nothing = as_expression(1.0), as_expression(0.0)
    out = dict.fromkeys(coordinates, (one, nothing))
    if system in (None, "cartesian"):
        return out
    spherical = system == "spherical"
    r, theta = (Coordinate(name, coordinates) for name in ("r", "theta"))
    out["r"] = one, (2.0 if spherical else 1.0) / r
    if "theta" in out:
        turned = apply(np.cos, theta) / apply(np.sin, theta)
        out["theta"] = r, turned if spherical else nothing
    if "phi" in out:
        out["phi"] = r * apply(np.sin, theta), nothing
    return out


def _require_system(system: str | None, coordinates: tuple[str, ...], what: str) -> None:
    """Refuse to guess what coordinates mean."""
    if system == "cartesian" or (system is None and not _CURVED.intersection(coordinates)):
        return
    known, names = ", ".join(map(repr, SYSTEMS)), ", ".join(coordinates)
    if system not in SYSTEMS:
        got = "nothing" if system is None else repr(system)
        raise EquationError(
            f"{what} along {names} depends on what these are: say which of {known}, got {got}. "
            f'Write for example sf.laplacian(u, "polar").'
        )
    if "r" not in coordinates or not set(SYSTEMS[system]).issuperset(coordinates):
        raise EquationError(
            f"{system.capitalize()} coordinates are {', '.join(SYSTEMS[system])}, or some of "
            f"them with r; those here are {names}. Name the sides of the domain: "
            "sf.Box(r=(0.5, 1), ...)."
        )
    if "phi" in coordinates and "theta" not in coordinates:
        raise EquationError("Along phi the length of a step depends on theta; take both, or none.")


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
    metric = _metric(system, names, "grad")
    return Vector(tuple(u.d(c) / length for c, (length, _) in metric.items()))


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
    metric = _metric(system, names, "div")
    # Without a coordinate in sight all components are constants.
    return _total(
        (part.d(c) + part * spreading) / length
        for part, (c, (length, spreading)) in zip(parts, metric.items(), strict=False)
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
    metric = _metric(system, _space(expression), "laplacian")
    return _total(
        (expression.d(c, 2) + expression.d(c) * spreading) / length**2
        for c, (length, spreading) in metric.items()
    )
