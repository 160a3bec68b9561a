"""Thin straight fronts across the axes of a box, on patches along them."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.budget import DEFAULT
from sharpfront.evolve.patchwork import leans
from sharpfront.evolve.patchwork.front_direction import front_normal
from sharpfront.evolve.patchwork.system import PlaneSystem

SQUARE = sf.Box((0, 1), (0, 1))


def shock(nu, end=0.02):
    def exact(x, y, t):
        return (1 - np.tanh((x + y - t - 0.4) / (4 * nu))) / 2

    problem = sf.Problem(
        SQUARE,
        lambda u, x, y, t: u.dt + u * (u.dx + u.dy) - nu * sf.laplacian(u),
        boundary=lambda u, x, y, t: u - exact(x, y, t),
        initial=lambda x, y: exact(x, y, 0.0),
        time=(0, end),
    )
    return problem, exact


def started(state):
    problem, _ = shock(1e-3)
    return PlaneSystem(problem.replace(initial=state))


@pytest.mark.parametrize("angle", [0.3, 0.8, 2.5])
def test_the_normal_of_a_thin_front(angle):
    normal = np.array([np.cos(angle), np.sin(angle)])

    def state(x, y):
        return np.tanh((normal[0] * (x - 0.5) + normal[1] * (y - 0.5)) / 1e-4)

    found = front_normal(started(state))
    np.testing.assert_allclose(abs(found @ normal), 1.0, atol=1e-12)


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
    assert front_normal(started(state)) is None


def test_which_problems_are_solved_along_fronts():
    assert leans(shock(1e-3)[0], 1e-3, DEFAULT)
    assert not leans(shock(1e-2)[0], 1e-3, DEFAULT)


def test_a_thin_shock_goes_many_widths_in_few_steps():
    nu, tol, end = 1e-4, 1e-4, 0.05
    problem, exact = shock(nu, end)
    solution = sf.solve(problem, tol=tol)
    assert solution.converged
    assert len(solution.history) < 8
    assert solution.kernels < 2500
    rng = np.random.default_rng(0)
    worst = 0.0
    for t in (0.3 * end, end):
        place = 0.4 + t + rng.uniform(-12, 12, 400) * nu
        x = rng.uniform(0, 1, 400) * place
        worst = max(worst, np.abs(solution(x, place - x, t) - exact(x, place - x, t)).max())
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
