"""Domains of every kind, with what is known exactly of them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from tests.lazy import Lazy

from sharpfront.geometry import (
    Ball,
    Box,
    Cloud,
    Disk,
    Domain,
    Ellipse,
    HalfSpace,
    Implicit,
    Polygon,
    Solid,
)

trimesh = Lazy("trimesh")

SQUARE, CUBE = Box((0, 1), (0, 1)), Box((0, 1), (0, 1), (0, 1))
L_SHAPE = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
ROOT = math.sqrt(2)


@dataclass(frozen=True)
class Case:
    """A domain, its area or volume, the sizes of its parts, and how many corners it has."""

    name: str
    make: Callable[[], Domain]
    measure: float
    parts: dict[str, float]
    corners: int = 0
    tolerance: float = 1e-10
    exact_distance: bool = True

    @functools.cached_property
    def domain(self) -> Domain:
        return self.make()


def petal(x, y):
    """Negative inside r = 0.33 + 0.1 cos 5 theta about the middle of the unit square."""
    r, angle = np.hypot(x - 0.5, y - 0.5), np.arctan2(y - 0.5, x - 0.5)
    return r - (0.33 + 0.1 * np.cos(5 * angle))


def _petal_length() -> float:
    angle = 2 * math.pi * np.arange(4096) / 4096
    r, slope = 0.33 + 0.1 * np.cos(5 * angle), -0.5 * np.sin(5 * angle)
    return float(2 * math.pi * np.mean(np.hypot(r, slope)))


PETAL_AREA, PETAL_LENGTH = math.pi * (0.33**2 + 0.1**2 / 2), _petal_length()


def ring(count: int) -> np.ndarray:
    angle = 2 * math.pi * np.arange(count) / count
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def ico(subdivisions: int = 3):
    return trimesh.creation.icosphere(subdivisions=subdivisions)


def _holed() -> Domain:
    hole = [(0.2, 0.2), (0.4, 0.2), (0.4, 0.4)]
    other = [(0.6, 0.6), (0.6, 0.8), (0.8, 0.8), (0.8, 0.6)]
    return Polygon([(0, 0), (0, 1), (1, 1), (1, 0)], [hole, other])


SIDES = {"left": 1.0, "right": 1.0, "bottom": 1.0, "top": 1.0}
FACES = {**SIDES, "back": 1.0, "front": 1.0}
CIRCLE = 2 * math.pi
# Of the ellipse with semi-axes 2 and 1, by the trapezium rule, which is exact to rounding.
ELLIPSE = float(CIRCLE * np.mean(np.hypot(2 * ring(512)[:, 1], ring(512)[:, 0])))
# Not in the plane; said here so that nobody makes all of them to find out.
SPATIAL = {"cube", "ball", "ball4", "ellipsoid", "cloud in space", "solid", "lid"}
SPATIAL |= {"cube - ball", "half ball", "cube | cube"}
CASES = [
    Case("square", lambda: SQUARE, 1, SIDES, 4),
    Case("cube", lambda: CUBE, 1, FACES, 8),
    Case("disk", lambda: Disk((0.5, -2), 0.2), 0.04 * math.pi, {"surface": 0.2 * CIRCLE}),
    Case(
        "ellipse",
        lambda: Ellipse((3, 1), (0.2, 0.1), 0.7),
        0.02 * math.pi,
        {"surface": ELLIPSE / 10},
    ),
    Case("tall ellipse", lambda: Ellipse((0, 0), (1, 2)), CIRCLE, {"surface": ELLIPSE}),
    Case("ball", lambda: Ball((1, 2, 3), 2), 32 * math.pi / 3, {"surface": 16 * math.pi}),
    Case("ball4", lambda: Ball((0, 0, 0, 1), 1), math.pi**2 / 2, {"surface": 2 * math.pi**2}),
    Case("L", lambda: Polygon(L_SHAPE), 3, {"surface": 8}, 6),
    Case("holed", _holed, 0.94, {"surface": 4, "hole1": 0.4 + 0.2 * ROOT, "hole2": 0.8}, 11),
    Case(
        "petal",
        lambda: Implicit(petal, ((0, 1), (0, 1))),
        PETAL_AREA,
        {"surface": PETAL_LENGTH},
        0,
        1e-5,
    ),
    Case(
        "ellipsoid",
        lambda: Implicit(lambda x, y, z: x**2 + y**2 + 4 * z**2 - 1, ((-2, 2), (-1.5, 2), (-1, 1))),
        2 * math.pi / 3,
        {"surface": 2 * math.pi * (1 + math.atanh(math.sqrt(0.75)) * 0.25 / math.sqrt(0.75))},
        0,
        2e-3,
    ),
    Case("cloud", lambda: Cloud(ring(200), 3 * ring(200)), math.pi, {"surface": CIRCLE}, 0, 1e-5),
    Case(
        "cloud in space",
        lambda: Cloud(ico().vertices, ico().vertices),
        4 * math.pi / 3,
        {"surface": 4 * math.pi},
        0,
        2e-3,
    ),
    Case("solid", lambda: Solid(trimesh.creation.box((1, 2, 3))), 6, {"surface": 22}),
    Case(
        "square - disk",
        lambda: SQUARE - Disk((0.5, 0.5), 0.2).named("cylinder"),
        1 - 0.04 * math.pi,
        {**SIDES, "cylinder": 0.2 * CIRCLE},
        4,
    ),
    Case(
        "square - corner",
        lambda: SQUARE - Disk((0, 0), 0.4),
        1 - 0.04 * math.pi,
        {**SIDES, "left": 0.6, "bottom": 0.6, "surface": 0.1 * CIRCLE},
        5,
        1e-9,
        False,
    ),
    Case(
        "square | disk",
        lambda: SQUARE | Disk((1, 0.5), 0.3),
        1 + 0.045 * math.pi,
        {**SIDES, "right": 0.4, "surface": 0.15 * CIRCLE},
        6,
        1e-9,
        False,
    ),
    Case(
        "square & disk",
        lambda: SQUARE & Disk((1, 0.5), 0.3),
        0.045 * math.pi,
        {"right": 0.6, "surface": 0.15 * CIRCLE},
        2,
        1e-9,
        False,
    ),
    Case(
        "slot",
        lambda: SQUARE - Box((0.4, 0.6), (0.5, 1)),
        0.9,
        {**SIDES, "top": 0.8, "left2": 0.5, "right2": 0.5, "bottom2": 0.2},
        8,
        1e-9,
        False,
    ),
    Case(
        "touching",
        lambda: SQUARE | Box((1, 2), (0, 1)),
        2,
        {"left": 1, "bottom": 1, "top": 1, "right": 1, "bottom2": 1, "top2": 1},
        4,
        1e-9,
        False,
    ),
    Case(
        "quarter",
        lambda: Disk((0, 0), 1) & (HalfSpace((0, 0), (0, 2)) & HalfSpace((0, 0), (1, 0))),
        math.pi / 4,
        {"surface": CIRCLE / 4, "surface2": 1, "surface3": 1},
        3,
        1e-9,
        False,
    ),
    Case(
        "nested",
        lambda: (
            (Box((0, 3), (0, 1)) - Disk((1, 0.5), 0.2))
            - (Disk((2, 0.5), 0.3) & Box((2, 3), (0, 1))).named("flap")
        ),
        3 - 0.085 * math.pi,
        {
            "left": 1,
            "right": 1,
            "bottom": 3,
            "top": 3,
            "surface": 0.2 * CIRCLE,
            "flap": 0.6 + 0.15 * CIRCLE,
        },
        6,
        1e-9,
        False,
    ),
    Case(
        "petal - disk",
        lambda: Implicit(petal, ((0, 1), (0, 1))) - Disk((0.5, 0.5), 0.1),
        PETAL_AREA - 0.01 * math.pi,
        {"surface": PETAL_LENGTH, "surface2": 0.1 * CIRCLE},
        0,
        1e-5,
    ),
    Case(
        "inflow",
        lambda: SQUARE.part("inflow", lambda x, y: (x < 0.1) & (y > 0.3)),
        1,
        {**SIDES, "left": 0.3, "top": 0.9, "inflow": 0.8},
        4,
    ),
    Case(
        "cube - ball",
        lambda: CUBE - Ball((0.5, 0.5, 0.5), 0.3),
        1 - 0.036 * math.pi,
        {**FACES, "surface": 0.36 * math.pi},
        0,
        5e-3,
    ),
    Case(
        "half ball",
        lambda: Ball((0, 0, 0), 1) & HalfSpace((0, 0, 0), (1, 1, 1)),
        2 * math.pi / 3,
        {"surface": 2 * math.pi, "surface2": math.pi},
        0,
        5e-3,
        False,
    ),
    Case(
        "cube | cube",
        lambda: CUBE | Box((1, 2), (0, 1), (0, 1)),
        2,
        {
            "left": 1,
            "bottom": 1,
            "top": 1,
            "back": 1,
            "front": 1,
            "right": 1,
            "bottom2": 1,
            "top2": 1,
            "back2": 1,
            "front2": 1,
        },
        0,
        5e-3,
        False,
    ),
    Case(
        "lid",
        lambda: CUBE.part("lid", lambda x, y, z: (z > 0.5) & (x == 0)),
        1,
        {**FACES, "left": 0.5, "lid": 0.5},
        8,
        5e-3,
    ),
]
