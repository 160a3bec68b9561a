"""Starts in the plane that do not meet their conditions, and conditions that jump later."""

import functools

import numpy as np
import pytest
from scipy.special import j0, j1, jn_zeros

import sharpfront as sf
from sharpfront.bases.radau import amplified, damped, stage_nodes
from sharpfront.evolve.patchwork import evolve_patches, settles
from sharpfront.evolve.patchwork.system import PlaneSystem

SQUARE = sf.Box((0, 1), (0, 1))
# Graded into the layers along the walls.
ALONG = np.concatenate([np.geomspace(1e-5, 0.1, 12), np.linspace(0.15, 0.9, 7)])
X, Y = (axis.ravel() for axis in np.meshgrid(ALONG, ALONG))
ODD = np.arange(1, 300, 2) * np.pi


def _cooled_bar(x, t):
    """A bar of temperature one whose ends are held at zero."""
    return (4 / ODD * np.exp(-(ODD**2) * t) * np.sin(ODD * x[:, None])).sum(axis=1)


def _plate(domain=SQUARE, **changes):
    """A plate of temperature one, held at zero at two sides, the others insulated."""
    stated = {
        "left": lambda u, x, y, t: u,
        "right": lambda u, x, y, t: u,
        "bottom": lambda u, x, y, t: u.dn,
        "top": lambda u, x, y, t: u.dn,
        "initial": 1.0,
        "time": (0, 0.1),
    } | changes
    return sf.Problem(domain, lambda u, x, y, t: u.dt - sf.laplacian(u), **stated)


# Nothing varies along the walls that are cooled: where these are short few patches are needed.
LOW = sf.Box((0, 1), (0, 0.25))


@functools.cache
def cooled():
    return sf.solve(_plate(LOW), tol=1e-2)


def _assert_right(solution, exact, high=1.0):
    assert solution.converged
    since = solution.error_estimate_since
    assert 0 < since < 1e-2
    for t in (since, 2e-3, 0.03, 0.1):
        error = np.abs(solution(X, high * Y, t) - exact(t)).max()
        assert error < min(1e-2, 2 * solution.error_estimate)


def test_a_plate_that_is_cooled_from_two_sides():
    _assert_right(cooled(), lambda t: _cooled_bar(X, t), high=0.25)


def test_a_plate_that_is_cooled_from_all_sides():
    """Strips become wider with the layers in them: behind strips that do not it took 9700."""
    problem = sf.Problem(
        SQUARE,
        lambda u, x, y, t: u.dt - sf.laplacian(u),
        boundary=lambda u, x, y, t: u,
        initial=1.0,
        time=(0, 0.1),
    )
    solution = sf.solve(problem, tol=1e-2)
    _assert_right(solution, lambda t: _cooled_bar(X, t) * _cooled_bar(Y, t))
    assert solution.kernels < 3000


@pytest.mark.slow
def test_a_disk_that_is_cooled_at_once():
    zeros = jn_zeros(0, 60)

    def exact(r, t):
        return (2 / (zeros * j1(zeros)) * np.exp(-(zeros**2) * t) * j0(zeros * r[:, None])).sum(1)

    problem = sf.Problem(
        sf.Disk((0, 0), 1),
        lambda u, x, y, t: u.dt - sf.laplacian(u),
        boundary=lambda u, x, y, t: u,
        initial=1.0,
        time=(0, 0.1),
    )
    solution = sf.solve(problem, tol=1e-2)
    assert solution.converged and solution.kernels < 8000
    r, angle = np.linspace(0, 0.999, 40), np.linspace(0, 6, 40)
    for t in (2e-3, 0.03, 0.1):
        found = solution(r * np.cos(angle), r * np.sin(angle), t)
        assert np.abs(found - exact(r, t)).max() < min(1e-2, 2 * solution.error_estimate)


