"""Poisson problems in three dimensions and more.

Some domains need packages of the extra ``geometry``; they are made when a problem or its points are
asked for, so that the rest of the catalogue can do without.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.catalog.entry import Front, SpatialEntry
from sharpfront.catalog.points import cloud, graded_axis, tensor_points
from sharpfront.equation import laplacian
from sharpfront.errors import MissingExtraError
from sharpfront.geometry import Box, Domain
from sharpfront.problem import Problem

_CUBE = Box((0, 1), (0, 1), (0, 1))
_Exact = Callable[..., Any]


def _made(domain: Domain, exact: _Exact, source: _Exact) -> Problem:
    """Return lap u = source with the values of the exact solution on the boundary."""
    return Problem(
        domain,
        lambda u, *x: laplacian(u) - source(*x),
        boundary=lambda u, *x: u - exact(*x),
    )


def _cube(k: float) -> Problem:
    exact = _cube_exact(k)
    return _made(_CUBE, exact, lambda x, y, z: (1 - 2 * (k * np.pi) ** 2) * exact(x, y, z))


def _cube_exact(k: float) -> _Exact:
    return lambda x, y, z: np.sin(k * np.pi * x) * np.cos(k * np.pi * y) * np.exp(z)


def _ball_domain() -> Domain:
    from sharpfront.geometry import Ball

    return Ball((0, 0, 0), 1)


def _ball(k: float) -> Problem:
    def source(x: Any, y: Any, z: Any) -> Any:
        wave = np.sin(k * np.pi * x) * np.cos(k * np.pi * y)
        return 6 * z - 2 * (k * np.pi) ** 2 * wave

    return _made(_ball_domain(), _ball_exact(k), source)


def _ball_exact(k: float) -> _Exact:
    return lambda x, y, z: np.sin(k * np.pi * x) * np.cos(k * np.pi * y) + z**3


def _ellipsoid() -> Domain:
    mesh = _surfaces().icosphere(subdivisions=3)
    mesh.apply_scale((1.0, 0.7, 0.5))
    return _through_a_file(mesh)


def _torus() -> Domain:
    return _through_a_file(_surfaces().torus(0.7, 0.3, major_sections=64, minor_sections=32))


def _surfaces() -> Any:
    """Return trimesh's makers of surfaces."""
    try:
        from trimesh import creation
    except ImportError:
        raise MissingExtraError("trimesh", "geometry") from None
    return creation


def _through_a_file(mesh: Any) -> Domain:
    """Return the solid of a closed surface as an STL file brings it, in single precision."""
    from sharpfront.geometry import Solid

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "surface.stl"
        mesh.export(path)
        return Solid(path)


def _slanted(domain: Domain, k: float) -> Problem:
    exact = _slanted_exact(k)
    return _made(domain, exact, lambda x, y, z: (1 - 5 * k**2) * exact(x, y, z))


def _slanted_exact(k: float) -> _Exact:
    return lambda x, y, z: np.sin(k * (2 * x + y)) * np.exp(z)


def _many(dimension: float) -> Problem:
    exact = _many_exact(dimension)
    return _made(_unit_box(dimension), exact, lambda *x: -(np.pi**2) / 4 * exact(*x))


def _many_exact(dimension: float) -> _Exact:
    return lambda *x: sum(np.sin(np.pi * c / 2) for c in x)


def _unit_box(dimension: float) -> Box:
    return Box(*[(0.0, 1.0)] * int(dimension))


def _nothing_sharp(value: float) -> tuple[Front, ...]:
    return ()


def _cloud_of(domain: Callable[[], Domain]) -> Callable[..., FloatArray]:
    """Return a function that gives quasi-random points of the domain and its boundary."""
    return lambda value, per_axis=25: cloud(domain(), per_axis**3)


CUBE = SpatialEntry(
    "cube",
    "Poisson in a cube",
    "lap u = f on the unit cube, u given on its faces; u = sin(k pi x) cos(k pi y) exp(z)",
    "k, the number of half waves",
    (1.0,),
    _cube,
    _cube_exact,
    _nothing_sharp,
    lambda k, per_axis=30: tensor_points(*[graded_axis(0, 1, (), per_axis)] * 3),
)

BALL = SpatialEntry(
    "ball",
    "Poisson in a ball",
    "lap u = f in the unit ball, u given on its surface; u = sin(k pi x) cos(k pi y) + z^3",
    "k, the number of half waves",
    (1.0,),
    _ball,
    _ball_exact,
    _nothing_sharp,
    _cloud_of(_ball_domain),
)

ELLIPSOID = SpatialEntry(
    "ellipsoid",
    "Poisson inside a surface from a file, an ellipsoid",
    "lap u = f inside a triangulated ellipsoid of half axes 1, 0.7, 0.5 (1280 triangles, read from"
    " an STL file), u given on it; u = sin(k (2x + y)) exp(z)",
    "k, a wave number",
    (1.0,),
    lambda k: _slanted(_ellipsoid(), k),
    _slanted_exact,
    _nothing_sharp,
    _cloud_of(_ellipsoid),
)

TORUS = SpatialEntry(
    "torus",
    "Poisson inside a surface from a file, a torus",
    "lap u = f inside a triangulated torus of radii 0.7 and 0.3 (4096 triangles, read from an STL"
    " file), u given on it; u = sin(k (2x + y)) exp(z)",
    "k, a wave number",
    (1.0,),
    lambda k: _slanted(_torus(), k),
    _slanted_exact,
    _nothing_sharp,
    _cloud_of(_torus),
)

HYPERCUBE = SpatialEntry(
    "hypercube",
    "Poisson in five dimensions",
    "lap u = f on the unit box, u given on its faces; u = sum of sin(pi x_i/2)",
    "the number of dimensions",
    (5.0,),
    _many,
    _many_exact,
    _nothing_sharp,
    lambda dimension, per_axis=6: cloud(_unit_box(dimension), per_axis ** int(dimension)),
)
