"""Stiff problems in one dimension: the two of the paper, and the classics beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import erf

from sharpfront.catalog.entry import Entry, Feature
from sharpfront.geometry import Interval
from sharpfront.problem import Problem


def _single(nu: float) -> Problem:
    return Problem(
        Interval(0, 1),
        lambda u, x: -nu * u.dxx + u.dx,
        left=lambda u, x: u,
        right=lambda u, x: u - 1,
    )


def _single_exact(nu: float) -> Callable[..., Any]:
    # expm1(x/nu) / expm1(1/nu), written so that nothing overflows.
    return lambda x: np.exp((x - 1) / nu) * np.expm1(-x / nu) / np.expm1(-1 / nu)


def _twin(nu: float) -> Problem:
    return Problem(
        Interval(0, 1),
        lambda u, x: -nu * u.dxx + 2 * (2 * x - 1) * u.dx + 4 * u,
        boundary=lambda u, x: u - 1,
    )


def _twin_exact(nu: float) -> Callable[..., Any]:
    return lambda x: np.exp(-2 * x * (1 - x) / nu)


def _reaction(nu: float) -> Problem:
    return Problem(Interval(0, 1), lambda u, x: -nu * u.dxx + u - 1, boundary=lambda u, x: u)


def _reaction_exact(nu: float) -> Callable[..., Any]:
    w = np.sqrt(nu)
    return lambda x: 1 - (np.exp(-x / w) + np.exp((x - 1) / w)) / (1 + np.exp(-1 / w))


def _turning_point(nu: float) -> Problem:
    return Problem(
        Interval(-1, 1),
        lambda u, x: (
            nu * u.dxx
            + x * u.dx
            + nu * np.pi**2 * np.cos(np.pi * x)
            + np.pi * x * np.sin(np.pi * x)
        ),
        left=lambda u, x: u + 2,
        right=lambda u, x: u,
    )


def _turning_point_exact(nu: float) -> Callable[..., Any]:
    w = np.sqrt(2 * nu)
    return lambda x: np.cos(np.pi * x) + erf(x / w) / erf(1 / w)


# Not a place that a grid of equal cells would hit.
_SPIKE_AT = 0.3718281828


def _spike(width: float) -> Problem:
    return Problem(
        Interval(0, 1),
        lambda u, x: (
            -u.dxx - np.exp(-(((x - _SPIKE_AT) / width) ** 2) / 2) / (width * np.sqrt(2 * np.pi))
        ),
        boundary=lambda u, x: u,
    )


def _spike_exact(width: float) -> Callable[..., Any]:
    def ramp(y: Any) -> Any:
        """Return the twice integrated normal density of that width."""
        z = y / width
        tail = width / np.sqrt(2 * np.pi) * np.exp(-(z**2) / 2)
        return 0.5 * y * (1 + erf(z / np.sqrt(2))) + tail

    start, end = ramp(-_SPIKE_AT), ramp(1 - _SPIKE_AT)
    return lambda x: start - ramp(x - _SPIKE_AT) + x * (end - start)


def _oscillation(wavenumber: float) -> Problem:
    exact = _oscillation_exact(wavenumber)
    return Problem(
        Interval(0, 1),
        lambda u, x: u.dxx + wavenumber**2 * u,
        boundary=lambda u, x: u - exact(x),
    )


def _oscillation_exact(wavenumber: float) -> Callable[..., Any]:
    return lambda x: np.cos(wavenumber * x) + 0.5 * np.sin(wavenumber * x)


SINGLE_LAYER = Entry(
    "single-layer",
    "Single boundary layer",
    "-nu u'' + u' = 0 on (0, 1), u(0) = 0, u(1) = 1",
    _single,
    _single_exact,
    lambda nu: (Feature(1.0, nu),),
)

TWIN_LAYER = Entry(
    "twin-layer",
    "Twin boundary layers",
    "-nu u'' + 2 (2x - 1) u' + 4 u = 0 on (0, 1), u(0) = u(1) = 1",
    _twin,
    _twin_exact,
    lambda nu: (Feature(0.0, nu / 2), Feature(1.0, nu / 2)),
)

REACTION = Entry(
    "reaction",
    "Reaction-diffusion layers",
    "-nu u'' + u = 1 on (0, 1), u(0) = u(1) = 0",
    _reaction,
    _reaction_exact,
    lambda nu: (Feature(0.0, nu**0.5), Feature(1.0, nu**0.5)),
)

TURNING_POINT = Entry(
    "turning-point",
    "Interior layer at a turning point",
    "nu u'' + x u' = -nu pi^2 cos(pi x) - pi x sin(pi x) on (-1, 1), u(-1) = -2, u(1) = 0",
    _turning_point,
    _turning_point_exact,
    lambda nu: (Feature(0.0, (2 * nu) ** 0.5),),
)

SPIKE = Entry(
    "spike",
    "Source spike",
    "-u'' = a normal density of width nu about 0.3718281828 on (0, 1), u(0) = u(1) = 0",
    _spike,
    _spike_exact,
    lambda width: (Feature(_SPIKE_AT, width),),
)

OSCILLATION = Entry(
    "oscillation",
    "Oscillation",
    "u'' + k^2 u = 0 on (0, 1), u = cos(k x) + sin(k x)/2 at the ends",
    _oscillation,
    _oscillation_exact,
    lambda wavenumber: (),
)
