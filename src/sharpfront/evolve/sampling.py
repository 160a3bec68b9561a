"""Functions looked at closely: dense points where they or their slopes change fast."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray

# Points of the first look, halvings of a cell across which something changes, points at most, and
# values at most where there are many functions.
LOOK, HALVINGS, MOST, MOST_VALUES = 4001, 40, 100_000, 4_000_000
# A cell is halved where a quantity changes by more than this share of its range.
JUMP = 0.02

Function = Callable[[FloatArray], FloatArray]


def stacked(functions: Sequence[Function]) -> Function:
    """Return several functions as one with values (m, n)."""
    return lambda x: np.stack([f(x) for f in functions])


def sampled(
    functions: Function, low: float, high: float, hints: Sequence[float] = ()
) -> tuple[FloatArray, FloatArray]:
    """Return positions (n,) and values (m, n), dense where a row or its slope changes fast."""
    x = np.linspace(low, high, LOOK)
    if len(hints):
        x = with_hints(x, np.asarray(hints))
    u = functions(x)
    most = min(MOST, MOST_VALUES // max(len(u), 1))
    for _ in range(HALVINGS):
        wide = _changes(x, u) & (np.diff(x) > 1e-13 * (high - low))
        if not wide.any() or len(x) > most:
            break
        middle = 0.5 * (x[1:] + x[:-1])[wide]
        at = np.flatnonzero(wide) + 1
        x, u = np.insert(x, at, middle), np.insert(u, at, functions(middle), axis=1)
    return x, u


def _changes(x: FloatArray, u: FloatArray) -> NDArray[np.bool_]:
    """Tell over which cells a function or its slope changes by too much of its range."""
    steps = np.diff(x)
    slope = np.diff(u, axis=1) / steps
    spread = np.maximum(np.ptp(u, axis=1), 1e-300)[:, None]
    steep = np.maximum(np.ptp(slope, axis=1), 1e-6 * spread[:, 0] / (x[-1] - x[0]))[:, None]
    jump = np.abs(np.diff(u, axis=1)) > JUMP * spread
    turn = np.abs(np.diff(slope, axis=1)) > 2.0 * JUMP * steep
    # Below this a slope is rounding.
    turn &= np.minimum(steps[1:], steps[:-1]) > 1e-14 * np.abs(u).max() / (JUMP * steep)
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
