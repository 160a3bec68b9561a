"""In what units errors count in the plane, where they grow until the end of time.

While a solution that grows is small, an error that is small beside one is not small beside it: it
grows by as much. Where u_t = f(u) + ... has f' > 0 errors therefore count relative to the solution
of the moment, or by as much more as they will have grown by the end, whichever asks for less.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import TIME, Coordinate, Derivative, Key
from sharpfront.equation.graph import evaluate, ordered
from sharpfront.equation.linearise import Term, tangent_terms
from sharpfront.equation.values import environment
from sharpfront.evolve.error_units import LARGE
from sharpfront.problem import Problem
from sharpfront.problem.initial import time_order

# Errors that grow by less than exp of this count as they are.
LITTLE = 0.1
# Points at most at which equations are looked at.
POINTS = 400
# Mass matrices are inverted on what is larger than this share of their largest part.
_RANK = 1e-10


class PlaneErrorGrowth:
    """How fast errors grow in a problem in the plane.

    Parameters
    ----------
    problem
        In time.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        names, given = problem.coordinates, problem.equations
        self._orders = [time_order(given, u, names) for u in problem.unknowns]
        # Where each unknown begins among unknowns and their rates.
        self._starts = np.concatenate([[0], np.cumsum(self._orders)]).astype(int)

    def shares(
        self,
        points: FloatArray,
        values: FloatArray,
        sizes: FloatArray,
        moments: FloatArray,
        stop: float,
    ) -> FloatArray:
        """Return by how much less than the scale errors of each unknown may be, (K,).

        Parameters
        ----------
        points, values
            Places (m, 2) and the unknowns there, (K, m).
        sizes
            The largest value of each unknown at present beside its scale.
        moments, stop
            Moments from the present on at which equations are looked at, and the end of time.
        """
        exponent = self._exponent(points, values, moments, stop)
        if exponent <= LITTLE:
            return np.ones(len(sizes))
        return np.asarray(np.minimum(1.0, sizes + np.exp(-min(exponent, LARGE))))

    @cached_property
    def _terms(self) -> list[list[Term]]:
        """Tangents without derivatives in the plane, of each equation."""
        every = [tangent_terms(e) for e in self._problem.equations]
        return [[t for t in own if not any(t.orders[:2])] for own in every]

    @cached_property
    def _reacts(self) -> bool:
        index = self._problem.unknowns.index
        return any(t.orders[2] < self._orders[index(t.unknown)] for own in self._terms for t in own)

    @cached_property
    def _is_steady(self) -> bool:
        """Whether tangents are free of the unknowns and of time."""
        nodes = [n for own in self._terms for t in own for n in ordered(t.coefficient)]
        timed = any(isinstance(n, Coordinate) and n.name == TIME for n in nodes)
        return not timed and not any(isinstance(n, Derivative) for n in nodes)

    def _exponent(
        self, points: FloatArray, values: FloatArray, moments: FloatArray, stop: float
    ) -> float:
        """Return the logarithm of how much errors grow from the first moment to the end at most."""
        if not self._reacts:
            return 0.0
        every = np.linspace(0, len(points) - 1, min(POINTS, len(points))).astype(int)
        moments = moments[:1] if self._is_steady else moments
        rates = self._rates(points[every], values[:, every], moments)
        ends = np.concatenate([moments[:1], 0.5 * (moments[1:] + moments[:-1]), [stop]])
        # The smaller rate of those about the state and about zero counts, so that only an unstable
        # state of rest is told.
        return float(np.diff(ends) @ np.maximum(rates.min(axis=1), 0.0).max(axis=1))

    def _rates(self, points: FloatArray, values: FloatArray, moments: FloatArray) -> FloatArray:
        """Return the largest rates of growth (M, 2, m) at moments, about a state and about zero."""
        shape = (len(moments), 2, len(points))
        matrices = self._matrices(points, values, moments).reshape(*shape, *2 * [self._starts[-1]])
        if not matrices.shape[-1]:
            return np.zeros(shape)
        if matrices.shape[-1] == 1:
            return np.asarray(matrices[..., 0, 0])
        return np.asarray(np.linalg.eigvals(matrices).real.max(axis=-1))

    def _matrices(self, points: FloatArray, values: FloatArray, moments: FloatArray) -> FloatArray:
        """Return the matrices of the rates of unknowns and of their rates, (M 2 m, n, n)."""
        count = len(moments) * 2 * len(points)
        leaves = self._leaves(points, values, moments)
        mass = np.zeros((count, len(self._terms), len(self._orders)))
        own = np.zeros((count, len(self._terms), int(self._starts[-1])))
        for row, terms in enumerate(self._terms):
            for term in terms:
                k = self._problem.unknowns.index(term.unknown)
                order, power = self._orders[k], term.orders[2]
                if power <= order and order:
                    with np.errstate(all="ignore"):
                        found = np.nan_to_num(
                            evaluate(term.coefficient, leaves), posinf=0, neginf=0
                        )
                    into = (
                        mass[:, row, k] if power == order else own[:, row, self._starts[k] + power]
                    )
                    into += found
        highest = -np.linalg.pinv(mass, rcond=_RANK) @ own
        out = np.zeros((count, own.shape[2], own.shape[2]))
        for k, (begin, end) in enumerate(zip(self._starts, self._starts[1:], strict=False)):
            if end > begin:
                out[:, end - 1] = highest[:, k]
                for i in range(begin, end - 1):
                    out[:, i, i + 1] = 1.0
        return out

    def _leaves(
        self, points: FloatArray, values: FloatArray, moments: FloatArray
    ) -> dict[Key, FloatArray]:
        """Return what tangents are made of; derivatives of a state are taken to be zero."""
        m, problem = len(points), self._problem
        leaves = environment(problem.domain.coordinates, np.tile(points, (2 * len(moments), 1)))
        leaves["coordinate", TIME] = np.repeat(moments.astype(float), 2 * m)
        for own in self._terms:
            for node in (n for t in own for n in ordered(t.coefficient)):
                if isinstance(node, Derivative):
                    state = np.zeros((len(moments), 2, m))
                    if not any(node.orders):
                        state[:, 0] = values[problem.unknowns.index(node.unknown)]
                    leaves[node.key] = state.ravel()
        return leaves
