"""Functions looked at closely: dense points where they or their slopes change fast."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import Host

# Points of the first look, halvings of a cell across which something changes, points at most.
LOOK, HALVINGS, MOST = 4001, 40, 100_000
# A cell is halved where a quantity changes by more than this share of its range.
JUMP = 0.02

Function = Callable[[Host], Host]


def sampled(
    functions: Sequence[Function], low: float, high: float, hints: Sequence[float] = ()
) -> tuple[Host, Host]:
    """Return positions and values of functions, dense where they or their slopes change fast."""
    x = np.linspace(low, high, LOOK)
    if len(hints):
        x = _with_hints(x, np.asarray(hints))
    u = np.stack([f(x) for f in functions])
    for _ in range(HALVINGS):
        wide = _changes(x, u) & (np.diff(x) > 1e-13 * (high - low))
        if not wide.any() or len(x) > MOST:
            break
        middle = 0.5 * (x[1:] + x[:-1])[wide]
        new = np.stack([f(middle) for f in functions])
        at = np.flatnonzero(wide) + 1
        x, u = np.insert(x, at, middle), np.insert(u, at, new, axis=1)
    return x, u


def _changes(x: Host, u: Host) -> NDArray[np.bool_]:
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


def _with_hints(x: Host, hints: Host) -> Host:
    """Return positions with more of them around places where something narrow was seen."""
    reach = (x[1] - x[0]) * 0.5 ** np.arange(15)
    around = (hints[:, None] + np.concatenate([-reach, [0.0], reach])).ravel()
    both = np.unique(np.concatenate([x, around[(around > x[0]) & (around < x[-1])]]))
    # Points that all but coincide have no slope between them.
    apart = np.concatenate([[True], np.diff(both) > 0.3 * reach[-1]])
    apart[-1] = True
    return np.asarray(both[apart])
