"""`guess=` takes what `initial=` takes, and an array or a solution besides."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.errors import ProblemError
from sharpfront.newton.guess import Start

X = np.linspace(0, 1, 7)[:, None]
LINE = sf.Problem(
    sf.Interval(0, 1), "u_xx + k*exp(u) = 0", boundary=lambda u, x: u, parameters={"k": 1.0}
)
PAIR = sf.Problem(
    sf.Interval(0, 1),
    lambda u, v, x: (u.dxx + v**2, v.dxx + u**2),
    boundary=lambda u, v, x: (u, v),
)


@pytest.mark.parametrize(
    "guess", ["2*k + x**2", lambda x: 2 + x**2, {"u": "2 + x**2"}, 2 + np.linspace(0, 1, 3001) ** 2]
)
def test_one_unknown(guess):
    (iterate,) = Start(guess).iterates(LINE)
    np.testing.assert_allclose(iterate.values("u", X, (0,)), 2 + X[:, 0] ** 2, atol=1e-6)


@pytest.mark.parametrize(
    "guess",
    [
        ("x", 3.0),
        (lambda x: x, "3"),
        {"v": 3, "u": "x"},
        lambda x: (x, 3.0 + 0 * x),
        (sf.function(np.array), "3 + 0*x"),
    ],
)
def test_several_unknowns(guess):
    (iterate,) = Start(guess).iterates(PAIR)
    np.testing.assert_allclose(iterate.values("u", X, (0,)), X[:, 0])
    np.testing.assert_allclose(iterate.values("v", X, (0,)), 3.0)


@pytest.mark.parametrize("guess", ["x", 1.0, (1.0,), (1.0, 2.0, 3.0)])
def test_a_guess_for_each_unknown_is_asked_for(guess):
    with pytest.raises(ProblemError, match="one for each is needed"):
        Start(guess).iterates(PAIR)


def test_a_text_chooses_the_solution():
    assert sf.solve(LINE, guess="5*sin(pi*x)")(0.5) > 3


PLANE = sf.Problem(
    sf.Box((0, 1), (0, 2)),
    lambda u, x, y: sf.laplacian(u) - u**3,
    boundary=lambda u, x, y: u,
)


@pytest.mark.parametrize(
    "guess",
    [
        lambda x, y: x - 3 * y,
        lambda y, x: x - 3 * y,
        lambda y, x, scale=3: x - scale * y,
        lambda *at: at[0] - 3 * at[1],
        "x - 3*y",
        {"u": lambda y, x: x - 3 * y},
        (lambda y, x: x - 3 * y,),
        np.linspace(0, 1, 5)[:, None] - 3 * np.linspace(0, 2, 9),
    ],
)
def test_coordinates_are_given_by_name_as_in_an_initial_state(guess):
    """A function of (y, x) was called with x as its y."""
    points = np.random.default_rng(0).uniform(size=(9, 2))
    (iterate,) = Start(guess).iterates(PLANE)
    x, y = points.T
    np.testing.assert_allclose(iterate.values("u", points, (0, 0)), x - 3 * y, atol=1e-12)


@pytest.mark.parametrize(
    ("guess", "words"),
    [
        (lambda z: z, "guess for u has the parameter"),
        ({"w": 1.0}, "guess= names w; expected u"),
        (object(), "guess for u is"),
        (np.ones((3, 1)), "array of shape"),
        ([["a", "b"], ["c", "d"]], "array of shape"),
        (float("nan"), "guess for u is nan"),
    ],
)
def test_what_is_no_guess_is_refused_in_words(guess, words):
    with pytest.raises(ProblemError, match=words):
        Start(guess).iterates(PLANE)


@pytest.mark.parametrize(
    ("equation", "exact"),
    [
        (lambda u, x, y: (u * u.dx).dx + (u * u.dy).dy, lambda x, y: np.sqrt(1 + x + y)),
        (
            lambda u, x, y: sf.div((u.dx**2 + u.dy**2) * sf.grad(u)) - 4 * (x**2 + y**2),
            lambda x, y: (x**2 + y**2) / 2,
        ),
    ],
    ids=["u grad u", "|grad u|^2 grad u"],
)
def test_fluxes_that_vanish_about_zero_or_about_any_constant_need_no_guess(equation, exact):
    box = sf.Box((1, 2), (1, 2))
    problem = sf.Problem(box, equation, boundary=lambda u, x, y: u - exact(x, y))
    solution = sf.solve(problem, tol=1e-6)
    x, y = np.linspace(1, 2, 9), np.linspace(2, 1, 9)
    assert solution.converged
    np.testing.assert_allclose(solution(x, y), exact(x, y), atol=1e-6)


def test_so_on_the_line():
    cubed = sf.Problem(
        sf.Interval(-1, 1),
        lambda u, x: (u.dx**3).dx - 3 * np.exp(3 * x),
        boundary=lambda u, x: u - np.exp(x),
    )
    solution = sf.solve(cubed)
    assert solution.converged and abs(solution(0.3) - np.exp(0.3)) < 1e-8


@pytest.mark.parametrize(
    ("domain", "conditions"),
    [
        (sf.Interval(0, 2 * np.pi, periodic=True), {}),
        (sf.Interval(0, np.pi), {"boundary": lambda u, x: u.dx}),
    ],
)
@pytest.mark.parametrize("mean", [1.0, -3.0])
def test_where_zero_leaves_a_constant_free_one_is_a_start(domain, conditions, mean):
    problem = sf.Problem(
        domain,
        lambda u, x: u.dxx - u**3 + 0.5 * np.cos(x) + (0.5 * np.cos(x) + mean) ** 3,
        **conditions,
    )
    solution = sf.solve(problem, tol=1e-8)
    x = np.linspace(0, 3, 50)
    assert solution.converged
    assert np.abs(solution(x) - 0.5 * np.cos(x) - mean).max() < 1e-7
