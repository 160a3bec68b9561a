"""Problems with exact solutions: those of the papers, and others of as many kinds as we could find.

Each case is solved with defaults at ``tol=1e-8``. Its features say where test points must be dense;
the solver never sees them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import airy

import sharpfront as sf
from sharpfront.catalog import OSCILLATION, REACTION, SINGLE_LAYER, SPIKE, TURNING_POINT, TWIN_LAYER
from sharpfront.measure import Feature

GOLD, ROOT = 0.6180339887, 0.2236067977


@dataclass(frozen=True)
class Case:
    name: str
    problem: sf.Problem
    exact: Callable[..., Any]
    features: tuple[Feature, ...] = ()
    tags: frozenset[str] = field(default_factory=frozenset)


def made(name, interval, operator, exact, features=(), boundary=True, **conditions):
    """Return a case whose source is made from its exact solution: L u = L exact."""
    if boundary:
        conditions["boundary"] = lambda u, x: u - exact(x)
    problem = sf.Problem(
        sf.Interval(*interval),
        lambda u, x: operator(u, x) - operator(exact(x), x),
        **conditions,
    )
    return Case(name, problem, exact, tuple(Feature(*f) for f in features))


def value(exact):
    return lambda u, x: u - exact(x)


def slope(exact):
    return lambda u, x: u.dx - exact(x).dx


def clamped(exact):
    return lambda u, x: (u - exact(x), u.dx - exact(x).dx)


def from_catalogue(entry, parameter):
    return Case(
        f"{entry.name} {parameter:g}",
        entry.problem(parameter),
        entry.exact(parameter),
        entry.features(parameter),
    )


def second_order(eps):
    """Convection and reaction with sources."""
    interval, root = sf.Interval(0, 1), np.sqrt(eps)
    yield Case(
        f"layer with slope {eps:.0e}",
        sf.Problem(interval, lambda u, x: eps * u.dxx + u.dx + 1, boundary=lambda u, x: u),
        lambda x: np.expm1(-x / eps) / np.expm1(-1 / eps) - x,
        (Feature(0.0, eps),),
    )
    size = 1 / (1 + eps * np.pi**2)
    yield Case(
        f"reaction, variable source {eps:.0e}",
        sf.Problem(
            interval,
            lambda u, x: -eps * u.dxx + u - np.cos(np.pi * x),
            boundary=lambda u, x: u,
        ),
        lambda x: (
            size
            * (
                np.cos(np.pi * x)
                - (np.exp(-x / root) - np.exp((x - 1) / root)) / (1 - np.exp(-1 / root))
            )
        ),
        (Feature(0.0, root), Feature(1.0, root)),
    )
    layer = SINGLE_LAYER.exact(eps)
    yield Case(
        f"convection with a smooth part {eps:.0e}",
        sf.Problem(
            interval,
            lambda u, x: -eps * u.dxx + u.dx - np.exp(x) * (1 - eps),
            left=lambda u, x: u - 1,
            right=lambda u, x: u,
        ),
        lambda x: np.exp(x) - np.e * layer(x),
        (Feature(1.0, eps),),
    )


def derivative_conditions(eps):
    root = np.sqrt(eps)
    yield Case(
        f"Neumann in the layer {eps:.0e}",
        sf.Problem(
            sf.Interval(0, 1),
            lambda u, x: -eps * u.dxx + u,
            left=lambda u, x: u.dx + 1 / root,
            right=lambda u, x: u - np.exp(-1 / root),
        ),
        lambda x: np.exp(-x / root),
        (Feature(0.0, root),),
    )
    yield Case(
        f"Robin at both ends {eps:.0e}",
        sf.Problem(
            sf.Interval(0, 1),
            lambda u, x: -eps * u.dxx + u.dx,
            left=lambda u, x: u + u.dn,
            right=lambda u, x: u + eps * u.dn - 2,
        ),
        lambda x: np.exp((x - 1) / eps),
        (Feature(1.0, eps),),
    )


def high_order(eps):
    q = np.exp(-1 / eps)
    matrix = [[1, 0, 1, q], [0, 1, -1 / eps, q / eps], [1, 1, q, 1], [0, 1, -q / eps, 1 / eps]]
    a, b, c, d = np.linalg.solve(matrix, [0, 0, 0.5, 1.0])
    yield Case(
        f"clamped beam with layers {eps:.0e}",
        sf.Problem(
            sf.Interval(0, 1),
            lambda u, x: eps**2 * u.d("x", 4) - u.dxx - 1,
            boundary=lambda u, x: (u, u.dx),
        ),
        lambda x: -(x**2) / 2 + a + b * x + c * np.exp(-x / eps) + d * np.exp((x - 1) / eps),
        (Feature(0.0, eps), Feature(1.0, eps)),
    )
    e, f, g = np.linalg.solve([[1, 0, 1], [0, 1, -1 / eps], [1, 1, q]], [0, 0, 1.0])
    yield Case(
        f"third order {eps:.0e}",
        sf.Problem(
            sf.Interval(0, 1),
            lambda u, x: eps * u.dxxx + u.dxx,
            left=lambda u, x: (u, u.dx),
            right=lambda u, x: u - 1,
        ),
        lambda x: e + f * x + g * np.exp(-x / eps),
        (Feature(0.0, eps),),
    )


def oscillations():
    whole = sf.Interval(-2 * np.pi, 2 * np.pi)
    start = [sf.at(0.0, lambda u, x: u)]
    yield Case(
        "u' = cos 15x",
        sf.Problem(whole, lambda u, x: u.dx - np.cos(15 * x), conditions=start),
        lambda x: np.sin(15 * x) / 15,
    )
    yield Case(
        "u'' = sin 15x",
        sf.Problem(
            whole,
            lambda u, x: u.dxx - np.sin(15 * x),
            conditions=[sf.at(0.0, lambda u, x: (u, u.dx + 1 / 15))],
        ),
        lambda x: -np.sin(15 * x) / 225,
    )
    yield Case(
        "two scales",
        sf.Problem(whole, lambda u, x: u.dx - np.cos(x) - 15 * np.cos(15 * x), conditions=start),
        lambda x: np.sin(x) + np.sin(15 * x),
    )
    for wavenumber in (50.0, 200.0):
        yield from_catalogue(OSCILLATION, wavenumber)
    e = 0.05
    yield Case(
        "Airy",
        sf.Problem(
            sf.Interval(-1, 1),
            lambda u, x: u.dxx + x / e**3 * u,
            left=lambda u, x: u - airy(1 / e)[0],
            right=lambda u, x: u - airy(-1 / e)[0],
        ),
        lambda x: airy(-x / e)[0],
    )


def pieces():
    """Coefficients and sources that jump or bend."""
    c = 1 / 3
    a, b, d = np.linalg.solve([[1, -1, 0], [c, -c, -1], [0, 1, 1]], [-0.9 * c, -0.45 * c * c, 0.95])
    yield Case(
        "discontinuous coefficient",
        sf.Problem(
            sf.Interval(0, 1),
            lambda u, x: np.where(x < 1 / 3, 1, 10) * u.dxx - 1,
            left=lambda u, x: u,
            right=lambda u, x: u - 1,
        ),
        lambda x: np.where(x < c, x * x / 2 + a * x, 0.05 * x * x + b * x + d),
    )
    jump = 0.4142135623
    for eps in (1e-2, 1e-4, 1e-6):
        root = np.sqrt(eps)

        def exact(x, root=root):
            half = 0.5 * np.exp(-np.abs(x - jump) / root)
            return np.where(x < jump, half, 1 - half)

        yield Case(
            f"discontinuous source {eps:.0e}",
            sf.Problem(
                sf.Interval(0, 1),
                lambda u, x, eps=eps: -eps * u.dxx + u - np.where(x < jump, 0, 1),
                boundary=lambda u, x, exact=exact: u - exact(x),
            ),
            exact,
            (Feature(jump, root),),
        )
    table = sf.function(lambda x: np.interp(x, [0, 0.3, 1], [0.3, 0, 0.7]))
    yield Case(
        "a table as source",
        sf.Problem(
            sf.Interval(0, 1),
            lambda u, x: u.dxx - table(x),
            boundary=lambda u, x: u - np.abs(x - 0.3) ** 3 / 6,
        ),
        lambda x: np.abs(x - 0.3) ** 3 / 6,
    )


def other_conditions():
    full = 2 * np.pi
    yield Case(
        "periodic",
        sf.Problem(
            sf.Interval(0, 1, periodic=True),
            lambda u, x: -1e-4 * u.dxx + u - (1 + 1e-4 * full**2) * np.sin(full * x),
        ),
        lambda x: np.sin(full * x),
    )
    yield Case(
        "integral",
        sf.Problem(
            sf.Interval(0, 1),
            lambda u, x: -1e-3 * u.dxx + u.dx,
            left=lambda u, x: u,
            conditions=[sf.integral(lambda u, x: u, equals=1e-3 * (1 - np.exp(-1e3)))],
        ),
        lambda x: np.exp((x - 1) / 1e-3),
        (Feature(1.0, 1e-3),),
    )
    yield Case(
        "conditions inside",
        sf.Problem(
            sf.Interval(0, 1),
            lambda u, x: u.dxx + np.sin(x),
            conditions=[
                sf.at(0.25, lambda u, x: u - np.sin(0.25)),
                sf.at(0.7, lambda u, x: u - np.sin(0.7)),
            ],
        ),
        np.sin,
    )
    p, q = 1e2, 1e6
    yield Case(
        "layers of widths 1e-2 and 1e-6",
        sf.Problem(
            sf.Interval(0, 1),
            lambda u, x: u.dxx / (p * q) + (p - q) / (p * q) * u.dx - u,
            boundary=lambda u, x: u - 1,
        ),
        lambda x: np.exp(-p * x) + np.exp(q * (x - 1)),
        (Feature(0.0, 1 / p), Feature(1.0, 1 / q)),
    )


def fronts():
    for d in (1e-2, 1e-3, 1e-4, 1e-5):
        yield made(
            f"tanh front {d:.0e}",
            (0, 1),
            lambda u, x, d=d: u - d**2 * u.dxx,
            lambda x, d=d: np.tanh((x - GOLD) / d) + x**2,
            [(GOLD, d)],
        )
    yield made(
        "front against convection",
        (0, 1),
        lambda u, x: (1 + x) * u.dx - 1e-3 * u.dxx,
        lambda x: np.tanh((x - ROOT) / 1e-3) + np.sin(3 * x),
        [(ROOT, 1e-3)],
    )
    yield made(
        "two fronts of different widths",
        (0, 1),
        lambda u, x: u - 1e-6 * u.dxx,
        lambda x: np.tanh((x - GOLD) / 1e-3) - 2 * np.tanh((x - ROOT) / 3e-2),
        [(GOLD, 1e-3), (ROOT, 3e-2)],
    )
    yield made(
        "front and two layers",
        (-1, 1),
        lambda u, x: u - 1e-6 * u.dxx,
        lambda x: np.tanh((x - 0.1234) / 1e-3) + np.exp(-(1 + x) / 1e-3) + np.exp((x - 1) / 1e-3),
        [(0.1234, 1e-3), (-1.0, 1e-3), (1.0, 1e-3)],
    )
    yield made(
        "bump",
        (0, 1),
        lambda u, x: u + u.dx - 1e-2 * u.dxx,
        lambda x: np.exp(-(((x - GOLD) / 1e-3) ** 2)),
        [(GOLD, 1e-3)],
    )
    yield made(
        "Lorentz curve",
        (0, 1),
        lambda u, x: u - u.dxx,
        lambda x: 1 / (1 + ((x - ROOT) / 1e-3) ** 2),
        [(ROOT, 1e-3)],
    )
    yield made(
        "two fronts close together",
        (0, 1),
        lambda u, x: u - 1e-8 * u.dxx,
        lambda x: np.tanh((x - 0.5) / 1e-4) - np.tanh((x - 0.503) / 1e-4),
        [(0.5, 1e-4), (0.503, 1e-4)],
    )
    places = (np.arange(20) + 0.37) / 20
    yield made(
        "twenty fronts",
        (0, 1),
        lambda u, x: u - 1e-8 * u.dxx,
        lambda x: sum((-1) ** i * np.tanh((x - place) / 1e-4) for i, place in enumerate(places)),
        [(place, 1e-4) for place in places],
    )
    yield made(
        "weak front",
        (0, 1),
        lambda u, x: u - 1e-6 * u.dxx,
        lambda x: np.cos(x) + 1e-4 * np.tanh((x - GOLD) / 1e-3),
        [(GOLD, 1e-3)],
    )


def scales():
    yield made(
        "long domain",
        (0, 1e3),
        lambda u, x: u.dx - 0.1 * u.dxx,
        lambda x: x / 1e3 + np.exp((x - 1000) / 0.1),
        [(1e3, 0.1)],
    )
    yield made(
        "short domain",
        (-1e-3, 1e-3),
        lambda u, x: u - 1e-12 * u.dxx,
        lambda x: np.tanh((x - 2.1e-4) / 1e-6),
        [(2.1e-4, 1e-6)],
    )
    yield made(
        "far from the origin",
        (1000, 1001),
        lambda u, x: u.dx - 1e-4 * u.dxx,
        lambda x: np.exp((x - 1001) / 1e-4) + np.sin(x),
        [(1001.0, 1e-4)],
    )
    for size in (1e6, 1e-6):
        yield made(
            f"solution of size {size:.0e}",
            (0, 1),
            lambda u, x: u - 1e-6 * u.dxx,
            lambda x, size=size: size * (np.exp(-x / 1e-3) + x),
            [(0.0, 1e-3)],
        )


def variety():
    yield made(
        "oscillation and layer",
        (0, 1),
        lambda u, x: u.dx - 1e-4 * u.dxx,
        lambda x: np.sin(40 * x) + np.exp((x - 1) / 1e-4),
        [(1.0, 1e-4)],
    )
    yield made(
        "variable convection",
        (0, 1),
        lambda u, x: -(2 + np.sin(9 * x)) * u.dx - 1e-5 * u.dxx,
        lambda x: np.cos(3 * x) + np.exp(-2 * x / 1e-5),
        [(0.0, 1e-5)],
    )
    yield made(
        "flux form",
        (0, 1),
        lambda u, x: -1e-4 * ((1 + x**2) * u.dx).dx + u,
        lambda x: np.exp(-x / 1e-2) + np.sin(x),
        [(0.0, 1e-2)],
    )
    yield made(
        "logarithm near its singularity",
        (0, 1),
        lambda u, x: u + u.dx - u.dxx,
        lambda x: np.log(x + 1e-6),
        [(0.0, 1e-6)],
    )
    yield made("chirp", (0, 1), lambda u, x: u + u.dxx, lambda x: np.sin(60 * x**2))
    yield made(
        "wave packet",
        (0, 1),
        lambda u, x: u + u.dx - 1e-2 * u.dxx,
        lambda x: np.exp(-(((x - 0.7) / 0.02) ** 2)) * np.sin(300 * x),
        [(0.7, 1e-2)],
    )
    exact = lambda x: np.cos(2 * x) + np.exp(-x / 1e-5)  # noqa: E731
    yield made(
        "stiff first order",
        (0, 1),
        lambda u, x: u + 1e-5 * u.dx,
        exact,
        [(0.0, 1e-5)],
        boundary=False,
        left=value(exact),
    )
    damped = lambda x: np.exp(-x / 2) * np.cos(2 * x)  # noqa: E731
    yield made(
        "initial values, second order",
        (0, 10),
        lambda u, x: u.dxx + u.dx + 4 * u,
        damped,
        boundary=False,
        left=clamped(damped),
    )
    sine = lambda x: np.sin(2 * x)  # noqa: E731
    yield made(
        "initial values, third order",
        (0, 3),
        lambda u, x: u.dxxx + u.dxx + u.dx + u,
        sine,
        boundary=False,
        left=lambda u, x: (u, u.dx - 2, u.dxx),
    )
    front = lambda x: np.tanh((x - GOLD) / 1e-2)  # noqa: E731
    yield made(
        "front, fourth order",
        (0, 1),
        lambda u, x: 1e-4 * u.d("x", 4) - u.dxx,
        front,
        [(GOLD, 1e-2)],
        boundary=False,
        left=clamped(front),
        right=clamped(front),
    )
    yield made(
        "Neumann at both ends",
        (0, 1),
        lambda u, x: u - 1e-6 * u.dxx,
        lambda x: np.exp(-x / 1e-3) + np.cos(x),
        [(0.0, 1e-3)],
        boundary=False,
        left=slope(lambda x: np.exp(-x / 1e-3) + np.cos(x)),
        right=slope(lambda x: np.exp(-x / 1e-3) + np.cos(x)),
    )


def all_cases():
    for eps in (1.0, 1e-2, 1e-4, 1e-6, 1e-8):
        for entry in (SINGLE_LAYER, TWIN_LAYER, REACTION, TURNING_POINT):
            yield from_catalogue(entry, eps)
        yield from second_order(eps)
    for eps in (1e-2, 1e-4, 1e-6, 1e-8):
        yield from derivative_conditions(eps)
    for eps in (1e-2, 1e-4, 1e-6):
        yield from high_order(eps)
    for width in (1e-2, 1e-3, 1e-4):
        yield from_catalogue(SPIKE, width)
    yield from oscillations()
    yield from pieces()
    yield from other_conditions()
    yield from fronts()
    yield from scales()
    yield from variety()


CASES = tuple(all_cases())
