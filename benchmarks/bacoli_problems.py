"""The problems of the race against BACOLI, stated twice: for us, and in Fortran."""

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
    name, low, high, stop
        What it is called, its interval and the end of time.
    problem
        For us.
    f, left, right, initial
        In Fortran: the right side, the conditions and the start.
    exact
        Its solution; None if it is not known.
    module, locals
        Functions and variables of the Fortran.
    unknowns
        Their names.
    dirichlet
        Whether values are given at both ends.
    """

    name: str
    low: float
    high: float
    stop: float
    problem: Callable[[], sf.Problem]
    f: str
    left: str
    right: str
    initial: str
    exact: Field | None = None
    module: str = ""
    locals: str = ""
    unknowns: tuple[str, ...] = ("u",)
    dirichlet: bool = False

    @property
    def npde(self) -> int:
        """How many unknowns."""
        return len(self.unknowns)


_GIVEN = {
    "left": "bval(1) = u(1) - truth({low}d0, t)",
    "right": "bval(1) = u(1) - truth({high}d0, t)",
    "initial": "u(1) = truth(x, 0d0)",
}


def _given(low: float, high: float) -> dict[str, str]:
    return {key: words.format(low=low, high=high) for key, words in _GIVEN.items()}


def burgers() -> Race:
    """Return the sine that becomes a shock."""
    return Race(
        "Burgers 0.01/pi",
        -1.0,
        1.0,
        1.0,
        lambda: _CATALOG["burgers"].problem(0.01 / np.pi),
        "fval(1) = 0.01d0 / pi * uxx(1) - u(1) * ux(1)",
        "bval(1) = u(1)",
        "bval(1) = u(1)",
        "u(1) = -sin(pi * x)",
        dirichlet=True,
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
    single = f"truth = 0.5d0 * (1d0 - tanh((x - 0.5d0 * t - 0.25d0) / {4 * eps}d0))"
    double = f"""p = (/ (0.5d0 - x - 4.95d0 * t) / {20 * eps:.12f}d0, &
        (0.5d0 - x - 0.75d0 * t) / {4 * eps:.12f}d0, (0.375d0 - x) / {2 * eps:.12f}d0 /)
    p = exp(p - maxval(p))
    truth = (0.1d0 * p(1) + 0.5d0 * p(2) + p(3)) / sum(p)"""
    single = single.replace(f"{4 * eps}d0", f"{4 * eps:.12f}d0")
    return Race(
        f"{('one', 'two')[count - 1]}-layer Burgers {eps:.0e}",
        0.0,
        1.0,
        1.0,
        lambda: sf.Problem(
            sf.Interval(0, 1),
            lambda u, x, t: u.dt - eps * u.dxx + u * u.dx,
            left=lambda u, x, t: u - exact(0.0, t),
            right=lambda u, x, t: u - exact(1.0, t),
            initial=lambda x: exact(x, 0.0),
            time=(0, 1),
        ),
        f"fval(1) = {eps:.12f}d0 * uxx(1) - u(1) * ux(1)",
        **_given(0.0, 1.0),
        exact=exact,
        module=f"""double precision function truth(x, t)
    double precision, intent(in) :: x, t
    double precision :: p(3)
    {(single, double)[count - 1]}
  end function truth""",
        dirichlet=True,
    )


def hot_spot() -> Race:
    """Return a reaction that ignites."""
    return Race(
        "hot spot",
        0.0,
        1.0,
        0.28,
        lambda: sf.Problem(
            sf.Interval(0, 1),
            lambda u, x, t: u.dt - u.dxx - (2 - u) * np.exp(20 - 20 / u) / 4,
            left=lambda u, x, t: u.dx,
            right=lambda u, x, t: u - 1,
            initial=1.0,
            time=(0, 0.28),
        ),
        "fval(1) = uxx(1) + (2d0 - u(1)) * exp(20d0 - 20d0 / u(1)) / 4d0",
        "bval(1) = ux(1)",
        "bval(1) = u(1) - 1d0",
        "u(1) = 1d0",
    )


def cahn_allen() -> Race:
    """Return small waves that become layers at rest."""
    return Race(
        "Cahn-Allen 1e-6",
        0.0,
        1.0,
        10.0,
        lambda: sf.Problem(
            sf.Interval(0, 1),
            lambda u, x, t: u.dt - 1e-6 * u.dxx + u**3 - u,
            boundary=lambda u, x, t: u.dx,
            initial=lambda x: 0.01 * np.cos(10 * np.pi * x),
            time=(0, 10),
        ),
        "fval(1) = 1d-6 * uxx(1) - u(1)**3 + u(1)",
        "bval(1) = ux(1)",
        "bval(1) = ux(1)",
        "u(1) = 0.01d0 * cos(10d0 * pi * x)",
    )


_SURFACE = """g = 1d0 - u(3) - u(4)
  r1 = 1.5d0 * u(3) - 30d0 * u(1) * g
  r2 = 1.2d0 * u(4) - 30d0 * u(2) * g
  r3 = 1000d0 * u(3) * u(4) * g * g
  fval(1) = -ux(1) + r1 + uxx(1) / 100d0
  fval(2) = -ux(2) + r2 + uxx(2) / 100d0
  fval(3) = -r1 - r3 + uxx(3) / 100d0
  fval(4) = -r2 - r3 + uxx(4) / 100d0"""


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
        0.0,
        1.0,
        18.0,
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
        _SURFACE,
        """bval = ux
  bval(1) = ux(1) + 100d0 * (1.04d0 - u(1))
  bval(2) = ux(2) + 100d0 * (0.96d0 - u(2))""",
        "bval = ux",
        "u = (/ 1.04d0, 0.96d0, 0d0, 0d0 /)",
        locals="double precision :: g, r1, r2, r3",
        unknowns=("a", "b", "p", "q"),
    )


_SCHRODINGER = """m = u(1)**2 + u(2)**2 + 2d0 * (u(3)**2 + u(4)**2) / 3d0
  n = 2d0 * (u(1)**2 + u(2)**2) / 3d0 + u(3)**2 + u(4)**2
  fval(1) = -ux(1) / 2d0 - uxx(2) / 2d0 - m * u(2)
  fval(2) = -ux(2) / 2d0 + uxx(1) / 2d0 + m * u(1)
  fval(3) = ux(3) / 2d0 - uxx(4) / 2d0 - n * u(4)
  fval(4) = ux(4) / 2d0 + uxx(3) / 2d0 + n * u(3)"""


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
        -30.0,
        90.0,
        20.0,
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
        _SCHRODINGER,
        "bval = ux",
        "bval = ux",
        """u = sqrt(0.6d0) / cosh(x)
  u = u * (/ cos(0.6d0 * x), sin(0.6d0 * x), cos(1.6d0 * x), sin(1.6d0 * x) /)""",
        locals="double precision :: m, n",
        unknowns=("a", "b", "p", "q"),
    )


PROBLEMS = (
    burgers(),
    *(layers(count, eps) for count in (1, 2) for eps in (1e-3, 1e-4, 1e-5)),
    hot_spot(),
    cahn_allen(),
    surface_reaction(),
    schrodinger(),
)
