"""What a picture shows: a function of points with its label."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.errors import ProblemError


@dataclass(frozen=True, eq=False)
class Quantity:
    """A function of points (m, d) -> (m,)."""

    label: str  # what it is called in a legend or beside a colour bar
    values: Callable[[FloatArray], FloatArray]  # the function
    logarithmic: bool = False  # whether the values are powers of ten
    noise: float = 0.0  # differences below this mean nothing


def unknown_of(solution: Any, unknown: str) -> Quantity:
    """Return one unknown of a solution."""
    approximation = solution.approximation
    zero = (0,) * len(approximation.coordinates)
    return Quantity(
        unknown,
        lambda points: approximation.values(unknown, points, zero),
        # Of a solution that is not one, see all there is.
        noise=solution.error_estimate if solution.converged else 0.0,
    )


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
