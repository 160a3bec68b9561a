"""States at the ends of steps, each with functions of its own, and polynomials through them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.polynomial import polynomial

from sharpfront.arrays import FloatArray, Ints, to_host
from sharpfront.bases.sum_basis import packed_parts
from sharpfront.errors import BasisError
from sharpfront.kernels.basis import Basis


class StepByStep:
    """A basis of space and time with functions of its own in each step."""

    times: FloatArray  # the start, and the ends of all steps, (steps + 1,)
    parts: tuple[Any, ...]  # the functions of each
    moments = 1  # at which each step has weights of all its functions

    @cached_property
    def _ends(self) -> Ints:
        sizes = [self.moments * part.size for part in self.parts]
        return np.concatenate([[0], np.cumsum(sizes)])

    @property
    def size(self) -> int:
        """The number of weights."""
        return int(self._ends[-1])

    @property
    def kernels(self) -> int:
        """The most functions at any moment."""
        return int(max(part.kernels for part in self.parts))

    def _which(self, t: FloatArray) -> Ints:
        found = np.searchsorted(self.times, t, side="left") - 1
        return np.clip(found, 0, len(self.parts) - 1)

    def matrix(self, points: FloatArray, orders: Sequence[int]) -> FloatArray:
        """Refuse: nothing is fitted with all steps at once."""
        raise BasisError("A solution in time is evaluated by `values`; it has no matrix.")


@dataclass(frozen=True, eq=False)
class LevelsInTime(StepByStep):
    """u(x, t) = sum_j l_j(t) u_j(x): in each step the polynomial through its last levels.

    Parameters
    ----------
    times
        The start, and the ends of all steps, (steps + 1,).
    parts
        The functions of the level at the end of each step.
    degrees
        Of the polynomial in each step, (steps,): through so many levels before its own.
    """

    times: FloatArray
    parts: tuple[Basis, ...]
    degrees: Ints

    @property
    def dimension(self) -> int:
        """Those of space, and time."""
        return self.parts[0].dimension + 1

    def values(self, weights: FloatArray, points: FloatArray, orders: Sequence[int]) -> FloatArray:
        """Return d^orders of the sum at points of space and time, (m,)."""
        *space, rate = orders
        out = np.zeros(len(points))
        which = self._which(points[:, -1])
        for i in np.unique(which):
            here = np.flatnonzero(which == i)
            levels = np.arange(i - self.degrees[i], i + 1)
            shares = lagrange(self.times[levels + 1], points[here, -1], rate)
            for j, share in zip(levels, shares, strict=True):
                own = weights[self._ends[j] : self._ends[j + 1]]
                found = self.parts[j].values(own, points[here, :-1], tuple(space))
                out[here] += share * to_host(found)
        return out

    def state(self) -> dict[str, Any]:
        """Return arrays and words from which the basis is made again."""
        words = {"type": "levels", "times": self.times, "degrees": self.degrees}
        return words | packed_parts(self.parts)


def lagrange(nodes: FloatArray, t: FloatArray, rate: int = 0) -> FloatArray:
    """Return Lagrange's polynomials of some nodes at moments, or a derivative of them, (n, m)."""
    middle, unit = nodes[-1], max(float(np.ptp(nodes)), float(np.spacing(nodes[-1])))
    s, at = (nodes - middle) / unit, (t - middle) / unit
    out = np.empty((len(nodes), len(t)))
    for j in range(len(nodes)):
        others = np.delete(s, j)
        own = polynomial.polyfromroots(others) / np.prod(s[j] - others)
        out[j] = polynomial.polyval(at, polynomial.polyder(own, rate)) / unit**rate
    return out
