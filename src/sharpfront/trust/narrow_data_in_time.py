"""Data too narrow in space for the points at which the equations of a step hold.

The integral of every part of an equation over each element, by its Gauss points and by a close
look, tells whether the step sees it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.pieces.elements import Reference
from sharpfront.place.line.sampling import with_hints
from sharpfront.trust.formula_parts import Formula, hints
from sharpfront.trust.settings import TRUST


@dataclass(frozen=True, eq=False)
class Watch:
    """An equation whose data are compared with what the points of a step see of them."""

    formula: Formula  # the equation
    places: FloatArray  # where something stands out for a short time, (n,)

    @cached_property
    def x(self) -> FloatArray:
        """Positions of the close look."""
        low, high = self.formula.bounds[:, 0]
        read = hints(self.formula, self.formula.names[0], float(low), float(high))
        near = np.concatenate([read, self.places])
        even = np.linspace(low, high, TRUST.even_points)
        return with_hints(even, near) if len(near) else even

    @cached_property
    def timed(self) -> bool:
        """Whether what depends on the place depends on time too."""
        return bool(set(self.formula.parts) & set(self.formula.local_parts))

    @cached_property
    def _fixed(self) -> IntegralLook:
        return self._look(0.0)

    def look(self, t: float) -> IntegralLook:
        """Return what a close look shows of every part at a moment."""
        return self._look(t) if self.timed else self._fixed

    def _look(self, t: float) -> IntegralLook:
        x, near = self.x, self._values(self.x, t)
        usable = np.asarray(np.isfinite(near).all(axis=1))
        near = np.where(usable[:, None], near, 0.0)
        middles = np.median(near, axis=1)[:, None]
        for left in reversed(range(1 + TRUST.closer)):
            size = np.abs(near - middles)
            cells = 0.5 * np.diff(x) * (size[:, 1:] + size[:, :-1])
            unsure = 0.5 * np.diff(x) * np.abs(np.diff(size, axis=1))
            total = cells.sum(axis=1, keepdims=True)
            rough = np.flatnonzero((unsure > TRUST.unsure * total).any(axis=0))
            if not (left and len(rough)):
                break
            more = 0.5 * (x[rough] + x[rough + 1])
            values = np.where(usable[:, None], self._values(more, t), 0.0)
            x, near = np.insert(x, rough + 1, more), np.insert(near, rough + 1, values, axis=1)
        upto = np.concatenate([np.zeros((len(size), 1)), np.cumsum(cells, axis=1)], axis=1)
        usable &= total[:, 0] > 1e-12 * np.abs(near).max(axis=1) * (x[-1] - x[0])
        return IntegralLook(t, x, usable, middles[usable, 0], upto[usable])

    def _values(self, x: FloatArray, t: float) -> FloatArray:
        parts = self.formula.local_parts
        found = self.formula.values(parts, x[:, None], np.array([t]))
        return np.stack([np.broadcast_to(v, x.shape) for v in found])

    def missed(self, tables: Reference, nodes: FloatArray, look: IntegralLook) -> NDArray[np.bool_]:
        """Tell in which elements parts are missed; nowhere if on the whole they are seen."""
        h = np.diff(nodes)
        if not look.usable.any():
            return np.zeros(len(h), dtype=bool)
        x, length = look.x, look.x[-1] - look.x[0]
        points = (nodes[:-1, None] + h[:, None] * tables.gauss).ravel()
        inside = np.clip(points - length * np.floor((points - x[0]) / length), x[0], x[-1])
        coarse = np.abs(self._values(inside, look.t)[look.usable] - look.middles[:, None])
        own = h * (coarse.reshape(len(coarse), len(h), -1) @ tables.weights)
        turns = np.floor((nodes - x[0]) / length * (1 - 1e-15))
        at = nodes - turns * length
        i = np.clip(np.searchsorted(x, at, "right") - 1, 0, len(x) - 2)
        share = (at - x[i]) / (x[i + 1] - x[i])
        upto = look.upto[:, i] * (1 - share) + look.upto[:, i + 1] * share
        total = look.upto[:, -1:]
        whole = np.diff(upto + turns * total, axis=1)
        off = np.abs(own - whole)
        bad = np.abs(own.sum(axis=1) - total[:, 0]) > TRUST.missed * total[:, 0]
        bad &= np.isfinite(own).all(axis=1)
        least = np.maximum(
            0.1 * TRUST.missed * total / len(h), 0.5 * off.max(axis=1, keepdims=True)
        )
        return np.asarray((off[bad] > least[bad]).any(axis=0))


class IntegralLook(NamedTuple):
    """A close look: which parts can be used, their middles, and integrals of what is beside them.

    ``upto`` holds the integral of |part - middle| up to each position x, (parts, n).
    """

    t: float
    x: FloatArray
    usable: NDArray[np.bool_]
    middles: FloatArray
    upto: FloatArray
