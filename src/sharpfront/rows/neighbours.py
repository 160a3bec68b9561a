"""Which patches touch, and where: in one chart, and where two charts share a side.

Faces where the boundary cuts boxes: what of them lies inside, those along strips and shells.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sharpfront.arrays import FloatArray, Ints
from sharpfront.bases.boxes import Boxes
from sharpfront.bases.cut_cells import Cut
from sharpfront.bases.partial_faces import ShellFace
from sharpfront.bases.patch import Patch
from sharpfront.bases.solid_cut_cells import SolidCut, SolidRegion
from sharpfront.maps import Chart, Quadrilateral, Shell, Strip, normals_across
from sharpfront.rounding import SLIGHT
from sharpfront.rows.faces import Contact, Face, Faces, Side, others


def inside_of(faces: Faces) -> Faces:
    """Return what of faces lies in the domain, where its boundary cuts boxes."""
    cut = np.any(faces.boxes.cut[faces.pairs], axis=1)
    counts, pieces = np.ones(len(faces), dtype=np.int64), []
    for k in np.flatnonzero(cut).tolist():
        own = _inside(faces[k], faces.boxes.patches)
        counts[k] = len(own)
        pieces += own
    which = np.repeat(np.arange(len(faces)), counts)
    at = np.flatnonzero(cut[which])
    low, high = faces.low[which], faces.high[which]
    for k, face in zip(at.tolist(), pieces, strict=True):
        low[k], high[k] = face.below.low, face.below.high
    special = {k: face for k, face in zip(at.tolist(), pieces, strict=True) if face.part}
    return Faces(faces.boxes, faces.pairs[which], faces.axis[which], low, high, special)


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
            least = SLIGHT * float(np.min(cut.high - cut.low))
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


def along_strips(boxes: Boxes) -> list[Face]:
    """Return the faces between sides of strips and the boxes that these cut."""
    faces: list[Face] = []
    patches = boxes.patches
    for i, patch in enumerate(patches):
        cut = patch.cut
        for stretch in cut.stretches if isinstance(cut, Cut) else ():
            assert isinstance(cut, Cut)
            if stretch.panel not in cut.region.strips:
                continue
            strip, axis, end = cut.region.strips[stretch.panel]
            length, rest = float(strip.size[1 - axis]), 1 - axis
            start, stop = (0.5 * (t + 1.0) * length for t in (stretch.start, stretch.stop))
            for j in boxes.places.get((strip, None), np.zeros(0, dtype=np.int64)).tolist():
                low, high = max(start, patches[j].low[rest]), min(stop, patches[j].high[rest])
                place = (patches[j].high if end else patches[j].low)[axis]
                if place == strip.place(axis, end) and high - low > SLIGHT * length:
                    below = Contact(j, axis, end, (float(low),), (float(high),))
                    faces.append(Face(below, _in_box(i, strip, below), strip=strip))
    return faces


def _in_box(patch: int, strip: Strip, below: Contact) -> Contact:
    """Return about where a stretch of a strip's side lies in a box."""
    ends = below.low[0], 0.5 * (below.low[0] + below.high[0]), below.high[0]
    at = np.full((3, 2), strip.place(below.axis, below.end))
    at[:, below.rest[0]] = ends
    points = strip.points(at)
    normal = strip.normals_at(at[1:2], below.axis, below.end)[0]
    axis = int(np.argmax(np.abs(normal)))
    along = np.sort(points[[0, -1], 1 - axis])
    return Contact(patch, axis, int(normal[axis] < 0), (float(along[0]),), (float(along[1]),))


def along_shells(boxes: Boxes) -> list[Face]:
    """Return the faces between inner sides of shells and the boxes that these cut."""
    faces: list[Face] = []
    patches = boxes.patches
    for i, patch in enumerate(patches):
        cut = patch.cut
        for shell in cut.region.shells if isinstance(cut, SolidCut) else ():
            for j in boxes.places.get((shell, None), np.zeros(0, dtype=np.int64)).tolist():
                low, high = patches[j].low, patches[j].high
                if high[2] != shell.depth:
                    continue
                assert isinstance(cut, SolidCut)
                part = cut.region.inner_side(shell, low[:2], high[:2], (cut.low, cut.high))
                if part is not None:
                    at = tuple(part.low.tolist()), tuple(part.high.tolist())
                    below = Contact(j, 2, 1, *at)
                    faces.append(Face(below, _on_shell(i, patch, part), part=part))
    return faces


