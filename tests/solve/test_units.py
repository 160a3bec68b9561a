"""Solutions far below one are known to some digits of their own, not only below the tolerance."""

from functools import cache

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.solution import Solution
from sharpfront.solve import units

SMALL = [1e-5, 1e-9]


def bump(size):
    def residual(u, x, y):
        source = size * np.exp(-30 * x**2 - 30 * (y - 0.3) ** 2)
        return -1e-2 * sf.laplacian(u) + u - source

    return sf.Problem(sf.Disk((0, 0), 1), residual, boundary=lambda u, x, y: u)


@cache
def solved_bump(size):
    return sf.solve(bump(size), tol=1e-5)


@pytest.mark.parametrize("size", SMALL)
def test_a_solution_below_the_tolerance_is_known_relative_to_itself(size):
    x = np.linspace(-0.6, 0.6, 7)
    small, whole = solved_bump(size), solved_bump(1.0)
    assert small.converged
    assert np.abs(small(x, 0 * x) / size - whole(x, 0 * x)).max() < 2e-5
    assert small.error_estimate < 1e-5 * size
    assert "in units of max|u|" in str(small.outcome)
    assert "in units" not in str(whole.outcome)


def test_what_is_called_converged_has_two_digits():
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: -sf.laplacian(u) - np.exp(-40 * (x - 0.4) ** 2 - 40 * (y - 0.4) ** 2),
        boundary=lambda u, x, y: u,
    )
    loose, strict = (sf.solve(problem, tol=tol) for tol in (1e-2, 1e-7))
    x = np.linspace(0, 1, 21)
    values = strict(x[:, None], x)
    assert np.abs(values).max() < 0.02
    assert loose.converged
    assert np.abs(loose(x[:, None], x) - values).max() < 0.02 * np.abs(values).max()


def fisher(size):
    return sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt - 1e-3 * u.dxx - 20 * u * (1 - u / size),
        boundary=lambda u, x, t: u.dn,
        initial=lambda x: size / (1 + np.exp((x - 0.2) / 0.02)),
        time=(0, 1),
    )


def test_a_small_front_does_not_blow_up():
    # What is above the carrying capacity by less than the tolerance grows without bound.
    small, whole = (sf.solve(fisher(size), tol=1e-4) for size in (1e-9, 1.0))
    x = np.linspace(0, 1, 101)
    assert small.converged
    assert np.abs(small(x, 1.0) / 1e-9 - whole(x, 1.0)).max() < 1e-4


def test_an_interrupted_run_goes_on_in_its_unit(tmp_path):
    problem = fisher(2.0**-30)

    def stop(record):
        if record.step == 3:
            raise KeyboardInterrupt

    whole = sf.solve(problem, tol=1e-4)
    part = sf.solve(problem, tol=1e-4, on_step=stop)
    assert part.outcome.kind == "interrupted"
    part.save(tmp_path / "part.npz")
    x = np.linspace(0, 1, 50)
    for begun in (part, sf.load(tmp_path / "part.npz")):
        resumed = sf.solve(problem, tol=1e-4, resume=begun)
        assert np.array_equal(resumed(x, 0.9), whole(x, 0.9))


def test_a_run_that_turns_out_small_begins_anew_in_its_unit():
    """Interrupted before that is known, it goes on as it was stated."""
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y, t: u.dt - 0.1 * sf.laplacian(u) - 1e-5 * (1 + x),
        boundary=lambda u, x, y, t: u,
        initial=lambda x, y: 0 * x,
        time=(0, 0.5),
    )
    seen = []

    def interrupt(step):
        seen.append(step)
        if len(seen) == 2:
            raise KeyboardInterrupt

    begun = sf.solve(problem, tol=1e-3, on_step=interrupt)
    resumed, whole = sf.solve(problem, tol=1e-3, resume=begun), sf.solve(problem, tol=1e-3)
    assert resumed.converged
    assert resumed(0.3, 0.4, 0.5) == whole(0.3, 0.4, 0.5)


def test_a_small_start_that_grows_is_solved_as_it_is():
    problem = sf.Problem(
        sf.Interval(0, np.pi),
        lambda u, x, t: u.dt - u.dxx - np.sin(x),
        boundary=lambda u, x, t: u,
        initial=lambda x: 1e-7 * np.sin(x),
        time=(0, 1),
    )
    solution = sf.solve(problem, tol=1e-6)
    assert solution.converged
    assert "in units" not in str(solution.outcome)
    assert abs(solution(np.pi / 2, 1.0) - (1 - np.exp(-1))) < 1e-6


@pytest.mark.parametrize("source", [0.0, 0.1 + 0.2 - 0.3])
def test_zero_and_rounding_have_no_unit(source):
    problem = sf.Problem(
        sf.Interval(0, 1), lambda u, x: -u.dxx + u - source, boundary=lambda u, x: u
    )
    solution = sf.solve(problem)
    assert solution.converged
    assert "in units" not in str(solution.outcome)


def test_conditions_loads_and_guesses_are_in_the_unit_too():
    size = 1e-9
    string = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: u.dxx + size * sf.delta(x - 0.25),
        boundary=lambda u, x: u,
        conditions=[sf.jump(lambda u, x: u, x=0.5, equals=size)],
    )
    # u is linear on each part, bends by -1 at a quarter and jumps by one in the middle.
    x = np.array([0.2, 0.4, 0.6, 0.9])
    exact = 0.75 * x - x - np.clip(x - 0.25, 0, None) + (x > 0.5)
    assert np.abs(sf.solve(string, tol=1e-6)(x) / size - exact).max() < 1e-6
    mean = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: -u.dxx + u**3 / size**2,
        left=lambda u, x: u.dn,
        conditions=[sf.integral(lambda u, x: u, equals=size)],
    )
    u = sf.solve(mean, tol=1e-6, guess=size)
    assert u.converged
    assert abs(u.integral() / size - 1) < 1e-6


