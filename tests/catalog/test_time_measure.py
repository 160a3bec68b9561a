"""The measure in time is a true integral, and sees a front wherever it has gone."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.catalog import (
    GRAY_SCOTT,
    HEAT_STEP,
    MOVING_FRONT,
    TRAVELLING_SHOCK,
    Feature,
    listing,
    measure,
    time_rule,
)
from sharpfront.catalog.measure import moment_rule, steepest

CASES = [(e, v) for e in listing().values() if e.dimension == "1 + t" for v in e.values]


@pytest.mark.parametrize(("entry", "value"), CASES)
def test_weights_are_positive_and_sum_to_the_measure(entry, value):
    problem, rule = entry.problem(value), time_rule(entry, value)
    low, high = problem.domain.bounds[:, 0]
    start, stop = problem.time
    assert np.all(rule.weights > 0)
    assert np.isclose(np.sum(rule.weights), (high - low) * (stop - start), rtol=1e-13, atol=0)
    assert np.all((rule.x > low) & (rule.x < high) & (rule.t > start) & (rule.t < stop))
    assert np.all(np.diff(rule.t) >= 0)


def test_rule_ends_where_it_is_told():
    rule = time_rule(MOVING_FRONT, 1e-3, until=0.25)
    assert 0.248 < np.max(rule.t) < 0.25
    assert np.isclose(np.sum(rule.weights), 0.25, rtol=1e-13, atol=0)


@pytest.mark.parametrize("nu", [1e-3, 1e-4, 1e-8])
def test_integrates_what_lives_in_the_front_only(nu):
    def spike(x, t):
        return np.exp(-(((x - 0.25 - t / 2) / (4 * nu)) ** 2))

    rule = time_rule(TRAVELLING_SHOCK, nu)
    total = np.sum(rule.weights * spike(rule.x, rule.t))
    assert np.isclose(total, 4 * nu * np.sqrt(np.pi), rtol=1e-7, atol=0)


def test_integrates_a_layer_of_the_first_moment():
    # The integral of exp(-x^2 / 4kt) over x is 2 sqrt(pi k t); over t to 1, 4/3 sqrt(pi k).
    k = 1e-3
    rule = time_rule(HEAT_STEP, k)
    total = np.sum(rule.weights * np.exp(-((rule.x - 0.3) ** 2) / (4 * k * rule.t)))
    assert np.isclose(total, 4 / 3 * np.sqrt(np.pi * k), rtol=1e-6, atol=0)


@pytest.mark.parametrize("at", [0.0, 0.02, 1.0, 6.28])
def test_a_feature_at_the_seam_of_a_period_is_seen_from_both_sides(at):
    entry = SimpleNamespace(
        problem=lambda v: sf.Problem(
            sf.Interval(0, 2 * np.pi, periodic=True),
            lambda u, x, t: u.dt + u.dx,
            initial=0.0,
            time=(0, 1),
        ),
        features=lambda v: lambda t: (Feature(at, 1e-3),),
        panels=20,
    )
    rule = moment_rule(entry, 1.0, 0.5)
    near = 2 * np.sin((rule.x - at) / 2)
    total = np.sum(rule.weights * np.exp(-((near / 1e-3) ** 2)))
    assert np.isclose(total, 1e-3 * np.sqrt(np.pi), rtol=1e-6, atol=0)


def test_errors_of_a_shifted_front_are_those_of_its_integral():
    # Two sharp fronts a distance d apart differ by 1 on a strip of width d.
    nu, d = 1e-4, 1e-2
    exact = TRAVELLING_SHOCK.exact(nu)
    fronts = [Feature(0.25 + d * i, 4 * nu) for i in (0, 1)]
    entry = SimpleNamespace(
        problem=TRAVELLING_SHOCK.problem,
        features=lambda v: lambda t: [replace(f, position=f.position + t / 2) for f in fronts],
        panels=20,
    )
    found = measure(lambda x, t: exact(x - d, t), exact, time_rule(entry, nu))
    # The overlap of the tails takes 4 nu from the strip: integral of (f(z) - f(z - d))^2.
    assert np.isclose(found.relative, np.sqrt((d - 4 * nu) / (0.5 - 2 * nu)), rtol=1e-3, atol=0)
    assert 0.99 < found.largest <= 1.0


def test_even_points_would_not_see_a_spike_that_the_rule_sees():
    nu = 1e-6
    exact, front = MOVING_FRONT.exact(nu), MOVING_FRONT.features(nu)

    def found(x, t):
        moments, which = np.unique(t, return_inverse=True)
        place = np.array([front(m)[0].position for m in moments])[which]
        return exact(x, t) + 0.5 * np.exp(-(((x - place - 1e-4) / 1e-5) ** 2))

    errors = measure(found, exact, time_rule(MOVING_FRONT, nu))
    assert errors.largest > 0.1
    assert 1e-4 < errors.relative < 1e-2


def test_relative_error_is_that_of_the_norms():
    exact = MOVING_FRONT.exact(1e-3)
    rule = time_rule(MOVING_FRONT, 1e-3)
    found = measure(lambda x, t: 1.25 * exact(x, t), exact, rule)
    assert np.isclose(found.relative, 0.25) and np.isclose(found.largest, 0.25, rtol=1e-3, atol=0)
    assert measure(exact, exact, rule).largest == 0.0


def test_the_worst_of_several_unknowns_counts():
    class Found:
        u = staticmethod(lambda x, t: 1.0 + 0 * x)
        v = staticmethod(lambda x, t: 0.011 + 0 * x)

    exact = {"u": lambda x, t: 1.0 + 0 * x, "v": lambda x, t: 0.01 + 0 * x}
    rule = moment_rule(GRAY_SCOTT, 1e-2, 1.0)
    for found in (Found(), {"u": Found.u, "v": Found.v}):
        errors = measure(found, exact, rule)
        assert np.isclose(errors.relative, 0.1) and np.isclose(errors.largest, 1e-3)


def test_no_number_is_an_infinite_error():
    rule = moment_rule(MOVING_FRONT, 1e-3, 0.5)
    found = measure(lambda x, t: np.where(x > 0.5, np.nan, 0.0), MOVING_FRONT.exact(1e-3), rule)
    assert found.relative == np.inf and found.largest == np.inf


@pytest.mark.parametrize("width", [0.3, 1e-2, 1e-5])
def test_steepest_finds_a_front_of_any_width(width):
    found = steepest(lambda x: np.tanh((x - 0.377) / width), 0.0, 1.0, 201)
    assert abs(found.position - 0.377) < 0.1 * width
    # A jump of 2 and a slope of 1 / width, while the whole jump is in sight.
    assert 0.5 * width < found.width < 3 * width
