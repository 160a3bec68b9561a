"""Nonlinear problems with exact solutions, in one dimension and in the plane."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ellipkinc, ellipkm1

from sharpfront.arrays import FloatArray
from sharpfront.catalog.entry import Entry, Feature
from sharpfront.geometry import Interval
from sharpfront.problem import Problem, at


@dataclass(frozen=True, eq=False)
class NonlinearEntry(Entry):
    """A named nonlinear problem of one dimension.

    Parameters
    ----------
    values
        Values of the parameter that are of interest.
    guess
        What to start from, where zero leads to another solution.
    """

    values: tuple[float, ...] = ()
    guess: Callable[..., Any] | None = None


_STEEP = 50.0


def _burgers_parts(x: Any) -> tuple[Any, Any, Any]:
    """Return u = sin x (1 + 0.35 tanh(50 (x - pi/2))), u' and u''."""
    t = np.tanh(_STEEP * (x - np.pi / 2))
    w = 1 + 0.35 * t
    w1 = 0.35 * _STEEP * (1 - t**2)
    w2 = -2 * _STEEP * t * w1
    s, c = np.sin(x), np.cos(x)
    return s * w, c * w + s * w1, -s * w + 2 * c * w1 + s * w2


def _burgers(nu: float) -> Problem:
    def residual(u: Any, x: Any) -> Any:
        e, e1, e2 = _burgers_parts(x)
        return -nu * u.dxx + u * u.dx - (-nu * e2 + e * e1)

    return Problem(Interval(0, np.pi), residual, boundary=lambda u, x: u)


# Not a place that a grid of equal cells would hit.
_SHOCK_AT = 0.1234567


def _shock_exact(nu: float) -> Callable[..., Any]:
    return lambda x: -np.tanh((x - _SHOCK_AT) / (2 * nu))


def _shock(nu: float) -> Problem:
    end = float(_shock_exact(nu)(-1.0))
    return Problem(
        Interval(-1, 1),
        lambda u, x: -nu * u.dxx + u * u.dx,
        left=lambda u, x: u - end,
        conditions=at(_SHOCK_AT, lambda u, x: u),
    )


def _reaction_layer_exact(eps: float) -> Callable[..., Any]:
    start = float(np.arcsinh(np.sqrt(2)))

    def exact(x: Any) -> Any:
        # sqrt(2) / sinh(s), written so that nothing overflows.
        s = x / eps + start
        return -2 * np.sqrt(2) * np.exp(-s) / np.expm1(-2 * s)

    return exact


def _reaction_layer(eps: float) -> Problem:
    exact = _reaction_layer_exact(eps)
    return Problem(
        Interval(0, 1),
        lambda u, x: eps**2 * u.dxx - u - u**3,
        boundary=lambda u, x: u - exact(x),
    )


def _twin_reaction_exact(eps: float) -> Callable[..., Any]:
    def exact(x: Any) -> Any:
        a, b = np.exp(-x / eps), np.exp((x - 1) / eps)
        return np.cos(np.pi * x) - a - b

    return exact


def _twin_reaction(eps: float) -> Problem:
    exact = _twin_reaction_exact(eps)

    def residual(u: Any, x: Any) -> Any:
        e = exact(x)
        second = -(np.pi**2) * np.cos(np.pi * x) - (np.cos(np.pi * x) - e) / eps**2
        return -(eps**2) * u.dxx + u + u**3 - (-(eps**2) * second + e + e**3)

    return Problem(Interval(0, 1), residual, boundary=lambda u, x: u - exact(x))


def bratu_parameter(strength: float, upper: bool) -> float:
    """Return t with t = sqrt(2 strength) cosh(t / 4), the smaller or the larger one."""
    # The fold: where the line through the origin touches the curve.
    fold = 4.798714561030743

    def miss(t: float) -> float:
        return float(t - np.sqrt(2 * strength) * np.cosh(t / 4))

    return float(brentq(miss, *((fold, 60.0) if upper else (0.0, fold)), xtol=1e-15, rtol=1e-15))