def _on_shell(patch: int, box: Patch, part: ShellFace) -> Contact:
    """Return about where a part of a shell's inner side lies in a box."""
    positions, _ = part.rule((2, 2))
    inwards = part.shell.taylor(positions.mean(axis=0)[None], 1)[0, 0, 1][0]
    axis = int(np.argmax(np.abs(inwards)))
    points = np.delete(part.shell.points(positions), axis, axis=1)
    ends = (tuple(f(points, axis=0).tolist()) for f in (np.min, np.max))
    return Contact(patch, axis, int(inwards[axis] < 0), *ends)


# Patches of two charts that touch along less than this share of the shorter side do so by rounding.
TOUCH = 1e-3


def faces_of(patches: Sequence[Patch], joined: Sequence[float | None]) -> tuple[Faces, list[Side]]:
    """Return the faces between patches and the sides on the boundary.

    Patches are boxes that tile the domain, or in the charts that tile it. Ends of an axis are
    joined where there is a period, of space: ends of charts, and of boxes within, are others.
    """
    boxes = Boxes.of(patches)
    found = [
        _across(boxes, members, axis, None if chart is not None else period)
        for (chart, _), members in boxes.places.items()
        for axis, period in enumerate(joined)
    ]
    pairs, axes = (np.concatenate(each) for each in zip(*found, strict=True))
    rest = others(boxes.maps.shape[1])[axes]
    (below, above), low, high = pairs.T[:, :, None], boxes.low, boxes.high
    faces = Faces(
        boxes,
        pairs,
        axes,
        np.maximum(low[below, rest], low[above, rest]),
        np.minimum(high[below, rest], high[above, rest]),
    )
    if boxes.cut.any():
        faces = inside_of(faces)
    faces += Faces.of(boxes, _across_charts(boxes))
    bare = [Side(*side) for side in np.argwhere(~faces.covered).tolist()]
    if boxes.cut.any():
        faces += Faces.of(boxes, along_strips(boxes) + along_shells(boxes))
    return faces, bare


def _across(boxes: Boxes, members: Ints, axis: int, period: float | None) -> tuple[Ints, Ints]:
    """Return which patches of one chart meet across an axis, (f, 2), and the axis of each.

    Where they reach from one end of a period to the other the ends meet too. Patches that end where
    others begin are looked for among those that overlap along one further axis, by places in
    order: all at once.
    """
    low, high = boxes.low[members], boxes.high[members]
    extent = high[:, axis].max() - low[:, axis].min()
    joined = period is not None and extent > (1.0 - TOUCH) * period
    if len(members) == 1 and not joined:
        return np.zeros((0, 2), dtype=np.int64), np.zeros(0, dtype=np.int64)
    begin, end = _ranked(low[:, axis], high[:, axis])
    lower, place = np.arange(len(members)), begin
    if joined:
        # The first ones begin once more, where the last ones end.
        first = np.flatnonzero(begin == begin.min())
        lower = np.concatenate([lower, first])
        place = np.concatenate([begin, np.full(len(first), end.max())])
    rest = others(low.shape[1])[axis]
    along = (low[:, rest[0]], high[:, rest[0]]) if len(rest) else (begin * 0.0, begin * 0.0 + 1.0)
    start, stop = _ranked(*along)
    most = stop.max() + 1
    order = np.argsort(place * most + start[lower], kind="stable")
    lower, place = lower[order], place[order]
    reach = np.maximum.accumulate(place * most + stop[lower])
    first = np.searchsorted(reach, end * most + start, side="right")
    after = np.searchsorted(place * most + start[lower], end * most + stop, side="left")
    one, at = _expanded(first, np.maximum(after - first, 0))
    other = lower[at]
    meet = np.all(
        np.minimum(high[one], high[other])[:, rest] > np.maximum(low[one], low[other])[:, rest],
        axis=1,
    )
    one, other = one[meet], other[meet]
    # By places in the order in which patches end there, what is joined last.
    earliest = np.empty(int(end.max()) + 1, dtype=np.int64)
    earliest[end[::-1]] = np.arange(len(end))[::-1]
    if joined:
        earliest[-1] = len(members)
    order = np.lexsort((other, one, earliest[end[one]]))
    pairs = members[np.stack([one[order], other[order]], axis=1)]
    return pairs, np.full(len(pairs), axis, dtype=np.int64)


def _ranked(low: FloatArray, high: FloatArray) -> Ints:
    """Return the places of lower and upper ends among all of them in order, (2, n)."""
    return np.unique(np.stack([low, high]), return_inverse=True)[1].reshape(2, -1)


