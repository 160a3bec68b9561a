"""Viscous shocks in time: u_t + u u_x = nu u_xx, all exact by the Cole-Hopf transformation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import special

from sharpfront.arrays import FloatArray
from sharpfront.catalog.entry import Feature, TimeEntry
from sharpfront.catalog.time_measure import steepest
from sharpfront.equation import function
from sharpfront.geometry import Interval
from sharpfront.problem import Problem

Field = Callable[..., Any]
Features = Callable[[float], tuple[Feature, ...]]

# Weights below exp(-_NEGLIGIBLE) of the largest are left out.
_NEGLIGIBLE = 45.0
_CHUNK = 4000


@dataclass(frozen=True, eq=False)
class ColeHopf:
    """The solution of u_t + u u_x = nu u_xx on the whole line from smooth bounded data.

    It is an average of the data, u = sum w(y) u0(y) / sum w(y), with the weights

        w(y) = exp(-(x - y)^2 / (4 nu t) - P(y) / (2 nu)),  P' = u0,

    taken by the trapezoidal rule, which converges exponentially for such integrands. All
    weights are positive, so nothing cancels: the error is a few times the rounding of the exponent.

    Parameters
    ----------
    nu
        The viscosity.
    start, potential
        u0 and P.
    drop
        The largest difference of P between two places.
    steepness
        The largest slope of u0, where the weights are narrowest.
    nodes
        Nodes of the rule in a width of the weights.
    """

    nu: float
    start: Callable[[Any], Any]
    potential: Callable[[Any], Any]
    drop: float
    steepness: float
    nodes: float = 10.0

    def __call__(self, x: Any, t: Any) -> Any:
        """Return u at points and moments, which broadcast."""
        points, moments = np.broadcast_arrays(
            np.asarray(x, dtype=float), np.asarray(t, dtype=float)
        )
        pairs = np.column_stack([points.ravel(), moments.ravel()])
        pieces = [self._some(pairs[i : i + _CHUNK]) for i in range(0, len(pairs), _CHUNK)]
        values = np.concatenate(pieces) if pieces else np.empty(0)
        return values.reshape(points.shape)[()]

    def _some(self, pairs: FloatArray) -> FloatArray:
        x, t = pairs.T[:, :, None]
        reach = np.sqrt(self.drop / (2 * self.nu) + _NEGLIGIBLE)
        finest = np.sqrt(1 + np.max(t) * self.steepness) * self.nodes
        s = np.linspace(-reach, reach, 2 * int(np.ceil(reach * finest)) + 1)
        y = x - np.sqrt(4 * self.nu * t) * s
        exponent = -(s**2) - self.potential(y) / (2 * self.nu)
        weights = np.exp(exponent - np.max(exponent, axis=1, keepdims=True))
        total = np.sum(weights, axis=1)
        return np.asarray(np.sum(weights * self.start(y), axis=1) / total)


def _viscous(
    ends: tuple[float, float], nu: float, exact: Field, boundary: Callable[..., Any]
) -> Problem:
    return Problem(
        Interval(*ends),
        lambda u, x, t: u.dt + u * u.dx - nu * u.dxx,
        boundary=boundary,
        initial=lambda x: exact(x, 0.0),
        time=(0, 1),
    )


def _shock_exact(nu: float) -> Field:
    return lambda x, t: (1 - np.tanh((x - 0.25 - t / 2) / (4 * nu))) / 2


def _shock(nu: float) -> Problem:
    exact = _shock_exact(nu)
    return _viscous((0, 1), nu, exact, lambda u, x, t: u - exact(x, t))


@lru_cache(maxsize=8)
def _burgers_exact(nu: float) -> Field:
    return ColeHopf(
        nu,
        lambda y: -np.sin(np.pi * y),
        lambda y: np.cos(np.pi * y) / np.pi,
        2 / np.pi,
        np.pi,
    )


def _burgers(nu: float) -> Problem:
    return Problem(
        Interval(-1, 1),
        lambda u, x, t: u.dt + u * u.dx - nu * u.dxx,
        boundary=lambda u, x, t: u,
        initial=lambda x: -np.sin(np.pi * x),
        time=(0, 1),
    )


def _burgers_features(nu: float) -> Features:
    exact = _burgers_exact(nu)

    @lru_cache(maxsize=512)
    def features(t: float) -> tuple[Feature, ...]:
        return (Feature(0.0, min(0.5, steepest(lambda x: exact(x, t), -0.5, 0.5, 201).width)),)

    return features


_HUMP, _HUMP_WIDTH = 0.3, 0.1


@lru_cache(maxsize=8)
def _hump_exact(nu: float) -> Field:
    area = _HUMP_WIDTH * np.sqrt(np.pi)
    return ColeHopf(
        nu,
        lambda y: np.exp(-(((y - _HUMP) / _HUMP_WIDTH) ** 2)),
        lambda y: area / 2 * special.erf((y - _HUMP) / _HUMP_WIDTH),
        float(area),
        math.sqrt(2 / math.e) / _HUMP_WIDTH,
    )


def _hump(nu: float) -> Problem:
    exact = _hump_exact(nu)
    data = function(exact)
    return _viscous((0, 1), nu, exact, lambda u, x, t: u - data(x, t))


def _hump_features(nu: float) -> Features:
    exact = _hump_exact(nu)

    @lru_cache(maxsize=512)
    def features(t: float) -> tuple[Feature, ...]:
        return (steepest(lambda x: exact(x, t), 0.0, 1.0, 401),)

    return features


# Three states, and the places a of their weights.
_STATES = (1.0, 0.5, 0.1)
_PLACES = (0.375, 0.5, 0.5)


def _merging_exact(nu: float) -> Field:
    def exact(x: Any, t: Any) -> Any:
        exponents = [
            (c * c * t / 4 - c * (x - a) / 2) / nu for c, a in zip(_STATES, _PLACES, strict=True)
        ]
        top = np.maximum(np.maximum(exponents[0], exponents[1]), exponents[2])
        weights = [np.exp(e - top) for e in exponents]
        return sum(c * w for c, w in zip(_STATES, weights, strict=True)) / sum(weights)

    return exact


def _merging(nu: float) -> Problem:
    exact = _merging_exact(nu)
    return _viscous((0, 1), nu, exact, lambda u, x, t: u - exact(x, t))


def _merging_features(nu: float) -> Features:
    def features(t: float) -> tuple[Feature, ...]:
        fast, slow = 0.25 + 0.75 * t, 0.5 + 0.3 * t
        if fast < slow:
            return Feature(fast, 8 * nu), Feature(slow, 10 * nu)
        return (Feature(13 / 36 + 0.55 * t, 4 * nu / 0.9),)

    return features


TRAVELLING_SHOCK = TimeEntry(
    "travelling-shock",
    "Shock that travels",
    "u_t + u u_x = nu u_xx on (0, 1), u = (1 - tanh((x - 1/4 - t/2) / (4 nu))) / 2 at the ends and "
    "at the start",
    "viscosity nu",
    (1e-3, 1e-4),
    _shock,
    _shock_exact,
    lambda nu: lambda t: (Feature(0.25 + t / 2, 4 * nu),),
)
BURGERS = TimeEntry(
    "burgers",
    "Shock that forms from a sine",
    "u_t + u u_x = nu u_xx on (-1, 1), u = 0 at the ends, u = -sin pi x at the start",
    "viscosity nu",
    (0.01 / np.pi, 1e-3),
    _burgers,
    _burgers_exact,
    _burgers_features,
)
HUMP = TimeEntry(
    "hump",
    "Shock that forms from a hump and travels",
    "u_t + u u_x = nu u_xx on (0, 1), u = exp(-((x - 0.3) / 0.1)^2) at the start, at the ends what "
    "becomes of it on the whole line",
    "viscosity nu",
    (1e-2, 1e-3, 3e-4),
    _hump,
    _hump_exact,
    _hump_features,
)
MERGING_SHOCKS = TimeEntry(
    "merging-shocks",
    "Two shocks that become one",
    "u_t + u u_x = nu u_xx on (0, 1), u the average of 1, 1/2 and 1/10 with weights "
    "exp((c^2 t/4 - c (x - a)/2) / nu), a = 3/8, 1/2, 1/2, at the ends and at the start",
    "viscosity nu",
    (1e-2, 1e-3, 1e-4),
    _merging,
    _merging_exact,
    _merging_features,
)
