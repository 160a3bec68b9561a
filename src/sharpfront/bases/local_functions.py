"""Functions of an edge or a vertex that belong to the boxes beside it only.

Beyond these they would be singular inside the domain. Where a box has a face with one that has not
the functions, traces carry what they are on the way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import Flags, FloatArray
from sharpfront.bases.corner_functions import SharedFunctions, Term
from sharpfront.kernels import Orders


@dataclass(frozen=True, eq=False)
class HeldFunctions:
    """Functions that are zero on patches outside of some boxes."""

    functions: SharedFunctions
    support: FloatArray  # lower and upper corners of boxes, (k, 2, 3)

    @property
    def size(self) -> int:
        """The number of functions."""
        return self.functions.size

    @property
    def place(self) -> tuple[float, ...]:
        """The point that they belong to."""
        return self.functions.place

    @property
    def terms(self) -> tuple[Term, ...]:
        """What they are made of."""
        return self.functions.terms

    def has(self, points: FloatArray) -> Flags:
        """Tell which points lie where functions are not zero."""
        low, high = self.support[:, 0], self.support[:, 1]
        inside = (points[:, None] >= low) & (points[:, None] <= high)
        return np.asarray(np.any(np.all(inside, axis=2), axis=1))

    def values(
        self, points: FloatArray, orders: Orders, beside: FloatArray | None = None
    ) -> FloatArray:
        """Return a derivative of each function at points, (m, functions)."""
        held = np.broadcast_to(self.has(points if beside is None else beside), len(points))
        out = np.zeros((len(points), self.size))
        if held.any():
            out[held] = self.functions.values(points[held], orders)
        return out

    def state(self) -> FloatArray:
        """Return all as numbers: boxes, one in each row, and those of the functions below."""
        own = self.functions.state()
        out = np.zeros((len(self.support) + len(own), max(own.shape[1], 7)))
        # Neither an edge nor a vertex begins with what is no number.
        out[: len(self.support), 0] = np.nan
        out[: len(self.support), 1:7] = self.support.reshape(-1, 6)
        out[len(self.support) :, : own.shape[1]] = own
        return out
