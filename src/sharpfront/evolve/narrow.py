"""Data too narrow in space for the points at which the equations of a step are tested.

The integral of every part of an equation over the interval, by the points of the coming step and
by a close look, tells whether the step sees it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Apply
from sharpfront.evolve.data import Formula, hints
from sharpfront.evolve.quadrature_table import room_of
from sharpfront.evolve.sampling import with_hints
from sharpfront.evolve.state import Moment

# Even points of the close look; more of them where something narrow may be.
LOOK = 1001
# Points that miss more than this share of an integral do not see what it is of. A jump between two
# of them is missed by less.
MISSED = 0.3


@dataclass(frozen=True, eq=False)
class Watch:
    """An equation whose data are compared with what the points of a step see of them.

    Parameters
    ----------
    formula
        The equation.
    places
        Where something stands out for a short time, (n,).
    """

    formula: Formula
    places: FloatArray

    @cached_property
    def near(self) -> FloatArray:
        """Where something narrow may be, (n,)."""
        low, high = self.formula.bounds[:, 0]
        read = hints(self.formula, self.formula.names[0], float(low), float(high))
        return np.concatenate([read, self.places])

    @cached_property
    def x(self) -> FloatArray:
        """Positions of the close look."""
        low, high = self.formula.bounds[:, 0]
        even = np.linspace(low, high, LOOK)
        return with_hints(even, self.near) if len(self.near) else even

    def missed(
        self, now: Moment, moments: Sequence[float]
    ) -> list[Callable[[FloatArray], FloatArray]]:
        """Return the parts that the points of a state do not see at some moment, over x."""
        formula, table = self.formula, room_of(now.system, now.kernels)
        at = now.where.invert(table.points)
        measure = table.weights / now.where.derivatives(at, 1)[0]
        found: list[Callable[[FloatArray], FloatArray]] = []
        for t in moments:
            close = formula.values(formula.local_parts, self.x[:, None], np.array([t]))
            seen = formula.values(formula.local_parts, self._inside(at.x)[:, None], np.array([t]))
            for node, fine, coarse in zip(formula.local_parts, close, seen, strict=True):
                if _differ(fine, self.x, coarse, measure):
                    found.append(self._over_x(node, t))
        return found

    def _inside(self, x: FloatArray) -> FloatArray:
        low, high = self.formula.bounds[:, 0]
        return np.asarray(np.clip(x - (high - low) * np.floor((x - low) / (high - low)), low, high))

    def _over_x(self, node: Apply, t: float) -> Callable[[FloatArray], FloatArray]:
        return lambda x: self.formula.value(node, self._inside(x)[:, None], np.array([t]))


def _differ(fine: FloatArray, x: FloatArray, coarse: FloatArray, measure: FloatArray) -> bool:
    """Tell whether two rules give another integral of how far values are from their middle."""
    if not (np.isfinite(fine).all() and np.isfinite(coarse).all()):
        return False
    middle = float(np.median(fine))
    cells = np.diff(x)
    size = np.abs(fine - middle)
    whole = float(0.5 * cells @ (size[1:] + size[:-1]))
    if whole <= 1e-12 * float(np.abs(fine).max()) * (x[-1] - x[0]):
        return False
    return abs(float(measure @ np.abs(coarse - middle)) - whole) > MISSED * whole