def test_a_start_that_misses_slopes_settles():
    """What a step leaves then is the same however short it is."""

    def exact(x, t):
        k = np.arange(1, 400) * np.pi
        parts = 2 * ((-1.0) ** np.arange(1, 400) - 1) / k**2
        return 0.5 + (parts * np.exp(-(k**2) * 0.1 * t) * np.cos(k * x[:, None])).sum(axis=1)

    problem = sf.Problem(
        SQUARE,
        lambda u, x, y, t: u.dt - 0.1 * sf.laplacian(u),
        boundary=lambda u, x, y, t: u.dn,
        initial=lambda x, y: x,
        time=(0, 0.1),
    )
    solution = evolve_patches(problem, 1e-2)
    assert solution.converged
    for t in (1e-3, 0.1):
        error = np.abs(solution(X, Y, t) - exact(X, t)).max()
        assert error < min(1e-2, 2 * solution.error_estimate)
    assert PlaneSystem(problem).misses_slopes(1e-2)
    assert not PlaneSystem(problem.replace(initial=lambda x, y: x * 0)).misses_slopes(1e-2)


def _warm_disk(**changes):
    stated = {
        "boundary": lambda u, x, y, t: u,
        "initial": lambda x, y: 1 - x**2 - y**2,
        "time": (0, 0.05),
    } | changes
    return sf.Problem(sf.Disk((0, 0), 1), lambda u, x, y, t: u.dt - sf.laplacian(u), **stated)


def test_layers_that_rates_begin_have_strips():
    """A start meets its conditions, its rates do not: boxes at the rim were 5112 functions."""
    solution = sf.solve(_warm_disk(), tol=1e-2)
    assert solution.converged and solution.kernels < 1500
    zeros = jn_zeros(0, 60)
    r, angle = np.linspace(0, 0.999, 40), np.linspace(0, 6, 40)
    for t in (1e-3, 0.01, 0.05):
        shares = 8 / (zeros**3 * j1(zeros)) * np.exp(-(zeros**2) * t)
        exact = (shares * j0(zeros * r[:, None])).sum(axis=1)
        found = solution(r * np.cos(angle), r * np.sin(angle), t)
        assert np.abs(found - exact).max() < solution.error_estimate


@pytest.mark.parametrize(
    ("changes", "missed"),
    [
        ({}, True),
        ({"initial": lambda x, y: (1 - x**2 - y**2) ** 3}, False),
        ({"boundary": lambda u, x, y, t: u + 4 * t}, False),
        ({"boundary": lambda u, x, y, t: 2 * u + 8 * t}, False),
        ({"boundary": lambda u, x, y, t: u.dn + 2 * u}, False),
        ({"boundary": lambda u, x, y, t: u - np.sin(t)}, True),
    ],
)
def test_rates_on_sides_are_compared_with_those_of_equations(changes, missed):
    assert PlaneSystem(_warm_disk(**changes)).misses_rates(1e-2) == missed


def test_a_start_that_its_side_follows_misses_no_rates():
    """Looked at beside the side only, rates were 1e-3 off: strips took twelve times as long."""

    def wave(x, y, t=0.0):
        return np.exp(-32 * t) * np.sin(4 * x) * np.sin(4 * y)

    heat = _warm_disk(boundary=lambda u, x, y, t: u - wave(x, y, t), initial=wave)
    assert not PlaneSystem(heat).misses_rates(1e-6)
    late = _warm_disk(boundary=lambda u, x, y, t: u - wave(x, y, 1.1 * t), initial=wave)
    assert PlaneSystem(late).misses_rates(1e-2)


def test_what_is_missed_is_said():
    assert "initial state misses the condition on 'left' by 1.0e+00" in str(cooled().outcome)


def test_such_a_run_is_resumed_on_its_way(tmp_path):
    def impatient(step):
        if step.step == 0:
            raise KeyboardInterrupt

    half = sf.solve(_plate(LOW), tol=1e-2, on_step=impatient)
    # Steps that settle the start are left.
    assert half.checkpoint["on patches"]["settling"] > 0
    half = sf.load(half.save(tmp_path / "half"))
    whole = sf.solve(_plate(LOW), tol=1e-2, resume=half)
    assert whole.converged
    np.testing.assert_allclose(whole(X, 0.25 * Y, 0.05), cooled()(X, 0.25 * Y, 0.05), atol=1e-4)


