"""Conditions beyond those that an equation has room for are named, not compromised between."""

import numpy as np
import pytest

import sharpfront as sf

SHAPES = {
    "box": sf.Box((0, 1), (-1, 2)),
    "disk": sf.Disk((0.3, -0.2), 0.7),
    "l": sf.Box((0, 2), (0, 2)) - sf.Box((1, 2), (1, 2)),
}


@pytest.mark.parametrize(("shape", "tol"), [("box", 1e-1), ("disk", 1e-1), ("l", 1e-3)])
def test_value_and_slope_together_are_one_too_many(shape, tol):
    domain = SHAPES[shape]
    both = domain.parts[0]
    problem = sf.Problem(
        domain,
        lambda u, x, y: -sf.laplacian(u) + u.dx - 1,
        boundary=lambda u, x, y: u,
        **{both: lambda u, x, y: (u, u.dn)},
    )
    solution = sf.solve(problem, tol=tol)
    assert solution.outcome.kind == "ill-posed" and solution.error_estimate == np.inf
    assert f"2 were given on {both}" in str(solution.outcome), solution.outcome


@pytest.mark.parametrize("tol", [1e-1])
def test_systems_have_no_room_for_more_conditions_than_half_their_order(tol):
    box = SHAPES["box"]
    pair = sf.Problem(
        box,
        lambda u, v, x, y: (sf.laplacian(u) - v, sf.laplacian(v) + u - 1),
        boundary=lambda u, v, x, y: (u, v, u.dn),
    )
    flow = sf.Problem(
        box,
        lambda u, v, p, x, y: (
            -sf.laplacian(u) + p.dx,
            -sf.laplacian(v) + p.dy,
            u.dx + v.dy,
        ),
        boundary=lambda u, v, p, x, y: (u - y, v, p - x),
    )
    plate = sf.Problem(
        box,
        lambda u, x, y: sf.laplacian(sf.laplacian(u)) - 1000,
        boundary=lambda u, x, y: (u, u.dn, u.dx.dn),
    )
    for problem in (pair, flow, plate):
        solution = sf.solve(problem, tol=tol, max_kernels=3000)
        assert solution.outcome.kind == "ill-posed", problem


def test_more_conditions_than_needed_may_agree():
    def exact(x, y):
        return np.sin(x + 2 * y)

    box = SHAPES["box"]
    both = sf.Problem(
        box,
        lambda u, x, y: -sf.laplacian(u) - 5 * exact(x, y),
        boundary=lambda u, x, y: (u - exact(x, y), (u - exact(x, y)).dn),
    )
    flow = sf.Problem(
        box,
        lambda u, v, p, x, y: (-sf.laplacian(u) + p.dx, -sf.laplacian(v) + p.dy, u.dx + v.dy),
        boundary=lambda u, v, p, x, y: (u - y, v, p - 1),
    )
    for problem in (both, flow):
        assert sf.solve(problem, tol=1e-3).converged


@pytest.mark.parametrize(("x", "y", "value"), [(0.5, 0.5, 3.0), (0.2, 0.9, -0.3)])
def test_a_value_inside_is_one_too_many_where_the_boundary_gives_all(x, y, value):
    problem = sf.Problem(
        SHAPES["box"],
        lambda u, x, y: -sf.laplacian(u) - 1,
        boundary=lambda u, x, y: u,
        conditions=sf.at((x, y), lambda u, x, y: u - value),
    )
    solution = sf.solve(problem, tol=0.1)
    assert solution.outcome.kind == "ill-posed"
    assert "further ones were given inside" in str(solution.outcome)


def test_waves_start_from_a_value_and_a_rate():
    """An equation that is not elliptic may have two conditions on one side."""
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: u.dyy - u.dxx,
        bottom=lambda u, x, y: (u - np.sin(np.pi * x), u.dy),
        left=lambda u, x, y: u,
        right=lambda u, x, y: u,
    )
    solution = sf.solve(problem, tol=1e-4)
    assert solution.converged
    assert solution(0.5, 0.8) == pytest.approx(np.cos(0.8 * np.pi), abs=1e-4)


@pytest.mark.parametrize(("shape", "slope"), [("box", -0.7), ("l", 0.0), ("box", 0.4)])
def test_slopes_that_do_not_balance_are_told_with_numbers(shape, slope):
    domain = SHAPES[shape]
    problem = sf.Problem(
        domain,
        lambda u, x, y: 2 * sf.laplacian(u) - 3,
        boundary=lambda u, x, y: 4 * u.dn - slope,
        conditions=sf.integral(lambda u, x, y: u, equals=0),
    )
    solution = sf.solve(problem, tol=1e-3)
    around = sum(domain.boundary_measure(part) for part in domain.parts)
    assert solution.outcome.kind == "ill-posed" and solution.error_estimate == np.inf
    assert f"{3 * domain.measure:.4g}, and it is {slope / 2 * around:.4g}" in str(solution.outcome)


@pytest.mark.parametrize(("x", "y"), [(0.31, 0.62)])
def test_narrow_sources_that_balance_are_no_contradiction(x, y):
    """Sums over samples do not see them; the solution does."""
    width = 5e-3
    strength = 1 / (2 * np.pi * width**2)

    def equation(u, a, b):
        return sf.laplacian(u) - strength * np.exp(-((a - x) ** 2 + (b - y) ** 2) / 2 / width**2)

    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: equation(u, x, y),
        boundary=lambda u, x, y: u.dn - 0.25,
        conditions=sf.integral(lambda u, x, y: u, equals=0),
    )
    assert sf.solve(problem, tol=1e-3).converged


def test_conditions_where_characteristics_leave_are_named():
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: u.dx + 0.5 * u.dy - 1,
        boundary=lambda u, x, y: u,
    )
    solution = sf.solve(problem, tol=1e-2, max_kernels=3000)
    assert not solution.converged
    assert "leave the domain on right, top" in str(solution.outcome)


@pytest.mark.parametrize("tol", [1e-1, 1e-4])
def test_systems_on_an_interval_take_as_many_conditions_as_their_order(tol):
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, v, x: (u.dxx - v, v.dxx + u - 1),
        boundary=lambda u, v, x: (u, v),
    )
    assert sf.solve(problem, tol=tol).converged
    solution = sf.solve(problem.replace(left=lambda u, v, x: (u, v, u.dx)), tol=tol)
    assert solution.outcome.kind == "ill-posed"
    assert "4 conditions together; 5 were given" in str(solution.outcome)