def test_what_meets_its_tolerance_stays_converged(monkeypatch):
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: -sf.laplacian(u) - np.exp(-40 * (x - 0.4) ** 2 - 40 * (y - 0.4) ** 2),
        boundary=lambda u, x, y: u,
    )
    # As if the second solve had ended otherwise.
    monkeypatch.setattr(Solution, "converged", False)
    solution = sf.solve(problem, tol=1e-2)
    assert solution.outcome.kind == "converged"
    assert "of max|u|" in solution.outcome.detail and "in units" not in solution.outcome.detail


@pytest.mark.parametrize("adaptor", [sf.Resolve(), sf.Patches()])
def test_a_strategy_that_is_named_solves_in_units_too(adaptor):
    size = 1e-9
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: u.dxx - 900 * u + 900 * size * np.cos(25 * x),
        boundary=lambda u, x: u,
    )
    solution = sf.solve(problem, tol=1e-6, adaptor=adaptor)
    finer = sf.solve(problem, tol=1e-9)
    x = np.linspace(0, 1, 201)
    assert solution.converged
    assert "in units of" in solution.outcome.detail
    assert np.abs(solution(x) - finer(x)).max() < 1e-6 * size


def test_how_large_a_solution_is_in_the_plane_and_time_is_seen_from_its_values():
    """Weights of products are no values: a cone's were a tenth of it, and so was its estimate."""
    warm = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y, t: u.dt - 0.01 * sf.laplacian(u),
        boundary=lambda u, x, y, t: u,
        initial=lambda x, y: np.sin(np.pi * x) * np.sin(np.pi * y),
        time=(0, 0.1),
    )
    found = sf.solve(warm, tol=5e-2)
    assert 0.9 < units._sizes(found)["u"] < 1.1
    assert "units" not in str(found.outcome)


def pair(small, large):
    """Two unknowns that differ, each right where the other is: sin(3x) and cos(2x) in units."""

    def equations(u, v, x):
        one, other = -9 * large * np.sin(3 * x), -4 * small * np.cos(2 * x)
        return u.dxx - one, v.dxx - other - small * (u / large - np.sin(3 * x))

    return sf.Problem(
        sf.Interval(0, 1),
        equations,
        left=lambda u, v, x: (u, v - small),
        right=lambda u, v, x: (u - large * float(np.sin(3)), v - small * float(np.cos(2))),
    )


@pytest.mark.parametrize(("small", "large"), [(1e-9, 0.1), (1e-10, 1e6), (1.0, 1e22)])
def test_unknowns_far_from_another_are_each_known_to_their_own_size(small, large):
    """Called converged were 1e-9 beside 0.1 to 1e-4 of itself, 1e-10 beside 1e6 without a digit."""
    found = sf.solve(pair(small, large), tol=1e-6)
    x = np.linspace(0, 1, 101)
    assert found.converged
    assert np.abs(found.u(x) / large - np.sin(3 * x)).max() < 1e-6
    assert np.abs(found.v(x) / small - np.cos(2 * x)).max() < 1e-6


def test_a_displacement_beside_a_voltage_is_not_near_singular():
    """1e-7 m beside 1e3 V: noise in the data grew to 5e9, in units of neither."""
    stiff, coupled, permitted, length, volts = 1.5e11, 17.0, 2.34e-11, 9.5e-3, 3500.0
    strip = sf.Problem(
        sf.Interval(0, length),
        lambda u, V, x: (
            (stiff * u.dx + coupled * V.dx).dx,
            (coupled * u.dx - permitted * V.dx).dx,
        ),
        left=lambda u, V, x: (u, V),
        right=lambda u, V, x: (stiff * u.dx + coupled * V.dx, V - volts),
    )
    found = sf.solve(strip, tol=1e-6)
    assert found.converged
    assert abs(found.u(length) / (-coupled / stiff * volts) - 1) < 1e-6


def test_what_is_zero_beside_something_has_no_unit_and_says_what_is_known_of_it():
    """No digits can be asked of the pressure in a flow that needs none."""

    def flow(x, y):
        size = np.exp(4 * (x - 1))
        return size * np.cos(4 * y), -size * np.sin(4 * y)

    stokes = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, v, p, x, y: (
            -sf.laplacian(u) + p.dx,
            -sf.laplacian(v) + p.dy,
            u.dx + v.dy,
        ),
        boundary=lambda u, v, p, x, y: (u - flow(x, y)[0], v - flow(x, y)[1]),
        conditions=[sf.at((0.5, 0.5), lambda u, v, p, x, y: p)],
    )
    found = sf.solve(stokes, tol=3e-2)
    assert found.converged and "% of max|p|" in found.outcome.detail


@pytest.mark.parametrize(("yield_", "told"), [(1e-9, True), (1.0, False)])
def test_what_is_small_beside_another_in_time_says_how_well_it_is_known(yield_, told):
    """In time all unknowns have one unit: the outcome says what that leaves of the smallest."""
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, v, x, t: (u.dt - 0.1 * u.dxx, v.dt - 0.01 * v.dxx - yield_ * u),
        boundary=lambda u, v, x, t: (u, v),
        initial={"u": lambda x: np.sin(np.pi * x), "v": lambda x: 0 * x},
        time=(0, 1),
    )
    solution = sf.solve(problem, tol=1e-5)
    assert solution.converged
    assert ("% of max|v|" in str(solution.outcome)) == told
