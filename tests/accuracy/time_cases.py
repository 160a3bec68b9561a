"""Problems in time on an interval with what is asked of each, and formulas for more of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import sharpfront as sf
from sharpfront.catalog import (
    ALLEN_CAHN_IN_TIME,
    GRAY_SCOTT,
    KORTEWEG_DE_VRIES,
    KURAMOTO_SIVASHINSKY,
    MOVING_FRONT,
    Entry,
    named,
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
    """A problem, and the shares of its reference's modes and steps that are enough."""

    entry: Entry | Stated
    modes: float = 1.0
    steps: float = 1.0


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


CASES = {
    "allen-cahn-in-time to 0.2": Case(shortened(ALLEN_CAHN_IN_TIME, 0.2), 0.5, 0.5),
    "korteweg-de-vries to 0.3": Case(shortened(KORTEWEG_DE_VRIES, 0.3), 0.7, 0.25),
    "kuramoto-sivashinsky to 5": Case(KURAMOTO_SIVASHINSKY, 0.5, 0.1),
    "gray-scott to 20": Case(shortened(GRAY_SCOTT, 20.0), 0.5, 0.1),
    "rotation": Case(rotation()),
    "beam": Case(beam()),
    "plate": Case(plate()),
    "dispersion": Case(dispersion()),
    "radiation": Case(radiation()),
    "large": Case(large()),
}


def case(name: str) -> Case:
    """Return a row's problem: one of those here, or of the catalogue."""
    return CASES.get(name) or Case(named(name))
