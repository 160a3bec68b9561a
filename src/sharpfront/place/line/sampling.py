"""Functions looked at closely: dense points where they or their slopes change fast."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.place.line.settings import LINE

# Points of the first look, halvings of a cell across which something changes, points at most, and
# values at most where there are many functions.
FIRST_LOOK, CELL_HALVINGS, MOST_POINTS, MOST_VALUES = 4001, 40, 100_000, 4_000_000

Function = Callable[[FloatArray], FloatArray]


def stacked(functions: Sequence[Function]) -> Function:
    """Return several functions as one with values (m, n)."""
    return lambda x: np.stack([f(x) for f in functions])


def sampled(
    functions: Function,
    low: float,
    high: float,
    hints: Sequence[float] = (),
    bends: int = CELL_HALVINGS,
) -> tuple[FloatArray, FloatArray]:
    """Return positions (n,) and values (m, n), dense where a row or its slope changes fast.

    Cells are halved so many times at most where slopes alone change: what bends does so however
    close one looks.
    """
    x = np.linspace(low, high, FIRST_LOOK)
    if len(hints):
        x = with_hints(x, np.asarray(hints))
    u = functions(x)
    most = min(MOST_POINTS, MOST_VALUES // max(len(u), 1))
    ranges = _Ranges(u)
    # Cells that are new, with those beside them: of the others nothing has changed.
    cells = np.arange(len(x) - 1)
    for i in range(CELL_HALVINGS):
        wide = cells[ranges.changes(x, u, cells, bends=i < bends)]
        wide = wide[np.diff(x)[wide] > 1e-13 * (high - low)]
        if not len(wide) or len(x) > most:
            break
        middle = 0.5 * (x[1:] + x[:-1])[wide]
        values = functions(middle)
        x, u = np.insert(x, wide + 1, middle), np.insert(u, wide + 1, values, axis=1)
        ranges.widen(values)
        first = wide + np.arange(len(wide))
        near = np.unique(first[:, None] + np.arange(-1, 3))
        cells = near[(near >= 0) & (near < len(x) - 1)]
    return x, u


class _Ranges:
    """The ranges of functions (m, n) and of their slopes, as far as they have been seen."""

    def __init__(self, u: FloatArray) -> None:
        self.low, self.high = u.min(axis=1), u.max(axis=1)
        self.flat, self.steep = np.full((2, len(u)), np.inf) * np.array([[1.0], [-1.0]])

    def widen(self, u: FloatArray) -> None:
        """Take further values into account."""
        self.low = np.minimum(self.low, u.min(axis=1))
        self.high = np.maximum(self.high, u.max(axis=1))

    def changes(
        self, x: FloatArray, u: FloatArray, cells: NDArray[np.int64], *, bends: bool
    ) -> NDArray[np.bool_]:
        """Tell over which of some cells a function, or its slope if it may, changes by too much."""
        steps, rise = x[cells + 1] - x[cells], u[:, cells + 1] - u[:, cells]
        slope = rise / steps
        self.flat = np.minimum(self.flat, slope.min(axis=1))
        self.steep = np.maximum(self.steep, slope.max(axis=1))
        spread = np.maximum(self.high - self.low, 1e-300)
        least = 1e-6 * spread / (x[-1] - x[0])
        steep = np.maximum(self.steep - self.flat, least)[:, None]
        jump = np.abs(rise) > LINE.changes_fast * spread[:, None]
        if not bends:
            return np.asarray(jump.any(axis=0))
        turn = np.abs(np.diff(slope, axis=1)) > 2.0 * LINE.changes_fast * steep
        # Below this a slope is rounding.
        size = max(float(-self.low.min()), float(self.high.max()))
        turn &= np.minimum(steps[1:], steps[:-1]) > 1e-14 * size / (LINE.changes_fast * steep)
        turn &= np.diff(cells) == 1
        jump[:, 1:] |= turn
        jump[:, :-1] |= turn
        return np.asarray(jump.any(axis=0))


def with_hints(x: FloatArray, hints: FloatArray) -> FloatArray:
    """Return positions with more of them around places where something narrow was seen."""
    reach = (x[1] - x[0]) * 0.5 ** np.arange(15)
    around = (hints[:, None] + np.concatenate([-reach, [0.0], reach])).ravel()
    both = np.unique(np.concatenate([x, around[(around > x[0]) & (around < x[-1])]]))
    # Points that all but coincide have no slope between them.
    apart = np.concatenate([[True], np.diff(both) > 0.3 * reach[-1]])
    apart[-1] = True
    return np.asarray(both[apart])
