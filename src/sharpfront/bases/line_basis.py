"""Patches of the line side by side: kernels in the coordinates of mixtures."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.line_patch import LinePatch, line_patch
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.kernels import Orders
from sharpfront.maps.mixture_axis import COMPONENT_ARRAYS, MixtureAxis


@dataclass(frozen=True, eq=False)
class LineBasis(PatchworkBasis):
    """Patches from left to right, each beginning where the last one ends."""

    patches: tuple[LinePatch, ...]

    @property
    def kernels(self) -> int:
        """The number of kernels inside the interval."""
        return sum(patch.kernels for patch in self.patches)

    @cached_property
    def edges(self) -> tuple[int, ...]:
        """The columns at which patches begin, and the total."""
        return tuple(self.starts.tolist())

    @cached_property
    def ties(self) -> list[FloatArray]:
        """How far u, ..., u^(m-1) go down where patches meet, on the columns of both."""
        if len(self.patches) == 1:
            return []
        ends = [[p.end_rows(j) for j in range(p.order)] for p in self.patches]
        return [
            np.array([np.append(a[1], -b[0]) for a, b in zip(left, right, strict=True)])
            for left, right in itertools.pairwise(ends)
        ]

    @cached_property
    def centres(self) -> FloatArray:
        """The positions of the kernels inside the interval, (kernels, 1)."""
        return np.concatenate([patch.centres for patch in self.patches])[:, None]

    @cached_property
    def covariances(self) -> FloatArray:
        """The squares of the kernels' widths in x, (kernels, 1, 1)."""
        widths = np.concatenate([patch.deviations for patch in self.patches])
        return np.asarray(widths[:, None, None] ** 2)

    def matrix(self, points: FloatArray, orders: Orders) -> FloatArray:
        """Return d^orders of each function at each point, (m, size)."""
        out = np.zeros((len(points), self.size))
        for i, here in self._groups(points):
            patch = self.patches[i]
            at = patch.axis.nearest(points[here, 0])
            out[here, self.edges[i] : self.edges[i + 1]] = patch.rows_at(at, orders[0])
        return out

    def several(
        self, weights: FloatArray, points: FloatArray, orders: Sequence[Orders]
    ) -> list[FloatArray]:
        """Return several derivatives of the weighted sum at each point, (m,) each."""
        wanted = [order for (order,) in orders]
        if len(self.patches) == 1:
            return self.patches[0].several(weights, points[:, 0], wanted)
        out = np.empty((len(wanted), len(points)))
        for i, here in self._groups(points):
            own = weights[self.edges[i] : self.edges[i + 1]]
            out[:, here] = self.patches[i].several(own, points[here, 0], wanted)
        return list(out)

    def state(self) -> dict[str, Any]:
        """Return arrays and words from which `restore_line` makes the basis again."""
        axes = [p.axis for p in self.patches]
        ends = [(p.axis.low, p.axis.high, *p.inside, p.axis.uniform) for p in self.patches]
        return {
            "type": "pieces",
            "order": self.patches[0].order,
            "kernels": [p.kernels for p in self.patches],
            "components": [axis.components for axis in axes],
            "stretches": np.array(ends),
            **{n: np.concatenate([getattr(a, n) for a in axes]) for n in COMPONENT_ARRAYS},
        }


def restore_line(state: dict[str, Any]) -> LineBasis:
    """Return the basis that `LineBasis.state` was taken from."""
    cuts = np.cumsum(state["components"])[:-1]
    arrays = [np.split(np.asarray(state[name], dtype=float), cuts) for name in COMPONENT_ARRAYS]
    patches = []
    for i, (kernels, row) in enumerate(zip(state["kernels"], state["stretches"], strict=True)):
        low, high, first, last, uniform = (float(v) for v in row)
        own: dict[str, Any] = {
            name: array[i] for name, array in zip(COMPONENT_ARRAYS, arrays, strict=True)
        }
        axis = MixtureAxis(low, high, uniform=uniform, **own)
        patches.append(line_patch(axis, int(kernels), (first, last), int(state["order"])))
    return LineBasis(tuple(patches))
