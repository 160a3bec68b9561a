"""The problems of the race against BACOLI."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import sharpfront as sf
from sharpfront.catalog import listing

Field = Callable[..., Any]
_CATALOG = listing()


@dataclass(frozen=True)
class Race:
    """A problem on an interval from t = 0 on.

    Parameters
    ----------
    name
        What it is called.
    problem
        Makes it.
    exact
        Its solution; None if it is not known.
    """

    name: str
    problem: Callable[[], sf.Problem]
    exact: Field | None = None


def burgers() -> Race:
    """Return the sine that becomes a shock."""
    return Race(
        "Burgers 0.01/pi",
        lambda: _CATALOG["burgers"].problem(0.01 / np.pi),
    )


def layers(count: int, eps: float) -> Race:
    """Return one or two layers of Burgers' equation that travel."""

    def one(x: Any, t: Any) -> Any:
        return 0.5 * (1 - np.tanh((x - 0.5 * t - 0.25) / (4 * eps)))

    def two(x: Any, t: Any) -> Any:
        parts = (
            (0.5 - x - 4.95 * t) / (20 * eps),
            (0.5 - x - 0.75 * t) / (4 * eps),
            (0.375 - x) / (2 * eps),
        )
        top = np.maximum(np.maximum(parts[0], parts[1]), parts[2])
        a, b, c = (np.exp(p - top) for p in parts)
        return (0.1 * a + 0.5 * b + c) / (a + b + c)

    exact = (one, two)[count - 1]
    return Race(
        f"{('one', 'two')[count - 1]}-layer Burgers {eps:.0e}",
        lambda: sf.Problem(
            sf.Interval(0, 1),
            lambda u, x, t: u.dt - eps * u.dxx + u * u.dx,
            left=lambda u, x, t: u - exact(0.0, t),
            right=lambda u, x, t: u - exact(1.0, t),
            initial=lambda x: exact(x, 0.0),
            time=(0, 1),
        ),
        exact,
    )


def hot_spot() -> Race:
    """Return a reaction that ignites."""
    return Race(
        "hot spot",
        lambda: sf.Problem(
            sf.Interval(0, 1),
            lambda u, x, t: u.dt - u.dxx - (2 - u) * np.exp(20 - 20 / u) / 4,
            left=lambda u, x, t: u.dx,
            right=lambda u, x, t: u - 1,
            initial=1.0,
            time=(0, 0.28),
        ),
    )


def cahn_allen() -> Race:
    """Return small waves that become layers at rest."""
    return Race(
        "Cahn-Allen 1e-6",
        lambda: sf.Problem(
            sf.Interval(0, 1),
            lambda u, x, t: u.dt - 1e-6 * u.dxx + u**3 - u,
            boundary=lambda u, x, t: u.dx,
            initial=lambda x: 0.01 * np.cos(10 * np.pi * x),
            time=(0, 10),
        ),
    )


def surface_reaction() -> Race:
    """Return the catalytic surface reaction."""

    def equations(a: Any, b: Any, p: Any, q: Any, x: Any, t: Any) -> list[Any]:
        g = 1 - p - q
        r1, r2, r3 = 1.5 * p - 30 * a * g, 1.2 * q - 30 * b * g, 1000 * p * q * g * g
        return [
            a.dt + a.dx - r1 - a.dxx / 100,
            b.dt + b.dx - r2 - b.dxx / 100,
            p.dt + r1 + r3 - p.dxx / 100,
            q.dt + r2 + r3 - q.dxx / 100,
        ]

    return Race(
        "surface reaction",
        lambda: sf.Problem(
            sf.Interval(0, 1),
            equations,
            left=lambda a, b, p, q, x, t: [
                a.dx + 100 * (1.04 - a),
                b.dx + 100 * (0.96 - b),
                p.dx,
                q.dx,
            ],
            right=lambda a, b, p, q, x, t: [a.dx, b.dx, p.dx, q.dx],
            initial={"a": 1.04, "b": 0.96, "p": 0.0, "q": 0.0},
            time=(0, 18),
        ),
    )


def schrodinger() -> Race:
    """Return two solitary waves of coupled Schrodinger equations."""
    size = np.sqrt(0.6)

    def equations(a: Any, b: Any, p: Any, q: Any, x: Any, t: Any) -> list[Any]:
        first, second = a * a + b * b, p * p + q * q
        m, n = first + 2 * second / 3, 2 * first / 3 + second
        return [
            a.dt + a.dx / 2 + b.dxx / 2 + m * b,
            b.dt + b.dx / 2 - a.dxx / 2 - m * a,
            p.dt - p.dx / 2 + q.dxx / 2 + n * q,
            q.dt - q.dx / 2 - p.dxx / 2 - n * p,
        ]

    def wave(part: Field, speed: float) -> Field:
        return lambda x: size / np.cosh(x) * part(speed * x)

    return Race(
        "coupled Schrodinger",
        lambda: sf.Problem(
            sf.Interval(-30, 90),
            equations,
            boundary=lambda a, b, p, q, x, t: [a.dx, b.dx, p.dx, q.dx],
            initial={
                "a": wave(np.cos, 0.6),
                "b": wave(np.sin, 0.6),
                "p": wave(np.cos, 1.6),
                "q": wave(np.sin, 1.6),
            },
            time=(0, 20),
        ),
    )


PROBLEMS = (
    burgers(),
    *(layers(count, eps) for count in (1, 2) for eps in (1e-3, 1e-4, 1e-5)),
    hot_spot(),
    cahn_allen(),
    surface_reaction(),
    schrodinger(),
)
