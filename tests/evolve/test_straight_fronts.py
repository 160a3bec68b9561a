"""Thin straight fronts across the axes of a box, on patches along them."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.evolve.patchwork import begins_with_front
from sharpfront.evolve.patchwork.front_direction import starting_front
from sharpfront.evolve.patchwork.system import PlaneSystem

SQUARE = sf.Box((0, 1), (0, 1))


def shock(nu, end=0.02, place=0.4, boundary=None):
    def exact(x, y, t):
        return (1 - np.tanh((x + y - t - place) / (4 * nu))) / 2

    problem = sf.Problem(
        SQUARE,
        lambda u, x, y, t: u.dt + u * (u.dx + u.dy) - nu * sf.laplacian(u),
        boundary=boundary or (lambda u, x, y, t: u - exact(x, y, t)),
        initial=lambda x, y: exact(x, y, 0.0),
        time=(0, end),
    )
    return problem, exact


def started(state):
    problem, _ = shock(1e-3)
    return PlaneSystem(problem.replace(initial=state))


@pytest.mark.parametrize("angle", [0.3, 0.8, 2.5])
def test_the_normal_of_a_thin_front_and_places_on_it(angle):
    normal = np.array([np.cos(angle), np.sin(angle)])

    def away(x, y):
        return normal[0] * (x - 0.5) + normal[1] * (y - 0.5)

    found = starting_front(started(lambda x, y: np.tanh(away(x, y) / 1e-4)))
    np.testing.assert_allclose(abs(found.normal @ normal), 1.0, atol=1e-12)
    assert np.abs(away(*found.places.T)).max() < 1e-4


def test_a_front_through_nodes_of_the_grid_is_seen():
    found = starting_front(started(lambda x, y: np.tanh((x + y - 0.25) / 1e-4)))
    np.testing.assert_allclose(found.normal, np.sqrt(0.5), atol=1e-12)


@pytest.mark.parametrize(
    "state",
    [
        lambda x, y: np.tanh((x - 0.5) / 1e-4) + 0 * y,
        lambda x, y: np.tanh((x + y - 1) / 0.1),
        lambda x, y: np.tanh((np.sqrt(x**2 + y**2) - 0.6) / 1e-3),
        lambda x, y: 0.0 * x * y,
    ],
    ids=["along an axis", "wide", "round", "nothing"],
)
def test_other_starts_have_none(state):
    assert starting_front(started(state)) is None


def test_fronts_that_a_source_with_time_drives_are_left_to_products():
    problem, exact = shock(1e-3)
    driven = sf.Problem(
        SQUARE,
        lambda u, x, y, t: u.dt + u * (u.dx + u.dy) - 1e-3 * sf.laplacian(u) - np.sin(t),
        boundary=lambda u, x, y, t: u,
        initial=lambda x, y: exact(x, y, 0.0),
        time=(0, 0.02),
    )
    assert begins_with_front(problem)
    assert not begins_with_front(driven)


def errors(solution, exact, nu, place, moments, ends):
    """Return the largest error about a front that x + y follows, and over the square."""
    rng, worst = np.random.default_rng(0), 0.0
    for t in moments:
        at = place + t + rng.uniform(-12, 12, 400) * nu
        x = rng.uniform(*ends, 400) * at
        points = np.concatenate([np.stack([x, at - x], 1), rng.uniform(0, 1, (200, 2))])
        points = np.clip(points, 0, 1)
        worst = max(worst, np.abs(solution(*points.T, t) - exact(*points.T, t)).max())
    return worst


def test_a_thin_shock_goes_many_widths_in_few_steps():
    nu, tol, end = 1e-4, 1e-4, 0.05
    problem, exact = shock(nu, end)
    solution = sf.solve(problem, tol=tol)
    assert solution.converged
    assert len(solution.history) < 8
    assert solution.kernels < 2500
    worst = errors(solution, exact, nu, 0.4, (0.3 * end, end), (0, 1))
    assert worst <= min(tol, solution.error_estimate)


def test_a_thin_shock_goes_past_two_corners():
    nu, tol, end = 1e-3, 1e-2, 0.12
    problem, exact = shock(nu, end, 0.95)
    solution = sf.solve(problem, tol=tol)
    assert solution.converged
    assert solution.domain.time[1] == end
    # In place it would take a step for each of its widths.
    assert len(solution.history) < 12
    worst = errors(solution, exact, nu, 0.95, (0.04, 0.05, 0.06, end), (0.05, 0.95))
    assert worst <= min(tol, solution.error_estimate)


def test_such_a_solution_is_saved_and_read(tmp_path):
    problem, _ = shock(1e-3, 0.01)
    solution = sf.solve(problem, tol=1e-3)
    solution.save(tmp_path / "front.npz")
    x = np.linspace(0.05, 0.35, 30)
    again = sf.load(tmp_path / "front.npz")
    np.testing.assert_array_equal(again(x, 0.4 - x, 0.01), solution(x, 0.4 - x, 0.01))


def test_what_changes_fast_on_a_side_does_not_jump():
    """A thin front that moves along a side meets its conditions, however soon they are asked."""
    system = PlaneSystem(shock(1e-4)[0])
    assert not system.jumps(0.0, 1e-9)
    assert not system.contradictions(1e-9)
