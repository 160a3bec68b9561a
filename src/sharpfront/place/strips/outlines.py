"""Closed outlines with corners, as ribbons that strips lead around with mitres.

At a corner the strips of both sides end on one line inwards, on which both are as deep: short of
the corner directions turn from the normals into that line. So a layer goes around corners that
point outwards or inwards, and patches there are cut towards them like any other.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.geometry.curves import Curve, Cut
from sharpfront.geometry.panel_fits import NODES, PARAMETERS, weights_of
from sharpfront.geometry.panels import Panels
from sharpfront.place.strips.ribbons import Ribbon, replaced_closed
from sharpfront.place.strips.settings import STRIPS
from sharpfront.place.tiling.solids import ROUNDING, Wall
from sharpfront.rounding import SLIGHT


@dataclass(frozen=True, eq=False)
class OutlineSide:
    """A smooth piece of an outline, run through from its start or backwards from its end."""

    part: str
    curve: Curve
    wall: Wall | None = None
    backwards: bool = False

    @cached_property
    def ends(self) -> FloatArray:
        """Its first and last point, (2, 2)."""
        found = self.curve.at(np.array([0.0, self.curve.measure])).points
        return found[::-1] if self.backwards else found

    def turned(self) -> OutlineSide:
        """Return it run through the other way."""
        return replace(self, backwards=not self.backwards)

    def normal(self, end: int) -> FloatArray:
        """Return the outward normal at its first (0) or last (1) point, (2,)."""
        last = bool(end) != self.backwards
        return np.asarray(self.curve.at(np.array([self.curve.measure if last else 0.0])).normals[0])

    def tangent(self, end: int) -> FloatArray:
        """Return the direction in which it is run through at its first or last point, (2,)."""
        at, step = (1.0, -1.0) if bool(end) != self.backwards else (0.0, 1.0)
        arcs = self.curve.measure * (at + step * np.array([0.0, 1e-6]))
        first, second = self.curve.at(arcs).points
        along = (second - first) * (-1.0 if end else 1.0)
        return np.asarray(along / np.linalg.norm(along))

    def panels(self, first: float, last: float) -> Panels:
        """Return its panels, cut at distances from both its ends."""
        length = self.curve.measure
        low, high = (last, length - first) if self.backwards else (first, length - last)
        cuts = [
            0.0,
            *([low] if 0.0 < low < (1.0 - ROUNDING) * length else []),
            *([high] if low + ROUNDING * length < high < length else []),
            length,
        ]
        parts = [Cut(self.curve, a, b, 1) for a, b in itertools.pairwise(cuts)]
        found = Panels((self.part, part) for part in parts)
        return found.backwards() if self.backwards else found


@dataclass(frozen=True)
class _Joint:
    """Where two sides of an outline meet."""

    cosine: float  # of the angle between their normals
    outwards: bool  # whether the corner points outwards
    mitre: FloatArray  # the direction outwards that leads both as far as their normals do

    @property
    def is_corner(self) -> bool:
        return 1.0 - self.cosine > 0.5 * SLIGHT**2

    @property
    def is_sharp(self) -> bool:
        """Whether it is too sharp for a mitre."""
        return self.cosine < (STRIPS.outwards if self.outwards else STRIPS.inwards)

    def length(self, depth: float) -> float:
        """Return how far from the corner directions turn, for strips of a depth."""
        if not self.is_corner:
            return 0.0
        half = np.sqrt((1.0 - self.cosine) / (1.0 + self.cosine))
        return depth * max(1.0, STRIPS.turned * float(half) if self.outwards else 1.0)


def _joint(before: OutlineSide, after: OutlineSide) -> _Joint:
    """Return the joint at which one side ends and the next begins."""
    one, two = before.normal(1), after.normal(0)
    cosine = float(np.clip(one @ two, -1.0, 1.0))
    mitre = (one + two) / max(1.0 + cosine, 1e-300)
    return _Joint(cosine, bool(before.tangent(1) @ two > 0.0), mitre)


def _on_wall(side: OutlineSide, end: int, wall: OutlineSide) -> _Joint:
    """Return the joint at which strips along a side end on a wall, which is their mitre.

    As if the side went on mirrored in the wall.
    """
    normal = side.normal(end)
    along = wall.tangent(0) if end else -wall.tangent(1)
    inwards = -float(along @ normal)
    into = -side.tangent(1) if end else side.tangent(0)
    mitre = -along / max(inwards, 1e-300)
    return _Joint(2.0 * max(inwards, 0.0) ** 2 - 1.0, bool(along @ into > 0.0), mitre)


@dataclass(frozen=True, eq=False)
class Outline:
    """A curve of several smooth sides, each beginning where the one before ends.

    It is closed, or ends on two walls: that before its first side and that after its last.
    """

    sides: tuple[OutlineSide, ...]
    walls: tuple[OutlineSide, OutlineSide] | None = None

    @cached_property
    def _joints(self) -> list[_Joint]:
        """Where each side begins, and where the last one ends."""
        inner = [_joint(a, b) for a, b in itertools.pairwise(self.sides)]
        if self.walls is None:
            around = _joint(self.sides[-1], self.sides[0])
            return [around, *inner, around]
        first, last = self.walls
        return [_on_wall(self.sides[0], 0, first), *inner, _on_wall(self.sides[-1], 1, last)]

    def between(self, walls: Sequence[bool]) -> list[Outline]:
        """Return what of a closed outline lies between some of its sides, which are straight."""
        if not any(walls):
            return [self]
        first = list(walls).index(True)
        sides = [*self.sides[first:], *self.sides[:first], self.sides[first]]
        ends = [i for i, held in enumerate([*walls[first:], *walls[:first], True]) if held]
        return [
            Outline(tuple(sides[a + 1 : b]), (sides[a], sides[b]))
            for a, b in itertools.pairwise(ends)
            if b > a + 1
        ]

    @property
    def corners(self) -> FloatArray:
        """Its corners, and where one part ends, (k, 2)."""
        return np.stack([side.ends[0] for side in self.sides])

    @property
    def is_sharp(self) -> bool:
        """Whether a corner is too sharp for a mitre."""
        return any(joint.is_sharp for joint in self._joints)

    def ribbon(self, depth: float) -> tuple[Ribbon, list[bool]]:
        """Return it with directions for strips of a depth, and which panels lie at corners."""
        joints = self._joints
        panels, outwards, mitred = Panels([]), [], []
        for side, (start, stop) in zip(self.sides, itertools.pairwise(joints), strict=True):
            first, last = start.length(depth), stop.length(depth)
            if first + last > STRIPS.ends * side.curve.measure:
                share = side.curve.measure / (first + last)
                # To the last digit: the rest of the side is no panel.
                first = share * first
                last = side.curve.measure - first if last else 0.0
            own = side.panels(first, last)
            weights = own.normals.copy()
            near = np.zeros(len(own.parts), dtype=bool)
            for joint, length, end in ((start, first, 0), (stop, last, 1)):
                if length:
                    change = joint.mitre - side.normal(end)
                    near |= _turn(weights, own, side.ends[end], length, change, end)
            panels = panels.beside(own)
            outwards.append(weights)
            mitred += near.tolist()
        closed = Panels([])
        closed.closed = [] if self.walls else [(0, len(panels.parts))]
        return Ribbon(replaced_closed(panels, closed), np.concatenate(outwards)), mitred


def _turn(
    outwards: FloatArray,
    panels: Panels,
    corner: FloatArray,
    length: float,
    change: FloatArray,
    end: int,
) -> NDArray[np.bool_]:
    """Change directions short of a corner, and return which panels lie there, (n,)."""
    lengths = Ribbon(panels, outwards).lengths
    before = np.cumsum(lengths[::-1])[::-1] if end else np.cumsum(lengths)
    near = before - lengths < 0.99 * length
    at = np.flatnonzero(near)
    last = at[:1] if end else at[-1:]
    reach = np.linalg.norm(panels.at(last, np.array([-1.0 if end else 1.0])) - corner)
    points = panels.at(np.repeat(at, NODES), np.tile(PARAMETERS, len(at)))
    share = 1.0 - np.linalg.norm(points - corner, axis=1) / reach
    outwards[at] += weights_of(share.reshape(len(at), NODES, 1) * change)
    return np.asarray(near)


def outlines_of(sides: Sequence[OutlineSide], size: float) -> list[Outline]:
    """Return the closed outlines that sides make up; those that more than two meet at are none."""
    near, left, out = ROUNDING * size, [s for s in sides if not s.curve.closed], []
    while left:
        chain = [left.pop(0)]
        broken = False
        while np.linalg.norm(chain[-1].ends[1] - chain[0].ends[0]) > near:
            end = chain[-1].ends[1]
            found = [
                (i, e)
                for i, side in enumerate(left)
                for e in (0, 1)
                if np.linalg.norm(side.ends[e] - end) <= near
            ]
            if len(found) != 1:
                broken = True
                break
            i, e = found[0]
            side = left.pop(i)
            chain.append(side.turned() if e else side)
        if not broken:
            out.append(Outline(tuple(chain)))
    return out