def _expanded(first: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Return for runs of so many numbers the run of each number, and the number."""
    ends = np.cumsum(counts)
    run = np.repeat(np.arange(len(counts)), counts)
    return run, np.arange(len(run)) + (first - (ends - counts))[run]


@dataclass(frozen=True, eq=False)
class _Edge:
    """The patches at a side of a chart, and their extent along it as shares of its lengths.

    Two charts may run against each other along the first axis of the side only. In the plane a side
    may be a part of a longer one, between two shares of that.
    """

    chart: Chart
    axis: int
    end: int
    lengths: FloatArray
    members: Sequence[int]
    low: FloatArray
    high: FloatArray
    # Where the side begins and ends in the direction common to both charts.
    first: float
    last: float
    shared: bool = False  # whether it is, or other charts have parts of it

    def contact(self, i: int, start: FloatArray, stop: FloatArray) -> Contact:
        """Return the face between two shares of the edge as part of a patch's side."""
        ends = np.stack([start, stop])
        ends[:, 0] = (ends[:, 0] - self.first) / (self.last - self.first)
        low, high = (np.clip(ends, self.low[i], self.high[i]) * self.lengths).tolist()
        return Contact(self.members[i], self.axis, self.end, tuple(low), tuple(high))

    @property
    def shares(self) -> tuple[FloatArray, FloatArray]:
        """Where patches start and stop in the direction common to both charts, (n, d - 1)."""
        ends = np.stack([self.low, self.high])
        ends[:, :, 0] = np.sort(self.first + (self.last - self.first) * ends[:, :, 0], axis=0)
        return ends[0], ends[1]


def _across_charts(boxes: Boxes) -> list[Face]:
    """Return the faces between patches of charts that share a side."""
    edges: dict[frozenset[tuple[float, ...]], list[_Edge]] = defaultdict(list)
    both = boxes.low, boxes.high
    for (chart, _), members in boxes.places.items():
        if chart is None:
            continue
        parts = dict(chart.parts) if isinstance(chart, Quadrilateral) else {}
        for axis in range(2):
            for end in range(2):
                own, longer = chart.edge(axis, end), parts.get((axis, end))
                if own[0] == own[1]:
                    # A chord through the corner of a box: a side that is a point has no neighbour.
                    continue
                ends = longer or own
                start, stop = np.array(sorted(ends))
                square = float(np.sum((stop - start) ** 2))
                first, last = ((np.array(own) - start) @ (stop - start) / square).tolist()
                place = chart.size[axis] if end else 0.0
                here = members[(boxes.high if end else boxes.low)[members, axis] == place]
                lengths = np.delete(chart.size, axis)
                low, high = (np.delete(x[here], axis, axis=1) / lengths for x in both)
                found = _Edge(chart, axis, end, lengths, here.tolist(), low, high, first, last)
                edges[frozenset(ends)].append(replace(found, shared=longer is not None))
    faces: list[Face] = []
    for corners, every in edges.items():
        start, stop = np.array(sorted(corners))
        along = (stop - start) / np.linalg.norm(stop - start)
        for one, other in itertools.combinations(every, 2):
            faces += _along_edge(one, other, along)
    return faces


def _along_edge(one: _Edge, other: _Edge, along: FloatArray) -> list[Face]:
    """Return the faces along a side that two charts share, with an edge in a direction."""
    (a, b), (c, d) = one.shares, other.shares
    start, stop = np.maximum(a[:, None], c), np.minimum(b[:, None], d)
    enough = TOUCH * np.minimum((b - a)[:, None], d - c)
    faces = []
    for i, j in np.argwhere(np.all(stop - start > enough, axis=2)).tolist():
        ends = start[i, j], stop[i, j]
        below, above = one.contact(i, *ends), other.contact(j, *ends)
        if isinstance(one.chart, Shell):
            faces.append(_between_shells(one.chart, below, above))
        else:
            shared = one.shared or other.shared
            faces.append(Face(below, above, (float(along[1]), float(-along[0])), shared=shared))
    return faces


def _between_shells(shell: Shell, below: Contact, above: Contact) -> Face:
    """Return a face between two shells, with the normal in its middle."""
    ends = np.sort([below.low, below.high], axis=0)
    part = ShellFace(ends[0], ends[1], shell, below.axis, below.end)
    middle = part.placed(ends.mean(axis=0)[None])
    normal = normals_across(shell.taylor(middle, 1), below.axis, below.end)[0]
    return Face(below, above, tuple(normal.tolist()), part=part)