def _bratu(strength: float) -> Problem:
    return Problem(
        Interval(0, 1), lambda u, x: u.dxx + strength * np.exp(u), boundary=lambda u, x: u
    )


def _bratu_exact(upper: bool) -> Callable[[float], Callable[..., Any]]:
    def exact(strength: float) -> Callable[..., Any]:
        t = bratu_parameter(strength, upper)
        return lambda x: -2 * (_log_cosh((x - 0.5) * t / 2) - _log_cosh(t / 4))

    return exact


def _log_cosh(z: Any) -> Any:
    size = np.abs(z)
    return size + np.log1p(np.exp(-2 * size)) - np.log(2.0)


def _troesch(mu: float) -> Problem:
    return Problem(
        Interval(0, 1),
        lambda u, x: u.dxx - mu * np.sinh(mu * u),
        left=lambda u, x: u,
        right=lambda u, x: u - 1,
    )


def tangent_amplitude(u: Any, complement: float) -> Any:
    """Return Jacobi's sc(u | m) for 1 - m = complement, exact also where m is nearly one.

    The arithmetic-geometric mean of 1 and sqrt(1 - m), and the amplitude back through its steps.
    """
    a, b, steps = 1.0, np.sqrt(complement), []
    # It converges quadratically.
    while abs(a - b) > 1e-15 * a:
        a, b, c = 0.5 * (a + b), np.sqrt(a * b), 0.5 * (a - b)
        steps.append((a, c))
    phi = 2.0 ** len(steps) * a * np.asarray(u, dtype=float)
    for a, c in reversed(steps):
        phi = 0.5 * (phi + np.arcsin(c / a * np.sin(phi)))
    return np.tan(phi)


def _troesch_pole(mu: float) -> tuple[float, float]:
    """Return u'(0) / 2 of Troesch's problem and mu times how far behind 1 its pole lies.

    u = 2 / mu asinh(k sc(mu x | 1 - k^2)) with k = u'(0) / 2 has its pole at mu x = K, and
    k sc(K - w) = 1 / sc(w), so that u(1) = 1 says where the pole is, up to k's little influence.
    """
    # tan am(w) = sc(w) = 1 / sinh(mu / 2).
    angle = float(np.arctan(1.0 / np.sinh(mu / 2)))

    def behind(k: float) -> float:
        return float(ellipkinc(angle, 1.0 - k * k))

    def miss(log_k: float) -> float:
        k = float(np.exp(log_k))
        return float(ellipkm1(k * k)) - mu - behind(k)

    # K lies between log(4 / k) and log(4 / k) + 1 for k < 1.
    low, high = np.log(1e-3) - mu, np.log(1.0 - 1e-12)
    k = float(np.exp(brentq(miss, low, high, xtol=1e-15, rtol=1e-15)))
    return k, behind(k)


def troesch_slope(mu: float) -> float:
    """Return u'(0) of Troesch's problem."""
    return 2.0 * _troesch_pole(mu)[0]


def _troesch_exact(mu: float) -> Callable[..., Any]:
    k, behind = _troesch_pole(mu)

    def exact(x: Any) -> Any:
        x = np.asarray(x, dtype=float)
        # Each half is measured from its own side: beside the pole sc knows few digits of u.
        left = k * tangent_amplitude(mu * np.minimum(x, 0.5), k * k)
        right = 1.0 / tangent_amplitude(behind + mu * (1.0 - np.maximum(x, 0.5)), k * k)
        return 2 / mu * np.arcsinh(np.where(x < 0.5, left, right))

    return exact


def _beam_exact(load: float) -> Callable[..., Any]:
    return lambda x: load * np.sin(np.pi * x) ** 2


