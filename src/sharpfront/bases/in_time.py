"""Patches over steps of time: on each step its own patches, with weights that are polynomials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.bases.joined import packed_parts, states_of_parts
from sharpfront.bases.patchwork import PatchworkBasis, restore_patchwork
from sharpfront.bases.radau import STAGES, differentiation, interpolation
from sharpfront.errors import BasisError

# Highest derivative by time.
MOST_RATES = 2


@dataclass(frozen=True, eq=False)
class PatchworkInTime:
    """u(x, y, t) = sum_k b_k(t) phi_k(x, y), with b_k a polynomial in each step.

    Parameters
    ----------
    times
        The ends of all steps, (steps + 1,).
    parts
        The patches of each; steps in a row may share them.
    """

    times: FloatArray
    parts: tuple[PatchworkBasis, ...]

    @property
    def dimension(self) -> int:
        """Two of space and time."""
        return 3

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum([(STAGES + 1) * p.size for p in self.parts])])

    @property
    def size(self) -> int:
        """The number of weights."""
        return int(self._ends[-1])

    @property
    def kernels(self) -> int:
        """The most functions at any moment."""
        return max(part.size for part in self.parts)

    def part_at(self, t: float) -> PatchworkBasis:
        """Return the patches at a moment."""
        return self.parts[int(self._which(np.array([t]))[0])]

    def _which(self, t: FloatArray) -> NDArray[np.int64]:
        found = np.searchsorted(self.times, t, side="left") - 1
        return np.clip(found, 0, len(self.parts) - 1)

    def matrix(self, points: FloatArray, orders: Sequence[int]) -> FloatArray:
        """Refuse: nothing is fitted with all steps at once."""
        raise BasisError("A solution in time is evaluated by `values`; it has no matrix.")

    def values(self, weights: FloatArray, points: FloatArray, orders: Sequence[int]) -> FloatArray:
        """Return d^orders of the weighted sum at points (x, y, t), (m,)."""
        x, y, rate = orders
        if rate > MOST_RATES:
            raise BasisError(f"Up to {MOST_RATES} derivatives by t are there; asked for {rate}.")
        out = np.empty(len(points))
        which = self._which(points[:, 2])
        for i in np.unique(which):
            own = weights[self._ends[i] : self._ends[i + 1]].reshape(STAGES + 1, -1)
            start, dt = self.times[i], self.times[i + 1] - self.times[i]
            if rate:
                own = np.linalg.matrix_power(differentiation() / dt, rate) @ own
            here = np.flatnonzero(which == i)
            moments, group = np.unique(points[here, 2], return_inverse=True)
            shares = interpolation((moments - start) / dt)
            if len(moments) <= STAGES:
                for k, share in enumerate(shares):
                    some = here[group == k]
                    out[some] = self.parts[i].values(share @ own, points[some, :2], (x, y))
                continue
            levels = [self.parts[i].values(w, points[here, :2], (x, y)) for w in own]
            out[here] = np.einsum("sm,ms->m", np.stack(levels), shares[group])
        return out

    def state(self) -> dict[str, Any]:
        """Return arrays and words from which `restore_in_time` makes the basis again."""
        known = list(dict.fromkeys(map(id, self.parts)))
        first = {id(part): part for part in self.parts}
        return {
            "type": "patchwork in time",
            "times": self.times,
            "which": np.array([known.index(id(part)) for part in self.parts]),
            **packed_parts([first[number] for number in known]),
        }


def restore_in_time(state: dict[str, Any]) -> PatchworkInTime:
    """Return the basis from whose `state` the words and arrays came."""
    parts = [restore_patchwork(own) for own in states_of_parts(state)]
    which = np.asarray(state["which"], dtype=int).tolist()
    return PatchworkInTime(np.asarray(state["times"]), tuple(parts[i] for i in which))
