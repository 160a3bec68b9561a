"""What is shown at points: unknowns, the residual, and the error where it is known.

Colours that every kind of eye tells apart (Okabe and Ito), and scales of them.

How a solve went, as columns: over its solves, or over time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.errors import ProblemError
from sharpfront.history import TimeStep
from sharpfront.rounding import EPS
from sharpfront.show.data.kernels import Function


def is_stepped(solution: Any) -> bool:
    """Tell whether the records of a solve are steps of time."""
    return bool(solution.history) and isinstance(solution.history[0], TimeStep)


def column(solution: Any, name: str) -> FloatArray:
    """Return a number of each record of a solve by its name, (n,)."""
    return np.array([getattr(record, name) for record in solution.history], dtype=float)


def turns(solution: Any) -> str:
    """Return how many solves or steps there were."""
    count = len(solution.history)
    return f"{count} {'step' if is_stepped(solution) else 'solve'}{'s' * (count != 1)}"


BLUE, ORANGE, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
CURVES = (BLUE, GREEN, PURPLE, "#000000")


def colour_scale(limits: tuple[float, float], quantity: Quantity) -> tuple[float, float, str]:
    """Return the ends of a colour scale and the name of the colours.

    Values that change sign about evenly get a diverging scale with zero in its middle. Where all
    values differ by less than their error, the scale is as wide as that and shows them as equal.
    """
    low, high = limits
    if quantity.logarithmic:
        return low, high, "magma"
    middle, least = (low + high) / 2, max(quantity.noise, 1e-12 * max(abs(low), abs(high), 1.0))
    if high - low < least:
        return middle - least, middle + least, "viridis"
    if low < 0 < high and 0.4 < -low / high < 2.5:
        largest = max(-low, high)
        return -largest, largest, "RdBu_r"
    return low, high, "viridis"


Exact = Callable[..., Any] | Mapping[str, Callable[..., Any]]


@dataclass(frozen=True, eq=False)
class Quantity:
    """A function of points (m, d) -> (m,)."""

    label: str  # what it is called in a legend or beside a colour bar
    values: Function
    logarithmic: bool = False  # whether the values are powers of ten
    noise: float = 0.0  # differences below this mean nothing


def unknown_of(solution: Any, unknown: str) -> Quantity:
    """Return one unknown of a solution."""
    approximation = solution.approximation
    zero = (0,) * len(approximation.coordinates)
    # Of a solution that is not one, see all there is.
    noise = solution.error_estimate if solution.converged else 0.0
    values = partial(approximation.values, unknown, orders=zero)
    return Quantity(unknown, values, noise=noise)


def residual_of(solution: Any) -> Quantity:
    """Return log10 of the largest residual of any equation."""
    if solution.problem is None:
        raise ProblemError(
            "A solution read from a file does not know its equation, so its residual cannot be "
            "drawn. Solve the problem again, or draw plot('solution') or plot('kernels')."
        )

    def logarithms(points: FloatArray) -> FloatArray:
        size = np.max(np.abs(solution.approximation.residuals(solution.problem, points)), axis=0)
        return np.asarray(np.log10(np.maximum(size, np.finfo(float).tiny)))

    return Quantity("log10 |residual|", logarithms, logarithmic=True)


def summary(solution: Any) -> str:
    """Return how the solve ended in one line."""
    return (
        f"{solution.outcome.kind}: estimated error {solution.error_estimate:.1e}, "
        f"{solution.kernels} kernels"
    )


@dataclass(frozen=True, eq=False)
class Shown:
    """One quantity of a page."""

    key: str  # how data and page refer to it
    unknown: str  # which unknown's kernels it is shown with
    kind: str  # ``"solution"``, ``"residual"`` or ``"error"``
    quantity: Quantity  # label and function of points; residual and error as log10 of their sizes


def quantities(solution: Any, exact: Exact | None) -> list[Shown]:
    """Return everything that can be shown of a solution."""
    unknowns = tuple(solution.unknowns)
    found = [Shown(u, u, "solution", unknown_of(solution, u)) for u in unknowns]
    if solution.problem is not None:
        found.append(Shown("residual", unknowns[0], "residual", residual_of(solution)))
    for unknown, function in exact_functions(solution, exact).items():
        gap = partial(_log_error, unknown_of(solution, unknown).values, function)
        error = Quantity(f"log10 |{unknown} − exact|", gap, logarithmic=True)
        found.append(Shown(f"error {unknown}", unknown, "error", error))
    return found


def _log_error(values: Function, exact: Function, points: FloatArray) -> FloatArray:
    # Equal to the last bit counts as rounding, so that the logarithm has an end.
    size = np.maximum(np.abs(values(points) - exact(points)), EPS / 16)
    return np.asarray(np.log10(size))


def exact_functions(solution: Any, exact: Exact | None) -> dict[str, Function]:
    """Return the exact solution of each unknown as a function of points (m, d)."""
    unknowns = tuple(solution.unknowns)
    if exact is None:
        return {}
    if isinstance(exact, Mapping):
        foreign = [name for name in exact if name not in unknowns]
        if foreign:
            raise ProblemError(
                f"exact= names {', '.join(foreign)}; the unknowns are {', '.join(unknowns)}."
            )
        return {name: partial(_at_points, function, None) for name, function in exact.items()}
    if len(unknowns) == 1:
        return {unknowns[0]: partial(_at_points, exact, None)}
    return {name: partial(_at_points, exact, i) for i, name in enumerate(unknowns)}


def _at_points(function: Callable[..., Any], index: int | None, points: FloatArray) -> FloatArray:
    found = function(*points.T)
    values = np.asarray(found if index is None else found[index], dtype=float)
    return np.array(np.broadcast_to(values, (len(points),)))


def largest_error(
    solution: Any, exact: Exact | None, points: FloatArray
) -> tuple[float, int] | None:
    """Return the largest error at points, relative to max(1, max|u|), and how many points.

    In time only from when on the estimate holds, with which it is compared.
    """
    if solution.error_estimate_since is not None:
        points = points[points[:, -1] >= solution.error_estimate_since]
    sizes = []
    for unknown, function in exact_functions(solution, exact).items():
        true = function(points)
        found = unknown_of(solution, unknown).values(points)
        sizes.append(np.max(np.abs(found - true)) / max(1.0, float(np.max(np.abs(true)))))
    return (float(max(sizes)), len(points)) if sizes else None
