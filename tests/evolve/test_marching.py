"""Kernels follow fronts, and what has no solution does not converge."""

from functools import lru_cache

import numpy as np
import pytest
from tests.evolve.line_runs import heat, shock, waves

import sharpfront as sf
from sharpfront.catalog import MERGING_SHOCKS, MOVING_FRONT, TRAVELLING_SHOCK
from sharpfront.errors import DomainError
from sharpfront.show.data.kernels import kernels_at

FRONTS = {
    "front": (MOVING_FRONT, 1e-4),
    "thin front": (MOVING_FRONT, 1e-6),
    "shock": (TRAVELLING_SHOCK, 1e-3),
    "merging": (MERGING_SHOCKS, 1e-3),
}


def gaps(entry, value, solution):
    """Return how far the mean of the fine kernels is from each front, in widths, at moments."""
    (basis,) = solution.approximation.bases.values()
    found = []
    for t in np.linspace(0.02, 0.98, 25) * solution.domain.time[1]:
        kernels = kernels_at(basis, t)
        width = np.sqrt(kernels.covariances[:, 0, 0])
        fine = kernels.centres[width <= 3 * width.min(), 0]
        fronts = entry.features(value)(t)
        nearest = np.argmin(np.abs(fine[:, None] - [f.position for f in fronts]), axis=1)
        for i, front in enumerate(fronts):
            here = fine[nearest == i]
            found.append(abs(here.mean() - front.position) / front.width if len(here) else np.inf)
    return np.array(found)


@pytest.mark.parametrize(("entry", "value"), FRONTS.values(), ids=FRONTS.keys())
def test_fine_kernels_stay_on_the_fronts(entry, value):
    solution = sf.solve(entry.problem(value), tol=1e-5)
    assert solution.converged
    assert gaps(entry, value, solution).max() < 2.0
    (basis,) = solution.approximation.bases.values()
    # Most kernels are in the few widths of the front.
    front = entry.features(value)(0.5)[0]
    centres = kernels_at(basis, 0.5).centres[:, 0]
    assert np.mean(np.abs(centres - front.position) < 15 * front.width) > 0.2


@pytest.mark.parametrize("name", ["front", "shock"])
def test_components_move_as_fast_as_the_front(name):
    entry, value = FRONTS[name]
    solution = sf.solve(entry.problem(value), tol=1e-5)
    assert len(solution.history) < 25
    for record in solution.history:
        heavy = record.mixture.weights > 0.05
        assert np.allclose(record.speeds[heavy], 0.5, rtol=0.03)
        assert record.speeds.shape == record.mixture.weights.shape


def test_components_of_two_shocks_have_two_speeds():
    entry, value = FRONTS["merging"]
    solution = sf.solve(entry.problem(value), tol=1e-5)
    early = [r for r in solution.history if 0.05 < r.time < 0.35]
    late = [r for r in solution.history if r.time > 0.75]
    assert early and late
    for record in early:
        start = record.time - record.dt
        for position, speed in ((0.25 + 0.75 * start, 0.75), (0.5 + 0.3 * start, 0.3)):
            # Where a component was when its speed was taken.
            before = record.mixture.means[:, 0] - record.dt * record.speeds
            near = int(np.argmin(np.abs(before - position)))
            assert np.isclose(record.speeds[near], speed, rtol=0.1)
    for record in late:
        heavy = record.mixture.weights > 0.1
        assert np.allclose(record.speeds[heavy], 0.55, rtol=0.05)


def test_without_speeds_steps_are_short(monkeypatch):
    """That steps are long although a front moves is the doing of the speeds."""
    entry, value = FRONTS["front"]
    followed = sf.solve(entry.problem(value), tol=1e-5)

    def still(*stated):
        return np.zeros_like(stated[1].nodes)

    monkeypatch.setattr("sharpfront.evolve.line_steps.velocities", still)
    left = sf.solve(entry.problem(value), tol=1e-5)
    assert left.converged
    assert len(left.history) > 3 * len(followed.history)


def test_history_tells_the_run():
    told = []
    solution = sf.solve(shock(), tol=1e-4, on_step=told.append)
    assert tuple(told) == solution.history
    times, errors = solution.error_over_time()
    assert times[-1] == solution.domain.time[1] == 0.5 and np.all(np.diff(times) > 0)
    assert np.all(np.diff(errors) >= 0) and errors[-1] == solution.error_estimate
    assert np.allclose(np.cumsum([r.dt for r in solution.history]), times)
    assert all(r.iterations >= 1 and r.seconds > 0 for r in solution.history)
    assert solution.diagnostics["steps"] == len(solution.history)
    assert isinstance(solution.domain, sf.geometry.SpaceTime)
    assert solution.approximation.coordinates == ("x", "t")


def test_a_linear_step_takes_one_newton_step():
    solution = sf.solve(heat(), tol=1e-4)
    # One and one that says that nothing changes, for a step of one run and up to two of the other.
    assert np.median([r.iterations for r in solution.history]) <= 6


