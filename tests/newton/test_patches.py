"""Nonlinear problems on patches: regions with axis-parallel sides, and systems in the plane."""

from dataclasses import replace

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt import Patches
from sharpfront.errors import OutcomeKind
from sharpfront.measure import max_error
from sharpfront.newton.adaptor import NewtonAround
from sharpfront.newton.iterate import Constants
from sharpfront.newton.strategy import Progress
from sharpfront.solution.approximation import Approximation, split_weights

L_SHAPE = sf.Box((-1, 1), (-1, 1)) - sf.Box((0, 2), (-2, 0))
U_SHAPE = sf.Box((0, 3), (0, 2)) - sf.Box((1, 2), (1, 3))


def points_of(domain, count=3000):
    """Return random points of a region."""
    low, high = domain.bounds
    points = low + (high - low) * np.random.default_rng(3).random((count, 2))
    return points[domain.contains(points)].T


def error_of(solution, exact):
    """Return the largest error relative to max(1, max|u|)."""
    return max_error(solution, exact, points_of(solution.domain).T)


def wave(a, b, c):
    """Return a smooth function, its gradient and its Laplacian."""
    return (
        lambda x, y: np.sin(a * x + b * y + c),
        lambda x, y: a * np.cos(a * x + b * y + c),
        lambda x, y: -(a * a + b * b) * np.sin(a * x + b * y + c),
    )


REACTIONS = {
    "cube": lambda u, ux: u**3,
    "exponential": lambda u, ux: np.exp(u),
    "convection": lambda u, ux: u * ux,
    "arctan": lambda u, ux: np.arctan(3 * u),
}


