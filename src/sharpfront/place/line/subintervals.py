"""Stretches of the interval with the monitor inside them, each of which becomes a piece."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.estimate.cells import Grid
from sharpfront.estimate.line_error import ErrorCheck
from sharpfront.maps import MixtureAxis, mixture_axis
from sharpfront.mixture import Mixture, fit_bins
from sharpfront.mixture.model import made
from sharpfront.place.line.breakpoints import Cut
from sharpfront.place.line.end_layers import Rates, exponentials
from sharpfront.place.line.feature_search import (
    Discovery,
    changes_between,
    concentrated,
    smeared,
    summed,
)
from sharpfront.place.line.settings import LINE
from sharpfront.rounding import EPS


@dataclass(frozen=True, eq=False)
class Stretch:
    """A part of the interval between cuts or splits."""

    # Its ends.
    low: float
    high: float
    inside: tuple[float, float]  # where functions may be sampled: on its own side of a jump
    # Cells (n + 1,) and the monitor's mass in them (n,), to which the mixture is fitted.
    edges: FloatArray
    mass: FloatArray
    # |Change of u| in each cell over the range of u: kernels are needed for each of them.
    swings: FloatArray
    layers: Rates | None = None  # layers at its ends, where coefficients tell of them

    @cached_property
    def total(self) -> float:
        """The monitor's mass in the stretch."""
        return float(np.add.reduce(self.mass))


def between_cuts(
    interval: tuple[float, float], cuts: Sequence[Cut], found: Discovery
) -> list[Stretch]:
    """Return one stretch between each two cuts, with its share of the monitor."""
    points, u = found.system.grid, found.solution[0]
    monitor = np.zeros(len(points.steps)) if found.monitor is None else found.monitor
    spread = float(np.maximum.reduce(u) - np.minimum.reduce(u))
    climbed = summed(np.abs(u[1:] - u[:-1])) / max(spread, 1e-300)
    low, high = interval
    if not cuts:
        # One lone cell is no feature.
        edges, mass = concentrated(points, smeared(monitor, 2))
        swings = _gains(edges, points.nodes, climbed)
        return [Stretch(low, high, interval, edges, mass, swings, found.layers)]
    meet = [c.above for c in cuts]
    # One float beyond the bracket: a function may have a value of its own at the very jump.
    first = [low, *(float(np.nextafter(c.above, np.inf)) for c in cuts)]
    last = [*(float(np.nextafter(c.below, -np.inf)) for c in cuts), high]
    out = []
    for a, b, *inside in zip([low, *meet], [*meet, high], first, last, strict=True):
        edges, mass = _beside(points, monitor, a, b)
        swings = _gains(edges, points.nodes, climbed)
        out.append(Stretch(a, b, (inside[0], inside[1]), edges, mass, swings))
    return out


def _gains(edges: FloatArray, nodes: FloatArray, sums: FloatArray) -> FloatArray:
    """Return what sums over nodes grow by from edge to edge."""
    found = np.interp(edges, nodes, sums)
    return np.asarray(found[1:] - found[:-1])


def _beside(
    points: Grid, monitor: FloatArray, low: float, high: float
) -> tuple[FloatArray, FloatArray]:
    """Return edges and masses of the cells between two cuts, as if there were no others.

    A window's cells are narrow and heavy, and those next to it on the other side of a cut may be
    narrow: smeared into each other, or split for each other's sake, they would look like features.
    """
    i, j = np.searchsorted(points.nodes, [low, high])
    nodes = points.nodes[i : j + 1].copy()
    nodes[0], nodes[-1] = low, high
    cells = slice(i, i + len(nodes) - 1)
    h, mass = points.steps[cells], monitor[cells]
    dense = np.pad(mass / h, 1)
    most = np.maximum(np.maximum(dense[2:], dense[:-2]), dense[1:-1])
    # Nowhere denser than it was nearby.
    mass = np.minimum(smeared(mass, 2), h * most)
    return concentrated(Grid(nodes, h, points.middles[cells]), mass)


