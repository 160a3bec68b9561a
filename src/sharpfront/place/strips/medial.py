"""Strips that meet half way where two stretches of boundary are closer than layers are deep.

Half way is where points are as far from the one stretch as from the other: on the normals of both.
So strips of both have one side in common there, and leave no room for boxes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.geometry.panel_fits import NODES, PARAMETERS, weights_of
from sharpfront.geometry.panels import Panels
from sharpfront.maps import Strip
from sharpfront.place.strips.facing_panels import Facing, Meeting, Span, panel_parts, spans_overlap
from sharpfront.place.strips.ribbons import runs_of, tree_of

# Corners of strips that differ by less than this share of the domain are one.
ONE_CORNER = 1e-11


def meetings(panels: Panels, reach: FloatArray) -> list[Meeting]:
    """Return what of closed curves meets half way because it is too close.

    Parameters
    ----------
    panels
        All curved boundary.
    reach
        How far from each panel half way should be, (n,); zero for those that have no strips.
    """
    facing = Facing(panels, reach > 0.0)
    close = facing.is_close(reach)
    out: list[Meeting] = []
    taken: list[Span] = []
    for first, last in panels.closed:
        for run in runs_of(close[first:last], closed=True):
            start = first + int(run[0])
            stretch = facing.trimmed(start, start + len(run), reach, (first, last))
            free = not any(spans_overlap(own, stretch, (first, last)) for own in taken)
            found = facing.meeting(stretch, (first, last)) if free else None
            if found is not None:
                out.append(found)
                taken += found.stretches
    return out


def left_of(meeting: Sequence[Meeting], ends: tuple[int, int]) -> list[Span]:
    """Return what meetings leave of a closed curve, with how far half way is at the ends."""
    first, last = ends
    count = last - first
    own = [s for m in meeting for s in m.stretches if first <= s.start < last]
    if any(s.stop - s.start > count - 1e-6 for s in own):
        return []
    own.sort()
    after = [*own[1:], own[0]._replace(start=own[0].start + count)] if own else []
    return [
        Span(a.stop, b.start, (a.radii[1], b.radii[0])) for a, b in zip(own, after, strict=True)
    ]


def pieces(panels: Panels, stretch: Span, ends: tuple[int, int]) -> Panels:
    """Return the panels of a stretch of a closed curve."""
    which, low, high = map(
        np.array, zip(*panel_parts(stretch.start, stretch.stop, ends), strict=True)
    )
    t = 0.5 * (low[:, None] * (1 - PARAMETERS) + high[:, None] * (1 + PARAMETERS))
    points = panels.at(np.repeat(which, NODES), t.ravel()).reshape(-1, NODES, 2)
    return panels.reshaped(which, weights_of(points))


def joined(strips: Sequence[Strip]) -> list[Strip]:
    """Return strips that have the same numbers as their neighbours at common corners."""
    corners = np.array(
        [
            strip.points(np.array([[s, d] for d in (0.0, strip.depth)]))
            for strip in strips
            for s in (0.0, strip.length)
        ]
    ).reshape(-1, 2)
    near = ONE_CORNER * float(np.ptp(corners, axis=0).max())
    first = np.array([min(own) for own in list(tree_of(corners).query_ball_point(corners, near))])
    same = corners[first].reshape(-1, 2, 2, 2).tolist()
    return [
        replace(strip, ends=(((a, b), (c, d)), ((e, f), (g, h))))
        for strip, (((a, b), (c, d)), ((e, f), (g, h))) in zip(strips, same, strict=True)
    ]
