"""Data on the line that the check of an estimate has not seen.

A spike that falls between two checking points leaves no residual there, and an estimate made at
those points says nothing of it. Where the surveyed values of a coefficient or of the source differ
from a line between checked ones by more than these bend around, the true residual is looked at,
and the error equation tells whether it matters.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.estimate.line_error import ErrorCheck
from sharpfront.place.line.breakpoints import Cut, Survey
from sharpfront.problem.line_problem import LineProblem
from sharpfront.rounding import SAME
from sharpfront.solution.approximation import Approximation
from sharpfront.trust.settings import TRUST


def unseen(
    problem: LineProblem,
    seen: Survey,
    cuts: Sequence[Cut],
    check: ErrorCheck,
    approximation: Approximation,
) -> tuple[FloatArray, float]:
    """Return the surveyed places that surprise, (k,), and max |e| with their residual counted."""
    if all(y is None for y in seen.rows):
        return np.zeros(0), 0.0
    places, cells, shares = _surprises(seen, cuts, check)
    if not len(places):
        return places, 0.0
    left = residual_left(problem, approximation, places)
    residual = check.residual.copy()
    residual[0][cells] += shares * (left - residual[0][cells])
    second = residual[1] if len(residual) > 1 else None
    e = check.system.solve_u(residual[0], check.misses, second)
    return places, float(np.abs(e).max())


def residual_left(problem: LineProblem, approximation: Approximation, x: FloatArray) -> FloatArray:
    """Return f - L u at positions x, (n,)."""
    (name,) = approximation.bases
    data = problem.sample(x)
    left: FloatArray = data[-1].copy()
    for j, coefficient in enumerate(data[:-1]):
        if coefficient.any():
            left -= coefficient * approximation.values(name, x[:, None], (j,))
    return left


def _surprises(
    seen: Survey, cuts: Sequence[Cut], check: ErrorCheck
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return one place per cell of the check, the cells, and the part of each they stand for."""
    x = check.grid.middles
    first = np.searchsorted(seen.x, x)
    # Survey places between middles i and i + 1 are first[i] to first[i + 1].
    counts = np.diff(first)
    home = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    inner = slice(int(first[0]), int(first[-1]))
    part = (seen.x[inner] - x[home]) / np.maximum(x[home + 1] - x[home], 1e-300)
    excess = np.zeros(len(home))
    for y, row in zip(seen.rows, check.data, strict=False):
        if y is not None:
            step = np.diff(row)
            allowed = TRUST.surprise * _bending(x, row) + SAME * float(np.ptp(y))
            miss = np.abs(y[inner] - row[home] - part * step[home])
            excess = np.maximum(excess, miss / np.maximum(allowed[home], 1e-300))
    for cut in cuts:
        i = int(np.clip(np.searchsorted(x, cut.above) - 1, 0, len(counts) - 1))
        excess[home == i] = 0.0
    return _largest(seen.x[inner], excess, home, part, counts)


def _bending(x: FloatArray, row: FloatArray) -> FloatArray:
    """Return for each gap how far values around it are off the line between their neighbours."""
    h = np.diff(x)
    step = np.diff(row)
    share = h[:-1] / np.maximum(h[:-1] + h[1:], 1e-300)
    off = np.abs(step[:-1] - share * (row[2:] - row[:-2]))
    off = np.concatenate([off[:1], off, off[-1:]])
    return np.maximum(off[1:], off[:-1])


def _largest(
    x: FloatArray,
    excess: FloatArray,
    home: NDArray[np.int64],
    part: FloatArray,
    counts: NDArray[np.int64],
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the most surprising place of each gap, its cell, and the share of such places."""
    places, cells, shares = [], [], []
    reach = np.gradient(x) if len(x) > 1 else np.ones(len(x))
    starts = np.concatenate([[0], np.cumsum(counts)])
    for i in np.unique(home[excess > 1.0]):
        own = np.arange(starts[i], starts[i + 1])
        top = own[np.argmax(excess[own])]
        places.append(x[top])
        cells.append(i + int(part[top] > 0.5))
        far = excess[own] > 0.5 * excess[top]
        shares.append(reach[own][far].sum() / reach[own].sum())
    return np.array(places), np.array(cells, dtype=int), np.array(shares)
