"""The twelve families of Mitchell's problems for adaptive refinement, with his parameters.

*A collection of 2D elliptic problems for testing adaptive grid refinement algorithms*, Appl. Math.
Comput. 220 (2013) 350-364.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

import sharpfront as sf
from suites.row import Field, Row, harmonic, poisson

UNIT, SQUARE = sf.Box((0, 1), (0, 1)), sf.Box((-1, 1), (-1, 1))
# A polygon may not touch itself: a slit is so much open at its mouth.
SLIT = 1e-9
# Of Kellogg's checkerboards: exponent, ratio of the conductivities and the angle sigma.
KELLOGG = (
    (0.5, 5.8284271247461907, -2.3561944901923448),
    (0.1, 161.4476387975881, -14.92256510455152),
)
# Of the notch: name, exponent, Q, and whether the mode opens it or shears it.
MODES = (
    ("opened", 0.5444837367825, 0.5430755788367),
    ("sheared", 0.9085291898461, -0.2189232362488),
)


def rows() -> Iterator[Row]:
    """Yield all rows."""
    yield _row("1 analytic, p = 10", UNIT, _hill)
    for name, omega in (
        ("pi + 0.01", np.pi + 0.01),
        ("5 pi/4", 1.25 * np.pi),
        ("3 pi/2", 1.5 * np.pi),
        ("7 pi/4", 1.75 * np.pi),
        ("2 pi", 2 * np.pi - SLIT),
    ):
        exact = functools.partial(wedge, omega)
        problem = functools.partial(_corner, omega, exact)
        yield Row(f"2 corner of {name}", problem, 1e-6, {"u": exact})
    for name, exponent, q in MODES:
        exact = _notch(exponent, q, name == "opened")
        yield Row(f"3 elastic notch, {name}", functools.partial(_elastic, exact), 1e-4, exact)
    yield _row("4 peak, 1e3", UNIT, functools.partial(_peak, 1e3, 0.5, 0.5))
    yield _row("4 peak, 1e5", UNIT, functools.partial(_peak, 1e5, 0.51, 0.117))
    yield Row("5 battery, two materials", _battery, 1e-6, {"u": _battery_exact})
    for eps in (1e-1, 1e-3):
        exact = functools.partial(_layers, eps)
        yield Row(f"6 layers, {eps:g}", functools.partial(_convected, eps), 1e-6, {"u": exact})
    yield _row("7 line on the boundary, x^0.6", UNIT, lambda x, y: x**0.6 + 0 * y)
    for count in (10, 50):
        a = 1 / (count * np.pi)
        exact = functools.partial(_oscillation, a)
        yield Row(
            f"8 oscillations, 1/({count} pi)", functools.partial(_waves, a), 1e-6, {"u": exact}
        )
    for name, tol, a, x, y, r in (
        ("mild", 1e-6, 20, -0.05, -0.05, 0.7),
        ("steep", 1e-5, 1000, -0.05, -0.05, 0.7),
        ("asymmetric", 1e-5, 1000, 1.5, 0.25, 0.92),
        ("well", 1e-6, 50, 0.5, 0.5, 0.25),
    ):
        yield _row(f"9 wave front, {name}", UNIT, functools.partial(_front, a, x, y, r), tol)
    for a, b in ((2.5, 0.0), (1.1, 0.0), (1.5, 0.6)):
        yield _row(f"10 line inside, {a:g}, slope {b:g}", SQUARE, functools.partial(_line, a, b))
    for exponent, ratio, sigma in KELLOGG:
        exact = functools.partial(kellogg, exponent, sigma)
        problem = functools.partial(_checkerboard, ratio, exact)
        tol = 1e-6 if exponent > 0.3 else 1e-3
        yield Row(f"11 checkerboard, r^{exponent:g}", problem, tol, {"u": exact})
    yield Row("12 many difficulties", _many_problem, 1e-5, {"u": _many_exact})


def _row(name: str, domain: sf.Domain, exact: Field, tol: float = 1e-6) -> Row:
    return Row(name, functools.partial(poisson, domain, exact), tol, {"u": exact})


def _hill(x: Any, y: Any, p: int = 10) -> Any:
    return (16.0 * x * (1 - x) * y * (1 - y)) ** p


def wedge(omega: float, x: Any, y: Any) -> Any:
    """Return r^a sin(a theta), a = pi / omega, theta in [0, omega]."""
    theta = np.mod(np.arctan2(y, x), 2 * np.pi)
    theta = np.where(theta > 0.5 * (omega + 2 * np.pi), 0.0, theta)
    return np.hypot(x, y) ** (np.pi / omega) * np.sin(np.pi / omega * theta)


def _corner(omega: float, exact: Field) -> sf.Problem:
    c, s = np.cos(omega), np.sin(omega)
    end = np.array([c, s]) / max(abs(c), abs(s))
    corners = [(0, 0), (1, 0), (1, 1), (-1, 1)]
    angles = np.mod(np.arctan2([-1, -1], [-1, 1]), 2 * np.pi)
    corners += [p for p, a in zip([(-1, -1), (1, -1)], angles, strict=True) if a < omega - 1e-6]
    return harmonic(sf.Polygon([*corners, tuple(end.tolist())]), exact)


def _notch(lam: float, q: float, opened: bool) -> dict[str, Field]:
    """Return the displacements of a mode at a notch of 3 pi / 2 about the positive x-axis."""
    k, g = 3 - 4 * 0.3, 0.5 / 1.3
    f, h = (np.cos, np.sin) if opened else (np.sin, np.cos)
    sign = 1.0 if opened else -1.0

    def u(x: Any, y: Any) -> Any:
        t = np.arctan2(y, x)
        return (
            np.hypot(x, y) ** lam
            * ((k - q * (lam + 1)) * f(lam * t) - lam * f((lam - 2) * t))
            / (2 * g)
        )

    def v(x: Any, y: Any) -> Any:
        t = np.arctan2(y, x)
        inner = (k + q * (lam + 1)) * h(lam * t) + lam * h((lam - 2) * t)
        return sign * np.hypot(x, y) ** lam * inner / (2 * g)

    return {"u": u, "v": v}


def _elastic(exact: dict[str, Field]) -> sf.Problem:
    root, half = np.sqrt(2.0), np.sqrt(0.5)
    corners = [(0, 0), (-half, -half), (0, -root), (root, 0), (0, root), (-half, half)]
    g, lame = 0.5 / 1.3, 0.3 / (1.3 * 0.4)
    given = {k: sf.function(f) for k, f in exact.items()}
    return sf.Problem(
        sf.Polygon(corners),
        lambda u, v, x, y: (
            g * sf.laplacian(u) + (lame + g) * (u.dxx + v.dxy),
            g * sf.laplacian(v) + (lame + g) * (u.dxy + v.dyy),
        ),
        boundary=lambda u, v, x, y: (u - given["u"](x, y), v - given["v"](x, y)),
    )


def _peak(a: float, xc: float, yc: float, x: Any, y: Any) -> Any:
    return np.exp(-a * ((x - xc) ** 2 + (y - yc) ** 2))


def _battery() -> sf.Problem:
    k = lambda x: np.where(x < 6.1, 25.0, 0.2)  # noqa: E731
    source = lambda x: np.where(x < 6.1, 0.0, 1.0)  # noqa: E731
    return sf.Problem(
        sf.Box((0, 8.4), (0, 24)),
        lambda u, x, y: -sf.div(k(x) * sf.grad(u)) - source(x),
        boundary=lambda u, x, y: u.dn,
        right=lambda u, x, y: u,
    )


def _battery_exact(x: Any, y: Any) -> Any:
    inside = np.maximum(x - 6.1, 0.0)
    return (2.3**2 - inside**2) / (2 * 0.2) + 0 * y


def _layers(eps: float, x: Any, y: Any) -> Any:
    fall = (1 - np.exp((x - 1) / eps)) * (1 - np.exp((y - 1) / eps))
    return fall * np.cos(np.pi * (x + y))


def _convected(eps: float) -> sf.Problem:
    def residual(u: Any, x: Any, y: Any) -> Any:
        e = u - _layers(eps, x, y)
        return -eps * sf.laplacian(e) + 2 * e.dx + e.dy

    return sf.Problem(SQUARE, residual, boundary=lambda u, x, y: u - _layers(eps, x, y))


def _oscillation(a: float, x: Any, y: Any) -> Any:
    return np.sin(1 / (a + np.sqrt(x**2 + y**2)))


def _waves(a: float) -> sf.Problem:
    def residual(u: Any, x: Any, y: Any) -> Any:
        e = u - _oscillation(a, x, y)
        return -sf.laplacian(e) - e / (a + np.sqrt(x**2 + y**2)) ** 4

    return sf.Problem(UNIT, residual, boundary=lambda u, x, y: u - _oscillation(a, x, y))


def _front(a: float, xc: float, yc: float, radius: float, x: Any, y: Any) -> Any:
    return np.arctan(a * (np.sqrt((x - xc) ** 2 + (y - yc) ** 2) - radius))


def _line(a: float, b: float, x: Any, y: Any) -> Any:
    beyond = x - b * (y + 1)
    return np.cos(np.pi * y / 2) + np.where(beyond > 0, np.abs(beyond) ** a, 0.0)


def kellogg(a: float, sigma: float, x: Any, y: Any) -> Any:
    """Return the solution about the middle of a checkerboard."""
    rho, half = np.pi / 4, np.pi / 2
    t = np.mod(np.arctan2(y, x), 2 * np.pi)
    parts = (
        np.cos((half - sigma) * a) * np.cos((t - half + rho) * a),
        np.cos(rho * a) * np.cos((t - np.pi + sigma) * a),
        np.cos(sigma * a) * np.cos((t - np.pi - rho) * a),
        np.cos((half - rho) * a) * np.cos((t - 3 * half - sigma) * a),
    )
    return np.hypot(x, y) ** a * np.select([t < half, t < np.pi, t < 3 * half], parts[:3], parts[3])


def _checkerboard(ratio: float, exact: Field) -> sf.Problem:
    def k(x: Any, y: Any) -> Any:
        return np.where(x < 0, np.where(y < 0, ratio, 1.0), np.where(y < 0, 1.0, ratio))

    edge = sf.function(exact, breaks=((0.0,), (0.0,)))
    return sf.Problem(
        SQUARE,
        lambda u, x, y: -sf.div(k(x, y) * sf.grad(u)),
        boundary=lambda u, x, y: u - edge(x, y),
    )


def _smooth_difficulties(x: Any, y: Any) -> Any:
    """Return all of family 12 but the corner."""
    front = np.arctan(200 * (np.sqrt(x**2 + (y + 0.75) ** 2) - 0.75))
    peak = np.exp(-1000 * ((x - np.sqrt(5) / 4) ** 2 + (y + 0.25) ** 2))
    return front + peak + np.exp(-(1 + y) / 0.01)


def _many_exact(x: Any, y: Any) -> Any:
    return wedge(1.5 * np.pi, x, y) + _smooth_difficulties(x, y)


def _many_problem() -> sf.Problem:
    domain = SQUARE - sf.Box((0, 2), (-2, 0))
    given = sf.function(functools.partial(wedge, 1.5 * np.pi))
    return sf.Problem(
        domain,
        lambda u, x, y: -sf.laplacian(u - _smooth_difficulties(x, y)),
        boundary=lambda u, x, y: u - given(x, y) - _smooth_difficulties(x, y),
    )
