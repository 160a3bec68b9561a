"""Meshes for functions on a line: what an element leaves out, and nodes that share it evenly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.linalg import lapack

from sharpfront.arrays import FloatArray
from sharpfront.evolve.band_layout import Layout, layout_of
from sharpfront.evolve.settings import LINE_MARCH
from sharpfront.pieces.elements import Reference
from sharpfront.pieces.frame import Bends, Frame

# Values at positions, (n,) to (n, K).
Function = Callable[[FloatArray], FloatArray]
# Elements are no shorter than this share of the domain: places are not known better.
SHORTEST_ELEMENT = 1e-14


@dataclass(frozen=True, eq=False)
class Mesher:
    """Functions of one kind on meshes of one interval."""

    tables: Reference  # the functions of an element
    ring: bool  # whether the ends are joined
    pins: FloatArray  # where a node always is, for coefficients break there
    most: int  # elements at most
    bends: Bends | None = None  # pins at which slopes are not continuous

    def frame(self, nodes: FloatArray, velocities: FloatArray | None = None) -> Frame:
        """Return a mesh, at rest unless velocities are given."""
        moving = np.zeros_like(nodes) if velocities is None else velocities
        return Frame(self.tables, nodes, moving, self.ring, self.bends)

    def interpolant(self, nodes: FloatArray, of: Function) -> FloatArray:
        """Return coefficients (n, K) of the functions through values at Gauss points and ends."""
        return self.through(self.frame(nodes), of)

    def through(self, frame: Frame, of: Function) -> FloatArray:
        """Return the same on a mesh that is there."""
        nodes, tables = frame.nodes, self.tables
        left = 0 if self.ring else (tables.order + 1) // 2
        full = tables.order > 2 and not self.ring
        lay = layout_of(tables, frame.elements, 1, left, self.ring, full=full)
        x, h = [frame.positions[0].T.ravel()], frame.lengths[0]
        if not self.ring:
            (first, _), (last, _) = _beside_ends(tables, left)
            x = [nodes[0] + first * h[0], *x, nodes[-2] + last * h[-1]]
        right = lay.placed(of(np.concatenate(x)).T).T
        unknowns = frame.scales.shape[2]
        for i, scales in enumerate(frame.scales[0].swapaxes(0, 1)):
            # Functions are the same for all unknowns, or each has its own.
            own = right[:, i::unknowns]
            bands = self._collocated(lay, scales, left)
            found, info = lapack.dgbsv(lay.below, lay.above, lay.matrix(bands), own, True)[2:]
            if info:
                raise np.linalg.LinAlgError("No function of the mesh has these values.")
            right[:, i::unknowns] = found
        return lay.taken(right.T).T

    def _collocated(self, lay: Layout, scales: FloatArray, left: int) -> FloatArray:
        """Return the functions at Gauss points and beside ends as bands; scales are (size, N)."""
        tables = self.tables
        bands = np.zeros((1, lay.high * lay.size))
        blocks = lay.blocks(bands)
        np.multiply(tables.inside(0)[0][:, None], scales.T, out=blocks[0, :, :, 0, :, 0])
        lay.settle(blocks, bands)
        if not self.ring:
            (first, begin), (last, end) = _beside_ends(tables, left)
            bands[0, lay.of_end(0, len(first))] = (begin * scales[:, 0]).ravel()
            bands[0, lay.of_end(1, len(last))] = (end * scales[:, -1]).ravel()
        return bands

    def roughness(
        self, frame: Frame, values: FloatArray, unit: FloatArray, tol: float
    ) -> FloatArray:
        """Return |u^(p+1)| on each element, the largest over the unknowns in their units, (N,).

        It is taken from the jumps of the p-th derivative, but not across a pin. Noise below a
        share of tol is left alone: errors of waves stay and go about, and no mesh resolves them.
        """
        h, local = frame.lengths[0], frame.local(values)
        found = self.tables.tail @ local.reshape(len(local), -1)
        found = found.reshape(-1, *local.shape[1:])
        top = found[0] / h**self.tables.degree
        jumps = np.abs(top[:, 1:] - top[:, :-1])
        jumps /= 0.5 * (h[1:] + h[:-1])
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
        size = np.abs(found[1:])
        last, before = size[2] + size[3], size[0] + size[1]
        rough[(last > LINE_MARCH.flat * before) & (last < LINE_MARCH.quiet * tol * unit.T)] = 0.0
        return np.asarray(rough.max(axis=0))

    def beside_breaks(self, frame: Frame) -> FloatArray:
        """Tell which elements lie at ends and beside pins, (N,)."""
        at = np.isin(frame.nodes, self.pins)
        at[[0, -1]] = not self.ring
        return np.asarray(at[1:] | at[:-1])

    def rough_for(self, lengths: FloatArray, allowed: float) -> FloatArray:
        """Return what would have to be resolved for elements of given lengths."""
        power = self.tables.degree + 1
        return LINE_MARCH.aim * allowed / (self.tables.leading * lengths**power)

    def left_out(self, nodes: FloatArray, rough: FloatArray) -> FloatArray:
        """Return the estimated error of each element, by the leading term of collocation."""
        return self.tables.leading * rough * (nodes[1:] - nodes[:-1]) ** (self.tables.degree + 1)

    def density(self, nodes: FloatArray, rough: FloatArray) -> FloatArray:
        """Return how many nodes per length are wanted, up to a factor, smoothed, (N,)."""
        padded = np.empty(len(rough) + 2)
        density = padded[1:-1]
        np.power(rough, 1.0 / (self.tables.degree + 1), out=density)
        for _ in range(2):
            ends = (density[-1], density[0]) if self.ring else (density[0], density[-1])
            padded[0], padded[-1] = ends
            density[:] = 0.25 * (padded[:-2] + padded[2:]) + 0.5 * density
        mean = float(density @ (nodes[1:] - nodes[:-1])) / (nodes[-1] - nodes[0])
        return np.asarray(density + (LINE_MARCH.even * mean + 1e-300))

    def wanted(self, nodes: FloatArray, rough: FloatArray, allowed: float) -> FloatArray:
        """Return how long elements may be that leave out no more than the aim, (N,)."""
        power = 1.0 / (self.tables.degree + 1)
        factor = (self.tables.leading / (LINE_MARCH.aim * allowed)) ** power
        even = 1.0 / (self.density(nodes, rough) * factor)
        # What is rough by itself, beside what is smooth, is not smoothed away.
        longest = (LINE_MARCH.enough * allowed / (self.tables.leading * rough + 1e-300)) ** power
        least = SHORTEST_ELEMENT * (nodes[-1] - nodes[0])
        return np.asarray(np.maximum(np.minimum(even, longest), least))

    def fewest(self, nodes: FloatArray, rough: FloatArray, allowed: float) -> float:
        """Return how many elements a new mesh has at least: inside long ones it is graded more."""
        middles = 0.5 * (nodes[1:] + nodes[:-1])
        lengths = _lipschitz(middles, self.wanted(nodes, rough, allowed))
        return float(((nodes[1:] - nodes[:-1]) / lengths).sum())

    def mesh(
        self, nodes: FloatArray, rough: FloatArray, allowed: float, least: int = 0, most: int = 0
    ) -> FloatArray:
        """Return nodes that share a density evenly, as many as the tolerance needs.

        `rough` is what `roughness` returns, `allowed` what an element may leave out; there are
        bounds of their number beside those of the march.
        """
        x, upto = graded(nodes, self.wanted(nodes, rough, allowed))
        # A wish for more than there may be is told by one too many.
        top = min(most or self.most + 1, self.most + 1)
        count = int(min(max(np.ceil(upto[-1]), LINE_MARCH.fewest, least), top))
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


@lru_cache(maxsize=32)
def _beside_ends(tables: Reference, left: int) -> list[tuple[FloatArray, FloatArray]]:
    """Return places at which functions are held at both ends, so many on the left, and tables.

    They are the end itself and places between Gauss points beside it.
    """
    between = 0.5 * (tables.gauss[1:] + tables.gauss[:-1])
    first, last = (np.append(0.0, between[: n - 1])[:n] for n in (left, tables.order - left))
    return [(s, tables.table(s, 0)) for s in (first, 1.0 - last)]


def graded(nodes: FloatArray, wanted: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return positions, and how many elements lie up to each, for wanted lengths of elements.

    Lengths do not change faster than the grade along x: a long element beside a short one spoils
    what both hold.
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
    """Return the largest lengths below given ones that do not change faster than the grade."""
    ahead = np.minimum.accumulate(lengths - LINE_MARCH.grade * x) + LINE_MARCH.grade * x
    back = (
        np.minimum.accumulate((lengths + LINE_MARCH.grade * x)[::-1])[::-1] - LINE_MARCH.grade * x
    )
    return np.minimum(ahead, back)
