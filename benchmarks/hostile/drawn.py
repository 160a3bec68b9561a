"""A drawn problem: its statement, its truth and the points at which an answer is measured.

A statement is written once, as functions of unknowns and coordinates that take the library's
symbols as well as arrays. From it come the `sf.Problem`, a reference solution by another method
(`reference`) and the test that an exact solution satisfies its own equation.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import sharpfront as sf

Function = Callable[..., Any]
Rng = np.random.Generator


@dataclass(frozen=True)
class Statement:
    """An equation with its conditions, before it becomes a problem.

    Every function takes the unknowns first and then the coordinates.

    Parameters
    ----------
    domain, unknowns, equation
        As in `sf.Problem`; several equations come back as a tuple.
    parts
        Conditions by the name of a part of the boundary, or ``boundary``.
    inside
        Conditions at points: pairs of a point and a function.
    integrals
        Conditions on integrals: pairs of a function and a value.
    initial, time
        For problems in time: one function of space for each unknown (and each velocity), a span.
    """

    domain: Any
    unknowns: tuple[str, ...]
    equation: Function
    parts: dict[str, Function] = field(default_factory=dict)
    inside: tuple[tuple[Any, Function], ...] = ()
    integrals: tuple[tuple[Function, float], ...] = ()
    initial: tuple[Function, ...] = ()
    time: tuple[float, float] | None = None

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates, time last."""
        return (*self.domain.coordinates, *(("t",) if self.time else ()))

    def problem(self) -> sf.Problem:
        """Return the problem as a user would have stated it."""
        names = (*self.unknowns, *self.coordinates)
        further = [sf.at(place, signed(f, names)) for place, f in self.inside]
        further += [sf.integral(signed(f, names), equals=value) for f, value in self.integrals]
        options: dict[str, Any] = {"conditions": further} if further else {}
        if self.time:
            space = self.domain.coordinates
            start = tuple(signed(f, space) for f in self.initial)
            options |= {"time": self.time, "initial": start if len(start) > 1 else start[0]}
        parts = {name: signed(f, names) for name, f in self.parts.items()}
        return sf.Problem(self.domain, signed(self.equation, names), **options, **parts)


@dataclass(frozen=True)
class Truth:
    """The solution, one function of the coordinates for each unknown, and how far off it may be."""

    values: tuple[Function, ...]
    error: float = 0.0


@dataclass(frozen=True)
class Drawn:
    """A problem with its truth.

    Parameters
    ----------
    words
        What was drawn, for the list of failures.
    statement
        The problem.
    truth
        Gives the solution; None where there is none or more than one, so that no answer may be
        called converged.
    points
        Where it is measured: one array for each coordinate.
    tol
        What is asked for.
    scale
        The length over which the solution varies at points, for finite differences in tests; in
        time a pair, of space and of time.
    """

    words: str
    statement: Statement
    truth: Callable[[], Truth] | None
    points: tuple[np.ndarray, ...]
    tol: float
    scale: Callable[..., Any]


def signed(f: Function, names: Sequence[str]) -> Function:
    """Return f with the names of its arguments in its signature, where the library reads them."""

    def call(*arguments: Any, **named: Any) -> Any:
        return f(*arguments, *(named[name] for name in names[len(arguments) :]))

    call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    )
    return call


def less(a: Any, b: Any) -> Any:
    """Return a - b, also of tuples."""
    if isinstance(a, tuple):
        return tuple(left - right for left, right in zip(a, b, strict=True))
    return a - b


def made(operator: Function, exact: Sequence[Function]) -> Function:
    """Return the residual whose solution is exact: what it leaves of the operator is the source.

    The library differentiates the exact solution when it is given symbols.
    """
    count = len(exact)

    def residual(*arguments: Any) -> Any:
        where = arguments[count:]
        return less(operator(*arguments), operator(*(e(*where) for e in exact), *where))

    return residual


def known(exact: Sequence[Function]) -> Callable[[], Truth]:
    """Return a truth that is known in closed form."""
    return lambda: Truth(tuple(exact))


def pick(rng: Rng, *choices: Any) -> Any:
    """Return one of the choices."""
    return choices[int(rng.integers(len(choices)))]


class RoundNumbers(np.random.Generator):
    """Draws what people write: round numbers, which fall on symmetries that others miss."""

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Return multiples of a tenth, an eighth or a quarter of a unit between two numbers."""
        found = super().uniform(low, high, size)
        unit = 10.0 ** np.floor(np.log10(np.subtract(high, low)))
        step = unit / float(self.choice([4.0, 8.0, 10.0]))
        near = step * np.round(found / step)
        inside = (near > low) & (near < high)
        return np.where(inside, near, found) if np.ndim(found) else float(near if inside else found)


def log_uniform(rng: Rng, low: float, high: float) -> float:
    """Return a number whose logarithm is uniform, to one digit where numbers are round."""
    found = float(np.exp(np.random.Generator.uniform(rng, np.log(low), np.log(high))))
    digit = float(f"{found:.0e}")
    return digit if isinstance(rng, RoundNumbers) and low <= digit <= high else found


def sign(rng: Rng) -> float:
    """Return 1 or -1."""
    return float(rng.choice([-1.0, 1.0]))


def silent(f: Function) -> Function:
    """Return f without warnings of overflow, which layers cause far from their place."""

    def values(*where: Any) -> Any:
        with np.errstate(all="ignore"):
            return f(*where)

    return values


def offsets(width: float, reach: float, count: int = 60) -> np.ndarray:
    """Return distances from a feature, graded from a hundredth of its width up to a reach."""
    away = np.geomspace(1e-2 * min(width, reach), reach, count)
    return np.concatenate([-away[::-1], [0.0], away])


def graded(ends: tuple[float, float], features: Sequence[tuple[float, float]]) -> np.ndarray:
    """Return points of an interval, even ones and others graded into (place, width)."""
    low, high = ends
    parts = [np.linspace(low, high, 1501)]
    for place, width in (*features, (low, 1e-4 * (high - low)), (high, 1e-4 * (high - low))):
        parts.append(place + offsets(width, high - low, 150))
    points = np.unique(np.concatenate(parts))
    return points[(points >= low) & (points <= high)]


def line_scale(length: float, features: Sequence[tuple[float, float]]) -> Function:
    """Return how fast a function with these features varies along a line."""

    def scale(x: Any) -> Any:
        result = np.full(np.shape(x), 0.2 * length)
        for place, width in features:
            result = np.minimum(result, np.hypot(width, 0.3 * (x - place)))
        return result

    return scale
