"""Problems in time on an interval with what is asked of each, and formulas for more of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import sharpfront as sf
from sharpfront.catalog import (
    ALLEN_CAHN_IN_TIME,
    BURGERS,
    COOLING,
    FAST_ADVECTION,
    FAST_PULSE,
    FISHER,
    FLUX_FRONT,
    GRAY_SCOTT,
    HEAT_HAT,
    HEAT_STEP,
    HUMP,
    KORTEWEG_DE_VRIES,
    KURAMOTO_SIVASHINSKY,
    MERGING_SHOCKS,
    MOVING_FRONT,
    NAGUMO,
    REFLECTED_PULSE,
    TRAVELLING_SHOCK,
    WAVE_PULSE,
    Entry,
)
from sharpfront.measure import Feature


@dataclass(frozen=True)
class Stated:
    """What a rule in time asks of an entry of the catalogue, for other problems."""

    name: str
    problem: Callable[[float], sf.Problem]
    exact: Callable[[float], Any]
    features: Callable[[float], Callable[[float], tuple[Feature, ...]]]
    panels: int = 20
    has_exact: bool = True


@dataclass(frozen=True)
class Case:
    """A problem, the tolerance, and bounds on its errors over space and time.

    Parameters
    ----------
    entry, value
        From the catalogue, or `formula`.
    tol
        Asked for.
    relative, largest
        Bounds on the relative error in L2 and on the largest one.
    kernels
        The most that may be used.
    """

    entry: Entry | Stated
    value: float
    tol: float
    relative: float
    largest: float
    kernels: int
    # Shares of the reference's modes and steps that are enough here.
    modes: float = 1.0
    steps: float = 1.0

    @property
    def name(self) -> str:
        """For the test's name."""
        return f"{self.entry.name} {self.value:.3g}"


def shortened(entry: Entry, end: float) -> Stated:
    """Return the entry with an earlier end of time."""

    def problem(value: float) -> sf.Problem:
        return entry.problem(value).replace(time=(0.0, end))

    return Stated(entry.name, problem, entry.exact, entry.features, entry.panels, entry.has_exact)


def formula(
    name: str, problem: sf.Problem, exact: Callable[..., Any] | Mapping[str, Callable[..., Any]]
) -> Stated:
    """Return an entry for one problem without sharp features."""
    return Stated(name, lambda _: problem, lambda _: exact, lambda _: lambda t: ())


def rotation() -> Stated:
    """Return two unknowns that turn into each other while they diffuse."""
    k, w = 0.05, 6.0

    def part(turn: Callable[[Any], Any]) -> Callable[..., Any]:
        return lambda x, t: np.exp(-k * np.pi**2 * t) * np.sin(np.pi * x) * turn(w * t)

    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, v, x, t: (v.dt - k * v.dxx + w * u, u.dt - k * u.dxx - w * v),
        boundary=lambda u, v, x, t: (u, v),
        initial={"u": lambda x: np.sin(np.pi * x), "v": 0.0},
        time=(0, 1),
    )
    return formula("rotation", problem, {"u": part(np.cos), "v": part(lambda a: -np.sin(a))})


def beam() -> Stated:
    """Return a vibrating beam, of second order in time and fourth in space."""
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dtt + u.d("x", 4),
        boundary=lambda u, x, t: (u, u.dxx),
        initial=(lambda x: np.sin(np.pi * x), 0.0),
        time=(0, 0.3),
    )
    return formula("beam", problem, lambda x, t: np.sin(np.pi * x) * np.cos(np.pi**2 * t))


def plate() -> Stated:
    """Return a mode of fourth order in space that decays, with four kinds of conditions."""
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt + 0.01 * u.d("x", 4),
        left=lambda u, x, t: (u, u.dxx),
        right=lambda u, x, t: (u.dx, u.d("x", 3)),
        initial=lambda x: np.sin(np.pi * x / 2),
        time=(0, 1),
    )
    rate = 0.01 * (np.pi / 2) ** 4
    return formula("plate", problem, lambda x, t: np.exp(-rate * t) * np.sin(np.pi * x / 2))


def dispersion() -> Stated:
    """Return a wave of u_t + u_xxx = 0 with three conditions."""
    problem = sf.Problem(
        sf.Interval(0, 3),
        lambda u, x, t: u.dt + u.d("x", 3),
        left=lambda u, x, t: u - np.sin(x + t),
        right=lambda u, x, t: (u - np.sin(x + t), u.dx - np.cos(x + t)),
        initial=np.sin,
        time=(0, 1),
    )
    return formula("dispersion", problem, lambda x, t: np.sin(x + t))


