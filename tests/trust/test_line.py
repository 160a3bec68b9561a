"""What speaks against an estimate is found, and nothing else is."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt import Resolve
from sharpfront.errors import OutcomeKind
from sharpfront.place.line.breakpoints import survey
from sharpfront.place.line.feature_search import discover
from sharpfront.problem.line_problem import LinearCondition, LineProblem, Term, ordinary
from sharpfront.solution.approximation import Approximation, split_weights
from sharpfront.trust.conditioning import amplification, disagreement, distance, near_singular
from sharpfront.trust.line_data import residual_left, unseen
from sharpfront.trust.line_statement import miscounted, vanished
from sharpfront.trust.settings import TRUST

NONE = np.zeros(0)


def ends(left=0.0, right=0.0, order=0):
    return (LinearCondition((Term(0.0, order),), left), LinearCondition((Term(1.0, order),), right))


def stated(coefficients, source=0.0, conditions=None, interval=(0.0, 1.0)):
    return LineProblem(interval, coefficients, source, ends() if conditions is None else conditions)


def amplified(problem):
    return amplification(problem, discover(problem, NONE, NONE, survey(problem)))


@pytest.mark.parametrize("k", [1, 2, 5, 20])
@pytest.mark.parametrize("source", [0.0, 1.0, lambda x: np.sin(6 * np.pi * x)])
def test_a_resonance_shows_whatever_the_data(k, source):
    assert amplified(stated(((k * np.pi) ** 2, 0.0, 1.0), source)) > TRUST.unknowable


@pytest.mark.parametrize("away", [1e-2, 1e-3, 1e-4])
def test_near_a_resonance_it_is_the_inverse_distance(away):
    found = amplified(stated((np.pi**2 * (1 + away), 0.0, 1.0), 1.0))
    assert 0.3 / away < found < 3 / away


@pytest.mark.parametrize(
    "problem",
    [
        stated((0.0, 1.0, -1e-6), conditions=ends(0, 1)),
        stated((1.0, 0.0, -1e-6), 1.0),
        stated((1.0, 0.0, -1.0)),
        stated((1.0, 0.0, -1.0), 1.0, ends(order=1)),
        stated((50.0**2, 0.0, 1.0), conditions=ends(0, 1)),
        stated((0.0, 1.0), np.cos, ends()[:1]),
    ],
)
def test_well_posed_problems_amplify_little(problem):
    assert amplified(problem) < 200
    assert near_singular(amplified(problem)) is None


def test_a_free_constant_shows():
    assert amplified(stated((0.0, 0.0, 1.0), 1.0, ends(order=1))) > TRUST.unknowable
    compatible = stated((0.0, 0.0, 1.0), lambda x: np.cos(np.pi * x), ends(order=1))
    assert amplified(compatible) > TRUST.unknowable


def test_the_units_of_x_do_not_matter():
    def on(length):
        conditions = (LinearCondition((Term(0.0),)), LinearCondition((Term(length),)))
        k = 1.01 * np.pi / length
        return amplified(stated((k**2, 0.0, 1.0), 1.0, conditions, (0.0, length)))

    assert on(1e-3) == pytest.approx(on(1.0), rel=0.1)
    assert on(1e3) == pytest.approx(on(1.0), rel=0.1)


def test_near_singular_says_how_much():
    assert near_singular(9e4) is None
    assert "amplified 2e+05 times" in near_singular(2e5).detail
    assert "no unique solution" in near_singular(np.inf).detail
    assert near_singular(2e5).kind is OutcomeKind.NEAR_SINGULAR


def test_conditions_are_counted():
    assert miscounted(stated((1.0, 0.0, 1.0))) is None
    assert "order 2 and 1 condition" in miscounted(stated((1.0, 0.0, 1.0), 0.0, ends()[:1])).detail
    assert "order 1 and 2 condition" in miscounted(stated((1.0, 1.0))).detail


def vanishes(leading, coefficients=(1.0, 0.0)):
    problem = stated((*coefficients, leading), interval=(-1.0, 1.0))
    seen = survey(problem)
    return vanished(problem, seen, seen.cuts)


@pytest.mark.parametrize(
    ("leading", "place"),
    [
        (lambda x: x - 0.25, 0.25),
        (lambda x: (x + 0.3) ** 2, -0.3),
        (lambda x: (x + 0.3) ** 3, -0.3),
        (lambda x: 1 - np.cos(x - 0.377), 0.377),
        (lambda x: np.where(x < 0.4, 1.0, 0.0), 0.4),
        (lambda x: np.sin(x - 0.123), 0.123),
    ],
)
def test_a_leading_coefficient_that_vanishes_is_placed(leading, place):
    outcome = vanishes(leading)
    assert outcome.kind is OutcomeKind.ILL_POSED
    assert "order 2 vanishes" in outcome.detail
    found = float(outcome.detail.split("x = ")[1].split(",")[0])
    assert found == pytest.approx(place, abs=4e-4)


@pytest.mark.parametrize(
    "leading",
    [
        1.0,
        -1e-12,
        lambda x: 1 + 0.5 * x,
        lambda x: 1 + x,
        lambda x: (1 - x) ** 2,
        lambda x: 1 - x**2,
        lambda x: np.where(x < 0.2, 1.0, -1.0),
        lambda x: np.where(x < 0.2, 1.0, 1e-9),
        lambda x: 1e-9 + 0.5 * (1 + np.tanh(x / 1e-2)),
        lambda x: 1e-8 + x**2,
        lambda x: 1e-11 + (x - 0.123) ** 2,
    ],
)
def test_one_that_does_not_is_left_alone(leading):
    assert vanishes(leading) is None


def test_a_constant_zero_vanishes():
    assert vanishes(0.0) is not None


# With a solution


def spiked():
    """Fit the problem without its spike, with few kernels, and look with the spike's survey."""
    width = 1e-4

    def source(x):
        return np.cos(x) + 1e3 * np.exp(-(((x - 0.40001) / width) ** 2))

    problem = stated((0.0, 0.0, 1.0), source)
    adaptor = Resolve()
    state = adaptor.begin("u", stated((0.0, 0.0, 1.0), np.cos), 1e-8)
    system = adaptor.propose(state).system
    weights, *_ = fitted(adaptor, system)
    approximation = Approximation(
        ("x",), {"u": state.basis}, split_weights(weights, {"u": state.basis})
    )
    check = adaptor.assess(state, approximation).check
    return problem, approximation, check


