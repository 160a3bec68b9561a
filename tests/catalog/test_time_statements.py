"""Every statement in time holds for its exact solution: equation, conditions and start."""

import mpmath as mp
import numpy as np
import pytest
from tests.catalog import time_statements as statements
from tests.catalog.time_statements import differences, exact_values, points_of, residual

from sharpfront.catalog import BURGERS, HEAT_HAT, HEAT_STEP, HUMP, MERGING_SHOCKS, listing
from sharpfront.measure import moment_rule

TIME = [e for e in listing().values() if e.dimension == "1 + t"]
CASES = [(e, v) for e in TIME for v in e.values if e.name in statements.EXACT]
NAMES = [f"{e.name} {v:g}" for e, v in CASES]
AVERAGED = [(e, v) for e in (BURGERS, HUMP) for v in e.values]
# Thinner shocks take longer and are averaged in the same way.
MARKED = [pytest.param(e, v, marks=[pytest.mark.slow] * (v != e.values[0])) for e, v in AVERAGED]


def some_points(entry, value, count, seed=5):
    points = points_of(entry, value)
    return points[np.random.default_rng(seed).permutation(len(points))[:count]]


def leaves(name, value, points):
    return lambda unknown, orders: exact_values(name, value, points, orders)


def worst(entry, value, points, perturbed=1.0):
    problem = entry.problem(value)
    (equation,) = problem.equations
    derivative = leaves(entry.name, value * perturbed, points)
    left, size = residual(equation, problem.coordinates, points, derivative)
    return np.max(np.abs(left) / size)


def test_every_entry_with_a_formula_is_written_twice():
    written = {e.name for e, _ in (*CASES, *AVERAGED)}
    assert written == {e.name for e in TIME if e.has_exact}
    assert len({e.name for e in TIME}) == len(TIME)


@pytest.mark.parametrize(("entry", "value"), CASES, ids=NAMES)
def test_equation_holds(entry, value):
    assert worst(entry, value, some_points(entry, value, 5)) < 1e-11


# Those whose equation has the parameter in it.
TOLD = [
    e
    for e in dict.fromkeys(e for e, _ in CASES)
    if e.name not in ("fast-pulse", "wave-pulse", "reflected-pulse")
]


@pytest.mark.parametrize("entry", TOLD, ids=lambda e: e.name)
def test_equation_tells_a_parameter_that_is_off_by_a_millionth(entry):
    value = entry.values[-1]
    assert worst(entry, value, some_points(entry, value, 5), 1 + 1e-6) > 1e-9


@pytest.mark.parametrize(("entry", "value"), CASES, ids=NAMES)
def test_conditions_hold_at_both_ends(entry, value):
    problem = entry.problem(value)
    assert {c.part for c in problem.conditions} == set(problem.domain.parts)
    moments = problem.time[0] + (problem.time[1] - problem.time[0]) * np.array([0.01, 0.3, 0.7, 1])
    for condition in problem.conditions:
        on = problem.domain.boundary(condition.part, 1)
        points = np.column_stack([np.full(4, on.points[0, 0]), moments])
        normals = np.full((4, 1), on.normals[0, 0])
        for each in condition.residuals:
            derivative = leaves(entry.name, value, points)
            left, _ = residual(each, problem.coordinates, points, derivative, normals)
            assert np.max(np.abs(left)) < 1e-13


@pytest.mark.parametrize(("entry", "value"), CASES, ids=NAMES)
def test_exact_solution_is_accurate(entry, value):
    points = some_points(entry, value, 25, seed=6)
    gap = entry.exact(value)(*points.T) - exact_values(entry.name, value, points)
    # A phase of 40 t is rounded before a narrow pulse sees it.
    assert np.max(np.abs(gap)) < (2e-12 if entry.name == "fast-pulse" else 2e-13)


def near_the_start(entry, value):
    start = entry.problem(value).time[0]
    return moment_rule(entry, value, start).points[:, :1]


@pytest.mark.parametrize(
    ("entry", "value"), [(e, v) for e in TIME if e.has_exact for v in e.values]
)
def test_exact_solution_begins_with_the_initial_state(entry, value):
    problem, x = entry.problem(value), near_the_start(entry, value)
    stated = problem.initial.values("u", x)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        found = entry.exact(value)(x[:, 0], np.full(len(x), problem.time[0]))
    assert np.max(np.abs(stated - found)) < 1e-14
    moments = np.full(len(x), 1e-13 * problem.time[1])
    # Nothing happens in so short a time, away from the jump: speed 40, widths from 1e-3 on.
    away = np.abs(x[:, 0] - 0.3) > 1e-4 if entry is HEAT_STEP else np.full(len(x), True)
    later = entry.exact(value)(x[:, 0], moments)
    assert np.max(np.abs(stated - later)[away]) < 1e-6


