"""Problems in time in the plane: a turning pulse, a growing circle, an oblique shock, heat.

Errors are measured by a rule of Gauss type on panels that are cut anew at every moment and on every
line of constant y, geometric about each front.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.catalog.entry import Feature, NamedProblem
from sharpfront.catalog.shapes import PETAL
from sharpfront.catalog.time_measure import TimeErrors
from sharpfront.equation import laplacian
from sharpfront.geometry import Box
from sharpfront.problem import Problem

Field = Callable[..., Any]

# Gauss's points in a panel, even panels across the domain and panels of time.
_ORDER, _EVEN, _TIMES = 4, 8, 3
# The panels next to a front are this part of its width, and each next one so many times wider.
_FINEST, _RATIO = 0.5, 2.0


@dataclass(frozen=True, eq=False)
class PlaneTimeEntry(NamedProblem):
    """A named problem in the plane and in time.

    Parameters
    ----------
    exact
        Returns the exact solution as a vectorised function of x, y and t.
    rows
        ``rows(value)(t)``: where fronts touch or end along y. Used to measure errors, never to
        solve.
    fronts
        ``fronts(value)(y, t)``: where fronts are along x on a line of constant y.
    """

    exact: Callable[[float], Field]
    rows: Callable[[float], Callable[[float], tuple[Feature, ...]]]
    fronts: Callable[[float], Callable[[float, float], tuple[Feature, ...]]]


def plane_time_errors(entry: PlaneTimeEntry, value: float, solution: Field) -> TimeErrors:
    """Return the errors of a solution, called with x, y and t, over its space and time."""
    exact, span = entry.exact(value), entry.problem(value).time
    assert span is not None
    moments, lengths = _gauss(np.linspace(span[0], span[1], _TIMES + 1))
    missed = whole = largest = 0.0
    for t, length in [*zip(moments, lengths, strict=True), (span[1], 0.0)]:
        points, areas = plane_rule(entry, value, float(t))
        true = exact(points[:, 0], points[:, 1], t)
        error = solution(points[:, 0], points[:, 1], t) - true
        missed += length * float(areas @ error**2)
        whole += length * float(areas @ true**2)
        largest = max(largest, float(np.max(np.abs(error))))
    return TimeErrors(float(np.sqrt(missed / whole)), largest)


def plane_rule(entry: PlaneTimeEntry, value: float, t: float) -> tuple[FloatArray, FloatArray]:
    """Return points of the domain (m, 2) at a moment and their areas (m,)."""
    domain = entry.problem(value).domain
    (x0, y0), (x1, y1) = domain.bounds
    ys, heights = _gauss(_cuts(y0, y1, entry.rows(value)(t)))
    points, areas = [], []
    for y, height in zip(ys, heights, strict=True):
        xs, widths = _gauss(_cuts(x0, x1, entry.fronts(value)(float(y), t)))
        points.append(np.column_stack([xs, np.full(len(xs), y)]))
        areas.append(height * widths)
    every = np.concatenate(points)
    inside = domain.contains(every)
    return every[inside], np.concatenate(areas)[inside]


def _cuts(low: float, high: float, features: Sequence[Feature]) -> FloatArray:
    """Return the ends of panels, geometric about features and even elsewhere."""
    parts = [np.linspace(low, high, _EVEN + 1)]
    for feature in features:
        reach = max(2.0, np.log((high - low) / (_FINEST * feature.width)) / np.log(_RATIO))
        steps = _FINEST * feature.width * _RATIO ** np.arange(int(reach))
        parts.append(feature.position + np.concatenate([-steps, [0.0], steps]))
    every = np.concatenate(parts)
    return np.unique(every[(every >= low) & (every <= high)])


def _gauss(cuts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return Gauss's points and weights on the panels between cuts."""
    nodes, weights = np.polynomial.legendre.leggauss(_ORDER)
    half = 0.5 * np.diff(cuts)[:, None]
    middle = 0.5 * (cuts[1:] + cuts[:-1])[:, None]
    return (middle + half * nodes).ravel(), (half * weights).ravel()


_TURN = 2 * np.pi
_ORBIT = 0.5
_DIFFUSIVITY = 1e-4


def _pulse_exact(width: float) -> Field:
    def exact(x: Any, y: Any, t: Any) -> Any:
        spread = width**2 + 2 * _DIFFUSIVITY * t
        away = (x - _ORBIT * np.cos(_TURN * t)) ** 2 + (y - _ORBIT * np.sin(_TURN * t)) ** 2
        return width**2 / spread * np.exp(-away / (2 * spread))

    return exact


def _pulse(width: float) -> Problem:
    exact = _pulse_exact(width)
    return Problem(
        Box((-1, 1), (-1, 1)),
        lambda u, x, y, t: u.dt + _TURN * (x * u.dy - y * u.dx) - _DIFFUSIVITY * laplacian(u),
        boundary=lambda u, x, y, t: u - exact(x, y, t),
        initial=lambda x, y: exact(x, y, 0.0),
        time=(0, 0.25),
    )


_RADIUS, _GROWTH = 0.5, 0.4


