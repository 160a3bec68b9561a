"""Rothe's method: the march in time around strategies for stationary problems."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.bases.levels import lagrange
from sharpfront.errors import OutcomeKind, ProblemError

UNIT = sf.Interval(0, 1)


def heat(**changes):
    stated = {
        "equation": lambda u, x, t: u.dt - 0.1 * u.dxx,
        "boundary": lambda u, x, t: u,
        "initial": lambda x: np.sin(np.pi * x),
        "time": (0, 1),
    }
    return sf.Problem(UNIT, **(stated | changes))


def grid(problem):
    x, t = np.meshgrid(np.linspace(0, 1, 81), np.linspace(*problem.time, 41))
    return x.ravel(), t.ravel()


@pytest.fixture(scope="module")
def cooled():
    return sf.solve(heat(), tol=1e-3, adaptor=sf.Resolve())


def test_a_linear_problem_is_as_far_off_as_is_said(cooled):
    x, t = grid(heat())
    error = np.abs(cooled(x, t) - np.exp(-0.1 * np.pi**2 * t) * np.sin(np.pi * x)).max()
    assert cooled.converged
    assert 0.01 * cooled.error_estimate < error < 3 * cooled.error_estimate <= 3e-3


def test_orders_rise_and_steps_grow(cooled):
    (basis,) = cooled.approximation.bases.values()
    assert set(basis.degrees[1:]) >= {1, 2}
    assert cooled.history[-1].dt > 1e3 * cooled.history[0].dt


def test_conditions_and_sources_that_change_with_time():
    def exact(x, t):
        return np.sin(3 * t) * np.cos(x)

    problem = heat(
        equation=lambda u, x, t: (
            u.dt - u.dxx - 3 * np.cos(3 * t) * np.cos(x) - np.sin(3 * t) * np.cos(x)
        ),
        boundary=lambda u, x, t: u - np.sin(3 * t) * np.cos(x),
        initial=lambda x: 0 * x,
    )
    solution = sf.solve(problem, tol=1e-2, adaptor=sf.Resolve())
    x, t = grid(problem)
    assert solution.converged
    assert np.abs(solution(x, t) - exact(x, t)).max() < 3 * solution.error_estimate


def test_a_system_with_an_unknown_that_has_no_rate():
    problem = sf.Problem(
        UNIT,
        lambda u, w, x, t: (u.dt - 0.1 * u.dxx - w, w - w.dxx - u),
        boundary=lambda u, w, x, t: (u, w),
        initial={"u": lambda x: np.sin(np.pi * x)},
        time=(0, 0.2),
    )
    solution = sf.solve(problem, tol=1e-2, adaptor=sf.Patches())
    x, t = grid(problem)
    share = 1 / (1 + np.pi**2)
    exact = np.exp((share - 0.1 * np.pi**2) * t) * np.sin(np.pi * x)
    assert solution.converged
    assert np.abs(solution.u(x, t) - exact).max() < 1e-2
    assert np.abs(solution.w(x, t) - share * exact).max() < 1e-2


def test_a_solution_comes_back_from_a_file(cooled, tmp_path):
    x, t = grid(heat())
    cooled.save(tmp_path / "heat.npz")
    again = sf.load(tmp_path / "heat.npz")
    assert np.array_equal(again(x, t), cooled(x, t))


def test_a_problem_that_a_strategy_does_not_solve_ends_the_run():
    weak = sf.Resolve(max_kernels=12)
    sharp = heat(equation=lambda u, x, t: u.dt + u.dx - 1e-4 * u.dxx, initial=lambda x: x * (1 - x))
    with pytest.raises(ProblemError, match="no first step"):
        sf.solve(sharp, tol=1e-6, adaptor=weak)


def test_an_interrupt_leaves_what_there_is():
    def stop(record):
        if record.time > 0.01:
            raise KeyboardInterrupt

    solution = sf.solve(heat(), tol=1e-2, adaptor=sf.Resolve(), on_step=stop)
    assert solution.outcome.kind is OutcomeKind.INTERRUPTED
    assert abs(solution(0.5, 0.005) - np.exp(-0.0005 * np.pi**2)) < 1e-2


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"initial": lambda x: 1 + 0 * x}, "meet its conditions"),
        ({"equation": lambda u, x, t: u.dt + 0.1 * u.dxx}, "runs backwards"),
        ({"equation": lambda u, x, t: u.dt - u.dxxt - u.dxx}, r"u\.dt alone"),
    ],
)
def test_what_is_not_taken(changes, words):
    with pytest.raises(ProblemError, match=words):
        sf.solve(heat(**changes), tol=1e-2, adaptor=sf.Resolve())


def test_options_of_the_march_alone_are_refused(cooled):
    with pytest.raises(ProblemError, match="resume="):
        sf.solve(heat(), tol=1e-3, adaptor=sf.Resolve(), resume=cooled)


def test_lagrange_polynomials_have_the_derivatives_of_powers():
    nodes, t = np.array([0.3, 0.31, 0.5, 0.9]), np.array([0.4, 1.1])
    for power in range(4):
        for rate, factor in enumerate((1, power, power * (power - 1))):
            found = nodes**power @ lagrange(nodes, t, rate)
            np.testing.assert_allclose(found, factor * t ** max(power - rate, 0), atol=1e-9)