@pytest.mark.parametrize("name", ["wave-pulse", "reflected-pulse"])
def test_waves_begin_with_the_rate_that_is_stated(name):
    (entry,) = (e for e in TIME if e.name == name)
    for value in entry.values:
        x = near_the_start(entry, value)[::7]
        stated = entry.problem(value).initial.values("u_t", x)
        points = np.column_stack([x[:, 0], np.zeros(len(x))])
        rate = exact_values(name, value, points, (0, 1))
        assert np.max(np.abs(stated - rate)) < 1e-13 / value


def left_by_differences(entry, value, exact, points):
    problem, (x, t) = entry.problem(value), points.T
    step = 0.02 * min(entry.features(value)(float(m))[0].width for m in t)
    return residual(
        problem.equations[0],
        problem.coordinates,
        points,
        lambda unknown, orders: differences(exact, x, t, orders, (step, step)),
    )


@pytest.mark.parametrize(("entry", "value"), MARKED)
def test_averages_solve_burgers_equation(entry, value):
    points = some_points(entry, value, 16)
    points = points[points[:, 1] > 0.01]
    left, size = left_by_differences(entry, value, entry.exact(value), points)
    assert np.max(np.abs(left) / size) < 1e-7
    wrong, size = left_by_differences(entry, value, entry.exact(1.0001 * value), points)
    assert np.max(np.abs(wrong) / size) > 1e-6


@pytest.mark.parametrize(("entry", "value"), MARKED)
def test_averages_do_not_change_with_twice_the_nodes(entry, value):
    points = some_points(entry, value, 150)
    exact = entry.exact(value)
    twice = type(exact)(
        exact.nu, exact.start, exact.potential, 2 * exact.drop, exact.steepness, 2 * exact.nodes
    )
    assert np.max(np.abs(exact(*points.T) - twice(*points.T))) < 2e-13


def test_averages_agree_with_quadrature_in_multiple_precision():
    nu = BURGERS.values[0]
    exact = BURGERS.exact(nu)
    for x, t in ((-0.3, 0.25), (0.004, 0.9)):
        true = statements.cole_hopf(
            lambda y: -mp.sin(mp.pi * y), lambda y: mp.cos(mp.pi * y) / mp.pi, nu, x, t
        )
        assert abs(exact(x, t) - true) < 1e-13
    exact, width = HUMP.exact(1e-3), mp.mpf(0.1)
    for x, t in ((0.45, 0.2), (0.872, 1.0)):
        true = statements.cole_hopf(
            lambda y: mp.exp(-(((y - mp.mpf(0.3)) / width) ** 2)),
            lambda y: width * mp.sqrt(mp.pi) / 2 * mp.erf((y - mp.mpf(0.3)) / width),
            1e-3,
            x,
            t,
        )
        assert abs(exact(x, t) - true) < 1e-13


def test_hump_has_its_own_values_at_the_ends():
    problem, exact = HUMP.problem(1e-3), HUMP.exact(1e-3)
    for condition, end in zip(problem.conditions, (0.0, 1.0), strict=True):
        points = np.column_stack([np.full(5, end), np.linspace(0, 1, 5)])
        (each,) = condition.residuals
        left, _ = residual(each, ("x", "t"), points, lambda unknown, orders, p=points: exact(*p.T))
        assert np.max(np.abs(left)) < 1e-15


def test_sine_shock_is_zero_at_the_ends():
    t = np.linspace(0, 1, 11)
    for end in (-1.0, 1.0):
        assert np.max(np.abs(BURGERS.exact(BURGERS.values[0])(end, t))) < 1e-14


@pytest.mark.parametrize(
    ("entry", "value"), [(e, v) for e in TIME if e.has_exact for v in e.values]
)
def test_features_are_where_the_solution_is_steep(entry, value):
    problem, exact = entry.problem(value), entry.exact(value)
    low, high = problem.domain.bounds[:, 0]
    for t in (0.11, 0.43, 0.97):
        for feature in entry.features(value)(t):
            if not low + feature.width < feature.position < high - feature.width:
                continue
            z = np.array([-3.0, -1.0, -0.5, 0.5, 1.0, 3.0]) * feature.width + feature.position
            values = exact(z, t)
            # Kinks that heat has rounded are no fronts any more.
            least = 1e-3 if entry is HEAT_HAT else 0.08
            assert np.ptp(values) > least, (t, feature)


def test_shocks_merge_at_five_ninths():
    features = MERGING_SHOCKS.features(1e-3)
    assert [len(features(t)) for t in (0.0, 0.55, 0.56, 1.0)] == [2, 2, 1, 1]
    before, after = features(5 / 9 - 1e-9), features(5 / 9 + 1e-9)
    places = [f.position for f in (*before, *after)]
    assert np.allclose(places, 2 / 3, atol=1e-8)
