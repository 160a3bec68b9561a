"""Linearised problems: exact against differences, and one route against the other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sharpfront as sf
from sharpfront.equation.program import Program
from sharpfront.equation.values import environment, form_values
from sharpfront.errors import EquationError
from sharpfront.newton.iterate import Blend, Constants, Traced, traced_or_differenced
from sharpfront.newton.line import _data
from sharpfront.newton.line_tangent import LineTangent
from sharpfront.newton.tangent import Tangent
from sharpfront.place.line.breakpoints import survey
from sharpfront.problem.line_problem import ordinary

EQUATIONS = {
    "burgers": lambda u, x: -0.1 * u.dxx + u * u.dx - np.sin(x),
    "bratu": lambda u, x: u.dxx + 2 * np.exp(u),
    "flux": lambda u, x: ((1 + u**2 + u.dx**2) * u.dx).dx + x,
    "catenary": lambda u, x: u.dxx - np.sqrt(1 + u.dx**2),
    "quadratic in u''": lambda u, x: u.dxx**2 + x * u * u.dx - 3,
    "beam": lambda u, x: u.d("x", 4) - u.dx**2 * u.dxx + np.cos(x) * u,
}
DOMAIN = sf.Interval(0, 1)


def stated(equation):
    count = 2 if equation is EQUATIONS["beam"] else 1
    both = lambda u, x: (u, u.dx)[:count]  # noqa: E731
    return sf.Problem(DOMAIN, equation, boundary=both)


def wave(a, b, c):
    return traced_or_differenced({"u": lambda x: a + b * np.sin(c * x)}, ("x",), DOMAIN.bounds)


def residual(problem, iterate, points):
    leaves = environment(problem.coordinates, points)
    for j in range(5):
        leaves["derivative", "u", (j,)] = iterate.values("u", points, (j,))
    return Program(problem.equations).run(leaves, len(points))[0]


numbers = st.floats(-1.5, 1.5)


@pytest.mark.parametrize("name", EQUATIONS)
@settings(max_examples=20, deadline=None)
@given(a=numbers, b=numbers, c=numbers, d=numbers, e=st.floats(0.5, 2.0))
def test_linearisation_is_the_derivative_of_the_residual(name, a, b, c, d, e):
    problem = stated(EQUATIONS[name])
    about, along = wave(a, b, e), wave(c, d, 1.3)
    points = np.linspace(0.1, 0.9, 7)[:, None]
    form = Tangent(problem).at(about).forms[0]
    coefficients, source = form_values(form, environment(("x",), points), len(points))

    def linear(iterate):
        return source + sum(
            k * iterate.values("u", points, t.orders)
            for k, t in zip(coefficients, form.terms, strict=True)
        )

    size = 1.0 + np.abs(linear(along)).max() + np.abs(residual(problem, about, points)).max()
    # Tangent at the iterate itself ...
    assert linear(about) == pytest.approx(residual(problem, about, points), abs=1e-11 * size)
    # ... and along any direction, by central differences.
    h = 1e-5
    there, back = (Blend(((1.0, about), (s * h, along))) for s in (1, -1))
    slope = (residual(problem, there, points) - residual(problem, back, points)) / (2 * h)
    nothing = linear(Constants())
    assert linear(along) - nothing == pytest.approx(slope, abs=1e-6 * size)


@pytest.mark.parametrize("name", EQUATIONS)
@settings(max_examples=10, deadline=None)
@given(a=numbers, b=numbers, factor=st.sampled_from([1.0, 10.0, 0.3]))
def test_both_routes_to_the_plain_form_agree(name, a, b, factor):
    problem, iterate = stated(EQUATIONS[name]), wave(a, b, 1.7)
    x = np.linspace(0, 1, 11)
    general = ordinary(Tangent(problem, factor).at(iterate)).sample(x)
    fast = LineTangent(problem, iterate).at(iterate, factor)
    assert fast.sample(x) == pytest.approx(general, rel=1e-12, abs=1e-11)


def test_what_is_linear_stays_as_it_was_stated():
    problem = stated(EQUATIONS["burgers"])
    linear = Tangent(problem).at(wave(1.0, 0.5, 2.0))
    assert linear.is_linear
    assert not problem.is_linear
    assert linear.conditions[0] is problem.conditions[0]
    assert problem.equations[0] is not linear.equations[0]


def test_conditions_are_linearised_too():
    problem = sf.Problem(
        DOMAIN,
        lambda u, x: u.dxx,
        left=lambda u, x: u - 1,
        right=lambda u, x: u.dn + u**4,
        conditions=sf.at(0.5, lambda u, x: u**2 - 4),
    )
    about = Constants({("u", (0,)): 2.0})
    tangent = LineTangent(problem, about)
    left, right, inside = tangent.at(about).conditions
    assert [(t.order, t.weight) for t in right.terms] == [(1, 1.0), (0, 32.0)]
    assert right.value == 48.0
    assert (inside.terms[0].weight, inside.value) == (4.0, 8.0)
    other = Constants({("u", (0,)): 1.0})
    assert tangent.at(other).conditions[1].value == 3.0
    assert left.value == 1.0


def test_numbers_fold_to_plain_coefficients():
    tangent = LineTangent(stated(EQUATIONS["bratu"]), Constants())
    frozen = tangent.frozen(np.array([0.5, 0.0]))
    assert frozen.coefficients == (2 * np.exp(0.5), 0.0, 1.0)
    assert not callable(frozen.source)


@pytest.mark.parametrize("name", EQUATIONS)
def test_data_are_looked_at_as_if_about_numbers_whether_they_vary_or_not(name):
    tangent = LineTangent(stated(EQUATIONS[name]), Constants())
    found, expected = (
        _data(tangent, Constants()),
        survey(tangent.frozen(np.ones(max(tangent.order, 2)))),
    )
    assert found.explicit == expected.explicit
    assert [row is None for row in found.rows] == [row is None for row in expected.rows]
    assert found.cuts == expected.cuts


def test_an_iterate_that_is_not_finite_is_refused_with_advice():
    problem = sf.Problem(DOMAIN, lambda u, x: u.dxx - np.log(u), boundary=lambda u, x: u - 1)
    tangent = LineTangent(problem, Constants({("u", (0,)): 1.0}))
    with pytest.raises(EquationError, match=r"not finite at x = 0.*guess=.*np.maximum"):
        tangent.at(Constants()).sample(np.linspace(0, 1, 3))


def test_a_program_evaluates_shared_parts_and_comparisons_as_the_graph_does():
    def equation(u, x):
        front = np.exp(u) * np.where(x > 0.5, 1.0, -1.0)
        return u.dxx + front + front**2 - (u > 0.2) * x

    problem = sf.Problem(DOMAIN, equation, boundary=lambda u, x: u)
    x = np.linspace(0, 1, 9)
    leaves = {
        ("coordinate", "x"): x,
        ("derivative", "u", (0,)): x**2,
        ("derivative", "u", (2,)): 1 + x,
    }
    sign = np.where(x > 0.5, 1.0, -1.0)
    front = np.exp(x**2) * sign
    expected = 1 + x + front + front**2 - (x**2 > 0.2) * x
    assert Program(problem.equations).run(leaves, 9)[0] == pytest.approx(expected)


def test_traced_guesses_have_exact_derivatives():
    iterate = traced_or_differenced({"u": np.sin}, ("x",), DOMAIN.bounds)
    assert isinstance(iterate, Traced)
    points = np.linspace(0, 1, 5)[:, None]
    assert iterate.values("u", points, (3,)) == pytest.approx(-np.cos(points[:, 0]))
