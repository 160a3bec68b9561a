"""The measure in time is a true integral, and sees a front wherever it has gone."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.catalog import GRAY_SCOTT, HEAT_STEP, MOVING_FRONT, TRAVELLING_SHOCK, listing
from sharpfront.measure import Feature, max_error, moment_rule, time_rule

CASES = [(e, v) for e in listing().values() if e.dimension == "1 + t" for v in e.values]


@pytest.mark.parametrize(("entry", "value"), CASES)
def test_weights_are_positive_and_sum_to_the_measure(entry, value):
    problem, rule = entry.problem(value), time_rule(entry, value)
    low, high = problem.domain.bounds[:, 0]
    start, stop = problem.time
    assert np.all(rule.weights > 0)
    assert np.isclose(np.sum(rule.weights), (high - low) * (stop - start), rtol=1e-13, atol=0)
    assert np.all((rule.points > [low, start]) & (rule.points < [high, stop]))
    assert np.all(np.diff(rule.points[:, 1]) >= 0)


def test_rule_ends_where_it_is_told():
    rule = time_rule(MOVING_FRONT, 1e-3, until=0.25)
    assert 0.248 < np.max(rule.points[:, 1]) < 0.25
    assert np.isclose(np.sum(rule.weights), 0.25, rtol=1e-13, atol=0)


@pytest.mark.parametrize("nu", [1e-3, 1e-4, 1e-8])
def test_integrates_what_lives_in_the_front_only(nu):
    def spike(x, t):
        return np.exp(-(((x - 0.25 - t / 2) / (4 * nu)) ** 2))

    rule = time_rule(TRAVELLING_SHOCK, nu)
    total = np.sum(rule.weights * spike(*rule.points.T))
    assert np.isclose(total, 4 * nu * np.sqrt(np.pi), rtol=1e-7, atol=0)


def test_integrates_a_layer_of_the_first_moment():
    # The integral of exp(-x^2 / 4kt) over x is 2 sqrt(pi k t); over t to 1, 4/3 sqrt(pi k).
    k = 1e-3
    rule = time_rule(HEAT_STEP, k)
    x, t = rule.points.T
    total = np.sum(rule.weights * np.exp(-((x - 0.3) ** 2) / (4 * k * t)))
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
    near = 2 * np.sin((rule.points[:, 0] - at) / 2)
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
    rule, shifted = time_rule(entry, nu), lambda x, t: exact(x - d, t)
    # The overlap of the tails takes 4 nu from the strip: integral of (f(z) - f(z - d))^2.
    expected = np.sqrt((d - 4 * nu) / (0.5 - 2 * nu))
    assert np.isclose(rule.error(shifted, exact), expected, rtol=1e-3, atol=0)
    assert 0.99 < max_error(shifted, exact, rule.points) <= 1.0


def test_even_points_would_not_see_a_spike_that_the_rule_sees():
    nu = 1e-6
    exact, front = MOVING_FRONT.exact(nu), MOVING_FRONT.features(nu)

    def found(x, t):
        moments, which = np.unique(t, return_inverse=True)
        place = np.array([front(m)[0].position for m in moments])[which]
        return exact(x, t) + 0.5 * np.exp(-(((x - place - 1e-4) / 1e-5) ** 2))

    rule = time_rule(MOVING_FRONT, nu)
    assert max_error(found, exact, rule.points) > 0.1
    assert 1e-4 < rule.error(found, exact) < 1e-2


def test_relative_error_is_that_of_the_norms():
    exact = MOVING_FRONT.exact(1e-3)
    rule = time_rule(MOVING_FRONT, 1e-3)
    assert np.isclose(rule.error(lambda x, t: 1.25 * exact(x, t), exact), 0.25)
    assert rule.error(exact, exact) == 0.0


def test_the_worst_of_several_unknowns_counts():
    class Found:
        u = staticmethod(lambda x, t: 1.0 + 0 * x)
        v = staticmethod(lambda x, t: 0.011 + 0 * x)

    exact = {"u": lambda x, t: 1.0 + 0 * x, "v": lambda x, t: 0.01 + 0 * x}
    rule = moment_rule(GRAY_SCOTT, 1e-2, 1.0)
    for found in (Found(), {"u": Found.u, "v": Found.v}):
        assert np.isclose(rule.error(found, exact), 0.1)
        assert np.isclose(max_error(found, exact, rule.points), 1e-3)


def test_no_number_is_an_infinite_error():
    rule = moment_rule(MOVING_FRONT, 1e-3, 0.5)
    found, exact = (lambda x, t: np.where(x > 0.5, np.nan, 0.0)), MOVING_FRONT.exact(1e-3)
    assert rule.error(found, exact) == np.inf == max_error(found, exact, rule.points)
