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
from sharpfront.bases.levels import StepByStep
from sharpfront.bases.patchwork import PatchworkBasis, restore_patchwork
from sharpfront.bases.radau import STAGES, differentiation, interpolation
from sharpfront.errors import BasisError
from sharpfront.maps import Drift, restored_drift

# Highest derivative by time.
MOST_RATES = 2


@dataclass(frozen=True, eq=False)
class PatchworkInTime(StepByStep):
    """u(x, y, t) = sum_k b_k(t) phi_k(x, y), with b_k a polynomial in each step.

    Parameters
    ----------
    times
        The ends of all steps, (steps + 1,).
    parts
        The patches of each; steps in a row may share them.
    drifts
        How the patches of each go along; None where they stay, nothing where all do.
    """

    times: FloatArray
    parts: tuple[PatchworkBasis, ...]
    drifts: tuple[Drift | None, ...] = ()

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
        """Return the patches at a moment, as they are at the beginning of its step."""
        return self.parts[int(self._which(np.array([t]))[0])]

    def centres_at(self, t: float) -> FloatArray:
        """Return where the functions are at a moment, (n, 2)."""
        step = int(self._which(np.array([t]))[0])
        drift, centres = self.drift_of(step), self.parts[step].centres
        return centres if drift is None else drift.points(centres, t - self.times[step])

    def drift_of(self, step: int) -> Drift | None:
        """Return how the patches of a step go along."""
        return self.drifts[step] if self.drifts else None

    def values(self, weights: FloatArray, points: FloatArray, orders: Sequence[int]) -> FloatArray:
        """Return d^orders of the weighted sum at points (x, y, t), (m,)."""
        if orders[2] > MOST_RATES:
            raise BasisError(
                f"Up to {MOST_RATES} derivatives by t are there; asked for {orders[2]}."
            )
        out = np.empty(len(points))
        which = self._which(points[:, 2])
        for i in np.unique(which).tolist():
            here = np.flatnonzero(which == i)
            drift, at = self.drift_of(i), points[here]
            if drift is None:
                out[here] = self._at_rest(i, weights, at, tuple(orders))
                continue
            lapses = at[:, 2] - self.times[i]
            rest = drift.inverse(at[:, :2], lapses)
            at = np.column_stack([rest, at[:, 2]])
            chain = drift.chain(rest, lapses, tuple(orders))
            out[here] = sum(c * self._at_rest(i, weights, at, b) for b, c in chain.items())
        return out

    def _at_rest(
        self, step: int, weights: FloatArray, points: FloatArray, orders: tuple[int, ...]
    ) -> FloatArray:
        """Return d^orders of a step's sum at positions in its patches and moments, (m,)."""
        x, y, rate = orders
        own = weights[self._ends[step] : self._ends[step + 1]].reshape(STAGES + 1, -1)
        start, dt = self.times[step], self.times[step + 1] - self.times[step]
        if rate:
            own = np.linalg.matrix_power(differentiation() / dt, rate) @ own
        part, places = self.parts[step], points[:, :2]
        moments, group = np.unique(points[:, 2], return_inverse=True)
        shares = interpolation((moments - start) / dt)
        if len(moments) > STAGES:
            levels = [part.values(w, places, (x, y)) for w in own]
            return np.asarray(np.einsum("sm,ms->m", np.stack(levels), shares[group]))
        out = np.empty(len(points))
        for k, share in enumerate(shares):
            some = np.flatnonzero(group == k)
            out[some] = part.values(share @ own, places[some], (x, y))
        return out

    def _packed_drifts(self) -> FloatArray:
        """Return the drifts of all steps, not a number where patches stay; nothing where all do."""
        moving = [d.state() for d in self.drifts if d is not None]
        if not moving:
            return np.zeros(0)
        none = np.full_like(moving[0], np.nan)
        return np.stack([none if d is None else d.state() for d in self.drifts])

    def state(self) -> dict[str, Any]:
        """Return arrays and words from which `restore_in_time` makes the basis again."""
        known = list(dict.fromkeys(map(id, self.parts)))
        first = {id(part): part for part in self.parts}
        return {
            "type": "patchwork in time",
            "times": self.times,
            "which": np.array([known.index(id(part)) for part in self.parts]),
            "drifts": self._packed_drifts(),
            **packed_parts([first[number] for number in known]),
        }


def restore_in_time(state: dict[str, Any]) -> PatchworkInTime:
    """Return the basis from whose `state` the words and arrays came."""
    parts = [restore_patchwork(own) for own in states_of_parts(state)]
    which = np.asarray(state["which"], dtype=int).tolist()
    drifts = tuple(restored_drift(own) for own in state.get("drifts", ()))
    return PatchworkInTime(np.asarray(state["times"]), tuple(parts[i] for i in which), drifts)