def test_derivatives_solve_the_equation():
    solution = sf.solve(shock(), tol=1e-6)
    x, t = np.meshgrid(np.linspace(0.2, 0.6, 21), [0.05, 0.23, 0.41])
    u, ux = solution(x, t), solution.d("x")(x, t)
    ut, uxx = solution.d("t")(x, t), solution.d("x", 2)(x, t)
    assert np.abs(ut).max() > 1
    assert np.allclose(ut + u * ux - 0.01 * uxx, solution.residual(x, t), atol=1e-9)
    assert np.abs(solution.residual(x, t)).max() < 1e-3 * np.abs(ut).max()


def test_unknowns_by_name_and_broadcast():
    solution = sf.solve(waves(0.1), tol=1e-4)
    assert solution.unknowns == ("u", "v")
    assert solution.u(np.linspace(0, 1, 4)[:, None], np.array([0.0, 0.1])).shape == (4, 2)
    assert abs(solution.u(0.0, 0.05)) < 1e-8 and abs(solution.v(1.0, 0.05)) < 1e-8
    assert abs(solution.u.d("x")(1.0, 0.05)) < 1e-6
    with pytest.raises(DomainError):
        solution.u(0.5, 0.2)


def advection(**conditions):
    return sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt + u.dx,
        initial=lambda x: np.exp(-(((x - 0.4) / 0.1) ** 2)),
        time=(0, 1),
        **conditions,
    )


def nothing(u, x, t):
    return u


ILL = {
    "blow-up": lambda: sf.Problem(
        sf.Interval(0, 1, periodic=True),
        lambda u, x, t: u.dt - u**2,
        initial=lambda x: 1 + 0.1 * np.cos(2 * np.pi * x),
        time=(0, 2),
    ),
    "inviscid": lambda: sf.Problem(
        sf.Interval(-1, 1),
        lambda u, x, t: u.dt + u * u.dx,
        boundary=nothing,
        initial=lambda x: -np.sin(np.pi * x),
        time=(0, 1),
    ),
}
# When the solution of each ceases to exist, and what its run ends in.
ENDS = {
    "blow-up": (1 / 1.1, "blow-up"),
    "inviscid": (1 / np.pi, "kernel limit reached"),
}


@lru_cache
def attempted(name):
    return sf.solve(ILL[name](), tol=1e-3, max_kernels=400)


@pytest.mark.parametrize("name", ILL)
def test_what_has_no_solution_does_not_converge(name):
    found, (end, kind) = attempted(name), ENDS[name]
    assert not found.converged and found.outcome.kind == kind
    assert "t =" in found.outcome.detail
    assert 0.4 * end < found.domain.time[1] < 1.0001 * end
    assert found.error_estimate <= found.tol
    # Up to where it got it can be looked at.
    assert np.isfinite(found(0.5, found.domain.time[1]))


def test_blow_up_is_followed_closely():
    found = attempted("blow-up")
    x, t = np.linspace(0, 1, 11), 0.8
    start = 1 + 0.1 * np.cos(2 * np.pi * x)
    assert found.domain.time[1] > t
    assert np.allclose(found(x, t), start / (1 - start * t), rtol=1e-2)


def test_inflow_alone_is_well_posed():
    def exact(x, t):
        return np.exp(-(((x - t - 0.4) / 0.1) ** 2))

    found = sf.solve(advection(left=lambda u, x, t: u - exact(x, t)), tol=1e-5)
    x = np.linspace(0, 1, 41)
    assert found.converged
    for t in (0.3, 0.7, 1.0):
        assert np.allclose(found(x, t), exact(x, t), atol=2e-5)


def test_nothing_stays_nothing():
    still = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt - u.dxx,
        boundary=lambda u, x, t: u,
        initial=lambda x: 0 * x,
        time=(0, 1),
    )
    found = sf.solve(still, tol=1e-6)
    assert found.converged and found.error_estimate == 0.0
    assert np.all(found(np.linspace(0, 1, 5), 1.0) == 0.0)
    assert found.history[-1].mixture is None


def test_nodes_do_not_go_with_waves_that_part():
    """What they leave of such a wave grew: it took 66 steps and seven times the functions."""
    x = np.linspace(-10, 10, 201)
    pair = sf.Problem(
        sf.Interval(-10, 10),
        lambda u, x, t: u.dtt - u.dxx + u + u**3,
        boundary=lambda u, x, t: u,
        initial=(lambda x: 2 * np.exp(-(x**2)), 0),
        time=(0, 6),
    )
    rough, fine = (sf.solve(pair, tol=tol) for tol in (1e-4, 1e-6))
    assert rough.converged and fine.converged and len(rough.history) < 40
    assert max(step.kernels for step in rough.history) < 400
    assert np.abs(rough(x, 6.0) - fine(x, 6.0)).max() < 1e-4
