"""Linear problems in time on an interval: fronts, pulses and waves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from sharpfront.catalog.entry import Feature, TimeEntry
from sharpfront.geometry import Interval
from sharpfront.problem import Problem

Field = Callable[..., Any]
Features = Callable[[float], tuple[Feature, ...]]

_SPEED = 0.5
_START = 0.25
# The front begins with the width it would have got from a jump in this time.
_AGE = 0.05


def _front_exact(nu: float) -> Field:
    def exact(x: Any, t: Any) -> Any:
        return special.erfc((x - _SPEED * t - _START) / np.sqrt(4 * nu * (t + _AGE))) / 2

    return exact


def _front_slope(nu: float) -> Field:
    def slope(x: Any, t: Any) -> Any:
        spread = 4 * nu * (t + _AGE)
        return -np.exp(-((x - _SPEED * t - _START) ** 2) / spread) / np.sqrt(np.pi * spread)

    return slope


def _front_features(nu: float) -> Features:
    return lambda t: (Feature(_START + _SPEED * t, float(np.sqrt(4 * nu * (t + _AGE)))),)


def _front(nu: float) -> Problem:
    exact = _front_exact(nu)
    return Problem(
        Interval(0, 1),
        lambda u, x, t: u.dt + _SPEED * u.dx - nu * u.dxx,
        boundary=lambda u, x, t: u - exact(x, t),
        initial=lambda x: exact(x, 0.0),
        time=(0, 1),
    )


def _flux_front(nu: float) -> Problem:
    exact, slope = _front_exact(nu), _front_slope(nu)
    return Problem(
        Interval(0, 1),
        lambda u, x, t: u.dt + _SPEED * u.dx - nu * u.dxx,
        left=lambda u, x, t: _SPEED * u - nu * u.dx - (_SPEED * exact(x, t) - nu * slope(x, t)),
        right=lambda u, x, t: u.dn - slope(x, t),
        initial=lambda x: exact(x, 0.0),
        time=(0, 1),
    )


def _advected(profile: Callable[[Any], Any], speed: float) -> Problem:
    return Problem(
        Interval(0, 2 * np.pi, periodic=True),
        lambda u, x, t: u.dt + speed * u.dx,
        initial=profile,
        time=(0, 1),
    )


def round_pulse(width: float, period: float) -> Callable[[Any], Any]:
    """Return a smooth periodic pulse about 0, a Gaussian of that width near its middle."""
    scale = period / np.pi / width

    def pulse(z: Any) -> Any:
        return np.exp(-0.5 * (scale * np.sin(np.pi * z / period)) ** 2)

    return pulse


_PULSE_SPEED = 40.0
_PULSE_START = 1.0


def _pulse_exact(width: float) -> Field:
    pulse = round_pulse(width, 2 * np.pi)
    return lambda x, t: pulse(x - _PULSE_START - _PULSE_SPEED * t)


def _pulse_features(width: float) -> Features:
    def features(t: float) -> tuple[Feature, ...]:
        return (Feature(float((_PULSE_START + _PULSE_SPEED * t) % (2 * np.pi)), width),)

    return features


_REFLECTED_START = 0.4


def _reflected_exact(width: float) -> Field:
    pulse, at = round_pulse(width, 4.0), _REFLECTED_START

    def profile(x: Any) -> Any:
        # Odd about the fixed end 0, even about the free end 1.
        return pulse(x - at) - pulse(x + at) + pulse(x - 2 + at) - pulse(x + 2 - at)

    return lambda x, t: (profile(x - t) + profile(x + t)) / 2


def _reflected(width: float) -> Problem:
    exact = _reflected_exact(width)
    return Problem(
        Interval(0, 1),
        lambda u, x, t: u.dtt - u.dxx,
        left=lambda u, x, t: u,
        right=lambda u, x, t: u.dn,
        initial=(lambda x: exact(x, 0.0), 0.0),
        time=(0, 1),
    )


def _reflected_features(width: float) -> Features:
    def features(t: float) -> tuple[Feature, ...]:
        left, right = abs(_REFLECTED_START - t), 1 - abs(1 - _REFLECTED_START - t)
        return Feature(left, width), Feature(right, width)

    return features


_WAVE_SPEED = 2.0


def _wave_exact(width: float) -> Field:
    pulse = round_pulse(width, 2.0)
    return lambda x, t: pulse(x - _WAVE_SPEED * t)


def _wave(width: float) -> Problem:
    exact = _wave_exact(width)

    def rate(x: Any) -> Any:
        # pulse' = -pulse (scale^2 / 2) sin(2 pi z / P) pi / P with P = 2.
        scale = 2.0 / np.pi / width
        return _WAVE_SPEED * exact(x, 0.0) * scale**2 * np.sin(np.pi * x) * np.pi / 4

    return Problem(
        Interval(-1, 1, periodic=True),
        lambda u, x, t: u.dtt - _WAVE_SPEED**2 * u.dxx,
        initial={"u": lambda x: exact(x, 0.0), "u_t": rate},
        time=(0, 1),
    )


def _wave_features(width: float) -> Features:
    return lambda t: (Feature(float((_WAVE_SPEED * t + 1) % 2 - 1), width),)


MOVING_FRONT = TimeEntry(
    "moving-front",
    "Front carried by a flow",
    "u_t + u_x/2 = nu u_xx on (0, 1), u = erfc((x - t/2 - 1/4) / sqrt(4 nu (t + 1/20))) / 2 at the "
    "ends and at the start",
    "diffusivity nu",
    (1e-3, 1e-4, 1e-6),
    _front,
    _front_exact,
    _front_features,
)
FLUX_FRONT = TimeEntry(
    "flux-front",
    "Front carried by a flow, with its flux and slope given",
    "As the moving front, with u/2 - nu u_x given at 0 and u_x at 1",
    "diffusivity nu",
    (1e-2, 1e-3, 1e-4),
    _flux_front,
    _front_exact,
    _front_features,
)
FAST_ADVECTION = TimeEntry(
    "fast-advection",
    "Sine carried fast",
    "u_t + c u_x = 0 on (0, 2 pi), periodic, u = sin x at the start",
    "speed c",
    (40.0,),
    lambda speed: _advected(lambda x: np.sin(x), speed),
    lambda speed: lambda x, t: np.sin(x - speed * t),
    lambda speed: lambda t: (),
)
FAST_PULSE = TimeEntry(
    "fast-pulse",
    "Narrow pulse carried fast",
    "u_t + 40 u_x = 0 on (0, 2 pi), periodic, u = exp(-2 sin((x - 1)/2)^2 / w^2) at the start",
    "width w",
    (1e-1, 1e-2, 1e-3),
    lambda w: _advected(lambda x: _pulse_exact(w)(x, 0.0), _PULSE_SPEED),
    _pulse_exact,
    _pulse_features,
)
REFLECTED_PULSE = TimeEntry(
    "reflected-pulse",
    "Waves reflected at a fixed and a free end",
    "u_tt = u_xx on (0, 1), u = 0 at 0, u_x = 0 at 1; at the start, at rest, p(x - 0.4) and its "
    "images in both ends, p(z) = exp(-(4 sin(pi z / 4) / (pi w))^2 / 2)",
    "width w",
    (1e-1, 3e-2, 1e-2),
    _reflected,
    _reflected_exact,
    _reflected_features,
)
WAVE_PULSE = TimeEntry(
    "wave-pulse",
    "Wave that goes one way",
    "u_tt = 4 u_xx on (-1, 1), periodic, at the start u = p(x) and u_t = -2 p'(x) with "
    "p(z) = exp(-(2 sin(pi z / 2) / (pi w))^2 / 2)",
    "width w",
    (1e-1, 3e-2, 1e-2),
    _wave,
    _wave_exact,
    _wave_features,
)
