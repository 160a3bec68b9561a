"""Functions that solutions of one equation are made of along a straight edge in space.

Across the edge they are those of a corner in the plane, z^a or z^a log z, and along it Legendre
polynomials P(s). What P'' leaves of the equation is made up for by terms that are smoother by two
orders each, z^(a + j) conj(z)^j P^(2j)(s), as far as these are singular enough to matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sharpfront.arrays import FloatArray, Ints
from sharpfront.bases.corner_functions import CornerFunctions, Term, restored
from sharpfront.bases.legendre import legendre_table
from sharpfront.kernels import Orders


@dataclass(frozen=True, eq=False)
class EdgeFunctions:
    """Imaginary parts of sums of terms across an edge, times polynomials along it."""

    across: CornerFunctions  # in the plane across the edge: its rows of factors are sums of terms
    axis: int  # the edge runs along it
    low: float
    high: float
    degrees: int  # polynomials along the edge

    @classmethod
    def of(
        cls,
        bare: CornerFunctions,
        leading: Sequence[tuple[Term, complex]],
        along: float,
        most: float,
        edge: tuple[int, float, float, int],
    ) -> EdgeFunctions:
        """Return the functions whose leading terms are given, with factors.

        Parameters
        ----------
        bare
            Place, slopes and cut in the plane across the edge.
        leading
            Powers of z, and their factors.
        along
            The coefficient of the second derivative along the edge, in units in which those across
            it are Laplace's in z.
        most
            Terms of a lower order are taken along.
        edge
            Axis, ends and number of polynomials.
        """
        sums = [_made_up_for(term, factor, along, most) for term, factor in leading]
        terms = tuple(dict.fromkeys(term for own in sums for term in own))
        factors = np.array([[own.get(term, 0.0) for term in terms] for own in sums])
        return cls(replace(bare, terms=terms, factors=factors), *edge)

    @property
    def size(self) -> int:
        """The number of functions."""
        return self.across.size * self.degrees

    @property
    def terms(self) -> tuple[Term, ...]:
        """The terms across the edge."""
        return self.across.terms

    @property
    def place(self) -> tuple[float, ...]:
        """The middle of the edge."""
        middle = list(self.across.place)
        middle.insert(self.axis, 0.5 * (self.low + self.high))
        return tuple(middle)

    @cached_property
    def _by_order(self) -> dict[int, Ints]:
        """Which terms go with which derivative along the edge."""
        orders = np.array([2 * term.conjugate for term in self.terms])
        return {int(k): np.flatnonzero(orders == k) for k in np.unique(orders)}

    def values(
        self, points: FloatArray, orders: Orders, beside: FloatArray | None = None
    ) -> FloatArray:
        """Return a derivative of each function at points, (m, functions)."""
        rest = [a for a in range(3) if a != self.axis]
        table = self.across.table(points[:, rest], tuple(orders[a] for a in rest))
        half = 0.5 * (self.high - self.low)
        s = (points[:, self.axis] - self.low) / half - 1.0
        most = max(self._by_order) + orders[self.axis]
        along = legendre_table(s, self.degrees, most)
        out = np.zeros((len(points), self.across.size, self.degrees))
        for order, which in self._by_order.items():
            own = (table[:, which] @ self.across.factors[:, which].T).imag
            k = order + orders[self.axis]
            out += own[:, :, None] * along[k][:, None, :] / half**k
        return out.reshape(len(points), -1)

    def state(self) -> FloatArray:
        """Return all as numbers: those of the edge, and the plane's below."""
        plane = self.across.state()
        first = np.zeros((1, plane.shape[1]))
        first[0, :4] = self.axis, self.low, self.high, self.degrees
        return np.concatenate([first, plane])


def restored_edge(state: FloatArray) -> EdgeFunctions:
    """Return the functions that `state` was taken from."""
    axis, low, high, degrees = state[0, :4].tolist()
    return EdgeFunctions(restored(state[1:]), int(axis), low, high, int(degrees))


def _made_up_for(term: Term, factor: complex, along: float, most: float) -> dict[Term, complex]:
    """Return a term with those that make up for its second derivative along the edge.

    4 d/dz d/dconj(z) of z^(a+j) conj(z)^j (c log z + d) is 4 j z^(a+j-1) conj(z)^(j-1) times
    (a + j) (c log z + d) + c, and has to be minus `along` times the term before.
    """
    log, plain = (factor, 0.0 + 0j) if term.logarithmic else (0.0 + 0j, factor)
    out: dict[Term, complex] = {}
    j = 0
    while True:
        own = {True: log, False: plain}
        out |= {Term(term.power + j, j, kind): c for kind, c in own.items() if c}
        j += 1
        if term.order + 2 * j >= most:
            return out
        log = -along * log / (4.0 * j * (term.power + j))
        plain = (-along * plain / (4.0 * j) - log) / (term.power + j)
