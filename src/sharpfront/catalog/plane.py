"""Stiff problems in two dimensions with layers along straight sides.

Every source is written out by hand. Taken from the graph of the exact solution it would be a
difference of terms as large as one over the width, which costs digits inside the layer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.catalog.entry import Feature, Front, SpatialEntry
from sharpfront.catalog.points import graded_axis, tensor_points
from sharpfront.equation import laplacian
from sharpfront.geometry import Box
from sharpfront.problem import Problem

_SQUARE = Box((0, 1), (0, 1))
_Exact = Callable[..., Any]


def _outflow(eps: float) -> Problem:
    exact = _outflow_exact(eps)

    def source(x: Any, y: Any) -> Any:
        return np.sin(np.pi * y) + eps * np.pi**2 * exact(x, y)

    return Problem(
        _SQUARE,
        lambda u, x, y: -eps * laplacian(u) + u.dx - source(x, y),
        boundary=lambda u, x, y: u - exact(x, y),
    )


def _outflow_exact(eps: float) -> _Exact:
    return lambda x, y: (x - np.exp((x - 1) / eps)) * np.sin(np.pi * y)


def _outflow_points(eps: float, per_axis: int = 300) -> FloatArray:
    across = graded_axis(0, 1, (Feature(1.0, eps),), per_axis)
    return tensor_points(across, graded_axis(0, 1, (), per_axis))


def _corner(eps: float) -> Problem:
    exact = _corner_exact(eps)
    ramp = _layered_ramp(eps)

    def pushed(s: Any) -> Any:
        """Return -eps p'' + p' of the ramp p."""
        return 1 + np.exp((s - 1) / eps)

    return Problem(
        _SQUARE,
        lambda u, x, y: (
            -eps * laplacian(u) + u.dx + u.dy - pushed(x) * ramp(y) - ramp(x) * pushed(y)
        ),
        boundary=lambda u, x, y: u - exact(x, y),
    )


def _layered_ramp(eps: float) -> _Exact:
    return lambda s: -s * np.expm1((s - 1) / eps)


def _corner_exact(eps: float) -> _Exact:
    ramp = _layered_ramp(eps)
    return lambda x, y: ramp(x) * ramp(y)


def _corner_points(eps: float, per_axis: int = 300) -> FloatArray:
    axis = graded_axis(0, 1, (Feature(1.0, eps),), per_axis)
    return tensor_points(axis, axis)


def _reaction(eps: float) -> Problem:
    plateau = _plateau(eps)

    def source(x: Any, y: Any) -> Any:
        return 1 - (1 - plateau(x)) * (1 - plateau(y))

    return Problem(
        _SQUARE,
        lambda u, x, y: -eps * laplacian(u) + u - source(x, y),
        boundary=lambda u, x, y: u,
    )


def _plateau(eps: float) -> _Exact:
    """Return 1 - cosh((s - 1/2)/w)/cosh(1/(2w)), w = sqrt(eps), factored: nothing overflows."""
    w = float(np.sqrt(eps))
    return lambda s: np.expm1(-s / w) * np.expm1((s - 1) / w) / (1 + np.exp(-1 / w))


def _reaction_exact(eps: float) -> _Exact:
    plateau = _plateau(eps)
    return lambda x, y: plateau(x) * plateau(y)


def _reaction_points(eps: float, per_axis: int = 300) -> FloatArray:
    ends = (Feature(0.0, eps**0.5), Feature(1.0, eps**0.5))
    axis = graded_axis(0, 1, ends, per_axis)
    return tensor_points(axis, axis)


def _reaction_features(eps: float) -> tuple[Front, ...]:
    w = eps**0.5
    return (
        Front("x = 0", w, lambda x, y: x),
        Front("x = 1", w, lambda x, y: 1 - x),
        Front("y = 0", w, lambda x, y: y),
        Front("y = 1", w, lambda x, y: 1 - y),
    )


OUTFLOW = SpatialEntry(
    "outflow",
    "Outflow layer",
    "-eps lap u + u_x = f on the unit square, u given on its sides;"
    " u = (x - exp((x - 1)/eps)) sin(pi y)",
    "eps, the width of the layer",
    (1e-2, 1e-3, 1e-4),
    _outflow,
    _outflow_exact,
    lambda eps: (Front("x = 1", eps, lambda x, y: 1 - x),),
    _outflow_points,
)

CORNER = SpatialEntry(
    "corner",
    "Layers that meet in a corner",
    "-eps lap u + u_x + u_y = f on the unit square, u given on its sides;"
    " u = x y (1 - exp((x - 1)/eps)) (1 - exp((y - 1)/eps))",
    "eps, the width of the layers",
    (1e-2, 1e-3, 1e-4),
    _corner,
    _corner_exact,
    lambda eps: (
        Front("x = 1", eps, lambda x, y: 1 - x),
        Front("y = 1", eps, lambda x, y: 1 - y),
    ),
    _corner_points,
)

FOUR_LAYERS = SpatialEntry(
    "four-layers",
    "Reaction layers on all four sides",
    "-eps lap u + u = f on the unit square, u = 0 on its sides; u = c(x) c(y) with"
    " c(s) = 1 - cosh((s - 1/2)/sqrt(eps))/cosh(1/(2 sqrt(eps)))",
    "eps, the square of the layers' width",
    (1e-2, 1e-4, 1e-6),
    _reaction,
    _reaction_exact,
    _reaction_features,
    _reaction_points,
)
