"""Functions that solutions of one equation are made of at a vertex of a solid made of boxes.

Harmonic functions r^a g(direction) that vanish on all faces at the vertex, and one that a source
of one makes there, r^2 g(direction). About each of the six rays along axes they are sums of solid
harmonics (`solid_harmonics`), singular along edges in the right way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.corner_functions import CornerFunctions, Term
from sharpfront.bases.solid_harmonics import Fan
from sharpfront.kernels import Orders

# A source of one makes functions of this degree, beside these terms across a ray: rho^2, and z^2
# with its logarithm.
OF_SOURCE = 2.0
_TERMS = (Term(1.0, 1, False), Term(2.0, 0, False), Term(2.0, 0, True))


@dataclass(frozen=True, eq=False)
class VertexFunctions:
    """Homogeneous functions about a vertex."""

    place: tuple[float, ...]
    unit: float  # distances are in units of this
    fans: tuple[Fan, ...]  # about the rays along axes
    degrees: FloatArray  # of the harmonic functions
    # Weights of solid harmonics in each function, for each fan (functions of the fan, functions):
    # those of a source come last, if there are more of them than degrees.
    weights: tuple[FloatArray, ...]

    @property
    def size(self) -> int:
        """The number of functions."""
        return int(self.weights[0].shape[1])

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """Powers of the distance to the vertex."""
        sourced = [Term(OF_SOURCE, 0, True)] * (self.size - len(self.degrees))
        return (*(Term(a, 0, False) for a in self.degrees.tolist()), *sourced)

    @property
    def laplacians(self) -> FloatArray:
        """The Laplacian of each function, the same everywhere: nothing, or that of a source."""
        sourced = np.arange(self.size) >= len(self.degrees)
        return np.where(sourced, -1.0 / self.unit**2, 0.0)

    def values(
        self, points: FloatArray, orders: Orders, beside: FloatArray | None = None
    ) -> FloatArray:
        """Return a derivative of each function at points, (m, functions)."""
        x = (points - np.array(self.place)) / self.unit
        out = np.zeros((len(x), self.size))
        left = np.ones(len(x), dtype=bool)
        every = [t.order for t in self.terms]
        for fan, weights in zip(self.fans, self.weights, strict=True):
            own = np.flatnonzero(left & fan.holds(x))
            if not len(own):
                continue
            left[own] = False
            for k, (table, _) in enumerate(fan.tables(x[own], orders, every)):
                out[own, k] = table @ weights[:, k]
            if self.size > len(self.degrees):
                out[own, -1] += of_source(fan, x[own], orders)
        centre = np.all(x == 0.0, axis=1)
        out[np.ix_(centre, np.array(every) > sum(orders))] = 0.0
        return out / self.unit ** sum(orders)

    def state(self) -> FloatArray:
        """Return all as numbers: a row of the vertex, one for each fan, degrees and weights.

        The first is negative, which that of an edge is not.
        """
        sourced = self.size - len(self.degrees)
        rows = [[-1.0, *self.place, self.unit, len(self.fans), len(self.degrees), sourced]]
        rows += [[f.axis, f.sign, f.start, f.quadrants, f.most] for f in self.fans]
        rows += [self.degrees.tolist(), *np.concatenate(self.weights).tolist()]
        out = np.zeros((len(rows), max(map(len, rows))))
        for row, own in zip(out, rows, strict=True):
            row[: len(own)] = own
        return out


def restored_vertex(state: FloatArray) -> VertexFunctions:
    """Return the functions that `state` was taken from."""
    _, x, y, z, unit, *counts = state[0, :8].tolist()
    fans, size, sourced = map(int, counts)
    about = tuple(
        Fan(int(axis), int(sign), int(start), int(quadrants), most)
        for axis, sign, start, quadrants, most in state[1 : 1 + fans, :5].tolist()
    )
    starts = np.cumsum([len(fan.orders) for fan in about])[:-1]
    weights = np.split(state[fans + 2 :, : size + sourced], starts)
    return VertexFunctions((x, y, z), unit, about, state[1 + fans, :size], tuple(weights))


def of_source(fan: Fan, points: FloatArray, orders: Orders) -> FloatArray:
    """Return a derivative of a function with -lap u = 1 that vanishes on a fan's faces, (m,).

    It is that of the corner in the plane across the ray. Where that has a logarithm of the distance
    from the ray, the derivative of the solid harmonic of order two by its degree has the same one
    of that from the vertex, and without it the function is of degree two.
    """
    logarithm = {1: -1.0 / math.pi, 3: -1.0 / (3.0 * math.pi)}.get(fan.quadrants, 0.0)
    beside = 0.25 if fan.quadrants < 4 else 0.0
    factors = np.array([[-0.25j, 1j * beside, logarithm + 0j]])
    cut = 0.25 * math.pi * (4 + fan.quadrants)
    plane = CornerFunctions((0.0, 0.0), (1.0 + 0j, 1j), cut, _TERMS, factors)
    turned = np.rint(fan.frame @ np.arange(1, 4)).astype(int)
    along = [orders[abs(k) - 1] for k in turned]
    if along[2]:
        out = np.zeros(len(points))
    else:
        sign = float(np.prod([np.sign(k) ** n for k, n in zip(turned, along, strict=True)]))
        x = points @ fan.frame.T
        out = sign * plane.values(x[:, :2], tuple(along[:2]))[:, 0]
    if logarithm:
        ((_, table),) = fan.tables(points, orders, (OF_SOURCE,))
        second = int(np.argmin(np.abs(fan.orders - OF_SOURCE)))
        out -= 8.0 * logarithm / fan.norms[second] * table[:, second]
    return np.asarray(out)