def fitted(adaptor, system):
    return adaptor.leastsquares.solve(adaptor.leastsquares.factor(system), system.rhs)


def test_a_spike_between_the_checking_points_is_seen():
    problem, approximation, check = spiked()
    places, error = unseen(problem, survey(problem), (), check, approximation)
    assert len(places)
    assert np.all(np.abs(places - 0.40001) < 4e-4)
    # The spike's integral is 0.18, its answer at 0.4 a quarter of that.
    assert 0.003 < error < 0.3


def test_nothing_unseen_in_the_problem_that_was_solved():
    _, approximation, check = spiked()
    same = stated((0.0, 0.0, 1.0), np.cos)
    places, error = unseen(same, survey(same), (), check, approximation)
    assert len(places) == 0
    assert error == 0.0
    constant = stated((0.0, 0.0, 1.0), 1.0)
    assert unseen(constant, survey(constant), (), check, approximation)[1] == 0.0


def test_what_is_left_over_is_the_residual():
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: -0.1 * u.dxx + x * u.dx + u - np.exp(x),
        boundary=lambda u, x: u,
    )
    solution = sf.solve(problem, tol=1e-3)
    x = np.linspace(0.01, 0.99, 50)
    left = residual_left(ordinary(problem), solution.approximation, x)
    assert np.allclose(left, -solution.residual(x), rtol=0, atol=1e-12)
    assert left.any()


def test_the_distance_to_what_discovery_saw():
    problem = stated((1.0, 0.0, -1.0), 1.0)
    state = Resolve().begin("u", problem, 1e-8)
    zero = Approximation(("x",), {"u": state.basis}, {"u": np.zeros(state.basis.size)})
    assert distance(zero, state.found) == pytest.approx(np.abs(state.found.solution[0]).max())
    strong = stated((1.0, 0.0, -1.0), 1e3)
    state = Resolve().begin("u", strong, 1e-8)
    zero = Approximation(("x",), {"u": state.basis}, {"u": np.zeros(state.basis.size)})
    assert distance(zero, state.found) == pytest.approx(1.0)


def test_kernels_that_differ_from_cells_on_two_grids_are_contradicted():
    adaptor = Resolve()
    problem = stated((1.0, 0.0, -1.0), 100.0)
    state = adaptor.begin("u", problem, 1e-8)
    weights, *_ = fitted(adaptor, adaptor.propose(state).system)
    for factor, apart in ((1.0, 0.0), (0.0, 1.0)):
        approximation = Approximation(("x",), {"u": state.basis}, {"u": factor * weights})
        check = adaptor.assess(state, approximation).check
        assert disagreement(check, state.found) == pytest.approx(apart, abs=0.01)


AROUND = sf.Interval(0.5, 2.5, periodic=True)


@pytest.mark.parametrize("order", [1, 2, 4])
@pytest.mark.parametrize("waves", [1, 3])
@pytest.mark.parametrize("held", ["mean", "point"])
def test_what_a_period_leaves_free_is_held_by_a_further_condition(order, waves, held):
    k = waves * np.pi
    source = {1: np.cos, 2: lambda z: -np.sin(z), 4: np.sin}[order]
    further = (
        sf.integral(lambda u, x: u - 0.5)
        if held == "mean"
        else sf.at(0.75, lambda u, x: u - 0.5 - float(np.sin(k * 0.75)))
    )
    problem = sf.Problem(
        AROUND, lambda u, x: u.d("x", order) - k**order * source(k * x), conditions=[further]
    )
    solution = sf.solve(problem)
    x = np.linspace(0.5, 2.5, 200)
    assert solution.converged
    np.testing.assert_allclose(solution(x), 0.5 + np.sin(k * x), atol=1e-7)


@pytest.mark.parametrize("level", [0.0, 1e-3, 0.3])
@pytest.mark.parametrize("domain", [AROUND, sf.Interval(0.5, 2.5)])
def test_sources_that_do_not_balance_are_told(domain, level):
    """Slopes at both ends, or a period, leave a constant free and ask for a source of mean zero."""
    ends = {} if domain.periodic else {"boundary": lambda u, x: u.dx}
    problem = sf.Problem(
        domain,
        lambda u, x: -u.dxx - np.cos(np.pi * (x - 0.5)) - level,
        conditions=[sf.integral(lambda u, x: u)],
        **ends,
    )
    solution = sf.solve(problem)
    assert solution.converged == (level == 0.0)
    if level:
        assert solution.outcome.kind == "ill-posed" and "do not" in solution.outcome.detail
        assert solution.error_estimate == np.inf
