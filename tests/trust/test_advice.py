"""What is advised is told from the solves there were, and following it helps."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sharpfront as sf
from sharpfront.trust.advice import Allowance, Solved, floor, kernels_wanted, short_of_kernels

SQUARE = sf.Box((0, 1), (0, 1))
L_SHAPE = sf.Box((-1, 1), (-1, 1)) - sf.Box((0, 2), (-2, 0))


@given(
    rate=st.floats(0.1, 1.0),
    dimension=st.integers(1, 3),
    digits=st.floats(3.0, 10.0),
    sizes=st.integers(2, 5),
)
def test_geometric_convergence_is_foreseen(rate, dimension, digits, sizes):
    ends = [(10 + 3 * i) ** dimension for i in range(sizes)]
    tried = [Solved(n, float(np.exp(-rate * n ** (1 / dimension)))) for n in ends]
    goal = tried[-1].estimate * 10.0**-digits
    wanted = kernels_wanted(tried, goal, dimension)
    assert np.isclose(np.exp(-rate * wanted ** (1 / dimension)), goal, rtol=0.1) or (
        wanted == 1.25 * ends[-1]
    )


@given(power=st.floats(0.3, 4.0), digits=st.floats(1.0, 4.0), first=st.integers(50, 900))
def test_algebraic_convergence_is_told_from_it(power, digits, first):
    tried = [Solved(first * 2**i, float((first * 2.0**i) ** -power)) for i in range(4)]
    goal = tried[-1].estimate * 10.0**-digits
    assert np.isclose(kernels_wanted(tried, goal, 2) ** -power, goal, rtol=0.1)


@given(st.lists(st.floats(0.5, 1.0), min_size=1, max_size=6))
def test_what_does_not_fall_is_never_reached(estimates):
    tried = [Solved(100 * (i + 1), 1.0) for i in range(3)]
    tried += [Solved(300, 1.0 + e) for e in estimates]
    assert kernels_wanted(tried, 1e-6, 2) == np.inf


@pytest.mark.parametrize("usual", [900, 4000])
def test_more_kernels_are_not_advised_where_they_did_not_help(usual):
    tried = [Solved(300, 0.05), Solved(600, 0.049), Solved(900, 0.051)]
    ended = short_of_kernels(
        "Reached.", 0.049, tried, Allowance(1e-6, usual, usual, 2), (0.25, 0.5)
    )
    assert ended.kind == "unresolved"
    assert "raising max_kernels does not lead to the tolerance" in ended.advice
    assert "loosen tol to 5e-02" in ended.advice.lower()
    assert "near (0.25, 0.5)" in ended.detail and "did not fall" in ended.detail


def test_a_floor_is_rounding_only_if_the_last_functions_carry_nothing():
    tried = [Solved(100, 3e-8), Solved(200, 2e-8), Solved(300, 1.9e-8)]
    assert "rounding sets the floor" in floor("", 1.9e-8, tried, 1e-15).advice
    assert "not because of rounding" in floor("", 1.9e-8, tried, 1e-9).advice


def told(solution):
    """Return the number of kernels that the advice names."""
    named = re.findall(r"about (\d+) kernels|to more than (\d+)", solution.outcome.advice)
    default = re.findall(r"is (\d+) by default", solution.outcome.advice)
    return max(int(n) for n in [*sum(named, ()), *default] if n)


def wiggly(k):
    return sf.Problem(
        SQUARE,
        lambda u, x, y: -sf.laplacian(u) - np.sin(k * x) * np.cos(k * y),
        boundary=lambda u, x, y: u - np.sin(k * x) * np.cos(k * y) / (2 * k * k),
    )


def jumps(count):
    return sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: -1e-3 * u.dxx + u - np.sign(np.sin(count * np.pi * x + 0.5)),
        boundary=lambda u, x: u,
    )


def layer(eps):
    return sf.Problem(
        sf.Interval(0, 1), lambda u, x: -eps * u.dxx + u.dx - 1, boundary=lambda u, x: u
    )


def corner():
    """Return a problem whose corner is cut towards: its second derivatives vary, not all alike."""

    def equation(u, x, y):
        return -(1 + 0.2 * x * y) * u.dxx - u.dyy - 1

    return sf.Problem(L_SHAPE, equation, boundary=lambda u, x, y: u)


@pytest.mark.parametrize(
    ("problem", "tol", "most"),
    [
        (layer(1e-3), 1e-10, 25),
        (layer(1e-6), 1e-10, 40),
        (jumps(20), 1e-6, 300),
        (wiggly(9.0), 1e-6, 60),
        (wiggly(14.0), 1e-6, 100),
        (corner(), 1e-2, 400),
    ],
    ids=["layer", "thin layer", "pieces", "waves", "more waves", "corner"],
)
def test_raising_the_limit_as_told_leads_to_the_tolerance(problem, tol, most):
    short = sf.solve(problem, tol=tol, max_kernels=most)
    assert short.outcome.kind == "kernel limit reached"
    assert "aise max_kernels" in short.outcome.advice
    assert sf.solve(problem, tol=tol, max_kernels=told(short)).converged


def small_square(a, b, side):
    return sf.Problem(
        SQUARE,
        lambda u, x, y: (
            -sf.laplacian(u)
            - np.where((abs(x - a) < side / 2) & (abs(y - b) < side / 2), 1 / side**2, 0.0)
        ),
        boundary=lambda u, x, y: u,
    )


def test_patches_solve_it():
    assert sf.solve(small_square(0.3, 0.4, 1e-2), tol=1e-2).converged


def test_the_floor_of_rounding_is_a_tolerance_that_is_met():
    short = sf.solve(layer(1e-3), tol=1e-15)
    assert short.outcome.kind == "stalled"
    (told_floor,) = re.findall(r"floor here is about (\S+)\.", short.outcome.detail)
    assert short.error_estimate <= float(told_floor) <= 2 * short.error_estimate
    assert sf.solve(layer(1e-3), tol=float(told_floor)).converged


def test_a_remedy_is_kept_in_a_file(tmp_path):
    short = sf.solve(layer(1e-3), tol=1e-10, max_kernels=25)
    short.save(tmp_path / "short.npz")
    assert sf.load(tmp_path / "short.npz").outcome == short.outcome
