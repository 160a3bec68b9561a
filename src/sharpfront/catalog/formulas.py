"""What problem files cannot say: integrals, series, roots, surfaces, the number of dimensions."""

from __future__ import annotations

import functools
import math
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special

from sharpfront.arrays import FloatArray
from sharpfront.equation import function
from sharpfront.geometry import Interval
from sharpfront.loading import extra_module
from sharpfront.measure.errors import Field
from sharpfront.measure.points import Feature, steepest
from sharpfront.problem import Problem

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
    """

    nu: float
    start: Callable[[Any], Any]  # u0
    potential: Callable[[Any], Any]  # P
    drop: float  # the largest difference of P between two places
    steepness: float  # the largest slope of u0, where the weights are narrowest
    nodes: float = 10.0  # of the rule in a width of the weights

    def __call__(self, x: Any, t: Any) -> Any:
        """Return u at points and moments, which broadcast."""
        points, moments = np.broadcast_arrays(*(np.asarray(c, dtype=float) for c in (x, t)))
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


def _burgers(nu: float) -> Field:
    start, potential = (lambda y: -np.sin(np.pi * y)), (lambda y: np.cos(np.pi * y) / np.pi)
    return ColeHopf(nu, start, potential, 2 / np.pi, np.pi)


_HUMP, _HUMP_WIDTH = 0.3, 0.1


def _hump(nu: float) -> Field:
    area = _HUMP_WIDTH * math.sqrt(math.pi)
    return ColeHopf(
        nu,
        lambda y: np.exp(-(((y - _HUMP) / _HUMP_WIDTH) ** 2)),
        lambda y: area / 2 * special.erf((y - _HUMP) / _HUMP_WIDTH),
        area,
        math.sqrt(2 / math.e) / _HUMP_WIDTH,
    )


def _hump_problem(nu: float) -> Problem:
    exact = _hump(nu)
    data = function(exact)
    return Problem(
        Interval(0, 1),
        lambda u, x, t: u.dt + u * u.dx - nu * u.dxx,
        boundary=lambda u, x, t: u - data(x, t),
        initial=lambda x: exact(x, 0.0),
        time=(0, 1),
    )


def _burgers_features(nu: float) -> Features:
    exact = _burgers(nu)

    @functools.cache
    def features(t: float) -> tuple[Feature, ...]:
        return (Feature(0.0, min(0.5, steepest(lambda x: exact(x, t), -0.5, 0.5, 201).width)),)

    return features


def _hump_features(nu: float) -> Features:
    exact = _hump(nu)
    return functools.cache(lambda t: (steepest(lambda x: exact(x, t), 0.0, 1.0, 401),))


_HAT, _HALF_BASE = 0.45, 0.2


def _heat_hat(diffusivity: float) -> Field:
    """Return the hat max(0, 1 - 5 |x - 0.45|) made smooth by heat, with its images in both ends."""

    def kink(z: Any, s: Any) -> Any:
        # What heat makes of |z|: z erf(z/s) + s exp(-z^2/s^2) / sqrt(pi).
        scaled = np.minimum(np.abs(z) / s, 40.0)
        return z * special.erf(z / s) + s * np.exp(-(scaled**2)) / np.sqrt(np.pi)

    def hat(z: Any, s: Any) -> Any:
        outer = kink(z + _HALF_BASE, s) + kink(z - _HALF_BASE, s)
        return (outer - 2 * kink(z, s)) / (2 * _HALF_BASE)

    def exact(x: Any, t: Any) -> Any:
        # At the start the limit is taken by a width that no rounding sees.
        s = np.maximum(np.sqrt(4 * diffusivity * t), 1e-200)
        return sum(hat(x - 2 * k - _HAT, s) - hat(x - 2 * k + _HAT, s) for k in range(-3, 4))

    return exact


def bratu_parameter(strength: float, upper: bool) -> float:
    """Return t with t = sqrt(2 strength) cosh(t / 4), the smaller or the larger one."""
    from scipy.optimize import brentq

    # The fold: where the line through the origin touches the curve.
    fold = 4.798714561030743

    def miss(t: float) -> float:
        return float(t - np.sqrt(2 * strength) * np.cosh(t / 4))

    return float(brentq(miss, *((fold, 60.0) if upper else (0.0, fold)), xtol=1e-15, rtol=1e-15))


def _bratu(upper: bool, strength: float) -> Field:
    t = bratu_parameter(strength, upper)

    def log_cosh(z: Any) -> Any:
        size = np.abs(z)
        return size + np.log1p(np.exp(-2 * size)) - np.log(2.0)

    return lambda x: -2 * (log_cosh((x - 0.5) * t / 2) - log_cosh(t / 4))


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


def troesch_pole(mu: float) -> tuple[float, float]:
    """Return u'(0) / 2 of Troesch's problem and mu times how far behind 1 its pole lies.

    u = 2 / mu asinh(k sc(mu x | 1 - k^2)) with k = u'(0) / 2 has its pole at mu x = K, and
    k sc(K - w) = 1 / sc(w), so that u(1) = 1 says where the pole is, up to k's little influence.
    """
    from scipy.optimize import brentq

    # tan am(w) = sc(w) = 1 / sinh(mu / 2).
    angle = float(np.arctan(1.0 / np.sinh(mu / 2)))

    def behind(k: float) -> float:
        return float(special.ellipkinc(angle, 1.0 - k * k))

    def miss(log_k: float) -> float:
        k = float(np.exp(log_k))
        return float(special.ellipkm1(k * k)) - mu - behind(k)

    # K lies between log(4 / k) and log(4 / k) + 1 for k < 1.
    low, high = np.log(1e-3) - mu, np.log(1.0 - 1e-12)
    k = float(np.exp(brentq(miss, low, high, xtol=1e-15, rtol=1e-15)))
    return k, behind(k)


def _troesch(mu: float) -> Field:
    k, behind = troesch_pole(mu)

    def exact(x: Any) -> Any:
        x = np.asarray(x, dtype=float)
        # Each half is measured from its own side: beside the pole sc knows few digits of u.
        left = k * tangent_amplitude(mu * np.minimum(x, 0.5), k * k)
        right = 1.0 / tangent_amplitude(behind + mu * (1.0 - np.maximum(x, 0.5)), k * k)
        return 2 / mu * np.arcsinh(np.where(x < 0.5, left, right))

    return exact


def _sharp_source(w: float) -> Field:
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


def hypercube(text: str, value: float) -> str:
    """Return the file of the problem in five dimensions for another number of them."""
    count = int(value)
    five = " + ".join(f"sin(pi*x{i}/2)" for i in range(1, 6))
    names = "xyz"[:count] if count < 4 else [f"x{i}" for i in range(1, count + 1)]
    wave = " + ".join(f"sin(pi*{name}/2)" for name in names)
    box = ", ".join(["[0, 1]"] * count)
    return text.replace(five, wave).replace(", ".join(["[0, 1]"] * 5), box)


def surface(name: str) -> tempfile.TemporaryDirectory[str]:
    """Return a folder with the surface of a solid as an STL file, in single precision."""
    creation = extra_module("trimesh.creation", "geometry")
    if name == "ellipsoid":
        mesh = creation.icosphere(subdivisions=3)
        mesh.apply_scale((1.0, 0.7, 0.5))
    else:
        mesh = creation.torus(0.7, 0.3, major_sections=64, minor_sections=32)
    folder = tempfile.TemporaryDirectory()
    mesh.export(Path(folder.name) / f"{name}.stl")
    return folder


SURFACES = ("ellipsoid", "torus")
PROBLEMS: Mapping[str, Callable[[float], Problem]] = {"hump": _hump_problem}
FEATURES: Mapping[str, Callable[[float], Features]]
FEATURES = {"burgers": _burgers_features, "hump": _hump_features}
EXACT: Mapping[str, Callable[[float], Field]] = {
    "bratu": functools.partial(_bratu, False),
    "bratu-upper": functools.partial(_bratu, True),
    "burgers": _burgers,
    "heat-hat": _heat_hat,
    "hump": _hump,
    "sharp-source": _sharp_source,
    "troesch": _troesch,
}
