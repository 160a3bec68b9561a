"""One equation: corners, convection, waves, materials and polygons."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

import sharpfront as sf
from suites.row import Field, Row, loaded

UNIT, SQUARE = sf.Box((0, 1), (0, 1)), sf.Box((-1, 1), (-1, 1))
# Of the function that grows like the root of the distance to the origin (Li, Lu, Tsai, Cheng 2008).
MOTZ = (
    401.162453745234416,
    87.6559201950879299,
    17.2379150794467897,
    -8.0712152596987790,
    1.44027271702238968,
    0.33105488588606,
    0.27543734452816,
    -0.0869329945041,
    0.0336048784027,
    0.0153843744594,
)
# The integral of u over the L: three graded computations agree on these digits.
TORSION = 0.2140758026862


def rows() -> Iterator[Row]:
    """Yield all rows."""
    yield Row("L-shape, f = 1", lambda: loaded(_l_shape()), 1e-8, figures={"integral": _torsion})
    yield Row("Motz", _motz, 1e-8, figures={"r < 0.3": _motz_error})
    yield Row("two materials, 1 : 1e6", _plate, 1e-9, {"u": _plate_exact})
    yield Row("IFISS 1", _ifiss_1, 1e-6, {"u": _ifiss_1_exact})
    yield Row("IFISS 2", _ifiss_2, 1e-6)
    yield Row("IFISS 3", _ifiss_3, 1e-2)
    yield Row("IFISS 4", _ifiss_4, 1e-2)
    for eps in (1e-1, 1e-2, 1e-3, 1e-4):
        yield Row(
            f"u = 0 all round, u_x - eps lap u = 1, eps = {eps:g}",
            functools.partial(_blown, eps),
            1e-6,
        )
    for k in (50.0, 100.0):
        exact = functools.partial(_wave, k)
        yield Row(f"Helmholtz, k = {k:g}", functools.partial(_helmholtz, k), 1e-8, {"u": exact})
    for name, corners in POLYGONS.items():
        problem = functools.partial(_polygon, corners)
        yield Row(f"{name}, f = 1", problem, 1e-8, options={"max_kernels": 150_000})
    yield Row("L with a triangular hole, f = 1", _holed, 1e-2)


def regular(count: int, inner: float = 1.0) -> list[tuple[float, float]]:
    """Return the corners of a regular polygon, every second one at another distance."""
    angles = 2 * np.pi * np.arange(count) / count
    radii = np.where(np.arange(count) % 2, inner, 1.0)
    return list(zip(radii * np.cos(angles), radii * np.sin(angles), strict=True))


POLYGONS = {
    "trapezium": [(0, 0), (2, 0), (1.5, 1), (0.3, 1)],
    "hexagon": regular(6),
    "star": regular(10, 0.45),
}


def _l_shape() -> sf.Domain:
    return SQUARE - sf.Box((0, 2), (-2, 0))


def _torsion(solution: sf.Solution) -> float:
    return abs(float(solution.integral()) - TORSION)


def _motz() -> sf.Problem:
    domain = sf.Box((-1, 1), (0, 1)).part("held", lambda x, y: (y < 1e-12) & (x < 0) & (x > -1))
    return sf.Problem(
        domain,
        lambda u, x, y: sf.laplacian(u),
        **{part: lambda u, x, y: u.dn for part in domain.parts if part not in ("held", "right")},
        held=lambda u, x, y: u,
        right=lambda u, x, y: u - 500,
    )


def _motz_error(solution: sf.Solution) -> float:
    """Return the error relative to max u, as far as ten terms of the series go."""
    r, t = (v.ravel() for v in np.meshgrid(np.geomspace(1e-8, 0.3, 60), np.linspace(0, np.pi, 40)))
    powers = np.arange(len(MOTZ)) + 0.5
    exact = sum(d * r**k * np.cos(k * t) for d, k in zip(MOTZ, powers, strict=True))
    return float(np.abs(solution(r * np.cos(t), r * np.sin(t)) - exact).max() / 500)


def _plate_exact(x: Any, y: Any) -> Any:
    s = x - 0.3
    return 1e6 * (s + s**2 * np.exp(x)) / np.where(s < 0, 1.0, 1e6) * np.cos(2 * y)


def _plate() -> sf.Problem:
    def source(x: Any, y: Any) -> Any:
        s = x - 0.3
        curved = np.exp(x) * (2 + 4 * s + s**2) - 4 * (s + s**2 * np.exp(x))
        return 1e6 * curved * np.cos(2 * y)

    edge = sf.function(_plate_exact, breaks=((0.3,), ()))
    return sf.Problem(
        UNIT,
        lambda u, x, y: sf.div(np.where(x < 0.3, 1.0, 1e6) * sf.grad(u)) - source(x, y),
        boundary=lambda u, x, y: u - edge(x, y),
    )


def _ifiss_1_exact(x: Any, y: Any, eps: float = 1 / 200) -> Any:
    return x * (1 - np.exp((y - 1) / eps)) / (1 - np.exp(-2 / eps))


def _ifiss_1() -> sf.Problem:
    return _convection(lambda x, y: (0.0, 1.0), boundary=lambda u, x, y: u - _ifiss_1_exact(x, y))


def _ifiss_2() -> sf.Problem:
    return _convection(
        lambda x, y: (0.0, 1 + (x + 1) ** 2 / 4),
        bottom=lambda u, x, y: u - 1,
        left=lambda u, x, y: u - (1 - (1 + y) / 2) ** 3,
        right=lambda u, x, y: u - (1 - (1 + y) / 2) ** 2,
        top=lambda u, x, y: u.dn,
    )


def _ifiss_3() -> sf.Problem:
    return _convection(
        lambda x, y: (-0.5, np.sqrt(0.75)),
        left=lambda u, x, y: u,
        top=lambda u, x, y: u,
        right=lambda u, x, y: u - 1,
        bottom=lambda u, x, y: u - np.where(x > 0, 1.0, 0.0),
    )


def _ifiss_4() -> sf.Problem:
    return _convection(
        lambda x, y: (2 * y * (1 - x**2), -2 * x * (1 - y**2)),
        boundary=lambda u, x, y: u,
        right=lambda u, x, y: u - 1,
    )


def _convection(wind: Field, eps: float = 1 / 200, **conditions: Any) -> sf.Problem:
    def residual(u: Any, x: Any, y: Any) -> Any:
        a, b = wind(x, y)
        return -eps * sf.laplacian(u) + a * u.dx + b * u.dy

    return sf.Problem(SQUARE, residual, **conditions)


def _blown(eps: float) -> sf.Problem:
    return sf.Problem(
        UNIT,
        lambda u, x, y: -eps * sf.laplacian(u) + u.dx - 1,
        boundary=lambda u, x, y: u,
    )


def _wave(k: float, x: Any, y: Any) -> Any:
    return np.cos(k * (np.cos(0.7) * x + np.sin(0.7) * y))


def _helmholtz(k: float) -> sf.Problem:
    return sf.Problem(
        UNIT,
        lambda u, x, y: -sf.laplacian(u) - k**2 * u,
        boundary=lambda u, x, y: u - _wave(k, x, y),
    )


def _polygon(corners: list[tuple[float, float]]) -> sf.Problem:
    return loaded(sf.Polygon(corners))


def _holed() -> sf.Problem:
    outer = [(-1, -1), (0, -1), (0, 0), (1, 0), (1, 1), (-1, 1)]
    return loaded(sf.Polygon(outer, [[(-0.7, 0.3), (-0.3, 0.4), (-0.5, 0.7)]]))
