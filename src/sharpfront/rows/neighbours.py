"""Which patches touch, and where: in one chart, and where two charts share a side."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.boxes import Boxes
from sharpfront.bases.joint import Ints
from sharpfront.bases.partial_faces import ShellFace
from sharpfront.bases.patch import Patch
from sharpfront.maps import Chart, Quadrilateral, Shell, normals_across
from sharpfront.rows.cut_faces import along_shells, along_strips, inside_of
from sharpfront.rows.faces import Contact, Face, Faces, Side, others

# Patches of two charts that touch along less than this share of the shorter side do so by rounding.
TOUCH = 1e-3


def faces_of(patches: Sequence[Patch], joined: Sequence[float | None]) -> tuple[Faces, list[Side]]:
    """Return the faces between patches and the sides on the boundary.

    Patches are boxes that tile the domain, or in the charts that tile it. Ends of an axis are
    joined where there is a period, of space: ends of charts, and of boxes within, are others.
    """
    boxes = Boxes.of(patches)
    found = [
        _across(boxes, members, axis, joined=chart is None and _spans(boxes, members, axis, period))
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


def _spans(boxes: Boxes, members: Ints, axis: int, period: float | None) -> bool:
    """Tell whether boxes reach from one end of a period to the other."""
    if period is None:
        return False
    extent = boxes.high[members, axis].max() - boxes.low[members, axis].min()
    return bool(extent > (1.0 - TOUCH) * period)


def _across(boxes: Boxes, members: Ints, axis: int, *, joined: bool) -> tuple[Ints, Ints]:
    """Return which patches of one chart meet across an axis, (f, 2), and the axis of each.

    Patches that end where others begin are looked for among those that overlap along one further
    axis, by places in order: all at once.
    """
    if len(members) == 1 and not joined:
        return np.zeros((0, 2), dtype=np.int64), np.zeros(0, dtype=np.int64)
    low, high = boxes.low[members], boxes.high[members]
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
    shared: bool  # whether it is, or other charts have parts of it

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
    for (chart, _), members in boxes.places.items():
        if chart is None:
            continue
        for axis in range(2):
            for end in range(2):
                own = chart.edge(axis, end)
                longer = (
                    dict(chart.parts).get((axis, end)) if isinstance(chart, Quadrilateral) else None
                )
                ends = longer or own
                start, stop = np.array(sorted(ends))
                square = float(np.sum((stop - start) ** 2))
                shares = (np.array(own) - start) @ (stop - start) / square
                found = _edge(
                    boxes,
                    chart,
                    axis,
                    end,
                    members,
                    tuple(shares.tolist()),
                    shared=longer is not None,
                )
                edges[frozenset(ends)].append(found)
    faces: list[Face] = []
    for corners, every in edges.items():
        start, stop = np.array(sorted(corners))
        along = (stop - start) / np.linalg.norm(stop - start)
        for one, other in itertools.combinations(every, 2):
            faces += _along_edge(one, other, along)
    return faces


def _edge(
    boxes: Boxes,
    chart: Chart,
    axis: int,
    end: int,
    members: Ints,
    ends: tuple[float, float],
    *,
    shared: bool,
) -> _Edge:
    place = chart.size[axis] if end else 0.0
    here = members[(boxes.high if end else boxes.low)[members, axis] == place]
    lengths = np.delete(chart.size, axis)
    start, stop = (np.delete(x[here], axis, axis=1) / lengths for x in (boxes.low, boxes.high))
    return _Edge(chart, axis, end, lengths, here.tolist(), start, stop, *ends, shared)


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
