"""Heat on an interval from rough data: a jump, kinks, a face that is cooled from the start on."""

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

_EDGE = 0.3
_IMAGES = range(-3, 4)


def _spread(diffusivity: float, t: Any) -> Any:
    # At the start the limit is taken by a width that no rounding sees.
    return np.maximum(np.sqrt(4 * diffusivity * t), 1e-200)


def _step_exact(diffusivity: float) -> Field:
    def exact(x: Any, t: Any) -> Any:
        s = _spread(diffusivity, t)
        centred = (x - 2 * k for k in _IMAGES)
        return sum(special.erf((z + _EDGE) / s) - special.erf((z - _EDGE) / s) for z in centred) / 2

    return exact


def _step(diffusivity: float) -> Problem:
    return Problem(
        Interval(0, 1),
        lambda u, x, t: u.dt - diffusivity * u.dxx,
        boundary=lambda u, x, t: u.dn,
        initial=lambda x: np.heaviside(_EDGE - x, 0.5),
        time=(0, 1),
    )


def _at(position: float, diffusivity: float) -> Features:
    # A moment after the start still has a width.
    return lambda t: (Feature(position, float(np.sqrt(4 * diffusivity * max(t, 1e-8)))),)


_HAT, _HALF_BASE = 0.45, 0.2


def _kink(z: Any, s: Any) -> Any:
    """Return what heat makes of |z|: z erf(z/s) + s exp(-z^2/s^2) / sqrt(pi)."""
    scaled = np.minimum(np.abs(z) / s, 40.0)
    return z * special.erf(z / s) + s * np.exp(-(scaled**2)) / np.sqrt(np.pi)


def _hat_exact(diffusivity: float) -> Field:
    def hat(z: Any, s: Any) -> Any:
        outer = _kink(z + _HALF_BASE, s) + _kink(z - _HALF_BASE, s)
        return (outer - 2 * _kink(z, s)) / (2 * _HALF_BASE)

    def exact(x: Any, t: Any) -> Any:
        s = _spread(diffusivity, t)
        return sum(hat(x - 2 * k - _HAT, s) - hat(x - 2 * k + _HAT, s) for k in _IMAGES)

    return exact


def _hat(diffusivity: float) -> Problem:
    return Problem(
        Interval(0, 1),
        lambda u, x, t: u.dt - diffusivity * u.dxx,
        boundary=lambda u, x, t: u,
        initial=lambda x: np.maximum(0.0, 1 - np.abs(x - _HAT) / _HALF_BASE),
        time=(0, 1),
    )


def _hat_features(diffusivity: float) -> Features:
    places = (_HAT - _HALF_BASE, _HAT, _HAT + _HALF_BASE)
    return lambda t: tuple(f for p in places for f in _at(p, diffusivity)(t))


_EXCHANGE = 10.0


def _cooling_exact(diffusivity: float) -> Field:
    def exact(x: Any, t: Any) -> Any:
        s = _spread(diffusivity, t)
        near = np.minimum(x / s, 40.0)
        return special.erf(near) + np.exp(-(near**2)) * special.erfcx(near + _EXCHANGE * s / 2)

    return exact


def _cooling(diffusivity: float) -> Problem:
    exact = _cooling_exact(diffusivity)
    return Problem(
        Interval(0, 1),
        lambda u, x, t: u.dt - diffusivity * u.dxx,
        left=lambda u, x, t: u.dx - _EXCHANGE * u,
        right=lambda u, x, t: u - exact(1.0, t),
        initial=1.0,
        time=(0, 1),
    )


HEAT_STEP = TimeEntry(
    "heat-step",
    "Heat from a jump, insulated ends",
    "u_t = k u_xx on (0, 1), u_x = 0 at the ends, u = 1 for x < 0.3 and 0 beyond at the start",
    "diffusivity k",
    (1e-1, 1e-2, 1e-3),
    _step,
    _step_exact,
    lambda k: _at(_EDGE, k),
)
HEAT_HAT = TimeEntry(
    "heat-hat",
    "Heat from a hat with three kinks, cold ends",
    "u_t = k u_xx on (0, 1), u = 0 at the ends, u = max(0, 1 - 5 |x - 0.45|) at the start",
    "diffusivity k",
    (1e-1, 1e-2, 1e-3),
    _hat,
    _hat_exact,
    _hat_features,
)
COOLING = TimeEntry(
    "cooling",
    "Wall cooled at its face",
    "u_t = k u_xx on (0, 1), u_x = 10 u at 0, u that of a half-space at 1, u = 1 at the start",
    "diffusivity k",
    (1e-1, 1e-2, 1e-3),
    _cooling,
    _cooling_exact,
    lambda k: _at(0.0, k),
)
