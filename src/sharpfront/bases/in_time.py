"""Patches over steps of time: on each step its own patches, with weights that are polynomials.

Products of kernels are one patch, the unit square, that a map takes along.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.levels import StepByStep
from sharpfront.bases.patchwork import PatchworkBasis, restore_patchwork
from sharpfront.bases.product import Product
from sharpfront.bases.radau import STAGES, differentiation, interpolation
from sharpfront.bases.sum_basis import packed_parts, states_of_parts
from sharpfront.errors import BasisError
from sharpfront.kernels.basis import Basis
from sharpfront.maps import Drifts, MovingSquare, restored_drift, restored_square

# Highest derivative by time.
MOST_RATES = 2
MovingFrame = Drifts | MovingSquare
# The end of a step, its patches, weights (STAGES + 1, unknowns, n), and how patches go along.
KeptStep = tuple[float, PatchworkBasis | Product, FloatArray, MovingFrame | None]


@dataclass(frozen=True, eq=False)
class PatchworkInTime(StepByStep):
    """u(x, y, t) = sum_k b_k(t) phi_k(x, y), with b_k a polynomial in each step.

    Parameters
    ----------
    times
        The ends of all steps, (steps + 1,).
    parts
        The patches of each; steps in a row may share them.
    frames
        How the patches of each go along, products always; None where they stay, nothing where all
        do.
    """

    times: FloatArray
    parts: tuple[PatchworkBasis | Product, ...]
    frames: tuple[MovingFrame | None, ...] = ()

    moments = STAGES + 1

    @property
    def dimension(self) -> int:
        """Two of space and time."""
        return 3

    def places_at(self, t: float) -> tuple[FloatArray, FloatArray]:
        """Return where the functions are at a moment, (n, 2), and how wide, (n, 2, 2)."""
        step = int(self._which(np.array([t]))[0])
        part, frame, lapse = self.parts[step], self.frame_of(step), t - self.times[step]
        centres = part.centres if frame is None else frame.points(part.centres, lapse)
        if isinstance(part, PatchworkBasis):
            return centres, part.covariances
        assert isinstance(frame, MovingSquare)
        return centres, frame.covariances(centres, lapse, part.deviations)

    def frame_of(self, step: int) -> MovingFrame | None:
        """Return how the patches of a step go along."""
        return self.frames[step] if self.frames else None

    def states(self, rows: Sequence[FloatArray]) -> list[KeptStep]:
        """Return the steps with the weights of several unknowns."""
        parts = zip(*(np.split(row, self._ends[1:-1]) for row in rows), strict=True)
        return [
            (
                float(stop),
                part,
                np.stack([w.reshape(STAGES + 1, -1) for w in own], 1),
                self.frame_of(i),
            )
            for i, (stop, part, own) in enumerate(
                zip(self.times[1:], self.parts, parts, strict=True)
            )
        ]

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
            frame, at = self.frame_of(i), points[here]
            if frame is None:
                out[here] = self._at_rest(i, weights, at, tuple(orders))
                continue
            rest, chain = frame.at_rest(at[:, :2], at[:, 2] - self.times[i], tuple(orders))
            at = np.column_stack([rest, at[:, 2]])
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

    def state(self) -> dict[str, Any]:
        """Return arrays and words from which `restore_in_time` makes the basis again."""
        known = list(dict.fromkeys(map(id, self.parts)))
        first = {id(part): part for part in self.parts}
        frames = [np.zeros(0) if f is None else f.state() for f in self.frames]
        return {
            "type": "patchwork in time",
            "times": self.times,
            "which": np.array([known.index(id(part)) for part in self.parts]),
            "frames": np.concatenate([np.zeros(0), *frames]),
            "sizes": np.array([len(own) for own in frames], dtype=int),
            **packed_parts([first[number] for number in known]),
        }


def restore_in_time(state: dict[str, Any]) -> PatchworkInTime:
    """Return the basis from whose `state` the words and arrays came."""
    known: list[PatchworkBasis | Product] = []
    for own in states_of_parts(state):
        if own["type"] == "products":
            first, second = np.asarray(own["shape"], dtype=int).tolist()
            known.append(Product((first, second)))
        else:
            known.append(restore_patchwork(own))
    parts = tuple(known[i] for i in np.asarray(state["which"], dtype=int).tolist())
    sizes = np.asarray(state["sizes"], dtype=int)
    numbers = np.split(np.asarray(state["frames"]), np.cumsum(sizes)[:-1]) if len(sizes) else []
    frames = [
        restored_square(own) if isinstance(part, Product) else restored_drift(own)
        for part, own in zip(parts, numbers, strict=False)
    ]
    return PatchworkInTime(np.asarray(state["times"]), parts, tuple(frames))


def joined_steps(
    start: float, unknowns: Sequence[str], kept: Sequence[KeptStep]
) -> tuple[dict[str, Basis], dict[str, FloatArray]]:
    """Return steps in a row as one basis for all unknowns, and the weights of each."""
    stops, parts, values, frames = zip(*kept, strict=True)
    basis = PatchworkInTime(np.array([start, *stops]), parts, frames)
    weights = {
        name: np.concatenate([own[:, k].ravel() for own in values])
        for k, name in enumerate(unknowns)
    }
    return dict.fromkeys(unknowns, basis), weights
