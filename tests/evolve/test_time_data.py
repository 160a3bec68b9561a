"""Data that depend on time: what happens between stages, or in a small part of the domain, counts.

Each test draws places, moments, widths and heights: no step and no rule is made for them.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sharpfront as sf
from sharpfront.evolve import watched_formula
from sharpfront.evolve.time_events import line_formulas, time_events_of
from sharpfront.evolve.time_system import time_system
from sharpfront.trust.between_stages import MOMENTS, moments_between
from sharpfront.trust.narrow_data_in_time import Watch

FEW = settings(max_examples=2, deadline=None, derandomize=True, database=None)
MANY = settings(max_examples=5, deadline=None, derandomize=True, database=None)
X = np.linspace(0, 1, 101)


def on_line(equation, **stated):
    given = {"boundary": lambda u, x, t: u.dn, "initial": 0.0, "time": (0, 1)} | stated
    return sf.Problem(stated.pop("domain", sf.Interval(0, 1)), equation, **given)


def agenda(problem):
    equations, conditions = line_formulas(time_system(problem))
    return time_events_of([*equations, *conditions], problem.time)


def pulse(t, at, width, height):
    return height * np.exp(-(((t - at) / width) ** 2))


def window(t, at, width, height):
    return np.where(np.abs(t - at) < width, height, 0.0)


def decayed(solution, strength, moments):
    """Return the error against exp(-pi^2 strength(t)) sin(pi x), strength the integral of D."""
    exact = [np.exp(-(np.pi**2) * strength(t)) * np.sin(np.pi * X) for t in moments]
    return max(np.abs(solution(X, t) - e).max() for t, e in zip(moments, exact, strict=True))


def diffusing(coefficient):
    return sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt - coefficient(t) * u.dxx,
        boundary=lambda u, x, t: u,
        initial=lambda x: np.sin(np.pi * x),
        time=(0, 1),
    )


@pytest.mark.parametrize("after", [0.9, -0.5])
@pytest.mark.parametrize("at", [0.3, 0.777])
def test_a_value_that_is_switched_at_an_end_of_a_nonlinear_problem(at, after):
    """What the switch is rounded by is no loss of the solution."""

    def travelling(switch):
        return sf.Problem(
            sf.Interval(0, 1),
            lambda u, x, t: u.dt + u * u.dx - 0.02 * u.dxx,
            left=lambda u, x, t: u - 0.2,
            right=lambda u, x, t: u - switch(t),
            initial=0.2,
            time=(0, 1),
        )

    solution = sf.solve(travelling(lambda t: np.where(t < at, 0.2, after)), tol=1e-5)
    assert solution.converged and at < solution.error_estimate_since < at + 1e-3
    rest = sf.solve(
        sf.Problem(
            sf.Interval(0, 1),
            lambda u, x, t: u.dt + u * u.dx - 0.02 * u.dxx,
            left=lambda u, x, t: u - 0.2,
            right=lambda u, x, t: u - after,
            initial=0.2,
            time=(at, 1),
        ),
        tol=1e-7,
    )
    assert np.abs(solution(X, 1.0) - rest(X, 1.0)).max() < 1e-5


@pytest.mark.parametrize("rate", [20.0, 11.1])
def test_a_slope_that_goes_on_and_off(rate):
    """A moment at which it does is known to rounding, and no look falls into that."""
    solution = sf.solve(
        on_line(
            lambda u, x, t: u.dt - u.dxx,
            left=lambda u, x, t: u.dx + np.where(np.sin(rate * t) > 0, 1, 0),
            boundary=lambda u, x, t: u,
        ),
        tol=1e-6,
    )
    assert solution.converged


@FEW
@given(st.floats(0.02, 0.98), st.floats(0.02, 0.3))
def test_a_diffusivity_that_is_switched(at, after):
    solution = sf.solve(diffusing(lambda t: np.where(t < at, 0.01, after)), tol=1e-6)
    assert solution.converged

    def strength(t):
        return 0.01 * min(t, at) + after * max(t - at, 0.0)

    moments = np.append(np.linspace(0.1, 1, 7), min(at + 0.01, 1.0))
    assert decayed(solution, strength, moments) < 1e-6


@FEW
@given(st.floats(0.05, 0.95), st.floats(-4, -2), st.sampled_from([pulse, window]))
def test_a_pulse_in_the_diffusivity(at, width, shape):
    width = 10**width
    solution = sf.solve(diffusing(lambda t: 0.01 + shape(t, at, width, 0.05 / width)), tol=1e-6)
    assert solution.converged
    area = 0.05 * (np.sqrt(np.pi) if shape is pulse else 2.0)
    assert decayed(solution, lambda t: 0.01 * t + area, [1.0]) < 1e-6


@FEW
@given(st.floats(0.05, 0.35), st.floats(1.0, 5.0))
def test_a_slope_that_is_switched_is_rounded_within_the_estimate(at, slope):
    # A start that is right to a millionth: at the switch, rounding is the only error.
    switched = on_line(
        lambda u, x, t: u.dt - 0.01 * u.dxx,
        boundary=lambda u, x, t: u.dn + np.where(t < at, 0.0, slope * (x < 0.5)),
        initial=0.5,
        time=(0, 0.4),
    )
    solution = sf.solve(switched, tol=1e-5)
    off = abs(float(solution(0.0, at)) - 0.5)
    assert 0.3e-6 * slope < off <= solution.error_estimate < 1e-5


@pytest.mark.parametrize("which", ["u_x", "u", "u^2", "second unknown"])
def test_a_pulse_in_any_coefficient(which):
    def beat(t):
        return pulse(t, 0.6137, 1e-3, 300.0)

    area = 0.3 * np.sqrt(np.pi)
    circle = sf.Interval(0, 1, periodic=True)
    start = {"initial": 0.5, "time": (0, 1)}
    if which == "u_x":
        problem = sf.Problem(
            circle,
            lambda u, x, t: u.dt + beat(t) * u.dx - 1e-3 * u.dxx,
            initial=lambda x: np.sin(2 * np.pi * x),
            time=(0, 1),
        )
        exact = np.exp(-4e-3 * np.pi**2) * np.sin(2 * np.pi * (X - area))
    elif which == "u":
        problem = sf.Problem(circle, lambda u, x, t: u.dt + beat(t) * u - 0.1 * u.dxx, **start)
        exact = 0.5 * np.exp(-area) + 0 * X
    elif which == "u^2":
        problem = sf.Problem(circle, lambda u, x, t: u.dt + beat(t) * u**2 - 0.1 * u.dxx, **start)
        exact = 1 / (2 + area) + 0 * X
    else:
        problem = sf.Problem(
            circle,
            lambda u, v, x, t: (v.dt - 0.1 * v.dxx, u.dt + beat(t) * u - 0.1 * u.dxx - 0 * v),
            initial=(0.5, 0.3),
            time=(0, 1),
        )
        exact = 0.5 * np.exp(-area) + 0 * X
    solution = sf.solve(problem, tol=1e-6)
    assert solution.converged
    found = solution.u(X, 1.0) if which == "second unknown" else solution(X, 1.0)
    assert np.abs(found - exact).max() < 1e-5


@MANY
@given(
    st.floats(0.05, 0.95),
    st.floats(0.05, 0.95),
    st.floats(-5, -2),
    st.floats(-5, -3),
    st.booleans(),
    st.booleans(),
)
def test_what_is_local_in_place_and_time_is_on_the_agenda(x0, t0, w, d, smooth, rate):
    w, d = 10**w, 10**d

    def stimulus(x, t):
        if smooth:
            return np.exp(-(((x - x0) / w) ** 2) - ((t - t0) / d) ** 2)
        return np.where((np.abs(x - x0) < w) & (np.abs(t - t0) < d), 1.0, 0.0)

    found = agenda(
        on_line(lambda u, x, t: u.dt - 0.01 * u.dxx - stimulus(x, t) * (u if rate else 1.0))
    )
    t, steps = 0.0, []
    while t < 1.0:
        t = min(1.0, t + found.longest(t))
        steps.append(t)
    assert any(abs(s - t0) < 2 * d for s in steps) and len(steps) < 60


@pytest.mark.parametrize("speed", [0.5, 0.9])
def test_what_travels_is_no_event(speed):
    def source(x, t):
        return np.exp(-(((x - 0.05 - speed * t) / 1e-2) ** 2))

    found = agenda(on_line(lambda u, x, t: u.dt - 0.01 * u.dxx - source(x, t)))
    assert len(found.stops) == 0 and not any(e.brief for e in found.events)


@MANY
@given(st.floats(0.1, 0.9), st.floats(0.1, 0.9))
def test_moving_edges_stop_where_they_come_and_go(opens, at):
    def source(x, t):
        return np.where(np.abs(x - at) < 0.05 * (t - opens), 1.0, 0.0)

    found = agenda(on_line(lambda u, x, t: u.dt - 0.01 * u.dxx - source(x, t)))
    assert any(abs(s - opens) < 1e-3 for s in found.stops)


@FEW
@given(st.floats(0.1, 0.9), st.floats(0.1, 0.9), st.floats(-3, -2))
def test_a_stimulus_for_a_moment_at_a_place(x0, t0, d):
    d = 10**d

    def stimulus(x, t):
        return 0.1 / d * np.exp(-(((x - x0) / 0.02) ** 2) - ((t - t0) / d) ** 2)

    solution = sf.solve(on_line(lambda u, x, t: u.dt - 0.01 * u.dxx - stimulus(x, t)), tol=1e-4)
    assert solution.converged
    x, w = np.polynomial.legendre.leggauss(200)
    total = 0.5 * w @ solution(0.5 + 0.5 * x, 1.0)
    assert abs(total - 0.1 * np.pi * 0.02) < 1e-4


def test_a_state_that_crosses_an_edge_is_seen_by_the_residual_between_stages():
    """No look beforehand sees it: the edge is where the solution is 0.52."""

    def equation(u, x, t):
        return u.dt - 0.1 * u.dxx - np.where(u < 0.52, 1.0, 0.0)

    solution = sf.solve(on_line(equation), tol=1e-6)
    moments = np.linspace(0.01, 1, 100)
    off = np.abs(solution(0.5, moments) - np.minimum(moments, 0.52)).max()
    assert off < max(1e-6, 2 * solution.error_estimate)


@MANY
@given(st.floats(0, 0.9), st.floats(1e-9, 0.1))
def test_moments_of_a_step_are_those_of_longer_steps_over_it(begin, length):
    end = begin + length
    found = moments_between(begin, end)
    assert len(found) == MOMENTS and np.all((found > begin) & (found < end))
    longer = moments_between(begin - 0.5 * length, end + 0.5 * length)
    inside = longer[(longer > begin) & (longer < end)]
    assert np.isin(np.round(inside, 13), np.round(found, 13)).all()
    assert np.diff(np.concatenate([[begin], found, [end]])).max() < 0.5 * length


@pytest.mark.parametrize(("x0", "t0"), [(0.6, 0.08), (0.33, 0.41)])
def test_a_hard_stimulus_is_resolved_beside_its_edges(x0, t0):
    """For a moment its edges in x are thinner than any element; the total is known."""

    def stimulus(x, t):
        return np.where((np.abs(x - x0) < 0.01) & (np.abs(t - t0) < 0.05), 1.0, 0.0)

    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt - 0.02 * u.dxx - stimulus(x, t),
        boundary=lambda u, x, t: u.dn,
        initial=lambda x: 0 * x,
        time=(0, 0.6),
    )
    solution = sf.solve(problem, tol=1e-5)
    x, w = np.polynomial.legendre.leggauss(200)
    assert solution.converged
    assert abs(0.5 * w @ solution(0.5 + 0.5 * x, 0.6) - 0.02 * 0.1) < 1e-5


@pytest.mark.parametrize(("speed", "edge"), [(0.1, 0.9995), (-0.07, 3.3e-4), (0.1, 1 - 1e-7)])
def test_a_jump_may_leave_the_domain(speed, edge):
    def beyond(x, t):
        way = x - speed * t - edge
        return np.where(way * np.sign(speed) > 0, 1.0, 0.0)

    cooling = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt - u.dxx - beyond(x, t) * u,
        boundary=lambda u, x, t: u,
        initial=lambda x: np.sin(np.pi * x),
        time=(0, 0.02),
    )
    solution = sf.solve(cooling, tol=1e-3)
    assert solution.converged
    assert solution(0.5, 0.02) == pytest.approx(np.exp(-0.02 * np.pi**2), abs=1e-3)


def test_data_that_no_kernels_see_at_the_start_end_the_run_with_words():
    narrow = on_line(
        lambda u, x, t: u.dt - u.dxx - np.where(abs(x - 0.3 - 0.1 * t) < 1e-7, 1e7, 0.0)
    )
    solution = sf.solve(narrow, tol=1e-3, max_kernels=100)
    assert solution.outcome.kind == "kernel limit reached"
    assert "do not" in solution.outcome.detail


def test_a_source_is_looked_at_once_at_each_moment(monkeypatch):
    looked = []
    look = Watch.look

    def counted(self, t):
        looked.append(t)
        return look(self, t)

    monkeypatch.setattr(Watch, "look", counted)
    narrow = on_line(lambda u, x, t: u.dt - u.dxx - np.exp(-(((x - t) / 0.1) ** 2)))
    solution = sf.solve(narrow, tol=1e-2)
    assert solution.converged and len(looked) == len(set(looked))
    # Right after the start, in the middle of each step and at its end.
    assert len(looked) < 2.5 * len(solution.history) + 3


def test_parts_of_a_formula_are_the_same_at_few_moments_and_at_many(monkeypatch):
    problem = on_line(lambda u, x, t: u.dt - u.dxx - np.sin(9 * t) * np.exp(-((x - t) ** 2)))
    many = agenda(problem)
    monkeypatch.setattr(watched_formula, "AT_ONCE", 7)
    few = agenda(problem)
    assert np.array_equal(few.moments, many.moments) and np.array_equal(few.passed, many.passed)
