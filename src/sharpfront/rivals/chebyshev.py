"""Chebyshev polynomials over the whole domain, collocated at their own points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.geometry import Box
from sharpfront.rivals.collocation import (
    AtPoints,
    Tabled,
    as_functions,
    collocated,
    held_at,
    region,
)
from sharpfront.rivals.contract import Found, Setting, Subject, tried

_DEGREES = {
    1: (8, 16, 32, 64, 128, 256, 512, 1024),
    2: (6, 10, 16, 24, 32, 40),
    3: (4, 6, 8, 10, 12),
}


def polynomials(s: FloatArray, degree: int, order: int) -> FloatArray:
    """Return a derivative of T_0, ..., T_degree at points of (-1, 1), (m, degree + 1).

    By T_k' / (2k) = T_(k-1) + T_(k-2)' / (2 (k - 2)).
    """
    found = np.cos(np.arange(degree + 1) * np.arccos(np.clip(s, -1.0, 1.0))[:, None])
    for _ in range(order):
        lower, found = found, np.zeros_like(found)
        for k in range(1, degree + 1):
            found[:, k] = 2 * k * lower[:, k - 1]
            if k == 1:
                found[:, k] = lower[:, 0]
            elif k > 2:
                found[:, k] += k / (k - 2) * found[:, k - 2]
    return found


@dataclass(frozen=True, eq=False)
class ChebyshevBasis(Tabled):
    """Products of Chebyshev polynomials on a box, (2, d) its corners."""

    bounds: FloatArray
    degree: int

    @property
    def size(self) -> int:
        """The number of products."""
        return int((self.degree + 1) ** self.dimension)

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return int(self.bounds.shape[1])

    def matrix(self, points: FloatArray, orders: Sequence[int]) -> FloatArray:
        """Return d^orders of each product at each point, (m, n)."""
        half = 0.5 * np.ptp(self.bounds, axis=0)
        tables = [
            polynomials((points[:, i] - low) / half[i] - 1.0, self.degree, n) / half[i] ** n
            for i, (low, n) in enumerate(zip(self.bounds[0], orders, strict=True))
        ]
        both = reduce(lambda a, b: np.einsum("mi,mj->mij", a, b).reshape(len(a), -1), tables)
        return np.asarray(both)


class Chebyshev(AtPoints):
    """Equation at Chebyshev points, conditions on the boundary; time is a coordinate."""

    def applies(self, subject: Subject) -> str:
        """Return why not."""
        problem = subject.problem
        if not isinstance(problem.domain, Box):
            return "the domain is not a box"
        if region(problem).dimension > 3:
            return "more than three coordinates"
        return super().applies(subject)

    def settings(self, subject: Subject) -> tuple[Setting, ...]:
        """Return the degrees."""
        return tried("degree {degree}", degree=_DEGREES[region(subject.problem).dimension])

    def solve(self, subject: Subject, setting: Setting, seed: int, seconds: float) -> Found:
        """Return the fit."""
        problem, degree = subject.problem, setting.values["degree"]
        domain = region(problem)
        low, high = domain.bounds
        # One point more than a square system has: the least squares decide between equation and
        # conditions where both hold at a corner.
        axis = 0.5 - 0.5 * np.cos(np.pi * (np.arange(degree + 2) + 0.5) / (degree + 2))
        grid = np.meshgrid(*[axis] * len(low), indexing="ij")
        inside = low + np.stack([g.ravel() for g in grid], axis=1) * (high - low)
        faces = 1 if len(low) == 1 else 3 * (degree + 2) ** (len(low) - 1)
        basis = ChebyshevBasis(domain.bounds, degree)
        held = held_at(problem, inside, faces, seed)
        bases = dict.fromkeys(problem.unknowns, basis)
        return as_functions(collocated(subject, bases, held, unit_rows=True))


CHEBYSHEV = Chebyshev(
    "chebyshev", "Chebyshev collocation", "Trefethen, Spectral Methods in MATLAB, SIAM (2000)"
)
