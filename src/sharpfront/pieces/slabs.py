"""Functions of space and time: step after step of piecewise polynomials whose nodes move."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.radau import STAGES, differentiation, interpolation, interpolation_rate
from sharpfront.errors import BasisError
from sharpfront.pieces.elements import reference
from sharpfront.pieces.frame import Bends, Frame, Index

# Highest derivative.
MOST_ORDERS = 4
# Points that are evaluated together.
_POINTS_AT_ONCE = 20_000


@dataclass(frozen=True, eq=False)
class Slab:
    """One step of time."""

    # When it begins and ends.
    start: float
    stop: float
    frame: Frame  # its nodes at the beginning, and their velocities
    stages: int = STAGES  # of Radau's method

    @property
    def dt(self) -> float:
        """Its length."""
        return self.stop - self.start

    @property
    def size(self) -> int:
        """Weights of one unknown: each function at the slab's beginning and stages."""
        return (self.stages + 1) * self.frame.size

    def at(self, t: float) -> Frame:
        """Return its nodes at a moment."""
        return self.frame.at(t - self.start)


@dataclass(frozen=True, eq=False)
class SlabBasis:
    """u(x, t) = sum_k b_k(t) phi_k(x, t), with b_k a polynomial in each slab."""

    slabs: tuple[Slab, ...]  # in the order of time, without gaps

    @property
    def dimension(self) -> int:
        """Space and time."""
        return 2

    @cached_property
    def size(self) -> int:
        """The number of weights."""
        return sum(slab.size for slab in self.slabs)

    @property
    def kernels(self) -> int:
        """The most functions at any moment."""
        return max(slab.frame.size for slab in self.slabs)

    @cached_property
    def times(self) -> FloatArray:
        """The ends of all slabs, (n + 1,)."""
        return np.array([self.slabs[0].start, *(s.stop for s in self.slabs)])

    def of_unknown(self, number: int) -> SlabBasis:
        """Return the functions of one unknown, where slopes of each bend in a way of its own."""
        bends = self.slabs[0].frame.bends
        if bends is None or bends.factors.shape[1] == 1:
            return self
        own = bends._replace(factors=bends.factors[:, number : number + 1])
        return SlabBasis(tuple(replace(s, frame=replace(s.frame, bends=own)) for s in self.slabs))

    def slab_at(self, t: float) -> Slab:
        """Return the slab in which a moment lies."""
        return self.slabs[int(self._which(np.array([t]))[0])]

    def _which(self, t: FloatArray) -> Index:
        found = np.searchsorted(self.times, t, side="left") - 1
        return np.clip(found, 0, len(self.slabs) - 1)

    def matrix(self, points: FloatArray, orders: Sequence[int]) -> FloatArray:
        """Refuse: nothing is fitted with all slabs at once."""
        raise BasisError("Slabs of time are solved one after the other; use values().")

    def values(self, weights: FloatArray, points: FloatArray, orders: Sequence[int]) -> FloatArray:
        """Return a derivative of the weighted sum at points (m, 2) = (x, t), (m,)."""
        return self.several(weights, points, [tuple(orders)])[0]

    def several(
        self, weights: FloatArray, points: FloatArray, orders: Sequence[tuple[int, ...]]
    ) -> list[FloatArray]:
        """Return several derivatives of the weighted sum, (m,) each."""
        for space, time in orders:
            if space + time > MOST_ORDERS or time > 2 or (time == 2 and space):
                raise BasisError(
                    f"The derivative of order {space} in x and {time} in t is not there: up to "
                    f"{MOST_ORDERS} in all, with one in t, or two in t alone."
                )
        out = [np.zeros(len(points)) for _ in orders]
        for slab, b, rows in self._parts(weights, points[:, 1]):
            for index in np.array_split(rows, max(1, -(-len(rows) // _POINTS_AT_ONCE))):
                places = _located(slab, b, *points[index].T)
                for values, (space, time) in zip(out, orders, strict=True):
                    values[index] = places.derivative(space, time)
        return out

    def _parts(
        self, weights: FloatArray, t: FloatArray
    ) -> Iterator[tuple[Slab, FloatArray, Index]]:
        """Yield each slab that is needed, its weights (stages + 1, n) and the points in it."""
        which = self._which(t)
        ends = np.cumsum([0, *(slab.size for slab in self.slabs)])
        for i in np.unique(which):
            slab = self.slabs[i]
            b = weights[ends[i] : ends[i + 1]].reshape(slab.stages + 1, -1)
            yield slab, b, np.flatnonzero(which == i)

    def state(self) -> dict[str, Any]:
        """Return arrays from which `restore_slabs` makes the basis again."""
        frames = [slab.frame for slab in self.slabs]
        first, bends = frames[0], np.zeros((3, 0))
        if first.bends is not None:
            bends = np.vstack([first.bends.places, first.bends.factors[:, 0]])
        return {
            "type": "slabs",
            "order": first.tables.order,
            "points": first.tables.points,
            "periodic": first.ring,
            "times": self.times,
            "stages": np.array([slab.stages for slab in self.slabs]),
            "counts": np.array([len(f.nodes) for f in frames]),
            "nodes": np.concatenate([f.nodes for f in frames]),
            "velocities": np.concatenate([f.velocities for f in frames]),
            "bends": bends,
        }


def restore_slabs(state: dict[str, Any]) -> SlabBasis:
    """Return the basis from whose `state` the words and arrays came."""
    tables = reference(int(state["order"]), int(state["points"]))
    ends = np.cumsum(state["counts"])[:-1]
    nodes, velocities = (np.split(np.asarray(state[k]), ends) for k in ("nodes", "velocities"))
    times = [float(t) for t in state["times"]]
    ring = bool(state["periodic"])
    # Files of earlier versions have none of these.
    stages = np.asarray(state.get("stages", np.full(len(nodes), STAGES)))
    places, *factors = np.asarray(state.get("bends", np.zeros((3, 0))))
    bends = Bends(places, np.array(factors)[:, None]) if len(places) else None
    return SlabBasis(
        tuple(
            Slab(times[i], times[i + 1], Frame(tables, x, v, ring, bends), int(stages[i]))
            for i, (x, v) in enumerate(zip(nodes, velocities, strict=True))
        )
    )


class _Places(NamedTuple):
    """Points of one slab: where they lie in their elements, and the coefficients there.

    ``local`` has the coefficients times their scales and two rates of that, (3, n, size).
    """

    slab: Slab
    s: FloatArray
    h: FloatArray
    v: FloatArray
    stretch: FloatArray
    local: FloatArray

    def plain(self, space: int, rate: int = 0) -> FloatArray:
        """Return a derivative in x, of the solution or of its rates in the moving frame."""
        table = self.slab.frame.tables.table(self.s, space)
        return np.asarray(np.einsum("xl,xl->x", table, self.local[rate]) / self.h**space)

    def derivative(self, space: int, time: int) -> FloatArray:
        """Return a derivative in x and t.

        With v the velocity at a place, linear in x, u_t = U_t - v u_x, so that
        d^k/dx^k u_t = d^k/dx^k U_t - v d^(k+1)u - k v_x d^k u.
        """
        if time == 0:
            return self.plain(space)
        if time == 1:
            carried = self.v * self.plain(space + 1) + space * self.stretch * self.plain(space)
            return self.plain(space, 1) - carried
        mixed = self.derivative(1, 1)
        return self.plain(0, 2) - 2.0 * self.v * mixed - self.v**2 * self.plain(2)


def _located(slab: Slab, b: FloatArray, x: FloatArray, t: FloatArray) -> _Places:
    """Return where points of a slab lie, and the coefficients of their elements."""
    frame, later = slab.frame, t - slab.start
    e = np.empty(len(x), dtype=np.int64)
    if frame.ring:
        first = frame.nodes[0] + later * frame.velocities[0]
        x = first + np.mod(x - first, frame.nodes[-1] - frame.nodes[0])
    moments, which = np.unique(later, return_inverse=True)
    groups = np.split(np.argsort(which, kind="stable"), np.cumsum(np.bincount(which))[:-1])
    for moment, rows in zip(moments, groups, strict=True):
        nodes = frame.nodes + moment * frame.velocities
        e[rows] = np.searchsorted(nodes, x[rows], "right") - 1
    e = np.clip(e, 0, frame.elements - 1)
    h, rate = (part[e] for part in frame.lengths)
    h = h + later * rate
    place = (x - frame.nodes[e] - later * frame.velocities[e]) / h
    v = frame.velocities[e] + rate * place
    share, stages = later / slab.dt, slab.stages
    lines = interpolation(share, stages), interpolation_rate(share, stages) / slab.dt
    own = b[:, frame.numbers[e]]
    values = [np.einsum("xj,jxl->xl", line, own) for line in lines]
    values.append(np.einsum("xj,jxl->xl", lines[1] @ differentiation(stages) / slab.dt, own))
    d = frame.scales_at(e, later)[:, :, 0].transpose(0, 2, 1)
    local = np.stack(
        [
            values[0] * d[0],
            values[1] * d[0] + values[0] * d[1],
            values[2] * d[0] + 2.0 * values[1] * d[1] + values[0] * d[2],
        ]
    )
    return _Places(slab, place, h, v, rate / h, local)
