"""Meshes for functions on a line: what an element leaves out, and nodes that share it evenly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from sharpfront.arrays import FloatArray
from sharpfront.evolve.band import layout_of
from sharpfront.evolve.settings import Settings
from sharpfront.pieces.elements import Reference
from sharpfront.pieces.frame import Bends, Frame

# Values at positions, (n,) to (n, K).
Function = Callable[[FloatArray], FloatArray]
# Share of the mean density that every element has.
EVEN = 0.1
# Noise: the last two coefficients of an element are not smaller than this share of the two before
# them, and below this share of the tolerance.
FLAT, QUIET = 0.3, 0.3
# Share of what an element may leave out that it must not exceed, whatever its neighbours are.
ENOUGH = 0.2
# How fast the lengths of elements may change along x.
GRADE = 0.5


@dataclass(frozen=True, eq=False)
class Mesher:
    """Functions of one kind on meshes of one interval."""

    tables: Reference  # the functions of an element
    ring: bool  # whether the ends are joined
    pins: FloatArray  # where a node always is, for coefficients break there
    most: int  # elements at most
    settings: Settings  # the tuned numbers
    bends: Bends | None = None  # pins at which slopes are not continuous

    def frame(self, nodes: FloatArray, velocities: FloatArray | None = None) -> Frame:
        """Return a mesh, at rest unless velocities are given."""
        moving = np.zeros_like(nodes) if velocities is None else velocities
        return Frame(self.tables, nodes, moving, self.ring, self.bends)

    def interpolant(self, nodes: FloatArray, of: Function) -> FloatArray:
        """Return coefficients (n, K) of the functions through values at Gauss points and ends."""
        frame, m = self.frame(nodes), self.tables.order
        left = 0 if self.ring else (m + 1) // 2
        lay = layout_of(
            self.tables, frame.elements, 1, left, self.ring, full=m > 2 and not self.ring
        )
        blocks = self.tables.inside(0)[0][:, None] * frame.scales[0].T
        band = lay.bands(blocks[None, :, :, None, :, None])[0]
        places, rows, h = [], [], np.diff(nodes)
        between = 0.5 * (self.tables.gauss[1:] + self.tables.gauss[:-1])
        for side, count in () if self.ring else ((0, left), (1, m - left)):
            # The end itself, and places between Gauss points beside it.
            s = np.concatenate([[0.0], between[: count - 1]])[:count]
            s = 1.0 - s if side else s
            own = list(range(count)) if side == 0 else list(range(lay.size - count, lay.size))
            table = self.tables.table(s, 0) * frame.scales[0, :, -side]
            band[lay.at_end(own, -side).ravel()] = table.ravel()
            places.append(nodes[-2 * side] + s * h[-side] if side else nodes[0] + s * h[0])
            rows += own
        inner = frame.positions[0].T.ravel()
        values = of(np.concatenate([inner, *places]))
        right = np.empty((lay.size, values.shape[1]))
        right[left : left + inner.size] = values[: inner.size]
        right[rows] = values[inner.size :]
        placed = lay.placed(right.T).T
        found, info = lapack.dgbsv(lay.below, lay.above, lay.matrix(band), placed)[2:]
        if info:
            raise np.linalg.LinAlgError("No function of the mesh has these values.")
        return lay.taken(found.T).T

    def roughness(
        self, frame: Frame, values: FloatArray, unit: FloatArray, tol: float
    ) -> FloatArray:
        """Return |u^(p+1)| on each element, the largest over the unknowns in their units, (N,).

        It is taken from the jumps of the p-th derivative, but not across a pin. Noise below a
        share of tol is left alone: errors of waves stay and go about, and no mesh resolves them.
        """
        h, p, local = frame.lengths[0], self.tables.degree, frame.local(values)
        flat = local.reshape(len(local), -1)
        top = (self.tables.highest @ flat).reshape(local.shape[1:]) / h**p
        apart = 0.5 * (h[1:] + h[:-1])
        jumps = np.abs(top[:, 1:] - top[:, :-1]) / apart
        if len(self.pins):
            jumps[:, np.isin(frame.nodes[1:-1], self.pins)] = 0.0
        rough = np.empty_like(top)
        rough[:, 0], rough[:, 1:] = jumps[:, 0], jumps
        np.maximum(rough[:, :-1], jumps, out=rough[:, :-1])
        if self.ring:
            round_ = np.abs(top[:, 0] - top[:, -1]) / (0.5 * (h[0] + h[-1]))
            rough[:, 0] = np.maximum(jumps[:, 0], round_)
            rough[:, -1] = np.maximum(jumps[:, -1], round_)
        rough /= unit.T
        size = np.abs(self.tables.legendre[-4:] @ flat).reshape(4, *top.shape)
        last, before = size[2] + size[3], size[0] + size[1]
        rough[(last > FLAT * before) & (last < QUIET * tol * unit.T)] = 0.0
        return np.asarray(rough.max(axis=0))

    def rough_for(self, lengths: FloatArray, allowed: float) -> FloatArray:
        """Return what would have to be resolved for elements of given lengths."""
        power = self.tables.degree + 1
        return self.settings.aim * allowed / (self.tables.leading * lengths**power)

    def left_out(self, nodes: FloatArray, rough: FloatArray) -> FloatArray:
        """Return the estimated error of each element, by the leading term of collocation."""
        return self.tables.leading * rough * np.diff(nodes) ** (self.tables.degree + 1)

    def density(self, nodes: FloatArray, rough: FloatArray) -> FloatArray:
        """Return how many nodes per length are wanted, up to a factor, smoothed, (N,)."""
        density = rough ** (1.0 / (self.tables.degree + 1))
        for _ in range(2):
            first, last = (density[-1:], density[:1]) if self.ring else (density[:1], density[-1:])
            padded = np.concatenate([first, density, last])
            density = 0.25 * (padded[:-2] + 2 * padded[1:-1] + padded[2:])
        mean = float(density @ np.diff(nodes)) / (nodes[-1] - nodes[0])
        return np.asarray(density + EVEN * mean + 1e-300)

    def wanted(self, nodes: FloatArray, rough: FloatArray, allowed: float) -> FloatArray:
        """Return how many elements per length leave out no more than the aim, (N,)."""
        power = 1.0 / (self.tables.degree + 1)
        factor = (self.tables.leading / (self.settings.aim * allowed)) ** power
        return np.asarray(self.density(nodes, rough) * factor)

    def fewest(self, nodes: FloatArray, rough: FloatArray, allowed: float) -> float:
        """Return how many nodes a new mesh has at least: what is graded has more."""
        return float(self.wanted(nodes, rough, allowed) @ np.diff(nodes))

    def mesh(
        self, nodes: FloatArray, rough: FloatArray, allowed: float, least: int = 0, most: int = 0
    ) -> FloatArray:
        """Return nodes that share a density evenly, as many as the tolerance needs.

        `rough` is what `roughness` returns, `allowed` what an element may leave out; there are
        bounds of their number beside those of the march.
        """
        power = 1.0 / (self.tables.degree + 1)
        density = self.wanted(nodes, rough, allowed)
        # What is rough by itself, beside what is smooth, is not smoothed away.
        longest = (ENOUGH * allowed / (self.tables.leading * rough + 1e-300)) ** power
        x, upto = graded(nodes, np.minimum(1.0 / density, longest))
        # A wish for more than there may be is told by one too many.
        top = min(most or self.most + 1, self.most + 1)
        count = int(min(max(np.ceil(upto[-1]), self.settings.fewest, least), top))
        new = np.interp(np.linspace(0.0, upto[-1], count + 1), upto, x)
        new[0], new[-1] = nodes[0], nodes[-1]
        return self.pinned(new)

    def pinned(self, nodes: FloatArray) -> FloatArray:
        """Return nodes of which some are the pins."""
        for pin in self.pins:
            inner = nodes[1:-1]
            nearest = 1 + int(np.argmin(np.abs(inner - pin)))
            if nodes[nearest] in self.pins and nodes[nearest] != pin:
                nodes = np.insert(nodes, int(np.searchsorted(nodes, pin)), pin)
            else:
                nodes[nearest] = pin
        return nodes


def graded(nodes: FloatArray, wanted: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return positions, and how many elements lie up to each, for wanted lengths of elements.

    Lengths do not change faster than `GRADE` along x: a long element beside a short one spoils what
    both hold.
    """
    middles = 0.5 * (nodes[1:] + nodes[:-1])
    if np.all(_lipschitz(middles, wanted) > 0.9 * wanted):
        return nodes, np.concatenate([[0.0], np.cumsum(np.diff(nodes) / wanted)])
    h, beside = np.diff(nodes), np.minimum(np.append(wanted, np.inf), np.append(np.inf, wanted))
    ends = _lipschitz(nodes, beside)
    # Places that crowd towards both ends of elements in which lengths change much.
    steep = np.flatnonzero(h > np.minimum(ends[1:], ends[:-1]))
    near = 0.5 ** np.arange(1.0, 41.0)
    inner = np.concatenate([near[:0:-1], 1.0 - near])
    x = np.unique(np.append(nodes, nodes[steep, None] + h[steep, None] * inner))
    e = np.clip(np.searchsorted(nodes, x, "right") - 1, 0, len(h) - 1)
    before = np.maximum(np.searchsorted(nodes, x, "left") - 1, 0)
    length = _lipschitz(x, np.minimum(wanted[e], wanted[before]))
    cells = 0.5 * np.diff(x) * (1.0 / length[1:] + 1.0 / length[:-1])
    return x, np.concatenate([[0.0], np.cumsum(cells)])


def _lipschitz(x: FloatArray, lengths: FloatArray) -> FloatArray:
    """Return the largest lengths below given ones that do not change faster than `GRADE`."""
    ahead = np.minimum.accumulate(lengths - GRADE * x) + GRADE * x
    back = np.minimum.accumulate((lengths + GRADE * x)[::-1])[::-1] - GRADE * x
    return np.minimum(ahead, back)
