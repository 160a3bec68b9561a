"""The initial state in all the ways of writing it, and what is refused."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import sharpfront as sf
from sharpfront.errors import EquationError, ProblemError
from sharpfront.problem.initial import read_initial, time_order, velocity_name

X = np.linspace(0.0, 1.0, 7)[:, None]


def heat(**options):
    stated = {"boundary": lambda u, x, t: u, "time": (0, 1)} | options
    return sf.Problem(sf.Interval(0, 1), lambda u, x, t: u.dt - u.dxx, **stated)


def wave(**options):
    stated = {"boundary": lambda u, x, t: u, "time": (0, 1)} | options
    return sf.Problem(sf.Interval(0, 1), lambda u, x, t: u.dtt - u.dxx, **stated)


def pair(**options):
    return sf.Problem(
        sf.Interval(0, 1, periodic=True),
        lambda u, v, x, t: (u.dt - v.dx, v.dt - u.dx),
        **{"time": (0, 1)} | options,
    )


@pytest.mark.parametrize(
    ("initial", "expected"),
    [
        (lambda x: x**2, X[:, 0] ** 2),
        ("a*x**2", 3 * X[:, 0] ** 2),
        (2.5, np.full(7, 2.5)),
        (np.float64(2.5), np.full(7, 2.5)),
        (4, np.full(7, 4.0)),
        (lambda x: 1.5, np.full(7, 1.5)),
        (lambda x, c=2.0: c * x, 2 * X[:, 0]),
        (np.sin, np.sin(X[:, 0])),
        (CubicSpline(np.linspace(0, 1, 4), np.linspace(0, 1, 4)), X[:, 0]),
        (lambda z: z + 1, X[:, 0] + 1),
        ({"u": lambda x: x}, X[:, 0]),
        ((lambda x: x,), X[:, 0]),
        ([3.0], np.full(7, 3.0)),
    ],
)
def test_one_unknown_in_every_way(initial, expected):
    problem = heat(initial=initial, parameters={"a": 3.0})
    values = problem.initial.values("u", X)
    assert values.shape == (7,) and values.dtype == float
    assert np.allclose(values, expected, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize(
    "initial",
    [
        (lambda x: x, "2*x"),
        {"v": "2*x", "u": lambda x: x},
        lambda x: (x, 2 * x),
        lambda x: [x, 2 * x],
        [lambda x: x, lambda x: 2 * x],
    ],
)
def test_two_unknowns_in_every_way(initial):
    found = pair(initial=initial).initial
    assert np.allclose(found.values("u", X), X[:, 0])
    assert np.allclose(found.values("v", X), 2 * X[:, 0])


@pytest.mark.parametrize(
    "initial", [(lambda x: x, 3.0), {"u": lambda x: x, "u_t": 3}, lambda x: (x, 3.0)]
)
def test_second_order_needs_the_rate(initial):
    found = wave(initial=initial).initial
    assert np.allclose(found.values("u", X), X[:, 0])
    assert np.allclose(found.values("u_t", X), 3.0)


def test_functions_of_the_plane_take_coordinates_by_name():
    state = read_initial(lambda y, x: x + 10 * y, ["u"], ("x", "y"), {})
    points = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert np.array_equal(state.values("u", points), [21.0, 43.0])
    only = read_initial(lambda y: y, ["u"], ("x", "y"), {})
    assert np.array_equal(only.values("u", points), [2.0, 4.0])
    assert np.array_equal(read_initial(np.add, ["u"], ("x", "y"), {}).values("u", points), [3, 7])
    starred = read_initial(lambda *c: c[0] - c[1], ["u"], ("x", "y"), {})
    assert np.array_equal(starred.values("u", points), [-1, -1])


def test_orders_in_time():
    problem = wave(initial=(0.0, 0.0))
    assert time_order(problem.equations, "u", problem.coordinates) == 2
    assert time_order(problem.equations, "v", problem.coordinates) == 0
    assert velocity_name("u") == "u_t"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: heat(), "needs initial=: u at the start"),
        (lambda: wave(), "needs initial=: u, u_t at the start"),
        (lambda: wave(initial=lambda x: x).initial.values("u", X), r"1 state\(s\) for u, u_t"),
        (lambda: wave(initial=1.0), r"u_t: the rate of change"),
        (lambda: wave(initial=(1.0,)), r"1 state\(s\) for u, u_t"),
        (lambda: heat(initial=(1.0, 2.0)), r"2 state\(s\) for u"),
        (lambda: pair(initial=(1.0, 2.0, 3.0)), r"3 state\(s\) for u, v"),
        (lambda: pair(initial="x"), r"1 state\(s\) for u, v"),
        (lambda: pair(initial=lambda x: (x,) * 3).initial.values("v", X), r"3 state\(s\)"),
        (lambda: heat(initial={"v": 1.0}), "names v; expected u"),
        (lambda: wave(initial={"u": 1.0}), "names u; expected u, u_t"),
        (lambda: heat(initial=float("nan")), "nan; expected a function"),
        (lambda: heat(initial=np.ones(4)), "expected a function"),
        (lambda: heat(initial=None, time=None), None),
        (lambda: heat(initial=lambda x, a: a * x), r"parameter\(s\) a; it is a function of x"),
        (lambda: heat(initial=1.0, time=None), "add time="),
        (lambda: heat(initial=1.0, time=(1, 0)), "t0 < t1"),
        (lambda: heat(initial=1.0, time=(0, 0)), "t0 < t1"),
        (lambda: heat(initial=1.0, time=(0, float("inf"))), "finite"),
        (
            lambda: heat(initial=1.0, time=3),
            r"pair of finite numbers \(t0, t1\) with t0 < t1, got 3",
        ),
        (lambda: heat(initial=1.0, time=(0, 1, 2)), "pair"),
        (lambda: heat(initial=1.0, time=("a", "b")), "pair"),
    ],
)
def test_what_does_not_fit_is_refused(make, words):
    if words is None:
        with pytest.raises((ProblemError, EquationError)):
            make()
        return
    with pytest.raises(ProblemError, match=words):
        make()


@pytest.mark.parametrize(
    ("initial", "words"),
    [
        (lambda x: np.ones(3), r"array of shape \(3,\) at 7 points"),
        (lambda x: np.ones((7, 2)), r"shape \(7, 2\)"),
        pytest.param(
            lambda x: None,
            "NoneType",
            marks=pytest.mark.xfail(reason="None reads as a value that is no number"),
        ),
        (lambda x: "x", "str"),
        (lambda x: np.where(x > 0.4, np.nan, 1.0), "is nan at x = 0.5"),
        (lambda x: np.where(x > 0.9, np.inf, 1.0), "is inf at x = 1"),
    ],
)
def test_states_that_are_no_numbers_are_refused(initial, words):
    with pytest.raises(ProblemError, match=words):
        heat(initial=initial).initial.values("u", X)


@pytest.mark.parametrize(
    ("initial", "words"),
    [
        (lambda x: np.where(x > 0.5, np.nan, 1.0), "is nan at x = 0.5"),
        (lambda x: np.ones(3), r"shape \(3,\)"),
    ],
)
def test_solve_refuses_them_too(initial, words):
    with pytest.raises(ProblemError, match=words):
        sf.solve(heat(initial=initial), tol=1e-4)


def test_an_equation_without_time_derivative_is_refused():
    with pytest.raises(ProblemError, match=r"no time derivative, u\.dt or u\.dtt"):
        sf.Problem(sf.Interval(0, 1), lambda u, x, t: u.dxx, initial=0.0, time=(0, 1))


def test_problem_says_its_span():
    text = repr(heat(initial=1.0, time=(0.5, 2)))
    assert text.endswith("t from 0.5 to 2)") and "u_t" in text and "left: u = 0" in text
    assert heat(initial=1.0).coordinates == ("x", "t")
    assert heat(initial=1.0, time=(0, 2)).time == (0.0, 2.0)


def test_problem_on_a_circle_has_no_empty_words():
    text = repr(pair(initial=(0.0, 0.0)))
    assert "; ;" not in text and "; t from 0 to 1)" in text
