"""The references are closer to their own refinement than anything that is measured by them."""

import numpy as np
import pytest
from tests.accuracy.spectral import AllenCahn, Flow, Series, reference, sampled, series
from tests.catalog.time_statements import differences, residual

from sharpfront.catalog import (
    ALLEN_CAHN_IN_TIME,
    KORTEWEG_DE_VRIES,
    KURAMOTO_SIVASHINSKY,
    listing,
    named,
)
from sharpfront.measure import moment_rule

# Bounds on the relative L2 distance to half the steps and three quarters of the modes, at some
# moments. It is some sixteen times the reference's own error, the method being of fourth order;
# what fewer modes leave falls faster, modes being at hand for all but the first moments.
BOUNDS = {"allen-cahn-in-time": 3e-9, "kuramoto-sivashinsky": 1e-8}
REFERRED = [e for e in listing().values() if e.dimension == "1 + t" and not e.has_exact]
# Steps for differences, in x and t.
STEPS = {
    "allen-cahn-in-time": (1e-3, 1e-2),
    "korteweg-de-vries": (1e-3, 5e-4),
    "kuramoto-sivashinsky": (0.1, 0.02),
    "gray-scott": (0.05, 0.05),
}


# Of the two that take longest the other tests must do.
BRIEF = [e for e in REFERRED if e.name not in ("gray-scott", "korteweg-de-vries")]


@pytest.mark.slow
@pytest.mark.parametrize("entry", BRIEF, ids=lambda e: e.name)
def test_references_agree_with_coarser_ones(entry):
    (value,) = entry.values
    stop = entry.problem(value).time[1]
    coarse = reference(entry, value, 0.75, 0.5)
    for share in (0.05, 0.4, 1.0):
        rule = moment_rule(entry, value, share * stop)
        assert rule.error(coarse, reference(entry, value)) < BOUNDS[entry.name]


@pytest.mark.slow
@pytest.mark.parametrize("entry", REFERRED, ids=lambda e: e.name)
@pytest.mark.parametrize("wrong", [False, True])
def test_references_solve_the_equations_that_are_stated(entry, wrong):
    (value,) = entry.values
    if wrong and entry is KURAMOTO_SIVASHINSKY:
        pytest.skip("its parameter is the end of time")
    problem = entry.problem(value * (1.001 if wrong else 1.0))
    fields = reference(entry, value)
    fields = fields if isinstance(fields, dict) else {"u": fields}
    low, high = problem.domain.bounds[:, 0]
    random = np.random.default_rng(3)
    x = low + (high - low) * random.uniform(0.02, 0.98, 60)
    moments = (problem.time[1] - problem.time[0]) * np.array([0.2, 0.47, 0.9])
    worst = 0.0
    for t in moments:
        points = np.column_stack([x, np.full(len(x), t)])
        for equation in problem.equations:
            left, size = residual(
                equation,
                problem.coordinates,
                points,
                lambda unknown, orders, t=t: differences(
                    fields[unknown], x, np.full(len(x), t), orders, STEPS[entry.name]
                ),
            )
            worst = max(worst, float(np.max(np.abs(left) / size)))
    assert worst > 1e-6 if wrong else worst < 1e-7


@pytest.mark.parametrize("entry", REFERRED, ids=lambda e: e.name)
def test_references_begin_with_the_initial_state(entry):
    (value,) = entry.values
    problem, fields = entry.problem(value), reference(entry, value)
    fields = fields if isinstance(fields, dict) else {"u": fields}
    x = np.linspace(*problem.domain.bounds[:, 0], 301)
    for name, field in fields.items():
        stated = problem.initial.values(name, x[:, None])
        # Of Allen-Cahn's kink the modes beyond the series are known to a millionth.
        bound = 1e-7 if entry is ALLEN_CAHN_IN_TIME else 1e-13
        assert np.max(np.abs(field(x, 0 * x) - stated)) < bound


def test_steps_are_of_fourth_order():
    rule = moment_rule(KORTEWEG_DE_VRIES, 0.022, 0.5)
    fine = reference(KORTEWEG_DE_VRIES, 0.022)
    errors = [rule.error(reference(KORTEWEG_DE_VRIES, 0.022, 1.0, s), fine) for s in (0.1, 0.2)]
    assert 12 < errors[0] / errors[1] < 20


def test_linear_part_is_exact_whatever_the_step():
    flow = Flow((0.0, 2 * np.pi), lambda q: -(q**2) + 3j * q, lambda u: 0 * u)
    start = sampled(lambda x: np.exp(np.sin(x)), flow.ends, 32)
    found = Series(flow, start, (0.0, 1.0), 2)
    x = np.linspace(0, 2 * np.pi, 50)
    one = Series(flow, sampled(np.cos, flow.ends, 32), (0.0, 1.0), 3)
    assert np.allclose(one.values(x, 0.77), np.exp(-0.77) * np.cos(x + 3 * 0.77), atol=1e-14)
    assert np.allclose(found.values(x, 0.0), np.exp(np.sin(x)), atol=1e-14)


def test_sine_shock_is_that_of_its_formula():
    ends, nu = (-1.0, 1.0), 0.02
    flow = Flow(ends, lambda q: -nu * q**2, lambda u: u**2, lambda q: -0.5j * q)
    start = sampled(lambda x: -np.sin(np.pi * x), ends, 128)
    found = Series(flow, start, (0.0, 1.0), 1500)
    burgers = named("burgers")
    x = np.linspace(-1, 1, 201)
    for t in (0.3, 0.71, 1.0):
        assert np.max(np.abs(found.values(x, t) - burgers.exact(nu)(x, t))) < 1e-10


def test_without_the_kink_beyond_it_the_series_would_be_far_worse():
    class Plain(AllenCahn):
        moment = Series.moment

    good, plain = series("allen-cahn-in-time", 1e-4), Plain(1e-4, 1024, 600)
    rule = moment_rule(ALLEN_CAHN_IN_TIME, 1e-4, 1e-4)
    assert rule.error(plain.values, good.values) > 1e-6
    coarse = AllenCahn(1e-4, 1024, 600)
    assert rule.error(coarse.values, good.values) < 1e-7