@pytest.mark.parametrize(
    ("domain", "a", "b", "c"),
    [
        pytest.param(L_SHAPE, 1.0, 0.5, 0.0, id="L"),
        pytest.param(U_SHAPE, 1.0, 0.5, 0.0, id="U"),
        pytest.param(L_SHAPE, 2.0, -1.0, 0.7, id="L, a shorter wave"),
        pytest.param(U_SHAPE, 2.0, -1.0, 0.7, id="U, a shorter wave", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("reaction", REACTIONS)
def test_reactions_on_regions_with_corners_that_point_inwards(domain, reaction, a, b, c):
    exact, slope, bent = wave(a, b, c)
    f = REACTIONS[reaction]
    problem = sf.Problem(
        domain,
        lambda u, x, y: -sf.laplacian(u) + f(u, u.dx) + bent(x, y) - f(exact(x, y), slope(x, y)),
        boundary=lambda u, x, y: u - exact(x, y),
    )
    solution = sf.solve(problem, tol=1e-5)
    error = error_of(solution, exact)
    assert solution.converged, str(solution.outcome)
    assert error < 1e-5
    assert error < 3 * solution.error_estimate + 1e-12
    assert solution.diagnostics["newton_steps"] == len(solution.history)


def corner(x, y):
    """Return r^(2/3) sin(2t/3), whose slope is unbounded at the corner."""
    t = np.arctan2(y, x)
    return np.hypot(x, y) ** (2 / 3) * np.sin(2 / 3 * np.where(t < -1e-12, t + 2 * np.pi, t))


def test_a_reaction_beside_a_singular_corner():
    exact = sf.function(corner)
    problem = sf.Problem(
        L_SHAPE,
        lambda u, x, y: -sf.laplacian(u) + u**3 - exact(x, y) ** 3,
        boundary=lambda u, x, y: u - exact(x, y),
    )
    solution = sf.solve(problem, tol=1e-3)
    assert solution.converged, str(solution.outcome)
    assert error_of(solution, corner) < min(1e-3, 3 * solution.error_estimate)


@pytest.mark.parametrize("k", [0.4, 0.8])
def test_a_minimal_surface_on_an_l_shape(k):
    exact = lambda x, y: np.log(np.cos(k * y) / np.cos(k * x)) / k  # noqa: E731
    problem = sf.Problem(
        L_SHAPE,
        lambda u, x, y: (1 + u.dy**2) * u.dxx - 2 * u.dx * u.dy * u.dxy + (1 + u.dx**2) * u.dyy,
        boundary=lambda u, x, y: u - exact(x, y),
    )
    solution = sf.solve(problem, tol=1e-6)
    assert solution.converged, str(solution.outcome)
    assert error_of(solution, exact) < min(1e-6, 3 * solution.error_estimate)


@pytest.mark.parametrize("level", [1.0, 8.0])
def test_where_zero_has_no_linearisation_another_guess_is_taken(level):
    problem = sf.Problem(
        L_SHAPE, lambda u, x, y: -sf.laplacian(u) + u**3 - level, boundary=lambda u, x, y: u.dn
    )
    solution = sf.solve(problem, tol=1e-6)
    assert solution.converged, str(solution.outcome)
    assert error_of(solution, lambda x, y: level ** (1 / 3) + 0 * x) < 1e-6


def test_beyond_a_fold_there_is_no_solution():
    problem = sf.Problem(
        L_SHAPE, lambda u, x, y: -sf.laplacian(u) - 20 * np.exp(u), boundary=lambda u, x, y: u
    )
    solution = sf.solve(problem, tol=0.1, max_kernels=600)
    assert solution.outcome.kind is OutcomeKind.NEWTON
    assert solution.error_estimate == np.inf


@pytest.mark.parametrize(("reynolds", "length"), [(30.0, 2.0), (7.0, 1.3), (90.0, 1.0)])
def test_a_flow_with_an_unknown_that_vanishes(reynolds, length):
    """Corrections of what is zero are rounding, and need not shrink."""
    problem = sf.Problem(
        sf.Box((0, length), (0, 1)),
        lambda u, v, p, x, y: (
            -sf.laplacian(u) / reynolds + u * u.dx + v * u.dy + p.dx,
            -sf.laplacian(v) / reynolds + u * v.dx + v * v.dy + p.dy,
            u.dx + v.dy,
        ),
        boundary=lambda u, v, p, x, y: (u - 4 * y * (1 - y), v),
        conditions=sf.at((0.5 * length, 0.5), lambda u, v, p, x, y: p),
    )
    solution = sf.solve(problem, tol=1e-6)
    x, y = points_of(solution.domain)
    assert solution.converged, str(solution.outcome)
    assert np.abs(solution.u(x, y) - 4 * y * (1 - y)).max() < 1e-9
    assert np.abs(solution.v(x, y)).max() < 1e-9


def test_the_certificate_holds_what_newton_has_left():
    exact, _, bent = wave(2.0, 1.0, 0.3)
    problem = sf.Problem(
        L_SHAPE,
        lambda u, x, y: -sf.laplacian(u) + 2 * u**3 + bent(x, y) - 2 * exact(x, y) ** 3,
        boundary=lambda u, x, y: u - exact(x, y),
    )
    adaptor = NewtonAround(Patches())
    state = adaptor.start(problem, 1e-6, 0)
    # About zero, far from the solution: one step leaves an error that patches know nothing of.
    inner = replace(state.inner.about(state.tangent.at(Constants())), final=True)
    state = replace(state, iterate=Constants(), inner=inner, progress=Progress().after(1e-3))
    proposal, method = adaptor.propose(state), adaptor.leastsquares
    weights, _, _ = method.solve(method.factor(proposal.system), proposal.system.rhs)
    own = split_weights(weights, proposal.bases)
    found = adaptor.assess(state, Approximation(problem.coordinates, proposal.bases, own))
    x, y = points_of(L_SHAPE)
    values = found.approximation.values("u", np.stack([x, y], axis=1), (0, 0))
    error = np.abs(values - exact(x, y)).max()
    assert error > 0.02
    assert 0.5 * error < found.estimate.value < 5 * error


def test_functions_that_are_too_few_for_newtons_method_are_made_finer():
    """On one patch over the ring corrections behind a short step do not shrink any more.

    With few functions allowed it is seen that there is an answer, and how good it can be.
    """

    def surface(u, x, y):
        root = np.sqrt(1 + u.dx**2 + u.dy**2)
        return (u.dx / root).dx + (u.dy / root).dy

    ring = sf.Disk((0, 0), 2).named("outer") - sf.Disk((0, 0), 1.05).named("inner")
    catenoid = sf.Problem(
        ring,
        surface,
        outer=lambda u, x, y: u - np.arccosh(2.0),
        inner=lambda u, x, y: u - np.arccosh(1.05),
    )
    solution = sf.solve(catenoid, tol=1e-5, max_kernels=600)
    radius = np.linspace(1.0501, 1.9999, 60)
    assert solution.outcome.kind is OutcomeKind.KERNEL_LIMIT
    error = np.abs(solution(0.6 * radius, 0.8 * radius) - np.arccosh(radius)).max()
    assert error < min(0.02, solution.error_estimate)
