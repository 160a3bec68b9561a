"""Which patches touch, and where: the faces that carry traces, and the sides on the boundary."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.cut import SHORTEST, Cut, Region
from sharpfront.bases.patch import Patch
from sharpfront.bases.solid_cut import PartialFace, SolidRegion
from sharpfront.maps import Chart, Strip

# Patches of two charts that touch along less than this share of the shorter side do so by rounding.
TOUCH = 1e-3

# Patches may touch that have their chart and their region in common.
_Place = tuple[Chart | None, Region | SolidRegion | None]
_Groups = dict[_Place, list[int]]


@dataclass(frozen=True)
class Contact:
    """A face as part of a side of one of its two patches."""

    # The side: normal axis, 0 for the lower and 1 for the upper end.
    patch: int
    axis: int
    end: int
    # The face along the other axes; where two charts run against each other low is above high.
    low: tuple[float, ...]
    high: tuple[float, ...]

    @cached_property
    def rest(self) -> list[int]:
        """The axes along the face."""
        return [a for a in range(len(self.low) + 1) if a != self.axis]

    @property
    def lengths(self) -> FloatArray:
        """How long the face is along these."""
        return np.abs(np.subtract(self.high, self.low))


@dataclass(frozen=True)
class Face:
    """Where two patches meet: the largest piece that is part of a side of both."""

    # The side of the one and of the other, in one chart the upper and the lower.
    below: Contact
    above: Contact
    # In space, where two charts meet; None inside one, whose axes both patches have.
    normal: tuple[float, float] | None = None
    # Where given, a long side of a strip meets boxes that it cuts: `below` has the stretch along
    # the strip, `above` about where it lies in the box.
    strip: Strip | None = None
    part: PartialFace | None = None  # where given, only a part of it lies inside, in space

    @property
    def contacts(self) -> tuple[Contact, Contact]:
        """Both sides."""
        return self.below, self.above


@dataclass(frozen=True)
class Side:
    """A side of a patch on the boundary: normal axis, 0 for the lower and 1 for the upper end."""

    patch: int
    axis: int
    end: int


def faces_of(
    patches: Sequence[Patch], joined: Sequence[float | None]
) -> tuple[list[Face], list[Side]]:
    """Return the faces between patches and the sides on the boundary.

    Patches are boxes that tile the domain, or in the charts that tile it. Ends of an axis are
    joined where there is a period.
    """
    low = np.stack([p.low for p in patches])
    high = np.stack([p.high for p in patches])
    cut = any(p.cut for p in patches)
    groups: _Groups = defaultdict(list)
    for i, patch in enumerate(patches):
        groups[patch.chart, patch.region].append(i)
    faces: list[Face] = []
    for members in groups.values():
        faces += _in_one_chart(members, low, high, joined)
    if cut:
        faces = [part for face in faces for part in _inside(face, patches)]
    faces += _across_charts(groups, low, high)
    covered = np.zeros((*low.shape, 2), dtype=bool)
    for face in faces:
        for c in face.contacts:
            covered[c.patch, c.axis, c.end] = True
    if cut:
        faces += _along_strips(patches, groups)
    bare = np.argwhere(~covered)
    return faces, [Side(int(i), int(a), int(e)) for i, a, e in bare]


def _in_one_chart(
    members: Sequence[int], low: FloatArray, high: FloatArray, joined: Sequence[float | None]
) -> list[Face]:
    """Return the faces between patches of one chart."""
    faces: list[Face] = []
    for axis, period in enumerate(joined):
        starts: dict[float, list[int]] = defaultdict(list)
        ends: dict[float, list[int]] = defaultdict(list)
        for i in members:
            starts[float(low[i, axis])].append(i)
            ends[float(high[i, axis])].append(i)
        pairs = [(ends[c], starts[c]) for c in ends if c in starts]
        if period is not None:
            pairs.append((ends[max(ends)], starts[min(starts)]))
        for upper, lower in pairs:
            faces += _meeting(axis, upper, lower, low, high)
    return faces


def _meeting(
    axis: int, upper: list[int], lower: list[int], low: FloatArray, high: FloatArray
) -> list[Face]:
    """Return the faces between patches that end and patches that start at one place."""
    rest = [a for a in range(low.shape[1]) if a != axis]
    a, b = np.array(upper), np.array(lower)
    start = np.maximum(low[a][:, None, rest], low[b][None, :, rest])
    stop = np.minimum(high[a][:, None, rest], high[b][None, :, rest])
    i, j = np.nonzero(np.all(stop > start, axis=2))
    lows, highs = (map(tuple, x[i, j].tolist()) for x in (start, stop))
    ends = zip(a[i].tolist(), b[j].tolist(), lows, highs, strict=True)
    return [
        Face(Contact(one, axis, 1, *place), Contact(other, axis, 0, *place))
        for one, other, *place in ends
    ]


def _inside(face: Face, patches: Sequence[Patch]) -> list[Face]:
    """Return what of a face lies in the domain."""
    region = patches[face.below.patch].region
    if isinstance(region, SolidRegion):
        return _in_solid(face, patches, region)
    pieces = [(face.below.low[0], face.below.high[0])]
    for here in face.contacts:
        cut = patches[here.patch].cut
        if isinstance(cut, Cut):
            own = cut.sides[here.axis, here.end]
            both = [(max(a, c), min(b, d)) for a, b in pieces for c, d in own]
            least = SHORTEST * float(np.min(cut.high - cut.low))
            pieces = [(low, high) for low, high in both if high - low > least]
    return [
        Face(
            replace(face.below, low=(low,), high=(high,)),
            replace(face.above, low=(low,), high=(high,)),
        )
        for low, high in pieces
    ]


def _in_solid(face: Face, patches: Sequence[Patch], region: SolidRegion) -> list[Face]:
    """Return what of a face lies in a solid."""
    here = face.below
    if all(patches[c.patch].cut is None for c in face.contacts):
        return [face]
    place = float(patches[here.patch].high[here.axis])
    found = region.face(here.axis, place, np.array(here.low), np.array(here.high))
    if isinstance(found, bool):
        return [face] if found else []
    return [replace(face, part=found)]


def _along_strips(patches: Sequence[Patch], groups: Mapping[_Place, Sequence[int]]) -> list[Face]:
    """Return the faces between long sides of strips and the boxes that these cut."""
    faces: list[Face] = []
    for i, patch in enumerate(patches):
        cut = patch.cut
        for stretch in cut.stretches if isinstance(cut, Cut) else ():
            assert isinstance(cut, Cut)
            if stretch.panel not in cut.region.strips:
                continue
            strip, end = cut.region.strips[stretch.panel]
            start, stop = (0.5 * (t + 1.0) * strip.length for t in (stretch.start, stretch.stop))
            for j in groups.get((strip, None), ()):
                low, high = max(start, patches[j].low[0]), min(stop, patches[j].high[0])
                place = (patches[j].high if end else patches[j].low)[1]
                if place == strip.place(end) and high - low > SHORTEST * strip.length:
                    below = Contact(j, 1, end, (float(low),), (float(high),))
                    faces.append(Face(below, _in_box(i, strip, end, low, high), strip=strip))
    return faces


def _in_box(patch: int, strip: Strip, end: int, low: float, high: float) -> Contact:
    """Return about where a stretch of a strip's long side lies in a box."""
    s, d = np.array([low, 0.5 * (low + high), high]), strip.place(end)
    points = strip.points(np.stack([s, np.full(3, d)], axis=1))
    normal = strip.normals_at(s[1:2], d, end)[0]
    axis = int(np.argmax(np.abs(normal)))
    along = np.sort(points[[0, -1], 1 - axis])
    return Contact(patch, axis, int(normal[axis] < 0), (float(along[0]),), (float(along[1]),))


