"""Stiff problems in two dimensions with fronts along curves, -w^2 lap u + u = f.

Sources are written out by hand: from the graph of the exact solution they would be differences of
terms as large as one over the width, which costs digits inside the front.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.catalog.entry import Front, SpatialEntry
from sharpfront.catalog.points import cloud, front_points
from sharpfront.equation import laplacian
from sharpfront.geometry import Box
from sharpfront.problem import Problem

_SQUARE = Box((0, 1), (0, 1))
_Exact = Callable[..., Any]
_RADIUS = 0.25


def _radius(x: Any, y: Any) -> Any:
    return np.sqrt((x - 0.5) ** 2 + (y - 0.5) ** 2)


def _bell(z: Any) -> Any:
    """Return 1/cosh(z)^2 without overflow, and without the cancellation of 1 - tanh(z)^2."""
    q = np.exp(-2 * np.abs(z))
    return 4 * q / (1 + q) ** 2


def _ring(w: float, sign: int) -> tuple[_Exact, _Exact]:
    """Return t = tanh((r - sign R)/(2w)), and w^2 lap t, as functions of the radius."""

    def value(r: Any) -> Any:
        return np.tanh((r - sign * _RADIUS) / (2 * w))

    def spread(r: Any) -> Any:
        return _bell((r - sign * _RADIUS) / (2 * w)) * (w / r - value(r)) / 2

    return value, spread


def _circle(w: float) -> Problem:
    value, spread = _ring(w, 1)
    exact = _circle_exact(w)

    def source(x: Any, y: Any) -> Any:
        r = _radius(x, y)
        # The solution has the tip of a cone at the centre, with a source like 1/r: cut off there,
        # which changes the solution by about exp(-1/(4w))/1000.
        return value(r) - spread(np.maximum(r, 1e-4 * w))

    return Problem(
        _SQUARE,
        lambda u, x, y: -(w**2) * laplacian(u) + u - source(x, y),
        boundary=lambda u, x, y: u - exact(x, y),
    )


def _circle_exact(w: float) -> _Exact:
    value, _ = _ring(w, 1)
    return lambda x, y: value(_radius(x, y))


def _even_circle(w: float) -> Problem:
    (inner, spread), (outer, mirrored) = _ring(w, 1), _ring(w, -1)
    exact = _even_circle_exact(w)

    def source(x: Any, y: Any) -> Any:
        # Even and smooth in r: short of the centre it has the centre's value to rounding, and
        # 0/0 does not arise.
        r = np.maximum(_radius(x, y), 1e-4 * w)
        return inner(r) - outer(r) + 1 - spread(r) + mirrored(r)

    return Problem(
        _SQUARE,
        lambda u, x, y: -(w**2) * laplacian(u) + u - source(x, y),
        boundary=lambda u, x, y: u - exact(x, y),
    )


def _even_circle_exact(w: float) -> _Exact:
    (inner, _), (outer, _) = _ring(w, 1), _ring(w, -1)
    return lambda x, y: inner(_radius(x, y)) - outer(_radius(x, y)) + 1


def _circle_points(w: float, per_axis: int = 300) -> FloatArray:
    angles = 2 * np.pi * (np.arange(per_axis) + 0.5) / per_axis
    normals = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    near = front_points(_SQUARE, 0.5 + _RADIUS * normals, normals, w, per_axis // 4)
    return np.concatenate([near, cloud(_SQUARE, 40 * per_axis), [[0.5, 0.5]]])


def _wave(y: Any) -> tuple[Any, Any, Any]:
    """Return where the wavy front crosses a height, and the slope and bend of that curve."""
    k, size = 3 * np.pi, 0.06
    bend = -size * k**2 * np.sin(k * y)
    return 0.3 + 0.4 * y + size * np.sin(k * y), 0.4 + size * k * np.cos(k * y), bend


def _wavy(w: float) -> Problem:
    exact = _wavy_exact(w)

    def source(x: Any, y: Any) -> Any:
        at, slope, bend = _wave(y)
        value, bell = exact(x, y), _bell((x - at) / (2 * w))
        return value + bell * ((1 + slope**2) * value + w * bend) / 2

    return Problem(
        _SQUARE,
        lambda u, x, y: -(w**2) * laplacian(u) + u - source(x, y),
        boundary=lambda u, x, y: u - exact(x, y),
    )


def _wavy_exact(w: float) -> _Exact:
    return lambda x, y: np.tanh((x - _wave(y)[0]) / (2 * w))


def _wavy_distance(x: Any, y: Any) -> Any:
    at, slope, _ = _wave(y)
    return (x - at) / np.sqrt(1 + slope**2)


def _wavy_points(w: float, per_axis: int = 300) -> FloatArray:
    y = np.linspace(0, 1, per_axis)
    at, slope, _ = _wave(y)
    normals = np.stack([np.ones_like(y), -slope], axis=1)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    near = front_points(_SQUARE, np.stack([at, y], axis=1), normals, w, per_axis // 4)
    return np.concatenate([near, cloud(_SQUARE, 40 * per_axis)])


def _circle_features(w: float) -> tuple[Front, ...]:
    return (Front("r = 1/4", w, lambda x, y: _radius(x, y) - _RADIUS),)


CIRCULAR_FRONT = SpatialEntry(
    "circular-front",
    "Circular front",
    "-w^2 lap u + u = f on the unit square, u given on its sides; u = tanh((r - 1/4)/(2w)), r from"
    " (1/2, 1/2). At the centre u has the tip of a cone with slope 2 exp(-1/(4w))/w",
    "w, the width of the front",
    (2e-2, 5e-3),
    _circle,
    _circle_exact,
    _circle_features,
    _circle_points,
)

SMOOTH_CIRCULAR_FRONT = SpatialEntry(
    "smooth-circular-front",
    "Circular front, smooth at its centre",
    "-w^2 lap u + u = f on the unit square, u given on its sides;"
    " u = tanh((r - 1/4)/(2w)) - tanh((r + 1/4)/(2w)) + 1, r from (1/2, 1/2)",
    "w, the width of the front",
    (2e-2, 5e-3),
    _even_circle,
    _even_circle_exact,
    _circle_features,
    _circle_points,
)

WAVY_FRONT = SpatialEntry(
    "wavy-front",
    "Wavy oblique front",
    "-w^2 lap u + u = f on the unit square, u given on its sides;"
    " u = tanh((x - 0.3 - 0.4 y - 0.06 sin(3 pi y))/(2w))",
    "w, the width of the front",
    (1e-2, 5e-3),
    _wavy,
    _wavy_exact,
    lambda w: (Front("x = 0.3 + 0.4 y + 0.06 sin(3 pi y)", w, _wavy_distance),),
    _wavy_points,
)
