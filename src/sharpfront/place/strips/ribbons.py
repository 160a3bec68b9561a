"""Strips along a smooth curve: how deep they may be, which way they lead, how they are joined."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.geometry import Domain
from sharpfront.geometry.panels import Panels
from sharpfront.maps import Strip
from sharpfront.place.strips.decay_rates import decay_rates
from sharpfront.place.strips.settings import STRIPS
from sharpfront.place.strips.tangencies import tangencies
from sharpfront.place.tiling.blocks import Block
from sharpfront.problem import Problem

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

# Places on a panel, as parameters, at which its surroundings are looked at.
ON_PANEL = np.array([-0.96, -0.5, 0.0, 0.5, 0.96])

# How far points, (m, 2), at a depth below the curve are from whatever else there is, (m,).
Clearance = Callable[[FloatArray, float], FloatArray]


@dataclass(frozen=True, eq=False)
class Ribbon:
    """A smooth curve, and directions across it.

    Parameters
    ----------
    panels
        The curve, nothing else; inside is the side that normals come from.
    outwards
        Directions as weights, (n, NODES, 2): normals, but along walls that the curve ends on, and
        shorter where there is less room.
    loose
        Whether it begins and ends inside the domain, neither on a wall nor where it began.
    """

    panels: Panels
    outwards: FloatArray
    loose: tuple[bool, bool] = (False, False)

    @property
    def is_closed(self) -> bool:
        """Whether the curve is."""
        return bool(self.panels.closed)

    @cached_property
    def lengths(self) -> FloatArray:
        """The lengths of the panels."""
        z, w = np.polynomial.legendre.leggauss(12)
        every = np.repeat(np.arange(len(self.panels.parts)), len(z))
        _, speeds = self.panels.boundary(every, np.tile(z, len(self.panels.parts)))
        return np.asarray(speeds.reshape(-1, len(z)) @ w)

    def edge(self, depth: float) -> Panels:
        """Return the curve moved inwards along the directions."""
        return self.panels.moved(np.full(len(self.panels.parts), depth), self.outwards)

    def side(self, depth: float, t: FloatArray) -> FloatArray:
        """Return points of that at parameters from -1 to 1 of its panels, (m, 2).

        One where two panels meet: by rounding a line through both would cross itself.
        """
        edge = self.edge(depth)
        out = samples(edge, t[:-1])[0]
        if self.is_closed:
            return out
        return np.append(out, edge.at(np.array([len(edge.parts) - 1]), np.ones(1)), axis=0)

    def turned(self) -> Ribbon:
        """Return the ribbon with what was inside of it outside."""
        panels = replaced_closed(self.panels.turned(), self.panels)
        return Ribbon(panels, -self.outwards, self.loose)

    def chosen(self, first: int, last: int) -> Ribbon:
        """Return the panels from a first to before a last one; ends that are new are loose."""
        at = np.arange(first, last)
        loose = self.loose[0] or first > 0, self.loose[1] or last < len(self.outwards)
        return Ribbon(self.panels.chosen(at), self.outwards[at], loose)

    def scaled(self, rooms: FloatArray) -> Ribbon:
        """Return it with directions of lengths that are given at the panels' ends, (n + 1,)."""
        out = np.zeros_like(self.outwards)
        for k, (start, stop) in enumerate(itertools.pairwise(rooms.tolist())):
            factor = np.array([0.5 * (start + stop), 0.5 * (stop - start)])
            for axis in range(2):
                full = chebyshev.chebmul(self.outwards[k, :, axis], factor)[: out.shape[1]]
                out[k, : len(full), axis] = full
        return replace(self, outwards=out)

    def strips(self, within: float, beyond: float = 0.0, front: float | None = None) -> list[Strip]:
        """Return strips from a distance beyond the curve to one within."""
        count = len(self.panels.parts)
        outer, inner, at = self.edge(-beyond), self.edge(within), np.arange(count)
        sides = [
            np.stack([e.at(at, np.full(count, t)) for e in (outer, inner)], axis=1)
            for t in (-1.0, 1.0)
        ]
        # The same numbers for both strips at a joint.
        sides[1][:-1] = sides[0][1:]
        if self.is_closed:
            sides[1][-1] = sides[0][0]
        ends = [[((a[0], a[1]), (b[0], b[1])) for a, b in side.tolist()] for side in sides]
        return [
            Strip(
                outer.weights[k],
                self.outwards[k],
                float(self.lengths[k]),
                within + beyond,
                (ends[0][k], ends[1][k]),
                front,
            )
            for k in range(count)
        ]


def strip_block(domain: Domain, strip: Strip, part: str) -> Block:
    """Return the block of a strip whose outer side lies on a part of the boundary."""
    lines = (np.array([0.0, strip.length]), np.array([0.0, strip.depth]))
    wall = (1, 0.0, np.zeros(1), np.array([strip.length]), part)
    return Block(domain, lines, (wall,), strip, layered={1: 1.0})