@dataclass(frozen=True, eq=False)
class _Edge:
    """The patches at a side of a chart, and their extent along it as shares of its length."""

    axis: int
    end: int
    length: float
    members: Sequence[int]
    low: FloatArray
    high: FloatArray
    reverse: bool

    def contact(self, i: int, start: float, stop: float) -> Contact:
        """Return the face between two shares of the edge as part of a patch's side."""
        ends = [1.0 - x if self.reverse else x for x in (start, stop)]
        inside = [min(max(x, self.low[i]), self.high[i]) * self.length for x in ends]
        return Contact(self.members[i], self.axis, self.end, (inside[0],), (inside[1],))

    @property
    def shares(self) -> tuple[FloatArray, FloatArray]:
        """Where patches start and stop in the direction common to both charts."""
        return (1.0 - self.high, 1.0 - self.low) if self.reverse else (self.low, self.high)


def _across_charts(
    groups: Mapping[_Place, Sequence[int]], low: FloatArray, high: FloatArray
) -> list[Face]:
    """Return the faces between patches of charts that share a side."""
    edges: dict[frozenset[tuple[float, float]], list[_Edge]] = defaultdict(list)
    for (chart, _), members in groups.items():
        if chart is None:
            continue
        for axis in range(2):
            for end in range(2):
                ends = chart.edge(axis, end)
                found = _edge(chart, axis, end, members, low, high, reverse=ends[0] > ends[1])
                edges[frozenset(ends)].append(found)
    faces: list[Face] = []
    for corners, both in edges.items():
        if len(both) == 2:
            start, stop = np.array(sorted(corners))
            along = (stop - start) / np.linalg.norm(stop - start)
            faces += _along_edge(both[0], both[1], (float(along[1]), float(-along[0])))
    return faces


def _edge(
    chart: Chart,
    axis: int,
    end: int,
    members: Sequence[int],
    low: FloatArray,
    high: FloatArray,
    *,
    reverse: bool,
) -> _Edge:
    place = chart.size[axis] if end else 0.0
    here = [i for i in members if (high if end else low)[i, axis] == place]
    length = float(chart.size[1 - axis])
    extent = low[here, 1 - axis] / length, high[here, 1 - axis] / length
    return _Edge(axis, end, length, here, *extent, reverse)


def _along_edge(one: _Edge, other: _Edge, normal: tuple[float, float]) -> list[Face]:
    """Return the faces along a side that two charts share."""
    (a, b), (c, d) = one.shares, other.shares
    start, stop = np.maximum(a[:, None], c), np.minimum(b[:, None], d)
    enough = TOUCH * np.minimum((b - a)[:, None], d - c)
    return [
        Face(
            one.contact(int(i), float(start[i, j]), float(stop[i, j])),
            other.contact(int(j), float(start[i, j]), float(stop[i, j])),
            normal,
        )
        for i, j in np.argwhere(stop - start > enough)
    ]
