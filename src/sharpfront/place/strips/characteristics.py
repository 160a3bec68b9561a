"""Layers along a wind, from where it touches the boundary or data jump on it.

They follow the wind, x' = b(x) / |b|, and what diffuses across makes them thick: their variance
grows by 2 eps / |b| on the way, and as streamlines part.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import Flags, FloatArray
from sharpfront.geometry import Domain
from sharpfront.place.strips.settings import STRIPS
from sharpfront.place.strips.tangencies import Tangency
from sharpfront.problem import Problem
from sharpfront.rounding import BISECTIONS
from sharpfront.rows.form_values import form_at

# How streamlines part is looked at over this share of the domain, and the error of their places.
PARTED, PATH_ERROR = 1e-5, 1e-11


@dataclass(frozen=True, eq=False)
class Shear:
    """A layer along a wind.

    Parameters
    ----------
    path
        Where it is at distances along it, (m,), and its variance there: (3, m).
    length
        How long it is.
    near
        Up to here it is as deep as here.
    widths
        How many widths deep it is where it is a layer beside a wall.
    """

    path: Callable[[FloatArray], FloatArray]
    length: float
    near: float
    widths: float

    def at(self, s: FloatArray) -> FloatArray:
        """Return places along it, (m, 2)."""
        return np.asarray(self.path(s)[:2].T)

    def depth(self, s: FloatArray) -> FloatArray:
        """Return how deep it is to either side, (m,): it fades as e^(-n^2 / 2)."""
        variance = self.path(np.maximum(s, self.near))[2]
        return np.asarray(np.sqrt(2.0 * self.widths * variance))


def shears_from(
    problem: Problem, touched: Sequence[Tangency], jumps: Iterable[Sequence[float]], widths: float
) -> Iterator[Shear]:
    """Yield the layers that a wind carries from where it touches the boundary, and from jumps."""
    for one in touched:
        found = _followed(problem, np.array(one.place), widths, one.length)
        if found is not None:
            yield found
    for place in jumps:
        found = _followed(problem, np.array(place), widths, None)
        if found is not None:
            yield found


def wind_at(problem: Problem, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return where an equation carries its solution at points, (m, 2), and diffusion, (m, 2, 2)."""
    form = form_at(problem.forms[0], problem.coordinates, points)
    wind, diffusion = np.zeros((len(points), 2)), np.zeros((len(points), 2, 2))
    for term, c in zip(form.terms, form.coefficients, strict=True):
        if sum(term.orders) == 1:
            wind[:, term.orders.index(1)] += c
        elif sum(term.orders) == 2:
            i, j = (k for k, order in enumerate(term.orders) for _ in range(order))
            diffusion[:, i, j] -= 0.5 * c
            diffusion[:, j, i] -= 0.5 * c
    sign = np.where(np.trace(diffusion, axis1=1, axis2=2) < 0, -1.0, 1.0)
    return wind * sign[:, None], diffusion * sign[:, None, None]


def _followed(
    problem: Problem, start: FloatArray, widths: float, near: float | None
) -> Shear | None:
    """Return the layer that begins at a place, of a thickness of its own near it if that is given.

    From a jump on it is as deep as it is long.
    """
    from scipy.integrate import solve_ivp

    domain = problem.domain
    size = float(np.ptp(domain.bounds, axis=0).max())
    (first,), (spread,) = wind_at(problem, start[None])
    speed = float(np.linalg.norm(first))
    if not np.isfinite(speed) or speed == 0.0:
        return None
    if near is None:
        across = np.array([-first[1], first[0]]) / speed
        near = 4.0 * widths * float(across @ spread @ across) / speed
    if not 0.0 < near < size:
        return None

    def change(_: float, state: FloatArray) -> FloatArray:
        return _change(problem, state, PARTED * size, STRIPS.still * speed)

    begin = np.array([*start, 0.0])
    found = solve_ivp(
        change,
        (0.0, STRIPS.farthest * size),
        begin,
        "DOP853",
        dense_output=True,
        rtol=PATH_ERROR,
        atol=PATH_ERROR * size,
    )
    assert found.sol is not None
    length = _inside_up_to(domain, found.sol, near, float(found.t[-1]))
    return None if length <= near else Shear(found.sol, length, near, widths)


def _change(problem: Problem, state: FloatArray, beside: float, still: float) -> FloatArray:
    """Return how place and variance change along a layer, (3,); not at all where it ends."""
    x = state[:2]
    winds, spread = wind_at(problem, x[None])
    speed = float(np.linalg.norm(winds[0]))
    if not speed > still:
        return np.zeros(3)
    way = winds[0] / speed
    across = np.array([-way[1], way[0]])
    sides, _ = wind_at(problem, np.stack([x + beside * across, x - beside * across]))
    parting = float((sides[0] - sides[1]) @ across) / (2.0 * beside)
    grown = 2.0 * (float(across @ spread[0] @ across) + parting * state[2]) / speed
    return np.array([way[0], way[1], grown if math.isfinite(grown) else 0.0])


def _inside_up_to(
    domain: Domain, path: Callable[[FloatArray], FloatArray], near: float, last: float
) -> float:
    """Return how far along a path is inside a domain, 0 where it leaves it at once."""

    def inside(s: FloatArray) -> Flags:
        return domain.contains(path(s)[:2].T)

    s = np.linspace(0.5 * near, last, STRIPS.on_path)
    out = np.flatnonzero(~inside(s))
    if not len(out) or out[0] == 0:
        return 0.0 if len(out) else last
    low, high = float(s[out[0] - 1]), float(s[out[0]])
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if inside(np.array([middle]))[0] else (low, middle)
    return low
