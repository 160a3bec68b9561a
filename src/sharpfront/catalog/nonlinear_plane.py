"""Nonlinear problems in the plane with exact solutions."""

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

_SQUARE = ((0.0, 1.0), (0.0, 1.0))
# Where the front stands: not in the middle of anything.
_FRONT_AT = 0.4


def _front_width(nu: float) -> float:
    return float(np.sqrt(2 * nu))


def _allen_cahn_exact(nu: float) -> Callable[..., Any]:
    return lambda x, y: np.tanh((x - _FRONT_AT) / _front_width(nu)) + 0.0 * y


def _allen_cahn(nu: float) -> Problem:
    exact = _allen_cahn_exact(nu)
    return Problem(
        Box(*_SQUARE),
        lambda u, x, y: -nu * laplacian(u) + u**3 - u,
        boundary=lambda u, x, y: u - exact(x, y),
    )


def _reaction_exact(eps: float) -> Callable[..., Any]:
    return lambda x, y: -np.expm1(-x / eps) * np.sin(np.pi * y)


def _reaction(eps: float) -> Problem:
    exact = _reaction_exact(eps)

    def residual(u: Any, x: Any, y: Any) -> Any:
        e = exact(x, y)
        bent = -np.exp(-x / eps) / eps**2 * np.sin(np.pi * y) - np.pi**2 * e
        return -(eps**2) * laplacian(u) + u + u**3 - (-(eps**2) * bent + e + e**3)

    return Problem(Box(*_SQUARE), residual, boundary=lambda u, x, y: u - exact(x, y))


def _points(position: float, width: Callable[[float], float]) -> Callable[..., FloatArray]:
    def points(value: float, per_axis: int = 120) -> FloatArray:
        across = graded_axis(0.0, 1.0, (Feature(position, width(value)),), per_axis)
        return tensor_points(across, graded_axis(0.0, 1.0, (), per_axis // 2))

    return points


ALLEN_CAHN = SpatialEntry(
    "allen-cahn",
    "Steady front of Allen and Cahn",
    "-nu lap u + u^3 - u = 0 on the unit square, u = tanh((x - 0.4) / sqrt(2 nu)) on the boundary",
    "nu",
    (1e-2, 1e-3),
    _allen_cahn,
    _allen_cahn_exact,
    lambda nu: (Front("x = 0.4", _front_width(nu), lambda x, y: x - _FRONT_AT),),
    _points(_FRONT_AT, _front_width),
)
REACTION_SHEET = SpatialEntry(
    "reaction-sheet",
    "Nonlinear reaction layer along a side",
    "-eps^2 lap u + u + u^3 = f on the unit square, u = (1 - exp(-x / eps)) sin(pi y)",
    "eps",
    (1e-1, 1e-2, 1e-3),
    _reaction,
    _reaction_exact,
    lambda eps: (Front("x = 0", eps, lambda x, y: x),),
    _points(0.0, lambda eps: eps),
)

PLANE: tuple[SpatialEntry, ...] = (ALLEN_CAHN, REACTION_SHEET)
