"""The ways of kernels and of the mixture's components through time."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.pieces.slabs import Slab, SlabBasis
from sharpfront.plot.colours import BLUE, ORANGE
from sharpfront.plot.grid import slab_kernels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Paths of at most so many kernels are drawn.
MOST_PATHS = 80
# About so many moments of all steps together, and at most so many in one.
_MOMENTS, _MOST_MOMENTS = 400, 9


@dataclass(frozen=True, eq=False)
class Tracks:
    """How components moved, step by step.

    Parameters
    ----------
    ends
        (x, t) of a component at the beginning and the end of a step, (m, 2, 2).
    weights
        Of the component at the end, (m,).
    jumps
        (x, t) before and after the components were placed anew between two steps, (j, 2, 2).
    """

    ends: FloatArray
    weights: FloatArray
    jumps: FloatArray = field(default_factory=lambda: np.zeros((0, 2, 2)))


def tracks_of(solution: Any, unknown: str) -> Tracks:
    """Return the ways of the components on the line.

    Within a step each component is known at both ends. Where a basis does not tell, components of
    the records are taken for the same from one record to the next while their number stays.
    """
    basis = solution.approximation.bases[unknown]
    if isinstance(basis, SlabBasis):
        steps = [_of_slab(slab) for slab in basis.slabs]
    else:
        steps = [_of_records(a, b) for a, b in _pairs(solution.history)]
    if not steps:
        return Tracks(np.zeros((0, 2, 2)), np.zeros(0))
    ends = np.concatenate([step.ends for step in steps])
    jumps = np.concatenate([_jump(a, b) for a, b in itertools.pairwise(steps)] or [ends[:0]])
    tracks = Tracks(ends, np.concatenate([step.weights for step in steps]), jumps)
    low, high = solution.domain.bounds[:, 0]
    return _on_circle(tracks, low, high) if solution.domain.periodic_axes[0] else tracks


def _of_slab(slab: Slab) -> Tracks:
    motion = slab.motion
    return _moved(motion.start.means, motion.stop.means, motion.times, motion.stop.shares)


def _of_records(before: Any, after: Any) -> Tracks:
    means = before.mixture.means[:, 0], after.mixture.means[:, 0]
    return _moved(*means, (before.time, after.time), after.mixture.weights)


def _jump(before: Tracks, after: Tracks) -> FloatArray:
    """Return where components went between two steps, from left to right one by one."""
    if len(before.ends) != len(after.ends):
        return np.zeros((0, 2, 2))
    old, new = before.ends[:, 1], after.ends[:, 0]
    pairs = np.stack([old[np.argsort(old[:, 0])], new[np.argsort(new[:, 0])]], axis=1)
    return np.asarray(pairs[pairs[:, 0, 0] != pairs[:, 1, 0]])


def _pairs(history: Sequence[Any]) -> list[tuple[Any, Any]]:
    return [
        (a, b)
        for a, b in itertools.pairwise(history)
        if a.mixture is not None
        and b.mixture is not None
        and a.mixture.means.shape == b.mixture.means.shape
    ]


def _moved(
    start: FloatArray, stop: FloatArray, times: tuple[float, float], weights: FloatArray
) -> Tracks:
    places = np.stack([start, stop], axis=1)
    moments = np.broadcast_to(np.asarray(times), places.shape)
    return Tracks(np.stack([places, moments], axis=2), np.asarray(weights))


def _on_circle(tracks: Tracks, low: float, high: float) -> Tracks:
    """Return the tracks turned back by whole periods, twice where they cross the seam."""
    period = high - low
    turns = np.floor((tracks.ends[:, :, 0] - low) / period)
    ends, weights = [], []
    for end in range(2):
        # Each copy has one of its ends in the domain; without a crossing both are the same.
        kept = np.ones(len(turns), dtype=bool) if end == 0 else turns[:, 0] != turns[:, 1]
        moved = tracks.ends[kept].copy()
        moved[:, :, 0] -= period * turns[kept, end, None]
        ends.append(moved)
        weights.append(tracks.weights[kept])
    # A jump may be one by a whole turn, which is none.
    return Tracks(np.concatenate(ends), np.concatenate(weights))


def kernel_paths(
    basis: Any, window: FloatArray, most: int = MOST_PATHS
) -> tuple[list[FloatArray], int, int]:
    """Return the paths (x, t) of kernels through each slab, each (k, 2), within a window.

    Parameters
    ----------
    basis
        Of one unknown.
    window
        Lower and upper ends of x and t, (2, 2).
    most
        Of the kernels seen in a slab at most so many are followed, evenly chosen.

    Returns
    -------
    paths, shown, seen
        The paths, and how many kernels are followed and seen in the slab with most of them.
    """
    if not isinstance(basis, SlabBasis):
        return [], 0, 0
    (x0, t0), (x1, t1) = window
    slabs = [s for s in basis.slabs if s.motion.times[1] > t0 and s.motion.times[0] < t1]
    count = int(np.clip(_MOMENTS // max(1, len(slabs)), 2, _MOST_MOMENTS))
    paths: list[FloatArray] = []
    shown = seen = 0
    for slab in slabs:
        begin, end = np.clip(slab.motion.times, t0, t1)
        moments = np.linspace(float(begin), float(end), count)
        places = np.stack([slab_kernels(slab, float(t))[0] for t in moments])
        inside = np.flatnonzero(np.any((places >= x0) & (places <= x1), axis=0))
        number = min(most, len(inside))
        chosen = inside[((np.arange(number) + 0.5) / max(1, number) * len(inside)).astype(int)]
        paths += [path for i in chosen for path in _turned(places[:, i], moments, slab)]
        shown, seen = max(shown, number), max(seen, len(inside))
    return paths, shown, seen


def _turned(places: FloatArray, moments: FloatArray, slab: Slab) -> list[FloatArray]:
    """Return a path; on a circle, once from either side of the seam where it crosses that."""
    if not slab.motion.periodic:
        return [np.stack([places, moments], axis=1)]
    low, period = slab.motion.low, slab.motion.high - slab.motion.low
    unwound = np.unwrap(places, period=period)
    turns = np.unique(np.floor((unwound - low) / period))
    return [np.stack([unwound - period * turn, moments], axis=1) for turn in turns]


def placed_anew(basis: Any) -> bool:
    """Tell whether kernels were placed anew between two steps."""
    slabs = basis.slabs if isinstance(basis, SlabBasis) else ()
    return any(
        a.kernels != b.kernels
        or a.motion.stop.count != b.motion.start.count
        or not np.array_equal(a.motion.stop.packed(), b.motion.start.packed())
        for a, b in itertools.pairwise(slabs)
    )


def draw_tracks(axes: Axes, tracks: Tracks, *, colour: str = ORANGE, halo: bool = False) -> None:
    """Draw the ways of components, wider and stronger where a component has more weight.

    With a halo they are told from the colours of a map, and thin enough not to hide a front.
    """
    from matplotlib.collections import LineCollection
    from matplotlib.patheffects import Normal, Stroke

    strength = np.sqrt(tracks.weights)
    lines = LineCollection(
        list(tracks.ends),
        linewidths=0.4 + 0.4 * strength if halo else 0.8 + 1.8 * strength,
        alpha=0.35 + 0.65 * strength,
        colors=colour,
        capstyle="round",
        label="components of the mixture",
        zorder=3,
    )
    if halo:
        lines.set_path_effects([Stroke(linewidth=1.6, foreground="white", alpha=0.5), Normal()])
    axes.add_collection(lines, autolim=False)
    dotted = LineCollection(
        list(tracks.jumps), linewidths=0.8, colors=colour, linestyles=":", alpha=0.7, zorder=2.9
    )
    axes.add_collection(dotted, autolim=False)


def draw_paths(axes: Axes, paths: Sequence[FloatArray]) -> None:
    """Draw the paths of kernels as thin lines."""
    from matplotlib.collections import LineCollection

    lines = LineCollection(
        list(paths), linewidths=0.6, colors=BLUE, alpha=0.6, label="kernels", zorder=2
    )
    axes.add_collection(lines, autolim=False)
