"""Has the check seen everything? What the survey knows of the data and the checking points do not.

A spike that falls between two checking points leaves no residual there, and an estimate made at
those points says nothing of it. Where the surveyed values of a coefficient or of the source differ
from the checked ones by more than these vary around, the true residual is looked at, and the error
equation tells whether it matters.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sharpfront.adapt.cuts import Cut, Survey
from sharpfront.approximation import Approximation
from sharpfront.arrays import Host
from sharpfront.estimate.error import ErrorCheck
from sharpfront.ordinary import OrdinaryProblem

# A surveyed value is a surprise if it differs by this many times the variation around it.
SURPRISE = 2.0
# And by more than this share of the function's range, which is rounding.
ROUNDING = 1e-10


def unseen(
    problem: OrdinaryProblem,
    seen: Survey,
    cuts: Sequence[Cut],
    check: ErrorCheck,
    approximation: Approximation,
) -> tuple[Host, float]:
    """Return the surveyed places that surprise, (k,), and max |e| with their residual counted."""
    places, cells, shares = _surprises(seen, cuts, check)
    if not len(places):
        return places, 0.0
    (name,) = approximation.bases
    data = problem.sample(places)
    left = data[-1].copy()
    for j, coefficient in enumerate(data[:-1]):
        if coefficient.any():
            left -= coefficient * approximation.values(name, places[:, None], (j,))
    residual = check.residual.copy()
    residual[0][cells] += shares * (left - residual[0][cells])
    second = residual[1] if len(residual) > 1 else None
    e = check.system.solve(residual[0], check.misses, second)[0]
    return places, float(np.abs(e).max())


def _surprises(seen: Survey, cuts: Sequence[Cut], check: ErrorCheck) -> tuple[Host, Host, Host]:
    """Return one place per cell of the check, the cells, and the part of each they stand for."""
    x = check.grid.middles
    first = np.searchsorted(seen.x, x)
    # Survey places between middles i and i + 1 are first[i] to first[i + 1].
    counts = np.diff(first)
    home = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    inner = slice(int(first[0]), int(first[-1]))
    part = (seen.x[inner] - x[home]) / np.maximum(x[home + 1] - x[home], 1e-300)
    excess = np.zeros(len(home))
    for y, row in zip(seen.rows, check.data, strict=True):
        if y is not None:
            step = np.diff(row)
            around = np.maximum.reduce([np.abs(step), *_neighbours(np.abs(step))])
            allowed = SURPRISE * around + ROUNDING * float(np.ptp(y))
            miss = np.abs(y[inner] - row[home] - part * step[home])
            excess = np.maximum(excess, miss / np.maximum(allowed[home], 1e-300))
    for cut in cuts:
        i = int(np.clip(np.searchsorted(x, cut.above) - 1, 0, len(counts) - 1))
        excess[home == i] = 0.0
    return _largest(seen.x[inner], excess, home, part, counts)


def _neighbours(q: Host) -> tuple[Host, Host]:
    return np.append(q[1:], 0.0), np.append(0.0, q[:-1])


def _largest(
    x: Host, excess: Host, home: NDArray[np.int64], part: Host, counts: NDArray[np.int64]
) -> tuple[Host, Host, Host]:
    """Return the most surprising place of each gap, its cell, and the share of such places."""
    places, cells, shares = [], [], []
    for i in np.unique(home[excess > 1.0]):
        own = np.flatnonzero(home == i)
        top = own[np.argmax(excess[own])]
        places.append(x[top])
        cells.append(i + int(part[top] > 0.5))
        shares.append(np.sum(excess[own] > 0.5 * excess[top]) / max(int(counts[i]), 1))
    return np.array(places), np.array(cells, dtype=int), np.array(shares)
