"""Runs that several tests look at, made once, and their errors.

Errors are measured by a rule of Gauss type on panels that are cut anew at every moment and on every
line of constant y, geometric about each front.
"""

from functools import cache

import numpy as np

import sharpfront as sf
from sharpfront.catalog import named
from sharpfront.evolve.plane import evolve_plane
from sharpfront.measure import TimeRule, max_error


class Heat:
    """Heat in a box, of which the parameter is how fast it fades."""

    @staticmethod
    def problem(rate):
        return sf.Problem(
            sf.Box((0, 1), (0, 1)),
            lambda u, x, y, t: u.dt - rate * sf.laplacian(u),
            boundary=lambda u, x, y, t: u - Heat.exact(rate)(x, y, t),
            initial=lambda x, y: Heat.exact(rate)(x, y, 0.0),
            time=(0, 0.05),
        )

    @staticmethod
    def exact(rate):
        return lambda x, y, t: np.exp(-5 * rate * t) * np.sin(2 * x + y)


# Entry, parameter, tolerance, and bounds: relative L2 over space-time, largest error, kernels.
CASES = {
    "turning-pulse": (named("turning-pulse"), 0.05, 1e-3, 1e-3, 1e-3, 900),
    "growing-circle": (named("growing-circle"), 0.2, 1e-2, 3e-3, 1e-2, 450),
    "oblique-shock": (named("oblique-shock"), 2e-2, 1e-3, 3e-4, 1e-3, 300),
    "heat": (Heat, 0.2, 1e-6, 1e-7, 1e-6, 300),
}
# Where a part of the catalogue's time shows as much.
ENDS = {"turning-pulse": 0.1}
# Gauss's points in a panel, even panels across the domain and panels of time.
ORDER, EVEN, TIMES = 4, 8, 3


def features(name, value, t, y=None):
    """Return places and widths of what is sharp along y, or along x at a given y."""
    if name == "turning-pulse":
        angle = 2 * np.pi * t
        return [(0.5 * (np.sin(angle) if y is None else np.cos(angle)), value)]
    if name == "growing-circle":
        radius = 0.5 + 0.4 * t
        half = radius if y is None else np.sqrt(max(radius**2 - y**2, 0.0))
        return [(-half, value), (half, value)]
    if name == "oblique-shock":
        places = (t + 0.25, t - 0.75) if y is None else (t + 0.25 - y,)
        return [(place, 2 * value) for place in places]
    return []


def stated(name):
    entry, value, *_ = CASES[name]
    problem = entry.problem(value)
    return problem.replace(time=(0.0, ENDS[name])) if name in ENDS else problem


@cache
def solved(name):
    return evolve_plane(stated(name), CASES[name][2])


@cache
def errors(name):
    """Return the relative error in L2 of space-time, and the largest."""
    entry, value, *_ = CASES[name]
    exact, problem, solution = entry.exact(value), stated(name), solved(name)
    moments, lengths = gauss(np.linspace(*problem.time, TIMES + 1))
    points, weights = [], []
    for t, length in [*zip(moments, lengths, strict=True), (problem.time[1], 0.0)]:
        places, areas = rule(name, value, problem.domain, float(t))
        points.append(np.column_stack([places, np.full(len(places), t)]))
        weights.append(length * areas)
    every = TimeRule(np.concatenate(points), np.concatenate(weights))
    return every.error(solution, exact), max_error(solution, exact, every.points)


def rule(name, value, domain, t):
    """Return points of the domain (m, 2) at a moment and their areas (m,)."""
    (x0, y0), (x1, y1) = domain.bounds
    points, areas = [], []
    for y, height in zip(*gauss(cuts(y0, y1, features(name, value, t))), strict=True):
        xs, widths = gauss(cuts(x0, x1, features(name, value, t, y)))
        points.append(np.column_stack([xs, np.full(len(xs), y)]))
        areas.append(height * widths)
    every = np.concatenate(points)
    inside = domain.contains(every)
    return every[inside], np.concatenate(areas)[inside]


def cuts(low, high, sharp):
    """Return the ends of panels, half a width next to what is sharp and doubling from there."""
    parts = [np.linspace(low, high, EVEN + 1)]
    for place, width in sharp:
        steps = 0.5 * width * 2.0 ** np.arange(int(max(2.0, np.log2(2 * (high - low) / width))))
        parts.append(place + np.concatenate([-steps, [0.0], steps]))
    every = np.concatenate(parts)
    return np.unique(every[(every >= low) & (every <= high)])


def gauss(ends):
    """Return Gauss's points and weights on the panels between ends."""
    nodes, weights = np.polynomial.legendre.leggauss(ORDER)
    half = 0.5 * np.diff(ends)[:, None]
    middle = 0.5 * (ends[1:] + ends[:-1])[:, None]
    return (middle + half * nodes).ravel(), (half * weights).ravel()
