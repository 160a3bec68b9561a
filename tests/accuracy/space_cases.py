"""Random problems in two dimensions and more, made from exact solutions.

u is a sum of products of functions of one coordinate, each with its derivatives written by hand,
so that the source is exact to rounding: smooth waves and polynomials, and layers and fronts.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import sharpfront as sf
from sharpfront.measure import Feature, cloud, max_error
from sharpfront.measure.points import graded_axis, tensor_points

FACES = (("left", "right"), ("bottom", "top"), ("back", "front"))
# A bump between the nodes of the survey leaves no trace: none is narrower than one of its cells.
NARROWEST_BUMP = 0.012


@dataclass(frozen=True)
class Factor:
    """A function of one coordinate with its first two derivatives, and where it is thin."""

    words: str
    derivatives: Callable[[Any], tuple[Any, Any, Any]]
    feature: Feature | None = None


@dataclass(frozen=True)
class SpaceCase:
    """A problem with its exact solution and points to measure the error at, (m, d)."""

    name: str
    problem: sf.Problem
    exact: Callable[..., Any]
    points: np.ndarray


def wave(size, rate, phase):
    def derivatives(s):
        sine, cosine = np.sin(rate * s + phase), np.cos(rate * s + phase)
        return size * sine, size * rate * cosine, -size * rate**2 * sine

    return Factor("wave", derivatives)


def parabola(a, b, c):
    return Factor("parabola", lambda s: (a + s * (b + c * s), b + 2 * c * s, 2 * c + 0 * s))


def wall(end, sign, width):
    """A layer at an end of a side: exp(-sign (s - end)/width)."""

    def derivatives(s):
        e = np.exp(-sign * (s - end) / width)
        return e, -sign * e / width, e / width**2

    words = f"{'low' if sign > 0 else 'high'} {width:.1e}"
    return Factor(words, derivatives, Feature(end, width))


def step(place, width):
    def derivatives(s):
        t = np.tanh((s - place) / width)
        slope = (1 - t) * (1 + t) / width
        return t, slope, -2 * t * slope / width

    return Factor(f"step {width:.1e}", derivatives, Feature(place, width))


def bump(place, width):
    def derivatives(s):
        z = (s - place) / width
        e = np.exp(-z * z)
        return e, -2 * z * e / width, (4 * z * z - 2) * e / width**2

    return Factor(f"bump {width:.1e}", derivatives, Feature(place, width))


def smooth(rng, side):
    low, high = side
    if rng.uniform() < 0.3:
        a, b, c = rng.normal(size=3)
        length = high - low
        return parabola(a, b / length, c / length**2)
    return wave(1.0, rng.uniform(0.5, 4) / (high - low), rng.uniform(0, 6))


def thin(rng, side, exponents):
    low, high = side
    length = high - low
    width = length * 10 ** rng.uniform(*exponents)
    place = low + length * rng.uniform(0.1, 0.9)
    kind = rng.choice(["low", "high", "step", "bump"], p=[0.35, 0.35, 0.2, 0.1])
    if kind == "bump":
        return bump(place, max(width, NARROWEST_BUMP * length))
    if kind == "step":
        return step(place, width)
    return wall(low, 1, width) if kind == "low" else wall(high, -1, width)


def summed(terms, position, orders):
    """d^orders of the sum of products at a position."""
    total = 0.0
    for size, factors in terms:
        parts = [f.derivatives(s)[k] for f, s, k in zip(factors, position, orders, strict=True)]
        total = total + size * functools.reduce(operator.mul, parts)
    return total


def unit(d, axis, order):
    return tuple(order if i == axis else 0 for i in range(d))


def coefficients(rng, sides, narrow, kind):
    """Return eps, the velocity along each axis, the reaction, and the axis and sign of a flow.

    The reaction is never negative and a flow never stands still: the problem has one solution
    that depends on its data without large factors.
    """
    d = len(sides)
    lengths = np.array([high - low for low, high in sides])
    rates = rng.uniform(0.5, 3, size=(d + 1, d)) / lengths
    phases = rng.uniform(0, 6, size=d + 1)

    def swing(k):
        return lambda *p: np.sin(sum(r * s for r, s in zip(rates[k], p, strict=True)) + phases[k])

    axis, sign = int(rng.integers(d)), float(rng.choice([-1.0, 1.0]))
    swings = [swing(k) for k in range(d + 1)]
    if kind == "flow":
        eps = max(narrow, 1e-4 * lengths[axis])
        flow = [lambda *p: 0.0 * p[0]] * d
        flow[axis] = lambda *p: sign * (1 + 0.4 * swings[axis](*p))
        return eps, flow, lambda *p: 0.0 * p[0], (axis, sign)
    if kind == "reaction":
        flow = [lambda *p: 0.0 * p[0]] * d
        return max(narrow, 1e-3) ** 2, flow, lambda *p: 1 + 0.5 * swings[d](*p), None
    if kind == "both":
        flow = [lambda *p, f=f: 0.5 * f(*p) for f in swings[:d]]
        return max(narrow, 1e-4), flow, lambda *p: 1.5 + 0.5 * swings[d](*p), None
    flow = [lambda *p, f=f: f(*p) for f in swings[:d]]
    return 1.0, flow, lambda *p: 1 + swings[d](*p), None


def stated(rng, domain, terms, parts, kind):
    """Return the problem whose solution is the sum of the terms."""
    d = domain.dimension
    sides = list(domain.bounds.T)
    widths = [f.feature.width for _, factors in terms for f in factors if f.feature]
    eps, flow, reaction, course = coefficients(rng, sides, min(widths, default=0.1), kind)

    def source(*p):
        total = reaction(*p) * summed(terms, p, (0,) * d)
        for i in range(d):
            total = total + flow[i](*p) * summed(terms, p, unit(d, i, 1))
            total = total - eps * summed(terms, p, unit(d, i, 2))
        return total

    def equation(u, *p):
        total = -eps * sf.laplacian(u) + reaction(*p) * u - sf.function(source)(*p)
        for i, name in enumerate(domain.coordinates):
            total = total + flow[i](*p) * u.d(name)
        return total

    def exact(*p):
        return summed(terms, p, (0,) * d)

    given = sf.function(exact)
    conditions = dict.fromkeys(domain.parts, lambda u, *p: u - given(*p))
    for part, (axis, out) in parts.items():
        # Data at the inflow are needed as values: its slopes say nothing about what flows in.
        free = course is not None and (axis != course[0] or out == course[1])
        free = free or (course is None and kind != "both")
        if free and rng.uniform() < 0.35:
            slope = sf.function(lambda *p, a=axis, o=out: o * summed(terms, p, unit(d, a, 1)))
            robin = float(rng.choice([0.0, 1.0]))
            conditions[part] = lambda u, *p, g=slope, r=robin: u.dn + r * u - g(*p) - r * given(*p)
    return sf.Problem(domain, _signed(equation, domain), **_each_signed(conditions, domain)), exact


def _signed(f, domain):
    """Name the coordinates in the signature, as tracing wants it."""
    if domain.dimension == 2:
        return lambda u, x, y: f(u, x, y)
    return lambda u, x, y, z: f(u, x, y, z)


def _each_signed(conditions, domain):
    return {part: _signed(f, domain) for part, f in conditions.items()}


def random_box(rng, name, dimension=2, exponents=(-4, -1)):
    """A box with layers and fronts along its axes."""
    sides = []
    for _ in range(dimension):
        low, length = rng.uniform(-1, 1), 10 ** rng.uniform(-0.5, 0.5)
        sides.append((float(low), float(low + length)))
    terms = [(rng.normal(), [smooth(rng, s) for s in sides]) for _ in range(2)]
    for _ in range(int(rng.choice(3, p=[0.15, 0.45, 0.4]))):
        axis = int(rng.integers(dimension))
        factors = [smooth(rng, s) for s in sides]
        factors[axis] = thin(rng, sides[axis], exponents)
        if rng.uniform() < 0.2:
            other = (axis + 1) % dimension
            factors[other] = thin(rng, sides[other], exponents)
        terms.append((rng.normal(), factors))
    domain = sf.Box(*sides)
    parts = {FACES[i][k]: (i, (-1.0, 1.0)[k]) for i in range(dimension) for k in range(2)}
    # One face keeps its values, so that there is one solution.
    parts.pop(str(rng.choice(list(parts))))
    kind = str(rng.choice(["flow", "reaction", "both", "poisson"]))
    problem, exact = stated(rng, domain, terms, parts, kind)
    per_axis = 120 if dimension == 2 else 30
    axes = []
    for i, side in enumerate(sides):
        features = [f[i].feature for _, f in terms if f[i].feature]
        axes.append(graded_axis(*side, features, per_axis))
    return SpaceCase(f"{name} {kind} {_words(terms)}", problem, exact, tensor_points(*axes))


def random_shape(rng, name):
    """A disk, a polygon or a box with a hole, with a smooth solution."""
    shape = str(rng.choice(["disk", "polygon", "pierced"]))
    if shape == "disk":
        domain = sf.Disk(tuple(rng.uniform(-0.5, 0.5, 2)), float(rng.uniform(0.4, 1.5)))
    elif shape == "polygon":
        corners = int(rng.integers(3, 7))
        angles = 2 * np.pi * (np.arange(corners) + rng.uniform(-0.25, 0.25, corners)) / corners
        radii = rng.uniform(0.6, 1.2, corners)
        domain = sf.Polygon(np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1))
    else:
        hole = sf.Disk(tuple(rng.uniform(0.4, 0.6, 2)), float(rng.uniform(0.1, 0.3)))
        domain = sf.Box((0, 1), (0, float(rng.uniform(0.9, 1.5)))) - hole
    sides = [tuple(side) for side in domain.bounds.T]
    terms = [(rng.normal(), [smooth(rng, s) for s in sides]) for _ in range(3)]
    kind = str(rng.choice(["flow", "reaction", "both", "poisson"]))
    problem, exact = stated(rng, domain, terms, {}, kind)
    return SpaceCase(f"{name} {shape} {kind}", problem, exact, cloud(domain, 8000))


def _words(terms):
    lines = [[f"{'xyz'[i]}: {f.words}" for i, f in enumerate(fs) if f.feature] for _, fs in terms]
    return "; ".join(" * ".join(line) for line in lines if line) or "smooth"


def family(seed: int, count: int) -> Iterator[SpaceCase]:
    """Yield the problems of a seed: boxes, every fifth a shape, every tenth a box in space."""
    for i in range(count):
        rng = np.random.default_rng([seed, i])
        if i % 10 == 7:
            yield random_box(rng, f"{seed}:{i} 3D", 3, (-2, -1))
        elif i % 5 == 4:
            yield random_shape(rng, f"{seed}:{i}")
        else:
            yield random_box(rng, f"{seed}:{i}")


def relative_error(case: SpaceCase, solution: Callable[..., Any]) -> float:
    """Return the largest error at the case's points, relative to max(1, max|u|)."""
    return max_error(solution, case.exact, case.points)
