"""Who says how large an error is, and how it is said."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sharpfront.arrays import FloatArray, largest
from sharpfront.solution.approximation import Approximation
from sharpfront.solution.field import Estimate


@dataclass(frozen=True, eq=False)
class Assessment:
    """An approximation looked at from outside."""

    approximation: Approximation  # what is assessed
    # Check points (m, d), the part of the domain each stands for (m,), and the size of the
    # equations' residual there (m,).
    points: FloatArray
    volumes: FloatArray
    residual: FloatArray
    mismatch: float  # the largest miss of any condition
    estimate: Estimate  # the estimated error with its meaning

    @property
    def roughest(self) -> tuple[float, ...]:
        """Where the equations are missed most: features that are not resolved lie there."""
        return tuple(self.points[int(np.argmax(self.residual))].tolist())

    @property
    def rank(self) -> tuple[bool, float]:
        """Whether it cannot be an answer yet, of which no error is known, and the estimate."""
        return False, self.estimate.value

    @property
    def residual_rms(self) -> float:
        """Root mean square of the residual over the domain."""
        size = largest(self.residual)
        if not 0.0 < size < np.inf:
            return size
        share = self.residual / size
        mean = float(self.volumes @ (share * share)) / float(np.add.reduce(self.volumes))
        return size * math.sqrt(mean)


class Oracle(Protocol):
    """Says how large an error is, by other means than what was fitted: cells, more functions, rows.

    The weights may be any, those of another solution or disturbed ones. It changes nothing, and
    asked twice it says the same. What it does not see, an outcome has to say.
    """

    def assess(self, state: Any, approximation: Approximation) -> Assessment:
        """Return how good an approximation in the functions of a state's proposal is.

        Its estimate is relative to max(1, max|u|), of all unknowns the largest, and not below the
        error but for a factor near one.
        """
