"""A stated problem as plain data: coefficients, source, conditions, and their signs."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.errors import EquationError, ProblemError
from sharpfront.problem.line_problem import (
    IntegralTerm,
    LinearCondition,
    LineProblem,
    Term,
    integrate,
    ordinary,
    value,
)

X = np.linspace(0, 1, 11)


def stated(equation, domain=None, **conditions):
    return ordinary(sf.Problem(domain or sf.Interval(0, 1), equation, **conditions))


def only(plain):
    (condition,) = plain.conditions
    return condition


def test_coefficients_and_source_at_points():
    """Everything on one side equals zero; the source goes to the other with its sign."""
    plain = stated(lambda u, x: -1e-3 * u.dxx + (1 + x) * u.dx + np.cos(x) * u - np.exp(x) + 2)
    assert plain.order == 2
    assert plain.interval == (0.0, 1.0)
    expected = [np.cos(X), 1 + X, np.full(11, -1e-3), np.exp(X) - 2]
    np.testing.assert_allclose(plain.sample(X), expected, rtol=1e-14)
    assert len(plain.functions) == 4


def test_terms_of_one_order_are_added_up():
    plain = stated(lambda u, x: u.dx + x * u.dx - 3 * u.dx + u - (u - 2 * u) + u.dxx * 0.5)
    np.testing.assert_allclose(plain.sample(X), [2 + 0 * X, X - 2, 0.5 + 0 * X, 0 * X], atol=1e-15)


def test_orders_that_do_not_appear_are_zero():
    plain = stated(lambda u, x: u.d("x", 4) + u - 1)
    assert plain.order == 4
    assert plain.coefficients[1:4] == (0.0, 0.0, 0.0)
    np.testing.assert_array_equal(plain.sample(X)[:, 3], [1, 0, 0, 0, 1, 1])


def test_constants_stay_numbers():
    """They cost nothing to sample."""
    plain = stated(lambda u, x: 2 * u.dxx - 3 * u + 5)
    assert plain.coefficients == (-3.0, 0.0, 2.0)
    assert plain.source == -5.0
    assert value(plain.source, X) == -5.0
    assert value(np.sin, X) == pytest.approx(np.sin(X))


def test_captured_functions_are_called_with_the_points():
    table = np.array([1.0, 2.0, 4.0])
    interpolant = sf.function(lambda x: np.interp(x, [0, 0.5, 1], table))
    plain = stated(lambda u, x: u.dxx + interpolant(x) * u)
    np.testing.assert_allclose(plain.sample(X)[0], np.interp(X, [0, 0.5, 1], table))


def test_text_and_functions_give_the_same():
    text = stated("-nu*u_xx + x*u_x = sin(x)", parameters={"nu": 0.25})
    plain = stated(lambda u, x: -0.25 * u.dxx + x * u.dx - np.sin(x))
    np.testing.assert_array_equal(text.sample(X), plain.sample(X))


@pytest.mark.parametrize(
    "part, residual, terms, right",
    [
        ("left", lambda u, x: u - 3, {0: 1.0}, 3.0),
        ("right", lambda u, x: 2 * u + 3, {0: 2.0}, -3.0),
        ("left", lambda u, x: u.dx + 1, {1: 1.0}, -1.0),
        # The outward normal is -1 on the left and +1 on the right.
        ("left", lambda u, x: u.dn - 4, {1: -1.0}, 4.0),
        ("right", lambda u, x: u.dn - 4, {1: 1.0}, 4.0),
        ("left", lambda u, x: 5 * u + 2 * u.dn - 1, {0: 5.0, 1: -2.0}, 1.0),
        ("right", lambda u, x: 5 * u + 2 * u.dn - 1, {0: 5.0, 1: 2.0}, 1.0),
        # Coefficients of a condition are taken at its end.
        ("right", lambda u, x: (1 + x) * u - np.exp(x), {0: 5.0}, np.exp(4.0)),
        ("left", lambda u, x: x * u.dx - x, {1: 2.0}, 2.0),
        ("left", lambda u, x: u.dxx + u, {2: 1.0, 0: 1.0}, 0.0),
        # u.dx and u.dn are one term.
        ("left", lambda u, x: u.dx + 3 * u.dn, {1: -2.0}, 0.0),
        ("left", lambda u, x: u + u - u.dn, {0: 2.0, 1: 1.0}, 0.0),
    ],
)
def test_conditions_at_the_ends(part, residual, terms, right):
    plain = stated(lambda u, x: u.dxx, sf.Interval(2, 4), **{part: residual})
    condition = only(plain)
    place = {"left": 2.0, "right": 4.0}[part]
    assert {t.x for t in condition.terms} == {place}
    assert {t.order: t.weight for t in condition.terms} == pytest.approx(terms)
    assert len(condition.terms) == len(terms)
    assert condition.value == pytest.approx(right)
    np.testing.assert_array_equal(plain.values, [condition.value])


def test_several_conditions_keep_their_order():
    plain = stated(
        lambda u, x: u.d("x", 4),
        left=lambda u, x: (u - 1, u.dx - 2),
        right=lambda u, x: (u - 3, u.dxx - 4),
        conditions=[sf.at(0.25, lambda u, x: u - 5)],
    )
    assert plain.values.tolist() == [1, 2, 3, 4, 5]
    places = [(t.x, t.order) for c in plain.conditions for t in c.terms]
    assert places == [(0.0, 0), (0.0, 1), (1.0, 0), (1.0, 2), (0.25, 0)]


def test_one_condition_on_the_whole_boundary():
    plain = stated(lambda u, x: u.dxx - 1, boundary=lambda u, x: u + u.dn - x)
    left, right = plain.conditions
    assert {t.order: t.weight for t in left.terms} == {0: 1.0, 1: -1.0}
    assert {t.order: t.weight for t in right.terms} == {0: 1.0, 1: 1.0}
    assert (left.value, right.value) == (0.0, 1.0)


def test_conditions_inside_are_taken_at_their_point():
    condition = only(
        stated(lambda u, x: u.dx, conditions=[sf.at(0.3, lambda u, x: x * u - u.dx - x**2)])
    )
    assert {(t.x, t.order): t.weight for t in condition.terms} == {(0.3, 0): 0.3, (0.3, 1): -1.0}
    assert condition.value == pytest.approx(0.09)


def test_a_normal_inside_is_refused():
    with pytest.raises(EquationError):
        stated(lambda u, x: u.dx, conditions=[sf.at(0.3, lambda u, x: u.dn)])


def test_integral_conditions_take_their_source_to_the_other_side():
    """Integral of x^2 u' + 3 u - exp(x) = 7: the exponential is integrated over (0, 2)."""
    plain = stated(
        lambda u, x: u.dxx,
        sf.Interval(0, 2),
        conditions=[sf.integral(lambda u, x: x**2 * u.dx + 3 * u - np.exp(x), equals=7)],
    )
    condition = only(plain)
    terms = {t.order: t.weight for t in condition.terms}
    assert all(isinstance(t, IntegralTerm) for t in condition.terms)
    assert terms[0] == 3.0
    np.testing.assert_allclose(terms[1](X), X**2)
    assert condition.value == pytest.approx(7 + np.exp(2) - 1, rel=1e-13)


