"""Solutions of every kind for the tests of pages; those in time are formulas with a history."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

import sharpfront as sf
from sharpfront.adapt import Paper
from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.geometry import SpaceTime
from sharpfront.history import Known, TimeStep
from sharpfront.mixture import Mixture
from sharpfront.solution import Estimate, Solution
from sharpfront.solution.approximation import Approximation

NU = 1e-2
SQUARE = sf.Box((0, 1), (0, 1))


@cache
def layer():
    problem = sf.Problem(
        sf.Interval(0, 1),
        "-nu*u_xx + u_x = 0",
        left="u = 0",
        right="u = 1",
        parameters={"nu": NU},
    )
    return sf.solve(problem)


def exact_layer(x):
    return (np.exp((x - 1) / NU) - np.exp(-1 / NU)) / (1 - np.exp(-1 / NU))


@cache
def shock():
    """Several solves with different numbers of kernels."""
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: -1e-3 * u.dxx + u * u.dx - u,
        left=lambda u, x: u - 1,
        right=lambda u, x: u + 1,
    )
    return sf.solve(problem)


@cache
def failed():
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: -NU * u.dxx + u.dx,
        left=lambda u, x: u,
        right=lambda u, x: u - 1,
    )
    adaptor = Paper(kernels=20, components=2, iterations=2, collocation=60)
    return sf.solve(problem, adaptor=adaptor)


@cache
def plane():
    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: -1e-2 * sf.laplacian(u) + u.dx - np.sin(np.pi * y),
        boundary=lambda u, x, y: u,
    )
    return sf.solve(problem, tol=1e-4)


@cache
def thin():
    """A layer far thinner than a dot."""
    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: -1e-5 * sf.laplacian(u) + u.dx - np.sin(np.pi * y),
        boundary=lambda u, x, y: u,
    )
    return sf.solve(problem, tol=1e-2)


@cache
def pierced():
    problem = sf.Problem(
        SQUARE - sf.Disk((0.5, 0.5), 0.2),
        lambda u, x, y: -sf.laplacian(u) - 1,
        boundary=lambda u, x, y: u,
        right=lambda u, x, y: u.dn,
    )
    return sf.solve(problem, tol=1e-2)


@cache
def pair():
    problem = sf.Problem(
        SQUARE,
        lambda u, v, x, y: (-sf.laplacian(u) - v, -sf.laplacian(v) - 1),
        boundary=lambda u, v, x, y: (u, v),
    )
    return sf.solve(problem, tol=0.1, max_kernels=200)


@cache
def cube():
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1), (0, 1)),
        lambda u, x, y, z: u - z,
        boundary=lambda u, x, y, z: u - z,
    )
    return sf.solve(problem, tol=0.1, max_kernels=130)


@dataclass(frozen=True)
class Formula:
    """A basis of one function: a front that moves with speed 1/2."""

    dimension: int
    width: float = 0.02
    size: int = 1
    kernels: int = 40

    def values(self, weights, points, orders):
        z = (points[:, 0] - 0.2 - 0.5 * points[:, -1]) / self.width
        if sum(orders) == 0:
            return weights[0] * np.tanh(z)
        if orders[0] == 1 and sum(orders) == 1:
            return weights[0] / (self.width * np.cosh(z) ** 2)
        if orders[-1] == 1 and sum(orders) == 1:
            return -0.5 * weights[0] / (self.width * np.cosh(z) ** 2)
        return np.zeros(len(points))


def in_time(space, equation):
    d = space.dimension
    problem = sf.Problem(
        space,
        equation,
        initial=lambda x: np.tanh((x - 0.2) / 0.02),
        time=(0, 1),
    )
    times = np.linspace(0, 1, 11)[1:]
    means = [np.full((1, d), 0.5) for _ in times]
    for t, mean in zip(times, means, strict=True):
        mean[0, 0] = 0.2 + 0.5 * t
    history = tuple(
        TimeStep(
            *(i, float(t), 0.1, 40, 1e-7 * (i + 1), 3, 0.01),
            Known(
                Mixture(np.ones(1), means[i], 4e-4 * np.eye(d)[None]),
                np.array([[0.5, 0.0]])[:, :d] if d > 1 else np.array([0.5]),
            ),
        )
        for i, t in enumerate(times)
    )
    return Solution(
        Approximation(problem.coordinates, {"u": Formula(d + 1)}, {"u": np.ones(1)}),
        SpaceTime(space, (0.0, 1.0)),
        Estimate(1e-6, "a formula, not an estimate"),
        Outcome(OutcomeKind.CONVERGED, ""),
        1e-6,
        history,
        {},
        problem,
    )


@cache
def line_in_time():
    return in_time(sf.Interval(0, 1), lambda u, x, t: u.dt + 0.5 * u.dx)


@cache
def plane_in_time():
    return in_time(SQUARE, lambda u, x, y, t: u.dt + 0.5 * u.dx)


@cache
def burgers():
    problem = sf.Problem(
        sf.Interval(-1, 1),
        lambda u, x, t: u.dt + u * u.dx - 0.05 * u.dxx,
        boundary=lambda u, x, t: u,
        initial=lambda x: -np.sin(np.pi * x),
        time=(0, 0.5),
    )
    return sf.solve(problem, tol=1e-3)


@cache
def ring():
    """Two unknowns that go round."""
    problem = sf.Problem(
        sf.Interval(-1, 1, periodic=True),
        lambda u, v, x, t: (u.dt + 4 * u.dx - 0.01 * u.dxx, v.dt + 4 * v.dx + u),
        initial=(lambda x: np.exp(-20 * x**2), 0.0),
        time=(0, 0.5),
    )
    return sf.solve(problem, tol=1e-3)


@cache
def loaded():
    """A solution that does not know its problem."""
    return replace(layer(), problem=None)


ALL = {
    f.__name__: f
    for f in (
        *(layer, shock, failed, plane, thin, pierced, pair, cube),
        *(line_in_time, plane_in_time, burgers, ring, loaded),
    )
}
