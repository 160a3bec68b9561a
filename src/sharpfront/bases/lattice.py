"""Which patch of one chart has a point, and on which side of curves inside patches lie."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sharpfront.arrays import Flags, FloatArray, Ints
from sharpfront.bases.cut_cells import Region, StripEdges
from sharpfront.bases.patch import Patch
from sharpfront.bases.solid_cut_cells import SolidRegion
from sharpfront.rounding import CANCELLED, SAME, SLIGHT


@dataclass(frozen=True, eq=False)
class Lattice:
    """The patches of one chart on the lattice of all their ends."""

    patches: Sequence[Patch]
    members: Ints
    cut: Flags

    @cached_property
    def _lines(self) -> list[FloatArray]:
        """All ends of patches along each axis."""
        own = [self.patches[i] for i in self.members]
        ends = [[(p.low[a], p.high[a]) for p in own] for a in range(own[0].dimension)]
        return [np.unique(np.array(e)) for e in ends]

    @property
    def extent(self) -> float:
        """The length of the longest axis."""
        return max(float(np.ptp(x)) for x in self._lines)

    @cached_property
    def _owners(self) -> Ints:
        """The patch of each cell of the lattice; -1 outside."""
        lines = self._lines
        out = np.full([len(x) - 1 for x in lines], -1, dtype=np.int64)
        for i in self.members.tolist():
            patch = self.patches[i]
            window = tuple(
                slice(*np.searchsorted(x, (patch.low[a], patch.high[a])))
                for a, x in enumerate(lines)
            )
            out[window] = i
        return out

    def owner(self, points: FloatArray) -> tuple[Ints, FloatArray]:
        """Return the patch of each point, (m,), and how far the chart ends from it, (m,)."""
        one = self.patches[int(self.members[0])]
        at = one.in_chart(points)
        owner = self._found(at)
        doubtful = np.flatnonzero(self.cut.any() & (self.cut[owner] | (owner < 0)))
        if len(doubtful):
            owner[doubtful] = self._inside(at[doubtful], owner[doubtful])
        lost = np.flatnonzero(owner < 0)
        if len(lost):
            owner[lost] = self._nearest(at[lost])
        inside = np.stack([np.clip(at[:, a], x[0], x[-1]) for a, x in enumerate(self._lines)], 1)
        return owner, np.linalg.norm(one.in_space(inside) - points, axis=1)

    def _found(self, at: FloatArray) -> Ints:
        """Return the patch of each point, on lines the one above; -1 where there is none."""
        index = []
        for a, x in enumerate(self._lines):
            found = np.searchsorted(x, at[:, a], side="right") - 1
            index.append(np.clip(found, 0, len(x) - 2))
        return np.asarray(self._owners[tuple(index)])

    def _inside(self, at: FloatArray, owner: Ints) -> Ints:
        """Return other patches of points on lines, where theirs has nothing of the domain there."""
        out = owner.copy()
        done = (out >= 0) & self._has(at, out)
        done[~done] = self._within(at[~done], out[~done])
        for signs in itertools.product((1.0, -1.0), repeat=at.shape[1]):
            other = self._found(at + SAME * self.extent * np.array(signs))
            better = ~done & (other >= 0) & (other != owner)
            better[better] = self._has(at[better], other[better])
            out, done = np.where(better, other, out), done | better
        return out

    def _within(self, at: FloatArray, owner: Ints) -> Flags:
        """Tell which points of the domain are on no side of their patch.

        Beside a corner the middle of a patch may lie beyond the boundary as seen from them.
        """
        out = np.zeros(len(at), dtype=bool)
        for i in np.unique(owner[owner >= 0]):
            patch, here = self.patches[i], np.flatnonzero(owner == i)
            gaps = np.minimum(at[here] - patch.low, patch.high - at[here])
            inner = here[gaps.min(axis=1) > CANCELLED * self.extent]
            out[inner] = patch.cut is not None and patch.has(at[inner])
        return out

    def _has(self, at: FloatArray, owner: Ints) -> Flags:
        """Tell whether patches have something of the domain at points of them."""
        out = ~self.cut[owner]
        for i in np.unique(owner[~out & (owner >= 0)]):
            patch, here = self.patches[i], np.flatnonzero(owner == i)
            inwards = 0.5 * (patch.low + patch.high) - at[here]
            out[here] = patch.cut is not None and patch.has(at[here] + SLIGHT * inwards)
        return out

    def _nearest(self, at: FloatArray) -> Ints:
        low = np.stack([self.patches[i].low for i in self.members])
        high = np.stack([self.patches[i].high for i in self.members])
        out = []
        for x in at:
            gap = np.maximum(np.maximum(low - x, x - high), 0.0)
            out.append(int(self.members[np.argmin(np.sum(gap * gap, axis=1))]))
        return np.array(out, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Sides:
    """The regions that strips along curves inside a domain leave of it."""

    regions: tuple[int, ...]  # that of each patch, as a number; of those in charts any
    # Points on the sides of strips, as of a rim, with the number of the region beside them, (m, 7);
    # none where there is only one region.
    edges: FloatArray

    @classmethod
    def of(cls, patches: Sequence[Patch]) -> Sides:
        """Return the sides that patches lie on."""
        numbers: dict[Region | SolidRegion | None, int] = {}
        own = tuple(numbers.setdefault(patch.region, len(numbers)) for patch in patches)
        regions = [(region, k) for region, k in numbers.items() if isinstance(region, Region)]
        if len(regions) < 2:
            return cls(own, np.empty((0, 7)))
        edges = [np.insert(r.strip_rim.table, 6, k, axis=1) for r, k in regions]
        return cls(own, np.concatenate(edges))

    @cached_property
    def _rims(self) -> dict[int, StripEdges]:
        numbers = self.edges[:, 6].astype(int)
        return {int(k): StripEdges(self.edges[numbers == k, :6]) for k in np.unique(numbers)}

    def beyond(self, points: FloatArray, patch: int) -> FloatArray:
        """Return how far points are beyond the region of a patch, about, (m,)."""
        rim = self._rims.get(self.regions[patch])
        return np.zeros(len(points)) if rim is None else np.maximum(rim.beyond(points), 0.0)