def test_a_constant_in_an_integral_counts_with_the_length():
    condition = only(
        stated(
            lambda u, x: u.dx,
            sf.Interval(-1, 2),
            conditions=[sf.integral(lambda u, x: u - 2, equals=1)],
        )
    )
    assert condition.value == pytest.approx(1 + 6)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_periodic_means_equal_below_the_order(order):
    plain = stated(lambda u, x: u.d("x", order) + u - np.sin(x), sf.Interval(-1, 3, periodic=True))
    assert len(plain.conditions) == order
    for j, condition in enumerate(plain.conditions):
        assert condition == LinearCondition((Term(-1.0, j, 1.0), Term(3.0, j, -1.0)), 0.0)


@pytest.mark.parametrize(
    "equation, what, where",
    [
        (lambda u, x: u.dxx + u / (x - 0.5), "coefficient", "x = 0.5"),
        (lambda u, x: u.dxx + np.sqrt(x - 0.25) * u.dx, "coefficient", "x = 0"),
        (lambda u, x: u.dxx - np.log(x), "source", "x = 0"),
    ],
)
def test_values_that_are_not_finite_are_refused_with_their_place(equation, what, where):
    plain = stated(equation)
    with pytest.raises(EquationError, match=f"{what} of the equation is .* at {where}"):
        plain.sample(X)


def test_values_of_conditions_that_are_not_finite_are_refused():
    with pytest.raises(EquationError, match=r"condition is .* at x = 0"):
        stated(lambda u, x: u.dx, left=lambda u, x: u - 1 / x)
    with pytest.raises(EquationError, match=r"condition is nan at x = 0\.25"):
        stated(lambda u, x: u.dx, conditions=[sf.at(0.25, lambda u, x: np.sqrt(x - 1) * u)])


def test_systems_and_more_dimensions_are_refused():
    system = sf.Problem(sf.Interval(0, 1), lambda u, v, x: (u.dx - v, v.dx + u))
    plane = sf.Problem(sf.Box((0, 1), (0, 1)), lambda u, x, y: u.dxx + u.dyy)
    for problem in (system, plane):
        with pytest.raises(ProblemError, match="one unknown in one dimension"):
            ordinary(problem)


def test_plain_data_by_hand():
    plain = LineProblem((0.0, 1.0), (1.0, np.sin), 2.0)
    assert plain.order == 1
    assert plain.conditions == ()
    assert plain.values.shape == (0,)
    np.testing.assert_array_equal(plain.sample(X), [np.ones(11), np.sin(X), np.full(11, 2.0)])


def test_an_integral_that_drowns_in_noise_ends():
    """A layer of 1e-8 holds less than rounding does beside it: no cells are small enough there."""
    asked = []

    def function(x):
        asked.append(len(x))
        assert sum(asked) < 3_000_000
        return np.exp((x - 1.0) / 1e-8) + 1e-10 * np.sin(1e9 * x)

    assert integrate(function, 0.0, 1.0, tol=1e-10) == pytest.approx(1e-8, rel=1e-2)