def replaced_closed(panels: Panels, like: Panels) -> Panels:
    """Return panels of the same closed curves as others."""
    panels.closed = list(like.closed)
    return panels


def samples(panels: Panels, t: FloatArray = ON_PANEL) -> tuple[FloatArray, FloatArray]:
    """Return points all along panels with their normals, (m, 2) each."""
    every = np.repeat(np.arange(len(panels.parts)), len(t))
    found, _ = panels.boundary(every, np.tile(t, len(panels.parts)))
    return found.points, found.normals


def tree_of(points: FloatArray) -> cKDTree:
    """Return a tree of points, (m, d)."""
    from scipy.spatial import cKDTree

    return cKDTree(points)


def distances(tree: cKDTree, points: FloatArray) -> FloatArray:
    """Return how far points are from the nearest of a tree, (m,)."""
    return np.asarray(tree.query(points)[0])


def spacing(tree: cKDTree) -> float:
    """Return how far points of a tree are apart at the most, about."""
    return float(np.max(np.asarray(tree.query(tree.data, 2)[0])[:, 1]))


def layers_beside(
    problem: Problem, strips: Sequence[Strip], widths: float, *, bends: bool = True
) -> list[FloatArray]:
    """Return how deep layers beside the outer sides of strips are, so many widths, for each strip.

    With the layers of bends, or without them.
    """
    out = []
    touched = tangencies(problem, strips)
    for strip in strips:
        near = np.full(len(ON_PANEL), 1e-6 * strip.depth)
        places = np.stack([0.5 * (ON_PANEL + 1.0) * strip.length, near], axis=1)
        rates = decay_rates(problem, places, 1, 0, chart=strip, bends=bends)
        most = np.full(len(rates), np.inf)
        for one in touched:
            far = np.linalg.norm(strip.points(places) - one.place, axis=1)
            most[far < one.reach(widths)] = one.depth(widths)
        deep = [np.minimum(widths / own, m) for own, m in zip(rates, most.tolist(), strict=True)]
        out.append(np.concatenate(deep))
    return out


def rooms_along(ribbon: Ribbon, most: float, clearance: Clearance) -> FloatArray:
    """Return how far below panels normals meet neither each other nor anything else, (n,).

    Parameters
    ----------
    ribbon
        The curve.
    most
        An upper bound.
    clearance
        How far points at a depth are from whatever else there is.
    """
    panels = ribbon.panels
    points, _ = samples(panels)
    table = chebyshev.chebvander(ON_PANEL, ribbon.outwards.shape[1] - 1)
    outwards = np.einsum("tk,nkd->ntd", table, ribbon.outwards).reshape(-1, 2)
    _, bends = panels.curvatures
    count = len(panels.parts)
    convex = np.maximum(-bends.reshape(count, -1).min(axis=1), 1e-300)
    limits = np.repeat(np.minimum(most, 1.0 / convex), len(ON_PANEL))
    found = np.zeros(len(points))
    for depth in most * STRIPS.factor ** np.arange(STRIPS.depths):
        open_ones = np.flatnonzero((found == 0.0) & (limits >= depth))
        if len(open_ones):
            away = points[open_ones] - depth * outwards[open_ones]
            clear = clearance(away, float(depth)) >= 0.98 * depth
            found[open_ones[clear]] = depth
        if found.all():
            break
    return np.asarray(found.reshape(count, -1).min(axis=1))


def runs_of(flags: NDArray[np.bool_], *, closed: bool) -> list[NDArray[np.int64]]:
    """Return the numbers of flags that are set, those side by side together."""
    order = np.arange(len(flags))
    if closed and not flags.all():
        order = np.roll(order, -int(np.argmin(flags)))
    cuts = np.flatnonzero(np.diff(flags[order].astype(int))) + 1
    return [run for run in np.split(order, cuts) if flags[run[0]]]


def joint_rooms(own: FloatArray, *, closed: bool) -> FloatArray:
    """Return the room at the ends of panels, (n + 1,), from that of each."""
    before = np.roll(own, 1) if closed else np.insert(own, 0, own[0])[:-1]
    joints = np.append(np.minimum(before, own), 0.0)
    joints[-1] = joints[0] if closed else own[-1]
    return joints


def evened(rooms: FloatArray, lengths: FloatArray, *, closed: bool) -> FloatArray:
    """Return rooms at the ends of panels that change slowly along the curve."""
    out, steps = rooms.copy(), STRIPS.slope * lengths
    for _ in range(2 if closed else 1):
        for k in range(len(lengths)):
            out[k + 1] = min(out[k + 1], out[k] + steps[k])
        for k in range(len(lengths) - 1, -1, -1):
            out[k] = min(out[k], out[k + 1] + steps[k])
        if closed:
            out[0] = out[-1] = min(out[0], out[-1])
    return out
