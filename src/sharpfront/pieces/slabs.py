"""Functions of space and time: slab after slab of kernels that move with a mixture."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.errors import BasisError
from sharpfront.maps import chain
from sharpfront.pieces.coordinate import Points
from sharpfront.pieces.motion import Motion, unpacked
from sharpfront.pieces.radau import STAGES, differentiation, interpolation, interpolation_rate
from sharpfront.pieces.ring import PeriodicKernels, periodic_kernels
from sharpfront.pieces.tables import EvenKernels, even_kernels

# Highest derivative in space.
MOST_ORDERS = 4
Index = NDArray[np.int64]
# Values per evaluation matrix.
_CHUNK = 2_000_000


def kernels_of(kernels: int, periodic: bool) -> EvenKernels | PeriodicKernels:
    """Return the functions in xi for a number of kernels."""
    return periodic_kernels(kernels) if periodic else even_kernels(kernels)


@dataclass(frozen=True, eq=False)
class Slab:
    """One step of time: where its kernels move and how many there are.

    Parameters
    ----------
    motion
        The moving coordinate.
    kernels
        N.
    """

    motion: Motion
    kernels: int

    @property
    def functions(self) -> EvenKernels | PeriodicKernels:
        """The functions in xi."""
        return kernels_of(self.kernels, self.motion.periodic)

    @property
    def size(self) -> int:
        """Weights of one unknown: each function at the slab's beginning and stages."""
        return (STAGES + 1) * self.functions.size


@dataclass(frozen=True, eq=False)
class SlabBasis:
    """u(x, t) = sum_k b_k(t) phi_k(xi(x, t)), with b_k a polynomial in each slab.

    Parameters
    ----------
    slabs
        In the order of time, without gaps.
    """

    slabs: tuple[Slab, ...]

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
        """The most kernels at any moment."""
        return max(slab.kernels for slab in self.slabs)

    @cached_property
    def times(self) -> FloatArray:
        """The ends of all slabs, (n + 1,)."""
        return np.array([self.slabs[0].motion.times[0], *(s.motion.times[1] for s in self.slabs)])

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
            for index in _chunks(rows, slab.functions.size):
                x, t = points[index].T
                for values, found in zip(out, _slab_values(slab, b, x, t, orders), strict=True):
                    values[index] = found
        return out

    def _parts(
        self, weights: FloatArray, t: FloatArray
    ) -> Iterator[tuple[Slab, FloatArray, Index]]:
        """Yield each slab that is needed, its weights (stages + 1, K) and the points in it."""
        which = np.clip(np.searchsorted(self.times, t, side="left") - 1, 0, len(self.slabs) - 1)
        ends = np.cumsum([0, *(slab.size for slab in self.slabs)])
        for i in np.unique(which):
            b = weights[ends[i] : ends[i + 1]].reshape(STAGES + 1, -1)
            yield self.slabs[i], b, np.flatnonzero(which == i)

    def state(self) -> dict[str, Any]:
        """Return arrays from which `restore_slabs` makes the basis again."""
        motions = [slab.motion for slab in self.slabs]
        first = motions[0]
        return {
            "type": "slabs",
            "ends": [first.low, first.high],
            "periodic": first.periodic,
            "times": self.times,
            "kernels": np.array([slab.kernels for slab in self.slabs]),
            "counts": np.array([m.start.count for m in motions]),
            "start": np.hstack([m.start.packed() for m in motions]),
            "stop": np.hstack([m.stop.packed() for m in motions]),
            "zeros": np.array([m.zeros for m in motions]),
        }