def mixture_of(stretch: Stretch, total: float, components: int) -> Mixture | None:
    """Return the mixture fitted to a stretch's monitor; None where that is empty or even."""
    mass, edges = stretch.total, stretch.edges
    if mass <= 1e-6 * total:
        return None
    even = (LINE.even * mass / float(edges[-1] - edges[0])) * (edges[1:] - edges[:-1])
    excess = np.maximum(stretch.mass - even, 0.0)
    if not np.add.reduce(excess) >= LINE.slight * mass:
        return None
    told = None
    if stretch.layers is not None:
        told = exponentials((stretch.low, stretch.high), stretch.layers, edges, excess)
    return fit_bins(edges, excess, components) if told is None else told


def refitted(stretch: Stretch, components: int) -> Mixture | None:
    """Return the mixture fitted to a second look, without components that few kernels would follow.

    Where a monitor comes down to what is left to the even share, its ripples stand out as slivers.
    """
    found = mixture_of(stretch, stretch.total, components)
    if found is None:
        return None
    heavy = found.weights > LINE.few_kernels
    weights = found.weights[heavy]
    return made(weights / np.add.reduce(weights), found.means[heavy], found.covariances[heavy])


def axis_of(stretch: Stretch, mixture: Mixture | None) -> MixtureAxis:
    """Return the coordinate in which the stretch's kernels are even."""
    return mixture_axis(stretch.low, stretch.high, mixture)


def features(c: MixtureAxis, reach: float = LINE.reach) -> tuple[list[float], list[float]]:
    """Return begin and end of each group of components that lie within reach of each other."""
    centres, scales = (c.anchor + c.offset).tolist(), c.scale.tolist()
    begins: list[float] = []
    ends: list[float] = []
    for centre, scale in sorted(zip(centres, scales, strict=True), key=lambda pair: pair[0]):
        low, high = centre - reach * scale, centre + reach * scale
        if not ends or low > ends[-1]:
            begins.append(low)
            ends.append(high)
        else:
            ends[-1] = max(ends[-1], high)
    return begins, ends


def sides(c: MixtureAxis) -> int:
    """Return the number of sides of features: two for a front, one for a layer at an end."""
    return sum(count for count, _ in sides_and_decades(c))


def sides_and_decades(c: MixtureAxis) -> list[tuple[int, float]]:
    """Return for each feature its sides inside the stretch, and the decades of scale they grade.

    The decades lie between the smallest scale of the feature's components and the stretch.
    """
    if not c.components:
        return []
    centres, scales = (c.anchor + c.offset).tolist(), c.scale.tolist()
    out = []
    for low, high in zip(*features(c), strict=True):
        own = (s for x, s in zip(centres, scales, strict=True) if low <= x <= high)
        count = 2 - int(low < c.low) - int(high > c.high)
        out.append((max(count, 1), math.log10(max((c.high - c.low) / min(own), 1.0))))
    return out


def split_stretch(stretch: Stretch, c: MixtureAxis) -> tuple[Stretch, Stretch]:
    """Return two stretches, cut between two features if there are two, else in a wide cell."""
    at = _between_features(stretch, c) if c.components else _wide_place(stretch)
    margin = 1e-6 * (stretch.high - stretch.low)
    if not stretch.low + margin < at < stretch.high - margin:
        at = 0.5 * (stretch.low + stretch.high)
    i = int(np.clip(np.searchsorted(stretch.edges, at) - 1, 0, len(stretch.mass) - 1))
    edges = np.insert(stretch.edges, i + 1, at)
    mass, swings = (_halved(q, i) for q in (stretch.mass, stretch.swings))
    first, last = stretch.inside
    cut = i + 1
    left = Stretch(stretch.low, at, (first, at), edges[: cut + 1], mass[:cut], swings[:cut])
    return left, Stretch(at, stretch.high, (at, last), edges[cut:], mass[cut:], swings[cut:])


