"""A mesh whose nodes go along straight lines during a step, and functions on it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray, Ints
from sharpfront.pieces.elements import Reference

Index = Ints


class Bends(NamedTuple):
    """Where slopes are not continuous, for a flux is: places (P,) that are nodes and do not move.

    Slopes on the left and on the right of each are these multiples of one number, (2, U, P): for
    each unknown, or one for all.
    """

    places: FloatArray
    factors: FloatArray


@dataclass(frozen=True, eq=False)
class Frame:
    """Nodes and their velocities at a moment.

    Slopes at a node are kept times the mean length of the elements beside it, so that the functions
    hardly change while lengths do.
    """

    tables: Reference  # the functions of an element
    # Increasing, (N + 1,) each.
    nodes: FloatArray
    velocities: FloatArray
    ring: bool = False  # whether the last node is the first
    bends: Bends | None = None  # where slopes are not continuous; None if they are everywhere

    @property
    def elements(self) -> int:
        """N."""
        return len(self.nodes) - 1

    @property
    def size(self) -> int:
        """Coefficients of one unknown."""
        return self.elements * self.tables.points + (0 if self.ring else self.tables.order)

    def at(self, later: float) -> Frame:
        """Return the frame some time later."""
        if not self.moves:
            return self
        nodes = self.nodes + later * self.velocities
        return Frame(self.tables, nodes, self.velocities, self.ring, self.bends)

    def on(self, tables: Reference) -> Frame:
        """Return the same mesh with functions of another degree."""
        other = Frame(tables, self.nodes, self.velocities, self.ring, self.bends)
        # What is known of the mesh alone is not found once more.
        known = ("moves", "lengths", "_means", "_beside")
        other.__dict__.update((k, v) for k, v in self.__dict__.items() if k in known)
        return other

    def moving(self, velocities: FloatArray) -> Frame:
        """Return the same nodes with other velocities."""
        if not self.moves and not velocities.any():
            return self
        return Frame(self.tables, self.nodes, velocities, self.ring, self.bends)

    @cached_property
    def moves(self) -> bool:
        """Whether any node does."""
        return bool(self.velocities.any())

    @cached_property
    def lengths(self) -> FloatArray:
        """The lengths h of the elements, and dh/dt, (2, N)."""
        both = np.array([self.nodes, self.velocities])
        return np.asarray(both[:, 1:] - both[:, :-1])

    @cached_property
    def scales(self) -> FloatArray:
        """What functions are multiplied by, with its rate, (2, size, U, N).

        For each unknown, or one for all.
        """
        h, rate = self.lengths
        means, slopes = self._means
        return self._scaled(h, rate, means, slopes, self._beside)

    def scales_at(self, e: Index, later: FloatArray) -> FloatArray:
        """Return the same for elements some time later, with two rates, (3, size, U, len(e))."""
        (h, rate), (means, slopes) = self.lengths, self._means
        mean, slope = means[:, e] + later * slopes[:, e], slopes[:, e]
        beside = None if self._beside is None else self._beside[..., e]
        return self._scaled(h[e] + later * rate[e], rate[e], mean, slope, beside, rates=2)

    def lengths_over(self, later: FloatArray) -> FloatArray:
        """Return the lengths of elements at moments, (S, N); (N,) if nothing moves."""
        h, rate = self.lengths
        return np.asarray(h + later[:, None] * rate if self.moves else h)

    def scales_over(self, later: FloatArray, lengths: FloatArray) -> FloatArray:
        """Return the same at moments, (2, size, U, S, N); S is 1 if nothing moves.

        Lengths of the elements are those of these moments.
        """
        if not self.moves:
            return self.scales[..., None, :]
        means, slopes = self._means
        t, slope = later[:, None], slopes[:, None]
        beside = None if self._beside is None else self._beside[:, :, None]
        return self._scaled(lengths, self.lengths[1], means[:, None] + t * slope, slope, beside)

    def _scaled(
        self,
        length: FloatArray,
        stretch: FloatArray,
        mean: FloatArray,
        slope: FloatArray,
        beside: FloatArray | None,
        rates: int = 1,
    ) -> FloatArray:
        """Return scales of elements with so many rates, from lengths and from means at both nodes.

        The latter and their rates are (2, ...), what slopes are multiplied by there (2, U, ...).
        """
        unknowns = 1 if beside is None else beside.shape[1]
        out = np.zeros((rates + 1, self.tables.size, unknowns, *length.shape))
        out[0] = 1.0
        mean, slope = mean[:, None], slope[:, None]
        ratio = length / mean
        first = (stretch - ratio * slope) / mean if self.moves else None
        if beside is not None:
            ratio, first = ratio * beside, None if first is None else first * beside
        for j in range(1, self.tables.order):
            # Those of both nodes.
            which = slice(j, None, self.tables.points)
            out[0, which] = ratio**j if j > 1 else ratio
            if first is None:
                continue
            out[1, which] = j * ratio ** (j - 1) * first if j > 1 else first
            if rates > 1:
                out[2, which] = -2.0 * j * ratio ** (j - 1) * first * slope / mean
            if rates > 1 and j > 1:
                out[2, which] += j * (j - 1) * ratio ** (j - 2) * first**2
        return out

    @cached_property
    def _means(self) -> FloatArray:
        """The mean lengths of the elements beside each node, and their rates.

        By element: those at its first and at its last node, (2, 2, N).
        """
        of = self.lengths
        out = np.empty((2, len(self.nodes)))
        np.add(of[:, 1:], of[:, :-1], out=out[:, 1:-1])
        first, last = of[:, 0], of[:, -1]
        out[:, 0], out[:, -1] = (first + last,) * 2 if self.ring else (2.0 * first, 2.0 * last)
        out *= 0.5
        down, right = out.strides
        return np.ndarray((2, 2, len(self.nodes) - 1), float, out, strides=(down, right, right))

    @cached_property
    def _beside(self) -> FloatArray | None:
        """What slopes at the first and at the last node of each element are multiplied by.

        For each unknown, or one for all, (2, U, N).
        """
        if self.bends is None:
            return None
        own = self.bends.factors[::-1]
        factors = np.ones((2, own.shape[1], len(self.nodes)))
        factors[..., np.searchsorted(self.nodes, self.bends.places)] = own
        return np.stack([factors[0, :, :-1], factors[1, :, 1:]])

    @cached_property
    def positions(self) -> tuple[FloatArray, FloatArray]:
        """The Gauss points and their velocities, (q, N) each."""
        s = self.tables.gauss[:, None]
        h, rate = self.lengths
        return self.nodes[:-1] + h * s, self.velocities[:-1] + rate * s

    @property
    def numbers(self) -> Index:
        """Which of all coefficients each element has, (N, size)."""
        return numbering(self.elements, self.tables, self.ring)

    def gathered(self, values: FloatArray) -> FloatArray:
        """Return coefficients (S, n, K) by element, (size, K, S, N); a view unless on a ring."""
        if self.ring:
            # The last element goes on with the first coefficients.
            values = np.concatenate([values, values[:, : self.tables.order]], axis=1)
        values = np.ascontiguousarray(values)
        s, n, k = values.shape
        step = values.itemsize * k
        return np.ndarray(
            (self.tables.size, k, s, self.elements),
            buffer=values.data,
            strides=(step, values.itemsize, step * n, step * self.tables.points),
        )

    def local(self, values: FloatArray) -> FloatArray:
        """Return coefficients (n, K) by element, times their scales, (size, K, N).

        Those of all unknowns may be there several times, one state after the other.
        """
        own, d = self.gathered(values[None])[:, :, 0], self.scales[0]
        if d.shape[1] == 1:
            return np.asarray(own * d)
        states = own.reshape(len(own), -1, d.shape[1], own.shape[2])
        return np.asarray(states * d[:, None]).reshape(own.shape)

    def located(self, nodes: FloatArray, x: FloatArray) -> tuple[Index, FloatArray]:
        """Return in which elements positions (S, n) are, and where in them.

        Nodes are those at moments, (S, N + 1), and elements of all moments are counted together.
        """
        shift, length = np.arange(len(x))[:, None], self.nodes[-1] - self.nodes[0]
        if self.ring:
            x = nodes[:, :1] + np.mod(x - nodes[:, :1], length)
        # Moments are put side by side, so that one search finds all.
        aside = (2.0 * length) * shift
        e = (nodes[:, 1:-1] + aside).ravel().searchsorted((x + aside).ravel(), "right")
        e = e.reshape(x.shape) + shift
        at = e + shift
        first = nodes.take(at)
        at += 1
        return e, (x - first) / (nodes.take(at) - first)

    def carried(self, other: Frame, later: FloatArray, values: FloatArray) -> FloatArray:
        """Return coefficients (S, n, K) at moments, counted from now on, in another frame.

        The functions stay the same as well as its elements hold them, each by itself: slopes that
        differ on both sides of a node are replaced by their mean.
        """
        if not self.moves and not other.moves:
            return self._carried_at_rest(other, values)
        tables = self.tables
        nodes, there = (f.nodes + later[:, None] * f.velocities for f in (self, other))
        s, back = tables.spread
        x = there[:, :-1, None] + (there[:, 1:] - there[:, :-1])[..., None] * s
        e, at = self.located(nodes, x.reshape(len(x), -1))
        own = self.gathered(values) * self.scales_over(later, self.lengths_over(later))[0]
        powers = tables.powers(own.reshape(*own.shape[:2], -1))
        found = tables.sums(powers, e.ravel(), at.ravel())
        found = (found.reshape(-1, tables.size) @ back.T).T
        local = found.reshape(tables.size, own.shape[1], len(later), other.elements)
        local /= other.scales_over(later, other.lengths_over(later))[0]
        return other._joined(local)

    def _carried_at_rest(self, other: Frame, values: FloatArray) -> FloatArray:
        """Return the same where neither moves: places are found once for all moments."""
        count, n, k = values.shape
        (s, back), nodes = self.tables.spread, other.nodes
        x = nodes[:-1, None] + other.lengths[0][:, None] * s
        powers = self.tables.powers(self.local(values.transpose(1, 0, 2).reshape(n, -1)))
        found = self.summed(powers, x.ravel()).T.reshape(-1, self.tables.size) @ back.T
        local, d = found.T.reshape(self.tables.size, count, k, other.elements), other.scales[0]
        local /= d[:, None]
        return other._joined(local.transpose(0, 2, 1, 3))

    def _joined(self, local: FloatArray) -> FloatArray:
        """Return coefficients (S, n, K) from those of elements, (size, K, S, N): means at nodes."""
        q, by_element = self.tables.points, local.transpose(2, 3, 0, 1)
        count, elements, _, k = by_element.shape
        out = np.empty((count, self.size, k))
        inner = out[:, : elements * q].reshape(count, elements, q, k)
        inner[:] = by_element[:, :, :q]
        at_nodes, ends = inner[:, :, : self.tables.order], by_element[:, :, q:]
        at_nodes[:, 1:] += ends[:, :-1]
        at_nodes[:, 1:] *= 0.5
        if self.ring:
            at_nodes[:, 0] = 0.5 * (at_nodes[:, 0] + ends[:, -1])
        else:
            out[:, elements * q :] = ends[:, -1]
        return out

    def velocity(self, x: FloatArray) -> FloatArray:
        """Return how fast places that go along with the nodes do, (len(x),)."""
        return np.interp(self.inside(x), self.nodes, self.velocities)

    def inside(self, x: FloatArray) -> FloatArray:
        """Return positions, on a ring turned back into it."""
        if not self.ring:
            return x
        first, length = self.nodes[0], self.nodes[-1] - self.nodes[0]
        return np.asarray(first + np.mod(x - first, length))

    def evaluate(self, values: FloatArray, x: FloatArray, derivative: int = 0) -> FloatArray:
        """Return d^k u at positions, (len(x), K); values are (n, K)."""
        powers = self.tables.powers(self.local(values), derivative)
        if derivative:
            powers /= self.lengths[0] ** derivative
        return self.summed(powers, x)

    def summed(self, powers: FloatArray, x: FloatArray) -> FloatArray:
        """Return at positions, (len(x), K), what elements hold in powers, (powers, K, N)."""
        x, nodes = self.inside(x), self.nodes
        e = nodes[1:-1].searchsorted(x, "right")
        return self.tables.sums(powers, e, (x - nodes[e]) / self.lengths[0][e]).T

    def rates_at_rest(self, values: FloatArray, rates: FloatArray) -> FloatArray:
        """Return rates of places that do not move, by element in powers of s, (size, K, N).

        Coefficients and their rates are (n, K).
        """
        if not self.moves:
            return self.tables.powers(self.local(rates))
        d, d_rate = self.scales
        own = self.gathered(np.stack([values, rates]))
        u = own[:, :, 0] * d
        found = self.tables.powers(own[:, :, 1] * d + own[:, :, 0] * d_rate)
        # u_t = U_t - v u_x, where v goes evenly from node to node.
        h, stretch = self.lengths
        slope = self.tables.powers(u, 1) / h
        found[:-1] -= self.velocities[:-1] * slope
        found[1:] -= stretch * slope
        return found


@lru_cache(maxsize=256)
def numbering(elements: int, tables: Reference, ring: bool = False) -> Index:
    """Return which of all coefficients each element has, (N, size)."""
    numbers = np.arange(elements)[:, None] * tables.points + np.arange(tables.size)
    return numbers % (elements * tables.points) if ring else numbers