def _beam(load: float) -> Problem:
    k = 2 * np.pi

    def residual(u: Any, x: Any) -> Any:
        slope, bend = load * np.pi * np.sin(k * x), load * np.pi * k * np.cos(k * x)
        fourth = -(k**2) * bend
        f = fourth - 6.0 * slope**2 * bend
        return u.dxxxx - 6.0 * u.dx**2 * u.dxx - f

    return Problem(Interval(0, 1), residual, boundary=lambda u, x: (u, u.dx))


def _none(_: float) -> tuple[Feature, ...]:
    return ()


BURGERS = NonlinearEntry(
    "burgers-source",
    "Steady Burgers with a source",
    "-nu u'' + u u' = f on (0, pi), zero ends, u = sin x (1 + 0.35 tanh(50 (x - pi/2)))",
    _burgers,
    lambda nu: lambda x: _burgers_parts(x)[0],
    lambda nu: (Feature(np.pi / 2, 1 / _STEEP),),
    (2e-2, 1e-3, 1e-4),
)
SHOCK = NonlinearEntry(
    "pinned-shock",
    "Viscous shock whose position is given",
    "-nu u'' + u u' = 0 on (-1, 1), u(-1) and u(0.1234567) = 0 given, u = -tanh((x - s) / (2 nu))",
    _shock,
    _shock_exact,
    lambda nu: (Feature(_SHOCK_AT, 2 * nu),),
    (1e-1, 1e-2, 1e-3, 1e-4),
)
REACTION_LAYER = NonlinearEntry(
    "reaction-layer",
    "Nonlinear reaction layer",
    "eps^2 u'' = u + u^3 on (0, 1), u(0) = 1, u = sqrt(2) / sinh(x / eps + c)",
    _reaction_layer,
    _reaction_layer_exact,
    lambda eps: (Feature(0.0, eps),),
    (1e-1, 1e-2, 1e-3, 1e-4),
)
TWIN_REACTION = NonlinearEntry(
    "twin-reaction",
    "Nonlinear reaction with a source",
    "-eps^2 u'' + u + u^3 = f on (0, 1), u = cos(pi x) - exp(-x / eps) - exp((x - 1) / eps)",
    _twin_reaction,
    _twin_reaction_exact,
    lambda eps: (Feature(0.0, eps), Feature(1.0, eps)),
    (1e-1, 1e-2, 1e-3, 1e-4),
)
BRATU = NonlinearEntry(
    "bratu",
    "Bratu, lower branch",
    "u'' + k exp(u) = 0 on (0, 1), zero ends",
    _bratu,
    _bratu_exact(upper=False),
    _none,
    (1.0, 3.5),
)
BRATU_UPPER = NonlinearEntry(
    "bratu-upper",
    "Bratu, upper branch",
    "u'' + k exp(u) = 0 on (0, 1), zero ends",
    _bratu,
    _bratu_exact(upper=True),
    _none,
    (1.0, 3.5),
    lambda x: 5.0 * np.sin(np.pi * x),
)
TROESCH = NonlinearEntry(
    "troesch",
    "Troesch's problem",
    "u'' = mu sinh(mu u) on (0, 1), u(0) = 0, u(1) = 1",
    _troesch,
    _troesch_exact,
    lambda mu: (Feature(1.0, float(np.exp(-mu / 2)) / mu),),
    (5.0, 10.0),
)
BEAM = NonlinearEntry(
    "beam",
    "Clamped beam with large deflection",
    "u'''' - 6 u'^2 u'' = f on (0, 1), u = u' = 0 at both ends, u = a sin(pi x)^2",
    _beam,
    _beam_exact,
    _none,
    (0.5, 2.0),
)

LINE: tuple[NonlinearEntry, ...] = (
    *(BURGERS, SHOCK, REACTION_LAYER, TWIN_REACTION, BRATU, BRATU_UPPER, TROESCH, BEAM),
)


def points(entry: NonlinearEntry, value: float) -> FloatArray:
    """Return test points graded into the features, (m,)."""
    from sharpfront.catalog.measure import graded_points

    return graded_points(entry.problem(value).domain, entry.features(value))