def _chunks(rows: Index, size: int) -> list[Index]:
    return np.array_split(rows, max(1, -(-len(rows) * size // _CHUNK)))


def _slab_values(
    slab: Slab, b: FloatArray, x: FloatArray, t: FloatArray, orders: Sequence[tuple[int, ...]]
) -> list[FloatArray]:
    """Return derivatives in one slab; points of one moment share its coordinate."""
    same = len(t) > 0 and bool(np.all(t == t[0]))
    when = float(t[0]) if same else t
    where = slab.motion.at(when)
    points = where.nearest(x)
    highest = max(space + time for space, time in orders)
    sums = _sums(slab, b, where.xi(points), t[:1] if same else t, highest)
    slopes = where.derivatives(points, min(max(highest, 1), MOST_ORDERS))
    return [_derivative(slab, sums, slopes, when, points, space, time) for space, time in orders]


def _derivative(
    slab: Slab,
    sums: FloatArray,
    slopes: FloatArray,
    when: Any,
    points: Points,
    space: int,
    time: int,
) -> FloatArray:
    """Return one derivative from those in xi at fixed xi, by the chain rule.

    u_t = U_t + xi_t U_xi, and with T_k the coefficients of d^k/dx^k in d^j/dxi^j,
    d^k/dx^k u_t = T_k (U_t + xi_t U_xi) + (T_k)_t U.
    """
    table, motion = _chained(slopes, space), slab.motion
    if time == 0:
        return np.asarray((table * sums[: space + 1, :, 0]).sum(axis=0))
    rate = motion.rate(when, points)
    if time == 1:
        moved = sums[: space + 1, :, 1] + rate * sums[1 : space + 2, :, 0]
        out = (table * moved).sum(axis=0)
        if space:
            turned = _in_time(
                lambda t: _chained(motion.at(t).derivatives(points, space), space), when, motion.dt
            )
            out = out + (turned * sums[: space + 1, :, 0]).sum(axis=0)
        return np.asarray(out)
    faster = _in_time(lambda t: motion.rate(t, points), when, motion.dt)
    mixed = 2.0 * rate * sums[1, :, 1] + rate**2 * sums[2, :, 0]
    return np.asarray(sums[0, :, 2] + mixed + faster * sums[1, :, 0])


def _chained(slopes: FloatArray, space: int) -> FloatArray:
    """Return the coefficients of d^j/dxi^j in d^space/dx^space, (space + 1, n)."""
    unit = np.zeros((space + 1, slopes.shape[1]))
    unit[space] = 1.0
    return chain(slopes, unit)


def _in_time(f: Callable[[Any], FloatArray], when: Any, dt: float) -> FloatArray:
    """Return the time derivative of a smooth function of the motion, by central differences.

    The motion is analytic and changes little over a thousandth of a slab: eleven digits.
    """
    h = 1e-3 * dt
    near, far = f(when + h) - f(when - h), f(when + 2.0 * h) - f(when - 2.0 * h)
    return np.asarray((8.0 * near - far) / (12.0 * h))


def _sums(slab: Slab, b: FloatArray, xi: FloatArray, t: FloatArray, order: int) -> FloatArray:
    """Return u, u_t and u_tt at fixed xi with their derivatives in xi, (order + 1, n, 3)."""
    s, dt = (t - slab.motion.times[0]) / slab.motion.dt, slab.motion.dt
    rows = [interpolation(s), interpolation_rate(s) / dt]
    rows.append(rows[1] @ differentiation() / dt)
    if len(t) == 1:
        return slab.functions.sums(xi, (np.vstack(rows) @ b).T, order)
    levels = slab.functions.sums(xi, b.T, order)
    return np.stack([(levels * row).sum(axis=2) for row in rows], axis=2)


def restore_slabs(state: dict[str, Any]) -> SlabBasis:
    """Return the basis from whose `state` the words and arrays came."""
    low, high = state["ends"]
    ends = np.cumsum(state["counts"])[:-1]
    times = [float(t) for t in state["times"]]
    starts, stops = (np.split(state[name], ends, axis=1) for name in ("start", "stop"))
    slabs = []
    for i, kernels in enumerate(state["kernels"]):
        zeros = (float(state["zeros"][i][0]), float(state["zeros"][i][1]))
        span = (times[i], times[i + 1])
        start, stop = unpacked(starts[i]), unpacked(stops[i])
        motion = Motion(low, high, span, start, stop, bool(state["periodic"]), zeros)
        slabs.append(Slab(motion, int(kernels)))
    return SlabBasis(tuple(slabs))
