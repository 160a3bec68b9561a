"""Poisson and biharmonic problems in two dimensions: a sharp source, and domains of many shapes.

Some domains need packages of the extra ``geometry``; they are made when a problem or its points are
asked for, so that the rest of the catalogue can do without.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.catalog.entry import Feature, Front, SpatialEntry
from sharpfront.catalog.points import cloud, front_points, graded_axis, tensor_points
from sharpfront.equation import laplacian
from sharpfront.geometry import Box, Domain
from sharpfront.problem import Problem

_SQUARE = Box((0, 1), (0, 1))
_Exact = Callable[..., Any]


def _sharp_source(w: float) -> Problem:
    def source(x: Any, y: Any) -> Any:
        square = ((x - 0.5) ** 2 + (y - 0.5) ** 2) / w**2
        return np.exp(-square / 2) / (2 * np.pi * w**2)

    return Problem(
        _SQUARE,
        lambda u, x, y: laplacian(u) - source(x, y),
        boundary=lambda u, x, y: u,
    )


def _sharp_source_exact(w: float) -> _Exact:
    """Return the double sine series, cut where its factors fall below rounding.

    The coefficients are those of a normal density on the whole line; what lies outside the square
    is below rounding for w <= 0.05.
    """
    k = np.arange(1, int(9 / (np.pi * w)) + 2, 2)
    g = 2 * np.exp(-((k * np.pi * w) ** 2) / 2) * np.sin(k * np.pi / 2)
    weights = -np.outer(g, g) / (np.pi**2 * (k[:, None] ** 2 + k**2))

    def exact(x: Any, y: Any) -> Any:
        x, y = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(y, dtype=float))
        along = np.sin(np.pi * x[..., None] * k) @ weights
        return np.sum(along * np.sin(np.pi * y[..., None] * k), axis=-1)

    return exact


def _sharp_source_points(w: float, per_axis: int = 300) -> FloatArray:
    axis = graded_axis(0, 1, (Feature(0.5, w),), per_axis // 2)
    angles = 2 * np.pi * (np.arange(per_axis // 4) + 0.5) / (per_axis // 4)
    rays = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    feet = np.full_like(rays, 0.5)
    about = front_points(_SQUARE, feet, rays, w, per_axis // 4)
    return np.concatenate([tensor_points(axis, axis), about])


def _waves(k: float) -> _Exact:
    return lambda x, y: np.sin(k * np.pi * x) * np.cos(k * np.pi * y)


def _waves_on(domain: Domain, k: float) -> Problem:
    exact = _waves(k)
    return Problem(
        domain,
        lambda u, x, y: laplacian(u) + 2 * (k * np.pi) ** 2 * exact(x, y),
        boundary=lambda u, x, y: u - exact(x, y),
    )


def _petal() -> Domain:
    from sharpfront.geometry import Implicit

    def level(x: Any, y: Any) -> Any:
        r, angle = np.hypot(x - 0.5, y - 0.5), np.arctan2(y - 0.5, x - 0.5)
        return r - 0.33 - 0.1 * np.cos(5 * angle)

    return Implicit(level, ((0.0, 1.0), (0.0, 1.0)))


def _biharmonic(k: float) -> Problem:
    exact = _waves(k)
    return Problem(
        _petal(),
        lambda u, x, y: laplacian(laplacian(u)) - 4 * (k * np.pi) ** 4 * exact(x, y),
        boundary=lambda u, x, y: (u - exact(x, y), u.dn - exact(x, y).dn),
    )


def _growing_wave(k: float) -> _Exact:
    return lambda x, y: np.exp(x) * np.sin(k * np.pi * y)


def _growing_wave_on(domain: Domain, k: float) -> Problem:
    exact = _growing_wave(k)
    return Problem(
        domain,
        lambda u, x, y: laplacian(u) - (1 - (k * np.pi) ** 2) * exact(x, y),
        boundary=lambda u, x, y: u - exact(x, y),
    )


def _corner_domain() -> Domain:
    from sharpfront.geometry import Polygon

    return Polygon(((0, 0), (1, 0), (1, 0.5), (0.5, 0.5), (0.5, 1), (0, 1)))


def _pierced_square() -> Domain:
    from sharpfront.geometry import Disk

    return _SQUARE - Disk((0.3, 0.35), 0.15) - Disk((0.7, 0.65), 0.18)


def _cloud_of(domain: Callable[[], Domain]) -> Callable[..., FloatArray]:
    """Return a function that gives quasi-random points of the domain and its boundary."""
    return lambda value, per_axis=150: cloud(domain(), per_axis**2)


def _nothing_sharp(value: float) -> tuple[Front, ...]:
    return ()


_WAVES = "u = sin(k pi x) cos(k pi y)"

SHARP_SOURCE = SpatialEntry(
    "sharp-source",
    "Poisson with a sharp source",
    "lap u = exp(-r^2/(2 w^2))/(2 pi w^2), r from (1/2, 1/2), on the unit square, u = 0 on its"
    " sides; u = -sum g_k g_l sin(k pi x) sin(l pi y)/(pi^2 (k^2 + l^2)),"
    " g_k = 2 exp(-(k pi w)^2/2) sin(k pi/2)",
    "w, the width of the source, at most 0.05",
    (1e-2,),
    _sharp_source,
    _sharp_source_exact,
    lambda w: (Front("(1/2, 1/2)", w, lambda x, y: np.hypot(x - 0.5, y - 0.5)),),
    _sharp_source_points,
)

SQUARE_WAVES = SpatialEntry(
    "square-waves",
    "Poisson in a square",
    f"lap u = f on the unit square, u given on its sides; {_WAVES}",
    "k, the number of half waves",
    (6.0,),
    lambda k: _waves_on(_SQUARE, k),
    _waves,
    _nothing_sharp,
    lambda k, per_axis=300: tensor_points(*[graded_axis(0, 1, (), per_axis)] * 2),
)

PETAL = SpatialEntry(
    "petal",
    "Poisson in a petal",
    "lap u = f inside r = 0.33 + 0.1 cos(5 theta) about (1/2, 1/2), u given on the boundary; "
    + _WAVES,
    "k, the number of half waves",
    (4.0,),
    lambda k: _waves_on(_petal(), k),
    _waves,
    _nothing_sharp,
    _cloud_of(_petal),
)

BIHARMONIC_PETAL = SpatialEntry(
    "biharmonic-petal",
    "Biharmonic in a petal",
    "lap lap u = f inside r = 0.33 + 0.1 cos(5 theta) about (1/2, 1/2), u and du/dn given on the"
    f" boundary; {_WAVES}",
    "k, the number of half waves",
    (5.0,),
    _biharmonic,
    _waves,
    _nothing_sharp,
    _cloud_of(_petal),
)

L_SHAPE = SpatialEntry(
    "l-shape",
    "Poisson in an L, smooth solution",
    "lap u = f on the unit square without its upper right quarter, u given on the boundary;"
    " u = exp(x) sin(k pi y)",
    "k, the number of half waves",
    (2.0,),
    lambda k: _growing_wave_on(_corner_domain(), k),
    _growing_wave,
    _nothing_sharp,
    _cloud_of(_corner_domain),
)

PIERCED_SQUARE = SpatialEntry(
    "pierced-square",
    "Poisson in a square with two holes",
    "lap u = f on the unit square without the discs of radius 0.15 about (0.3, 0.35) and 0.18 about"
    " (0.7, 0.65), u given on all of the boundary; u = exp(x) sin(k pi y)",
    "k, the number of half waves",
    (2.0,),
    lambda k: _growing_wave_on(_pierced_square(), k),
    _growing_wave,
    _nothing_sharp,
    _cloud_of(_pierced_square),
)