@pytest.mark.slow
def test_a_condition_of_a_system_that_jumps_later():
    at = 0.02

    def exact(x, t):
        k = np.arange(1, 300) * np.pi
        return 1 - x - (2 / k * np.exp(-(k**2) * (t - at)) * np.sin(k * x[:, None])).sum(axis=1)

    problem = sf.Problem(
        SQUARE,
        lambda u, v, x, y, t: (u.dt - sf.laplacian(u), v.dt - sf.laplacian(v) - u),
        left=lambda u, v, x, y, t: (u - np.where(t < at, 0.0, 1.0), v),
        right=lambda u, v, x, y, t: (u, v),
        bottom=lambda u, v, x, y, t: (u.dn, v.dn),
        top=lambda u, v, x, y, t: (u.dn, v.dn),
        initial=(0.0, 0.0),
        time=(0, 0.1),
    )
    solution = sf.solve(problem, tol=1e-3)
    assert solution.converged
    assert "the condition on 'left' jumps by 1.0e+00 at t = 0.02" in str(solution.outcome).lower()
    assert at < solution.error_estimate_since < at + 1e-3
    for t in (0.0215, 0.03, 0.1):
        assert np.abs(solution.u(X, Y, t) - exact(X, t)).max() < 1e-3


def test_which_starts_are_settled():
    assert settles(_plate(), 1e-2)
    assert not settles(_plate(initial=0.0), 1e-2)
    # By a few tolerances products take them.
    assert not settles(_plate(initial=5e-2), 1e-2)
    free = {"left": lambda u, x, y, t: u.dn, "right": lambda u, x, y, t: u.dn}
    assert not settles(_plate(**free), 1e-2)
    carried = sf.Problem(
        SQUARE,
        lambda u, x, y, t: u.dt + u.dx,
        boundary=lambda u, x, y, t: u,
        initial=1.0,
        time=(0, 1),
    )
    assert not settles(carried, 1e-2)


def test_jumps_are_those_of_conditions_not_of_the_state():
    problem = _plate(left=lambda u, x, y, t: u - np.where(t < 0.05, 0.25, 2.0) - 0.5 * y)
    system = PlaneSystem(problem)
    assert dict(system.jumps(0.0, 1e-6)) == pytest.approx({"left": 0.75, "right": 1.0}, rel=0.01)
    assert dict(system.jumps(0.05, 1e-6)) == pytest.approx({"left": 1.75})
    assert system.jumps(0.03, 1e-6) == []


def test_what_a_step_damps_and_amplifies():
    # Radau's method with five stages: at most this is left of the fastest decays, and stages are
    # sums of modes that cancel.
    matrix = np.linalg.inv(_inverse())
    for z in (1.0, 30.0, 100.0, 1e4):
        left = np.linalg.solve(np.eye(5) + z * matrix, np.ones(5))[-1]
        assert abs(left - np.exp(-z)) <= damped() * (1 + 1e-6)
    assert 0.01 < damped() < 0.1
    assert 10 < amplified() < 1000


def _inverse():
    """Return the inverse of Radau's matrix, from its nodes."""
    c, degrees = stage_nodes(), np.arange(1, 6)
    powers = np.vander(c, 5, increasing=True)
    return np.linalg.inv((c[:, None] ** degrees / degrees) @ np.linalg.inv(powers))


def test_what_changes_fast_on_a_side_does_not_jump():
    """A thin front that moves along a side meets its conditions, however soon they are asked."""

    def exact(x, y, t):
        return 0.5 - 0.5 * np.tanh((x + y - 0.4 - t) / 4e-4)

    problem = sf.Problem(
        SQUARE,
        lambda u, x, y, t: u.dt + u * u.dx + u * u.dy - 1e-4 * sf.laplacian(u),
        boundary=lambda u, x, y, t: u - exact(x, y, t),
        initial=lambda x, y: exact(x, y, 0.0),
        time=(0, 0.5),
    )
    assert not PlaneSystem(problem).jumps(0.0, 1e-9)


@pytest.mark.parametrize(("width", "missed"), [(0.1, 1e-3), (0.05, 0.01)])
def test_a_slope_that_is_missed_a_little_far_from_a_layer(width, missed):
    """The elements there are much longer than what the start is bent over to meet it."""
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt - u.dxx,
        left=lambda u, x, t: u + 1,
        right=lambda u, x, t: u.dx - 2 / width * np.exp(-1 / width) - missed,
        initial=lambda x: 1 - 2 * np.exp(-x / width),
        time=(0, 6),
    )
    found = sf.solve(problem, tol=1e-4)
    x = np.linspace(0, 1, 41)
    steady = (2 / width * np.exp(-1 / width) + missed) * x - 1
    assert found.converged
    assert np.abs(found(x, np.full(41, 6.0)) - steady).max() < 1e-5