def _circle_parts(width: float) -> Callable[..., tuple[Any, Any, Any, Any]]:
    """Return tanh g with g = (r^2 - rho^2)/(2 rho w), and g_t, lap g and |grad g|^2."""

    def parts(x: Any, y: Any, t: Any) -> tuple[Any, Any, Any, Any]:
        rho, square = _RADIUS + _GROWTH * t, x**2 + y**2
        u = np.tanh((square - rho**2) / (2 * rho * width))
        rate = -_GROWTH * (square + rho**2) / (2 * rho**2 * width)
        return u, rate, 2 / (rho * width), square / (rho * width) ** 2

    return parts


def _circle(width: float) -> Problem:
    parts = _circle_parts(width)

    def source(x: Any, y: Any, t: Any) -> Any:
        u, rate, bend, steep = parts(x, y, t)
        slope = 1 - u**2
        return slope * (rate - width**2 * (bend - 2 * u * steep) - 2 * u)

    return Problem(
        Box((-1, 1), (-1, 1)),
        lambda u, x, y, t: u.dt - width**2 * laplacian(u) - 2 * (u - u**3) - source(x, y, t),
        boundary=lambda u, x, y, t: u - parts(x, y, t)[0],
        initial=lambda x, y: parts(x, y, 0.0)[0],
        time=(0, 0.25),
    )


def _circle_rows(width: float) -> Callable[[float], tuple[Feature, ...]]:
    return lambda t: tuple(Feature(s * (_RADIUS + _GROWTH * t), width) for s in (-1, 1))


def _circle_fronts(width: float) -> Callable[[float, float], tuple[Feature, ...]]:
    def fronts(y: float, t: float) -> tuple[Feature, ...]:
        half = max((_RADIUS + _GROWTH * t) ** 2 - y**2, 0.0) ** 0.5
        return tuple(Feature(s * half, width) for s in (-1, 1))

    return fronts


_AHEAD = 0.25


def _shock_exact(nu: float) -> Field:
    return lambda x, y, t: (1 - np.tanh((x + y - t - _AHEAD) / (4 * nu))) / 2


def _shock(nu: float) -> Problem:
    exact = _shock_exact(nu)
    return Problem(
        Box((0, 1), (0, 1)),
        lambda u, x, y, t: u.dt + u * (u.dx + u.dy) - nu * laplacian(u),
        boundary=lambda u, x, y, t: u - exact(x, y, t),
        initial=lambda x, y: exact(x, y, 0.0),
        time=(0, 0.5),
    )


def _heat_exact(k: float) -> Field:
    return lambda x, y, t: np.exp(-2 * k**2 * t) * np.sin(k * x) * np.sin(k * y)


def _heat(k: float) -> Problem:
    exact = _heat_exact(k)
    return Problem(
        PETAL.problem(k).domain,
        lambda u, x, y, t: u.dt - laplacian(u),
        boundary=lambda u, x, y, t: u - exact(x, y, t),
        initial=lambda x, y: exact(x, y, 0.0),
        time=(0, 0.05),
    )


TURNING_PULSE = PlaneTimeEntry(
    "turning-pulse",
    "A narrow pulse turned about the middle of a square",
    "u_t + 2 pi (x u_y - y u_x) = 1e-4 lap u on (-1, 1)^2, a quarter of a turn;"
    " u = w^2/s exp(-|x - c(t)|^2/(2 s)), s = w^2 + 2e-4 t",
    "w, the width of the pulse",
    (0.05,),
    _pulse,
    _pulse_exact,
    lambda w: lambda t: (Feature(float(_ORBIT * np.sin(_TURN * t)), w),),
    lambda w: lambda y, t: (Feature(float(_ORBIT * np.cos(_TURN * t)), w),),
)

GROWING_CIRCLE = PlaneTimeEntry(
    "growing-circle",
    "A circular front that grows",
    "u_t = w^2 lap u + 2 (u - u^3) + f on (-1, 1)^2; u = tanh((r^2 - rho^2)/(2 rho w)),"
    " rho = 0.5 + 0.4 t",
    "w, the width of the front",
    (0.1, 0.05),
    _circle,
    lambda w: lambda x, y, t: _circle_parts(w)(x, y, t)[0],
    _circle_rows,
    _circle_fronts,
)

OBLIQUE_SHOCK = PlaneTimeEntry(
    "oblique-shock",
    "A viscous shock that runs across a square",
    "u_t + u (u_x + u_y) = nu lap u on the unit square; u = 1/(1 + exp((x + y - t - 1/4)/(2 nu)))",
    "nu, the viscosity",
    (1e-2, 1e-3),
    _shock,
    _shock_exact,
    lambda nu: lambda t: (Feature(t + _AHEAD, 2 * nu), Feature(t + _AHEAD - 1, 2 * nu)),
    lambda nu: lambda y, t: (Feature(t + _AHEAD - y, 2 * nu),),
)

PETAL_HEAT = PlaneTimeEntry(
    "petal-heat",
    "Heat in a petal",
    "u_t = lap u inside r = 0.33 + 0.1 cos(5 theta) about (1/2, 1/2), u given on the boundary;"
    " u = exp(-2 k^2 t) sin(k x) sin(k y)",
    "k, the wave number",
    (4.0,),
    _heat,
    _heat_exact,
    lambda k: lambda t: (),
    lambda k: lambda y, t: (),
)

PLANE_IN_TIME = (TURNING_PULSE, GROWING_CIRCLE, OBLIQUE_SHOCK, PETAL_HEAT)