def radiation() -> Stated:
    """Return heat with a source, a variable coefficient and a condition that is not linear."""

    def exact(x: Any, t: Any) -> Any:
        return 2 + np.sin(x + 3 * t)

    def equation(u: Any, x: Any, t: Any) -> Any:
        source = 3 * np.cos(x + 3 * t) + (1 + x**2) * np.sin(x + 3 * t)
        return u.dt - (1 + x**2) * u.dxx - source

    problem = sf.Problem(
        sf.Interval(0, 1),
        equation,
        left=lambda u, x, t: u.dn + u**2 + np.cos(x + 3 * t) - exact(x, t) ** 2,
        right=lambda u, x, t: u.dn + u**4 - np.cos(x + 3 * t) - exact(x, t) ** 4,
        initial=lambda x: exact(x, 2.0),
        time=(2, 3),
    )
    return formula("radiation", problem, exact)


def large() -> Stated:
    """Return a front of height 1e6: errors are relative to it."""
    exact = MOVING_FRONT.exact(1e-3)
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt + u.dx / 2 - 1e-3 * u.dxx,
        boundary=lambda u, x, t: u - 1e6 * exact(x, t),
        initial=lambda x: 1e6 * exact(x, 0.0),
        time=(0, 1),
    )
    entry = formula("large", problem, lambda x, t: 1e6 * exact(x, t))
    return replace(entry, features=lambda _: MOVING_FRONT.features(1e-3))


# Bounds are three times the worst of what was measured, rounded up; of kernels 1.4 times.
CASES = (
    Case(MOVING_FRONT, 1e-4, 1e-6, 2e-9, 4e-8, 350),
    Case(MOVING_FRONT, 1e-6, 1e-6, 2e-10, 8e-9, 440),
    Case(FLUX_FRONT, 1e-3, 1e-6, 3e-9, 2e-7, 330),
    Case(TRAVELLING_SHOCK, 1e-3, 1e-7, 3e-10, 5e-9, 480),
    Case(TRAVELLING_SHOCK, 1e-4, 1e-6, 2e-10, 1e-8, 470),
    Case(BURGERS, 0.01 / np.pi, 1e-6, 2e-8, 1e-7, 430),
    Case(HUMP, 1e-2, 1e-6, 6e-9, 3e-8, 280),
    Case(HUMP, 1e-3, 1e-5, 1e-7, 5e-7, 340),
    Case(MERGING_SHOCKS, 1e-2, 1e-7, 3e-10, 4e-9, 280),
    Case(MERGING_SHOCKS, 1e-3, 1e-6, 4e-9, 7e-8, 490),
    Case(FAST_ADVECTION, 40.0, 1e-7, 9e-12, 2e-11, 110),
    Case(FAST_PULSE, 1e-2, 1e-6, 4e-10, 5e-10, 430),
    Case(WAVE_PULSE, 3e-2, 1e-6, 4e-8, 3e-8, 310),
    Case(REFLECTED_PULSE, 1e-1, 1e-6, 1e-8, 2e-8, 210),
    Case(HEAT_STEP, 1e-2, 1e-5, 3e-8, 3e-5, 620),
    Case(HEAT_HAT, 1e-2, 1e-4, 2e-7, 3e-5, 800),
    Case(COOLING, 1e-2, 1e-6, 8e-10, 7e-7, 240),
    Case(FISHER, 1e-2, 1e-6, 2e-8, 2e-7, 220),
    Case(FISHER, 1e-3, 1e-5, 4e-9, 3e-8, 240),
    Case(NAGUMO, 1e3, 1e-6, 1e-9, 2e-8, 380),
    Case(shortened(ALLEN_CAHN_IN_TIME, 0.2), 1e-4, 1e-4, 5e-7, 9e-5, 320, 0.5, 0.5),
    Case(shortened(KORTEWEG_DE_VRIES, 0.3), 0.022, 1e-5, 5e-7, 2e-6, 420, 0.7, 0.25),
    Case(KURAMOTO_SIVASHINSKY, 5.0, 1e-6, 5e-8, 3e-7, 230, 0.5, 0.1),
    Case(shortened(GRAY_SCOTT, 20.0), 1e-2, 1e-5, 2e-7, 4e-7, 350, 0.5, 0.1),
    Case(rotation(), 1.0, 1e-6, 5e-9, 8e-9, 110),
    Case(beam(), 1.0, 1e-6, 3e-9, 8e-9, 140),
    Case(plate(), 1.0, 1e-6, 4e-11, 6e-11, 140),
    Case(dispersion(), 1.0, 1e-6, 2e-9, 5e-9, 130),
    Case(radiation(), 1.0, 1e-6, 2e-9, 3e-8, 110),
    Case(large(), 1.0, 1e-6, 4e-9, 2e-1, 330),
)
