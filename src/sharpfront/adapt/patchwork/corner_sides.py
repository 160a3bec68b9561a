"""The two sides of a corner in the plane: where they lead, what is given on them, how they bend."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import polynomial

from sharpfront.arrays import FloatArray
from sharpfront.geometry.curves import Curve, Cut, arcs_of
from sharpfront.maps import Strip
from sharpfront.place.tiling.blocks import Block, Tiling
from sharpfront.place.tiling.solids import Wall
from sharpfront.rounding import ROUNDED

# A curved side is a polynomial of this degree about its corner, through so many points, as far as
# it turns by about that many radians.
DEGREE, FITTED, TURNED = 10, 24, 0.5
SHARES = np.append(0.0, 0.5 * (1.0 - np.cos(np.pi * (np.arange(FITTED) + 0.5) / FITTED)))
# Sides that part from their tangents by less over the domain's size are straight.
STRAIGHT_SIDE = 1e-10


@dataclass(frozen=True, eq=False)
class Bend:
    """A curved side about its corner: the way from there by the length along it."""

    weights: FloatArray  # of powers of the length in units of `unit`, from the first on, (n, 2)
    unit: float

    def points(self, lengths: FloatArray) -> FloatArray:
        """Return ways from the corner, (m, 2)."""
        x = lengths / self.unit
        return np.asarray(x[:, None] * polynomial.polyval(x, self.weights).T)

    def tangents(self, lengths: FloatArray) -> FloatArray:
        """Return directions along the side, (m, 2)."""
        rates = np.arange(1, len(self.weights) + 1)[:, None] * self.weights
        found = polynomial.polyval(lengths / self.unit, rates).T
        return np.asarray(found / np.linalg.norm(found, axis=1)[:, None])

    @property
    def curvature(self) -> float:
        """How much it bends at the corner."""
        (a, b), (c, d) = self.weights[0], 2.0 * self.weights[1]
        return float(abs(a * d - b * c) / math.hypot(a, b) ** 3)


@dataclass(frozen=True, eq=False)
class CornerSide:
    """A side at a corner: its direction from there, what is given on it, and its curvature."""

    direction: FloatArray
    part: str
    curvature: float
    bend: Bend | None = None  # how it bends, if it does

    def normal(self, inside: int) -> FloatArray:
        """Return the normal outwards, the domain on the left of the side, or on its right: -1."""
        return inside * np.array([self.direction[1], -self.direction[0]])


def sides_at(tiling: Tiling, corner: FloatArray, extent: float, *, bends: bool) -> list[CornerSide]:
    """Return the sides of a domain of some extent that meet at a corner.

    Or the two that a side is beside one of its points. Curved ones that no strips lie along are
    none where nobody asks how they bend.
    """
    near = ROUNDED * extent
    if tiling.outline and bends:
        curves = [(part, curve) for part, curve, _ in tiling.outline]
        found = [side for own in curves for side in _along(*own, corner, near, extent)]
        halves = [] if found else [(p, half) for p, c in curves for half in _halves(c, corner)]
        return found or [side for own in halves for side in _along(*own, corner, near, extent)]
    out, inner = [], []
    for block in tiling.blocks:
        for wall in block.walls:
            ends = block.ends(wall)
            for end in (0, 1):
                if np.abs(ends[end] - corner).max() <= near:
                    way, bend = _direction(block, wall, end)
                    out.append(CornerSide(way / np.linalg.norm(way), wall[4], bend))
            if not isinstance(block.chart, Strip) and is_between(ends, corner, near):
                ways = ends - corner
                inner += [CornerSide(way / np.linalg.norm(way), wall[4], 0.0) for way in ways]
    return out or inner


def is_between(ends: FloatArray, point: FloatArray, near: float) -> bool:
    """Tell whether a point lies on a straight line, away from its ends."""
    along, way = ends[1] - ends[0], point - ends[0]
    off = abs(along[0] * way[1] - along[1] * way[0]) / np.linalg.norm(along)
    return bool(off <= near and np.sum(way * (point - ends[1])) < 0.0)


def _halves(curve: Curve, point: FloatArray) -> list[Curve]:
    """Return the curves that one is before and after a point of it, which may be beside it."""
    (at,) = arcs_of(curve, point[None]).tolist()
    if curve.closed:
        half = 0.5 * curve.measure
        return [Cut(curve, at - half, at, 1), Cut(curve, at, at + half, 1)]
    inner = 0.0 < at < curve.measure
    return [Cut(curve, 0.0, at, 1), Cut(curve, at, curve.measure, 1)] if inner else []


def _along(
    part: str, curve: Curve, corner: FloatArray, near: float, extent: float
) -> list[CornerSide]:
    """Return the sides that a curve is at a corner: one for each of its ends there."""
    if curve.closed:
        return []
    ends = curve.at(np.array([0.0, curve.measure])).points
    out = []
    for end in (0, 1):
        # Corners are snapped to sides of boxes.
        if np.abs(ends[end] - corner).max() <= 1e3 * near:
            bend = _bend(curve, end, extent)
            way = bend.tangents(np.zeros(1))[0]
            straight = bend.curvature * extent < STRAIGHT_SIDE
            out.append(CornerSide(way, part, bend.curvature, None if straight else bend))
    return out


def _bend(curve: Curve, end: int, extent: float) -> Bend:
    """Return a curve about one of its ends."""
    length = min(curve.measure, extent)
    turns = np.diff(np.unwrap(np.arctan2(*np.diff(_points(curve, end, length), axis=0).T[::-1])))
    unit = length * min(1.0, TURNED / max(float(np.abs(turns).sum()), 1e-300))
    points = _points(curve, end, unit)
    rates = (points[1:] - points[0]) / SHARES[1:, None]
    weights = np.linalg.lstsq(polynomial.polyvander(SHARES[1:], DEGREE), rates, rcond=None)[0]
    return Bend(np.asarray(weights), unit)


def _points(curve: Curve, end: int, length: float) -> FloatArray:
    """Return points of a curve at shares of a length from one of its ends, the end first."""
    arcs = length * SHARES
    return np.asarray(curve.at(curve.measure - arcs if end else arcs).points)


def _direction(block: Block, wall: Wall, end: int) -> tuple[FloatArray, float]:
    """Return the direction of a wall at its first (0) or last (1) end, and its curvature there."""
    axis, place, *along, _ = wall
    if not isinstance(block.chart, Strip):
        ends = block.ends(wall)
        return np.asarray(ends[1 - end] - ends[end]), 0.0
    taylor = block.chart.taylor(np.insert(along[end], axis, place)[None])
    # Across a strip lines are straight.
    tangent, turn = (taylor[1, 0][0], taylor[2, 0][0]) if axis else (taylor[0, 1][0], np.zeros(2))
    bend = abs(tangent[0] * turn[1] - tangent[1] * turn[0]) / np.linalg.norm(tangent) ** 3
    return np.asarray(-tangent if end else tangent), float(bend)
