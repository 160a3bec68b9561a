"""Patches side by side: a basis whose functions each live on one patch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import Host
from sharpfront.bases.patch import Patch
from sharpfront.errors import BasisError
from sharpfront.kernels import Orders
from sharpfront.maps import AxisMap


@dataclass(frozen=True, eq=False)
class PatchworkBasis:
    """The functions of patches that tile a domain; each is zero outside its patch.

    Parameters
    ----------
    patches
        Boxes that do not overlap.
    """

    patches: tuple[Patch, ...]

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return self.patches[0].dimension

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The first function of each patch, and the number of functions, (patches + 1,)."""
        return np.concatenate([[0], np.cumsum([p.size for p in self.patches])])

    @property
    def size(self) -> int:
        """The number of functions."""
        return int(self.starts[-1])

    @property
    def kernels(self) -> int:
        """The number of functions."""
        return self.size

    @cached_property
    def centres(self) -> Host:
        """Gauss points of each patch, one for each function: as dense as these, (size, d)."""
        return np.concatenate([p.gauss_points(p.functions)[0] for p in self.patches])

    @cached_property
    def covariances(self) -> Host:
        """A patch's share of each function: half the mean spacing as deviation, (size, d, d)."""
        shapes = [np.diag((0.5 * p.sides / np.array(p.functions)) ** 2) for p in self.patches]
        return np.repeat(np.stack(shapes), np.diff(self.starts), axis=0)

    def blocks(self, weights: Host) -> list[Host]:
        """Return the weights of each patch as an array over its axes."""
        return [
            weights[start : start + patch.size].reshape(patch.functions)
            for start, patch in zip(self.starts.tolist(), self.patches, strict=False)
        ]

    @cached_property
    def _lines(self) -> list[Host]:
        """All ends of patches along each axis."""
        ends = [[(p.low[a], p.high[a]) for p in self.patches] for a in range(self.dimension)]
        return [np.unique(np.array(e)) for e in ends]

    @cached_property
    def _owners(self) -> NDArray[np.int64]:
        """The patch of each cell of the lattice of all ends; -1 outside."""
        lines = self._lines
        out = np.full([len(x) - 1 for x in lines], -1, dtype=np.int64)
        for i, patch in enumerate(self.patches):
            window = tuple(
                slice(*np.searchsorted(x, (patch.low[a], patch.high[a])))
                for a, x in enumerate(lines)
            )
            out[window] = i
        return out

    def owner(self, points: Host) -> NDArray[np.int64]:
        """Return the patch of each point, (m,); on a common side the one above it.

        A point outside belongs to the patch that is nearest along the axes.
        """
        index = []
        for a, x in enumerate(self._lines):
            found = np.searchsorted(x, points[:, a], side="right") - 1
            index.append(np.clip(found, 0, len(x) - 2))
        found = self._owners[tuple(index)]
        lost = np.flatnonzero(found < 0)
        if len(lost):
            found[lost] = self._nearest(points[lost])
        return found

    def _nearest(self, points: Host) -> NDArray[np.int64]:
        low = np.stack([p.low for p in self.patches])
        high = np.stack([p.high for p in self.patches])
        out = []
        for x in points:
            gap = np.maximum(np.maximum(low - x, x - high), 0.0)
            out.append(int(np.argmin(np.sum(gap * gap, axis=1))))
        return np.array(out, dtype=np.int64)

    def _groups(self, points: Host) -> list[tuple[int, NDArray[np.int64]]]:
        owner = self.owner(points)
        order = np.argsort(owner, kind="stable")
        names, first = np.unique(owner[order], return_index=True)
        return list(zip(names.tolist(), np.split(order, first[1:]), strict=True))

    def matrix(self, points: Host, orders: Orders) -> Host:
        """Return d^orders of each function at each point, (m, size)."""
        out = np.zeros((len(points), self.size))
        for i, here in self._groups(points):
            patch = self.patches[i]
            rows = np.ones((len(here), 1))
            for a, k in enumerate(orders):
                table = patch.axis_table(a, points[here, a], k)[k]
                rows = (rows[:, :, None] * table[:, None, :]).reshape(len(here), -1)
            out[here, self.starts[i] : self.starts[i + 1]] = rows
        return out

    def values(self, weights: Host, points: Host, orders: Orders) -> Host:
        """Return d^orders of the weighted sum at each point, (m,)."""
        return self.several(weights, points, [orders])[0]

    def several(self, weights: Host, points: Host, orders: Sequence[Orders]) -> list[Host]:
        """Return several derivatives of the weighted sum at each point, (m,) each."""
        if points.ndim != 2 or points.shape[1] != self.dimension:
            raise BasisError(f"Expected points (m, {self.dimension}), got {points.shape}.")
        out = [np.zeros(len(points)) for _ in orders]
        most = max((max(o) for o in orders), default=0)
        blocks = self.blocks(weights)
        for i, here in self._groups(points):
            patch, block = self.patches[i], blocks[i]
            tables = [patch.axis_table(a, points[here, a], most) for a in range(self.dimension)]
            for values, each in zip(out, orders, strict=True):
                values[here] = _contracted(block, [t[k] for t, k in zip(tables, each, strict=True)])
        return out

    def state(self) -> dict[str, Any]:
        """Return arrays and words from which `restore_patchwork` makes the basis again."""
        return {
            "type": "patchwork",
            "low": np.stack([p.low for p in self.patches]),
            "high": np.stack([p.high for p in self.patches]),
            "strength": np.array([[m.strength for m in p.maps] for p in self.patches]),
            "functions": np.array([p.functions for p in self.patches]),
        }


def _contracted(block: Host, tables: Sequence[Host]) -> Host:
    """Return sum over all functions of block times the product of the axes' tables, (m,)."""
    m = len(tables[0])
    part = (tables[0] @ block.reshape(block.shape[0], -1)).reshape(m, *block.shape[1:])
    for table in tables[1:]:
        part = np.einsum("mp,mp...->m...", table, part)
    return np.asarray(part)


def restore_patchwork(state: dict[str, Any]) -> PatchworkBasis:
    """Return the basis that `state` was taken from."""
    patches = []
    for low, high, strength, functions in zip(
        state["low"], state["high"], state["strength"], state["functions"], strict=True
    ):
        maps = tuple(AxisMap(*map(float, m)) for m in zip(low, high, strength, strict=True))
        patches.append(Patch(maps, tuple(int(k) for k in functions)))
    return PatchworkBasis(tuple(patches))