def _between_features(stretch: Stretch, c: MixtureAxis) -> float:
    """Return a place between the two middle features, or between a lone one and the farther end.

    About halfway in kernels, and in the widest cell there: a feature that the mixture has no
    component for has narrow cells.
    """
    groups, tight = features(c), features(c, 1.0)
    if len(groups[0]) == 1 and len(tight[0]) > 1:
        # What counts as one feature is several that only just do not overlap.
        groups = tight
    first, last = (c.xi(c.nearest(np.clip(edge, c.low, c.high))) for edge in groups)
    k = len(first) // 2
    if len(first) > 1:
        low, high = last[k - 1], first[k]
    else:
        low, high = (0.0, first[0]) if first[0] > 1.0 - last[0] else (last[0], 1.0)
    middles = 0.5 * (stretch.edges[1:] + stretch.edges[:-1])
    way = (c.xi(c.nearest(middles)) - low) / max(high - low, 1e-300)
    there = np.flatnonzero((way > 0.25) & (way < 0.75))
    if len(there):
        return float(middles[there[np.argmax(np.diff(stretch.edges)[there])]])
    return float(c.invert(np.array([0.5 * (low + high)])).x[0])


def _wide_place(stretch: Stretch) -> float:
    h = np.diff(stretch.edges)
    blend = 0.5 * stretch.mass / max(stretch.total, 1e-300) + 0.5 * h / h.sum()
    share = np.cumsum(blend) / blend.sum()
    middle = np.flatnonzero((share > 0.15) & (share < 0.85))
    if len(middle) == 0:
        middle = np.array([int(np.argmax(h))])
    i = int(middle[np.argmax(h[middle] * (1.5 - np.abs(share[middle] - 0.5)))])
    return float(0.5 * (stretch.edges[i] + stretch.edges[i + 1]))


def _halved(q: FloatArray, i: int) -> FloatArray:
    """Return cell i's content shared between two halves."""
    out = np.insert(q, i, 0.5 * q[i])
    out[i + 1] *= 0.5
    return out


def looked_again(part: Stretch, check: ErrorCheck) -> Stretch:
    """Return the stretch with its monitor taken afresh from the last solve, for itself alone.

    A feature a thousand times stronger elsewhere hides a weak one from the first look; inside its
    own stretch the weak one is all there is. u counts only once it is better than a guess.
    """
    nodes, middles = check.grid.nodes, check.grid.middles
    # Beside a pole, cells shrink until rounding has made two nodes one.
    real = np.diff(nodes) > 0.0
    cells = np.flatnonzero(real & (middles > part.low) & (middles < part.high))
    if len(cells) < LINE.fewest_cells:
        return part
    edges = np.append(nodes[cells], part.high)
    edges[0] = part.low
    x, u = middles[cells], check.values[cells]
    rows = list(check.data[:, cells])
    if check.error < 0.1 * check.size:
        tiny = EPS * (abs(part.low) + abs(part.high))
        slope = np.diff(u) / np.maximum(np.diff(x), tiny)
        rows += [u, np.append(slope, slope[-1])]
    changes = [c for q in rows if (c := changes_between(q)).max() > LINE.local_jump]
    wrong = smeared(np.abs(np.diff(check.profile))[cells], LINE.swing)
    if check.error > LINE.unresolved * check.size and wrong.sum() > 0:
        # Where the error itself varies the equation is violated, whatever the data look like.
        changes.append(wrong)
    old = _carried(part.mass, part.edges, edges)
    mass = old / max(float(old.sum()), 1e-300)
    if changes:
        # Half for what was known, half for what is seen now.
        mass = mass + np.sum([c / c.sum() for c in changes], axis=0) / len(changes)
    swings = _carried(part.swings, part.edges, edges)
    return Stretch(part.low, part.high, part.inside, edges, mass, swings)


def with_places(stretch: Stretch, places: FloatArray, widths: FloatArray) -> Stretch:
    """Return the stretch with cells of some widths about places, holding half of the monitor."""
    inner = np.concatenate([places - widths / 2, places + widths / 2])
    inner = inner[(inner > stretch.low) & (inner < stretch.high)]
    edges = np.union1d(stretch.edges, inner)
    mass = _carried(stretch.mass, stretch.edges, edges)
    there = np.unique(np.clip(np.searchsorted(edges, places) - 1, 0, len(mass) - 1))
    mass = mass / max(float(mass.sum()), 1e-300)
    mass[there] += 1.0 / len(there)
    swings = _carried(stretch.swings, stretch.edges, edges)
    return Stretch(stretch.low, stretch.high, stretch.inside, edges, mass, swings)


def _carried(content: FloatArray, old: FloatArray, new: FloatArray) -> FloatArray:
    """Return the content of cells between old edges shared out to cells between new ones."""
    return np.diff(np.interp(new, old, summed(content)))
