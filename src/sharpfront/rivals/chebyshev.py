"""Chebyshev polynomials over the whole domain, collocated at their own points."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.polynomial.chebyshev import chebder, chebvander

from sharpfront.arrays import FloatArray
from sharpfront.rivals.collocation import (
    AtPoints,
    Tabled,
    as_functions,
    collocated,
    held_at,
    region,
)
from sharpfront.rivals.contract import Found, Setting, Subject, refused, tried

_DEGREES = {
    1: (8, 16, 32, 64, 128, 256, 512, 1024),
    2: (6, 10, 16, 24, 32, 40),
    3: (4, 6, 8, 10, 12),
}


def products(
    bounds: FloatArray, degree: int, points: FloatArray, orders: Sequence[int]
) -> FloatArray:
    """Return d^orders of the products of T_0, ..., T_degree on a box (2, d) at points, (m, n)."""
    half = 0.5 * np.ptp(bounds, axis=0)
    places = np.clip((points - bounds[0]) / half - 1.0, -1.0, 1.0)
    found = np.ones((len(points), 1))
    for s, h, order in zip(places.T, half, orders, strict=True):
        table = chebvander(s, degree - order)
        if order:
            table = table @ chebder(np.eye(degree + 1), order) / h**order
        found = np.einsum("mi,mj->mij", found, table).reshape(len(s), -1)
    return found


class Chebyshev(AtPoints):
    """Equation at Chebyshev points, conditions on the boundary; time is a coordinate."""

    def applies(self, subject: Subject) -> str:
        """Return why not."""
        return super().applies(subject) or refused(
            (not subject.problem.domain.is_box, "the domain is not a box"),
            (region(subject.problem).dimension > 3, "more than three coordinates"),
        )

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
        size = (degree + 1) ** len(low)
        basis = Tabled(size, len(low), partial(products, domain.bounds, degree))
        held = held_at(problem, inside, faces, seed)
        bases = dict.fromkeys(problem.unknowns, basis)
        return as_functions(collocated(subject, bases, held, unit_rows=True))


CHEBYSHEV = Chebyshev(
    "chebyshev", "Chebyshev collocation", "Trefethen, Spectral Methods in MATLAB, SIAM (2000)"
)
