"""The ways of nodes and of the mixture's components through time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patheffects import Normal, Stroke

from sharpfront.arrays import FloatArray
from sharpfront.pieces.slabs import Slab, SlabBasis
from sharpfront.show.data.kernels import Kernels
from sharpfront.show.data.quantity import BLUE, ORANGE

# Paths of at most so many nodes are drawn.
MOST_PATHS = 80


@dataclass(frozen=True, eq=False)
class Tracks:
    """How components moved, step by step."""

    ends: FloatArray  # (x, t) of a component at the beginning and the end of a step, (m, 2, 2)
    weights: FloatArray  # of the component at the end, (m,)


def tracks_of(solution: Any) -> Tracks:
    """Return the ways of the components on the line: where a step left them, and their speeds."""
    ends, weights = [np.zeros((0, 2, 2))], [np.zeros(0)]
    for record in (r for r in solution.history if r.mixture is not None):
        means = record.mixture.means[:, 0]
        places = np.stack([means - record.dt * record.speeds, means], axis=1)
        moments = np.broadcast_to([record.time - record.dt, record.time], places.shape)
        ends.append(np.stack([places, moments], axis=2))
        weights.append(record.mixture.weights)
    tracks = Tracks(np.concatenate(ends), np.concatenate(weights))
    low, high = solution.domain.bounds[:, 0]
    return _on_circle(tracks, low, high) if solution.domain.periodic_axes[0] else tracks


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
    return Tracks(np.concatenate(ends), np.concatenate(weights))


def node_paths(
    basis: Any, window: FloatArray, most: int = MOST_PATHS
) -> tuple[list[FloatArray], int, int]:
    """Return the straight paths (x, t) of nodes through each slab, each (2, 2), within a window.

    Of the nodes seen in a slab at most so many are followed, evenly chosen; how many those are and
    how many were seen, in the slab with most of them, is returned too.
    """
    if not isinstance(basis, SlabBasis):
        return [], 0, 0
    (x0, t0), (x1, t1) = window
    paths: list[FloatArray] = []
    shown = seen = 0
    for slab in (s for s in basis.slabs if s.stop > t0 and s.start < t1):
        moments = np.clip([slab.start, slab.stop], t0, t1)
        places = np.stack([slab.at(float(t)).nodes for t in moments])
        for turned in _turns(places, slab, (x0, x1)):
            inside = np.flatnonzero(np.any((turned >= x0) & (turned <= x1), axis=0))
            number = min(most, len(inside))
            chosen = inside[((np.arange(number) + 0.5) / max(1, number) * len(inside)).astype(int)]
            paths += [np.stack([turned[:, i], moments], axis=1) for i in chosen]
            shown, seen = max(shown, number), max(seen, len(inside))
    return paths, shown, seen


def _turns(places: FloatArray, slab: Slab, ends: tuple[float, float]) -> list[FloatArray]:
    """Return places of nodes, on a ring as often as they come into a window."""
    if not slab.frame.ring:
        return [places]
    length = slab.frame.nodes[-1] - slab.frame.nodes[0]
    first = math.floor((places.min() - ends[1]) / length)
    last = math.ceil((places.max() - ends[0]) / length)
    moved = [places - turn * length for turn in range(first, last + 1)]
    return [m for m in moved if m.max() >= ends[0] and m.min() <= ends[1]]


def placed_anew(basis: Any) -> bool:
    """Tell whether nodes were placed anew between two steps."""
    slabs = basis.slabs if isinstance(basis, SlabBasis) else ()
    return any(
        not np.array_equal(a.at(a.stop).nodes, b.frame.nodes) for a, b in itertools.pairwise(slabs)
    )


def passages(basis: Any, place: float, span: tuple[float, float]) -> Kernels:
    """Return moments at which nodes pass a place, as if they were kernels along time.

    A front that moves is thin in time too, where it passes; its elements pass with it.
    """
    slabs = basis.slabs if isinstance(basis, SlabBasis) else ()
    own = [_passages(slab, place, span) for slab in slabs if slab.start < span[1]]
    moments = np.unique(np.concatenate([*own, span]))
    return Kernels(moments[:, None], np.gradient(moments)[:, None, None] ** 2)


def _passages(slab: Slab, place: float, span: tuple[float, float]) -> FloatArray:
    """Return when nodes are at a place, on a ring after any number of turns, and both ends."""
    frame = slab.frame
    moving = np.abs(frame.velocities) > 1e-300
    way = place - frame.nodes[moving]
    if frame.ring:
        length = frame.nodes[-1] - frame.nodes[0]
        ahead = frame.velocities[moving] * slab.dt
        way = way - length * np.floor((way - np.minimum(ahead, 0.0)) / length)
    later = way / frame.velocities[moving]
    inside = later[(later > 0.0) & (later < slab.dt)]
    ends = np.clip([slab.start, slab.stop], *span)
    found = slab.start + inside
    return np.concatenate([ends, found[(found > span[0]) & (found < span[1])]])


def draw_tracks(axes: Axes, tracks: Tracks, *, colour: str = ORANGE, halo: bool = False) -> None:
    """Draw the ways of components, wider and stronger where a component has more weight.

    With a halo they are told from the colours of a map, and thin enough not to hide a front.
    """
    strength = np.sqrt(tracks.weights)
    widths = 0.4 + 0.4 * strength if halo else 0.8 + 1.8 * strength
    look: dict[str, Any] = {"linewidths": widths, "alpha": 0.35 + 0.65 * strength}
    look |= {"colors": colour, "capstyle": "round", "zorder": 3}
    lines = LineCollection(list(tracks.ends), label="components of the mixture", **look)
    if halo:
        lines.set_path_effects([Stroke(linewidth=1.6, foreground="white", alpha=0.5), Normal()])
    axes.add_collection(lines, autolim=False)


def draw_paths(axes: Axes, paths: Sequence[FloatArray]) -> None:
    """Draw the paths of nodes as thin lines."""
    lines = LineCollection(
        list(paths), linewidths=0.6, colors=BLUE, alpha=0.6, label="nodes", zorder=2
    )
    axes.add_collection(lines, autolim=False)
