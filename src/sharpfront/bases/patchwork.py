"""Patches side by side: a basis whose functions each live on one patch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray, Ints
from sharpfront.bases.axis_functions import table_at
from sharpfront.bases.corner_functions import SharedFunctions, count, tabulated
from sharpfront.bases.lattice import Lattice, Sides
from sharpfront.bases.legendre import block_at, blocks_at, legendre_table
from sharpfront.bases.patch import Patch
from sharpfront.bases.serialisation import restored_parts, saved
from sharpfront.bases.total_degree import is_joint
from sharpfront.errors import BasisError
from sharpfront.kernels import Orders
from sharpfront.maps import Chart, jacobian, pulled_back
from sharpfront.rounding import SAME

_Groups = list[tuple[int, Ints]]
# Weights that are gathered for points at a time.
AT_ONCE = 1_000_000


@dataclass(frozen=True, eq=False)
class PatchworkBasis:
    """The functions of patches that tile a domain; each is zero outside its patch.

    Parameters
    ----------
    patches
        Boxes that do not overlap.
    outside
        Which of them lie partly outside the domain, where that is known of patches without it.
    beside
        On which side of curves inside they lie, the same.
    shared
        Functions of all patches together. Their weights come last.
    """

    patches: tuple[Patch, ...]
    outside: tuple[bool, ...] | None = None
    beside: Sides | None = None
    shared: tuple[SharedFunctions, ...] = ()

    @cached_property
    def sides(self) -> Sides:
        """On which side of curves inside the domain patches lie."""
        return self.beside or Sides.of(self.patches)

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return self.patches[0].dimension

    @cached_property
    def starts(self) -> Ints:
        """The first function of each patch, and the number of all patches', (patches + 1,)."""
        return np.concatenate([[0], np.cumsum([p.size for p in self.patches])])

    @property
    def size(self) -> int:
        """The number of functions."""
        return int(self.starts[-1]) + count(self.shared)

    @property
    def kernels(self) -> int:
        """The number of functions."""
        return self.size

    @cached_property
    def centres(self) -> FloatArray:
        """Gauss points of each patch, one for each function: as dense as these, (size, d).

        Functions of all patches have the corners they belong to.
        """
        every = [p.gauss_points(p.functions)[0] for p in self.patches]
        kept = [
            np.linspace(0, len(x) - 1, p.size) for x, p in zip(every, self.patches, strict=True)
        ]
        own = [x[k.astype(int)] for x, k in zip(every, kept, strict=True)]
        return np.concatenate([*own, *(np.array([c.place] * c.size) for c in self.shared)])

    @cached_property
    def covariances(self) -> FloatArray:
        """A patch's share of each function: half the mean spacing as deviation, (size, d, d)."""
        shapes = []
        for patch in self.patches:
            spacing = np.diag(0.5 * patch.sides / np.array(patch.functions))
            if patch.chart is not None:
                taylor = patch.chart.taylor(0.5 * (patch.low + patch.high)[None])
                spacing = jacobian(taylor)[0] @ spacing
            shapes.append(spacing @ spacing.T)
        own = np.repeat(np.stack(shapes), np.diff(self.starts), axis=0)
        return np.concatenate([own, *[np.mean(shapes, axis=0)[None]] * count(self.shared)])

    def blocks(self, weights: FloatArray) -> list[FloatArray]:
        """Return the weights of each patch as an array over its axes."""
        out = []
        for start, patch in zip(self.starts.tolist(), self.patches, strict=False):
            if not is_joint(patch.dimension):
                out.append(weights[start : start + patch.size].reshape(patch.functions).copy())
                continue
            block = np.zeros(patch.functions)
            block[tuple(patch.products)] = weights[start : start + patch.size]
            out.append(block)
        return out

    @cached_property
    def _lattices(self) -> list[Lattice]:
        """Of the patches of each chart and region, in the order in which these come up."""
        members: dict[tuple[Chart | None, int], list[int]] = {}
        for i, (patch, region) in enumerate(zip(self.patches, self.sides.regions, strict=True)):
            members.setdefault((patch.chart, region), []).append(i)
        cut = self.outside or tuple(p.cut is not None for p in self.patches)
        return [Lattice(self.patches, np.array(own), np.array(cut)) for own in members.values()]

    def owner(self, points: FloatArray) -> Ints:
        """Return the patch of each point, (m,); on a common side the one above it.

        A point outside belongs to a patch beside it.
        """
        if len(self._lattices) == 1:
            return self._lattices[0].owner(points)[0]
        out = np.zeros(len(points), dtype=np.int64)
        least = np.full(len(points), np.inf)
        for lattice in self._lattices:
            found, gap = lattice.owner(points)
            first = int(lattice.members[0])
            if self.patches[first].chart is None:
                # Boxes of space have what no strip along a curve has.
                gap = gap + SAME * lattice.extent + self.sides.beyond(points, first)
            out = np.where(gap < least, found, out)
            least = np.minimum(gap, least)
        return out

    def _groups(self, points: FloatArray) -> _Groups:
        if len(self.patches) == 1 and len(points):
            return [(0, np.arange(len(points)))]
        owner = self.owner(points)
        order = np.argsort(owner, kind="stable")
        names, first = np.unique(owner[order], return_index=True)
        parts = np.split(order, first[1:]) if len(names) else []
        return list(zip(names.tolist(), parts, strict=True))

    def matrix(self, points: FloatArray, orders: Orders) -> FloatArray:
        """Return d^orders of each function at each point, (m, size)."""
        out = np.zeros((len(points), self.size))
        groups = self._groups(points)
        at, (chain,) = self._along_axes(groups, points, [orders])
        for i, here in groups:
            patch = self.patches[i]
            tables = [patch.axis_table(a, at[here, a], sum(orders)) for a in range(self.dimension)]
            block = np.zeros((patch.size, len(here)))
            for along, c in chain.items():
                # Function by function: whole rows are gathered faster than columns.
                columns = c[here]
                for table, k, own in zip(tables, along, patch.products, strict=True):
                    columns = columns * np.take(table[k].T, own, axis=0)
                block += columns
            out[here, self.starts[i] : self.starts[i + 1]] = block.T
        if self.shared:
            beside = self._beside(groups, points)
            out[:, self.starts[-1] :] = tabulated(self.shared, points, orders, beside)
        return out

    def values(self, weights: FloatArray, points: FloatArray, orders: Orders) -> FloatArray:
        """Return d^orders of the weighted sum at each point, (m,)."""
        return self.several(weights, points, [orders])[0]

    def on_patches(self, weights: FloatArray, z: tuple[float, ...]) -> FloatArray:
        """Return the weighted sum at the same product points of every patch, one after another."""
        groups: dict[tuple[tuple[int, float], ...], list[int]] = {}
        cut = [i for i, patch in enumerate(self.patches) if patch.cut]
        for i, patch in enumerate(self.patches):
            if patch.cut is None:
                kinds = zip(patch.functions, (m.decays for m in patch.maps), strict=True)
                groups.setdefault(tuple(kinds), []).append(i)
        blocks = self.blocks(weights)
        out = np.empty((len(self.patches), len(z) ** self.dimension))
        for functions, members in groups.items():
            part = np.stack([blocks[i] for i in members])
            for p, decays in functions:
                # The axis in front becomes positions and goes to the end.
                part = part.reshape(len(members), p, -1).swapaxes(1, 2) @ table_at(z, p, decays).T
            out[members] = part.reshape(len(members), -1)
        for i in cut:
            patch = self.patches[i]
            at = patch.inverse(patch.spread(np.array(z)))
            tables = [legendre_table(x, p)[0] for x, p in zip(at.T, patch.functions, strict=True)]
            out[i] = block_at(blocks[i], tables)
        if self.shared:
            points = np.concatenate([patch.spread(np.array(z)) for patch in self.patches])
            beside = np.repeat(self._middles, out.shape[1], axis=0)
            beyond = tabulated(self.shared, points, (0,) * self.dimension, beside)
            return np.asarray(out.ravel() + beyond @ weights[self.starts[-1] :])
        return out.ravel()

    @cached_property
    def _middles(self) -> FloatArray:
        """A point inside of each patch, (patches, d)."""
        return np.concatenate([patch.middle for patch in self.patches])

    def _beside(self, groups: _Groups, points: FloatArray) -> FloatArray:
        """Return a point inside the patch of each point, (m, d)."""
        out = np.empty_like(points)
        for i, here in groups:
            out[here] = self._middles[i]
        return out

    def several(
        self, weights: FloatArray, points: FloatArray, orders: Sequence[Orders]
    ) -> list[FloatArray]:
        """Return several derivatives of the weighted sum at each point, (m,) each."""
        if points.ndim != 2 or points.shape[1] != self.dimension:
            raise BasisError(f"Expected points (m, {self.dimension}), got {points.shape}.")
        if self.dimension > 3:
            # The block of all products is many times those that a joint degree leaves.
            parts = np.array_split(points, 1 + len(points) * self.size // AT_ONCE)
            return [
                np.concatenate([self.matrix(part, each) @ weights for part in parts])
                for each in orders
            ]
        out = [np.zeros(len(points)) for _ in orders]
        most = max((sum(o) for o in orders), default=0)
        blocks = self.blocks(weights)
        groups = self._groups(points)
        at, chains = self._along_axes(groups, points, orders)
        for members, here in self._alike(groups):
            stack = np.stack([blocks[i] for i, _ in members])
            own = np.repeat(np.arange(len(members)), [len(h) for _, h in members])
            for some in np.array_split(
                np.arange(len(own)), 1 + own.size * stack[0].size // AT_ONCE
            ):
                which = [i for i, _ in members]
                tables = self._tables(which, own[some], at[here[some]], most)
                known: dict[Orders, FloatArray] = {}
                for values, chain in zip(out, chains, strict=True):
                    for along, c in chain.items():
                        if along not in known:
                            factors = [t[k] for t, k in zip(tables, along, strict=True)]
                            known[along] = blocks_at(stack, own[some], factors)
                        values[here[some]] += c[here[some]] * known[along]
        if self.shared:
            strengths, beside = weights[self.starts[-1] :], self._beside(groups, points)
            for values, each in zip(out, orders, strict=True):
                values += tabulated(self.shared, points, each, beside) @ strengths
        return out

    def sums(self, weights: FloatArray, points: FloatArray) -> FloatArray:
        """Return several weighted sums of patches' functions at points of the plane, (R, m).

        Those of all patches are left out, whose weights come last in each, (R, size).
        """
        out = np.empty((len(weights), len(points)))
        groups = self._groups(points)
        at, _ = self._along_axes(groups, points, [])
        for members, here in self._alike(groups):
            own = np.repeat(np.arange(len(members)), [len(h) for _, h in members])
            first, second = self._tables([i for i, _ in members], own, at[here], 0)
            done = 0
            for i, mine in members:
                some = slice(done, done := done + len(mine))
                blocks = weights[:, self.starts[i] : self.starts[i + 1]]
                part = first[0, some] @ blocks.reshape(len(weights), *self.patches[i].functions)
                out[:, mine] = (part * second[0, some]).sum(axis=2)
        return out

    def _alike(self, groups: _Groups) -> list[tuple[_Groups, Ints]]:
        """Return groups whose patches have the same numbers of functions, and all their points."""
        found: dict[tuple[int, ...], _Groups] = {}
        for i, here in groups:
            found.setdefault(self.patches[i].functions, []).append((i, here))
        return [(members, np.concatenate([h for _, h in members])) for members in found.values()]

    def _tables(
        self, which: Sequence[int], own: Ints, at: FloatArray, order: int
    ) -> list[FloatArray]:
        """Return for each axis d^k of its patch's functions at each point, (order + 1, m, p).

        Parameters
        ----------
        which
            Patches with the same numbers of functions.
        own, at
            Which of them each point lies in, and its position there, (m,) and (m, d).
        order
            The highest derivative.
        """
        patches = [self.patches[i] for i in which]
        functions = patches[0].functions
        if any(m.decays or not m.is_affine for patch in patches for m in patch.maps):
            out = [np.empty((order + 1, len(own), p)) for p in functions]
            for k in np.unique(own):
                here = np.flatnonzero(own == k)
                for a, table in enumerate(out):
                    table[:, here] = patches[k].axis_table(a, at[here, a], order)
            return out
        low = np.stack([p.low for p in patches])[own]
        high = np.stack([p.high for p in patches])[own]
        z = np.clip(((at - low) - (high - at)) / (high - low), -1.0, 1.0)
        out = [legendre_table(z[:, a], p, order) for a, p in enumerate(functions)]
        for a, table in enumerate(out):
            for k in range(1, order + 1):
                table[k] *= ((2.0 / (high - low)[:, a]) ** k)[:, None]
        return out

    def _along_axes(
        self, groups: _Groups, points: FloatArray, orders: Sequence[Orders]
    ) -> tuple[FloatArray, list[dict[Orders, FloatArray]]]:
        """Return positions in the patches' charts, and the chain rule there for each derivative.

        That is, the coefficients of derivatives along the patches' axes in one along space's.
        """
        ones = [{each: np.ones(len(points))} for each in orders]
        if all(patch.chart is None for patch in self.patches):
            return points, ones
        at = points.copy()
        taylor: dict[Orders, FloatArray] = {}
        for axis in range(self.dimension):
            first = tuple(int(a == axis) for a in range(self.dimension))
            taylor[first] = np.zeros_like(points)
            taylor[first][:, axis] = 1.0
        for i, here in groups:
            chart = self.patches[i].chart
            if chart is None:
                continue
            at[here] = chart.inverse(points[here])
            for b, x in chart.taylor(at[here]).items():
                taylor.setdefault(b, np.zeros_like(points))[here] = x
        return at, [pulled_back(taylor, one) for one in ones]

    def state(self) -> dict[str, Any]:
        """Return arrays and words from which `restore_patchwork` makes the basis again."""
        return saved(self.patches, self.sides, self.shared)


def restore_patchwork(state: dict[str, Any]) -> PatchworkBasis:
    """Return the basis that `state` was taken from."""
    return PatchworkBasis(*restored_parts(state))
