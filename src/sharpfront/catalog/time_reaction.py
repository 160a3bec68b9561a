"""Reacting and dispersive problems in time: travelling fronts, patterns, solitary waves.

Those without a formula have references by a spectral method beside the tests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sharpfront.catalog.entry import Feature, TimeEntry
from sharpfront.geometry import Interval
from sharpfront.problem import Problem

Field = Callable[..., Any]
Features = Callable[[float], tuple[Feature, ...]]


def _nowhere(_: float) -> Features:
    return lambda t: ()


_GROWTH = 10.0
_FISHER_START = 0.3


def _fisher_exact(diffusivity: float) -> Field:
    speed = 5 * np.sqrt(_GROWTH * diffusivity / 6)
    rate = np.sqrt(_GROWTH / (6 * diffusivity))

    def exact(x: Any, t: Any) -> Any:
        # 1 / (1 + e^z)^2, written so that nothing overflows.
        z = rate * (x - _FISHER_START - speed * t)
        return ((1 - np.tanh(z / 2)) / 2) ** 2

    return exact


def _fisher(diffusivity: float) -> Problem:
    exact = _fisher_exact(diffusivity)
    return Problem(
        Interval(0, 1),
        lambda u, x, t: u.dt - diffusivity * u.dxx - _GROWTH * u * (1 - u),
        boundary=lambda u, x, t: u - exact(x, t),
        initial=lambda x: exact(x, 0.0),
        time=(0, 1),
    )


def _fisher_features(diffusivity: float) -> Features:
    speed = 5 * np.sqrt(_GROWTH * diffusivity / 6)
    width = float(np.sqrt(6 * diffusivity / _GROWTH))
    return lambda t: (Feature(float(_FISHER_START + speed * t), width),)


_THRESHOLD = 0.25
_NAGUMO_START = 0.25


def _nagumo_exact(strength: float) -> Field:
    def exact(x: Any, t: Any) -> Any:
        return (1 - np.tanh(strength * (x - _NAGUMO_START - t / 2) / 4)) / 2

    return exact


def _nagumo(strength: float) -> Problem:
    exact = _nagumo_exact(strength)
    return Problem(
        Interval(0, 1),
        lambda u, x, t: u.dt - (2 / strength) * u.dxx - strength * u * (1 - u) * (u - _THRESHOLD),
        boundary=lambda u, x, t: u - exact(x, t),
        initial=lambda x: exact(x, 0.0),
        time=(0, 1),
    )


def _allen_cahn(diffusivity: float) -> Problem:
    return Problem(
        Interval(-1, 1, periodic=True),
        lambda u, x, t: u.dt - diffusivity * u.dxx - 5 * (u - u**3),
        initial=lambda x: x**2 * np.cos(np.pi * x),
        time=(0, 1),
    )


def _kdv(dispersion: float) -> Problem:
    return Problem(
        Interval(-1, 1, periodic=True),
        lambda u, x, t: u.dt + u * u.dx + dispersion**2 * u.d("x", 3),
        initial=lambda x: np.cos(np.pi * x),
        time=(0, 1),
    )


def _kuramoto(end: float) -> Problem:
    return Problem(
        Interval(0, 32 * np.pi, periodic=True),
        lambda u, x, t: u.dt + u * u.dx + u.dxx + u.d("x", 4),
        initial=lambda x: np.cos(x / 16) * (1 + np.sin(x / 16)),
        time=(0, end),
    )


_FEED, _KILL = 0.02, 0.0862


def _gray_scott(diffusivity: float) -> Problem:
    def bump(x: Any) -> Any:
        return np.cos(np.pi * x / 100) ** 100

    return Problem(
        Interval(-50, 50, periodic=True),
        lambda u, v, x, t: (
            u.dt - u.dxx - _FEED * (1 - u) + u * v**2,
            v.dt - diffusivity * v.dxx + _KILL * v - u * v**2,
        ),
        initial=(lambda x: 1 - bump(x) / 2, lambda x: bump(x) / 4),
        time=(0, 100),
    )


FISHER = TimeEntry(
    "fisher",
    "Front into an unstable state",
    "u_t = D u_xx + 10 u (1 - u) on (0, 1), u = (1 + exp((x - 0.3 - c t) sqrt(10 / (6 D))))^-2 "
    "with c = 5 sqrt(10 D / 6) at the ends and at the start; errors ahead of it grow "
    "like exp(10 t)",
    "diffusivity D",
    (1e-2, 1e-3, 1e-4),
    _fisher,
    _fisher_exact,
    _fisher_features,
)
NAGUMO = TimeEntry(
    "nagumo",
    "Front between two stable states",
    "u_t = (2/k) u_xx + k u (1 - u) (u - 1/4) on (0, 1), u = 1 / (1 + exp(k (x - 1/4 - t/2) / 2)) "
    "at the ends and at the start",
    "strength k of the reaction",
    (1e2, 1e3, 1e4),
    _nagumo,
    _nagumo_exact,
    lambda k: lambda t: (Feature(_NAGUMO_START + t / 2, 2 / k),),
)
ALLEN_CAHN = TimeEntry(
    "allen-cahn",
    "Layers between two phases",
    "u_t = D u_xx + 5 (u - u^3) on (-1, 1), periodic, u = x^2 cos pi x at the start",
    "diffusivity D",
    (1e-4,),
    _allen_cahn,
    None,
    # The start has a kink where the ends meet.
    lambda d: lambda t: (Feature(-1.0, float(np.sqrt(4 * d * max(t, 1e-8)))),),
    100,
)
KDV = TimeEntry(
    "korteweg-de-vries",
    "Solitary waves from a cosine",
    "u_t + u u_x + d^2 u_xxx = 0 on (-1, 1), periodic, u = cos pi x at the start",
    "dispersion d",
    (0.022,),
    _kdv,
    None,
    _nowhere,
    60,
)
KURAMOTO_SIVASHINSKY = TimeEntry(
    "kuramoto-sivashinsky",
    "Cells on the way to chaos",
    "u_t + u u_x + u_xx + u_xxxx = 0 on (0, 32 pi), periodic, "
    "u = cos(x/16) (1 + sin(x/16)) at the start",
    "end of time",
    (50.0,),
    _kuramoto,
    None,
    _nowhere,
    60,
)
GRAY_SCOTT = TimeEntry(
    "gray-scott",
    "Pulse of two species that splits",
    "u_t = u_xx + 0.02 (1 - u) - u v^2, v_t = D v_xx - 0.0862 v + u v^2 on (-50, 50), periodic, "
    "u = 1 - b/2 and v = b/4 with b = cos(pi x / 100)^100 at the start, t to 100",
    "diffusivity D of v",
    (1e-2,),
    _gray_scott,
    None,
    _nowhere,
    100,
)
