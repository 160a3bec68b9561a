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
    with pytest.raises(ProblemError, match="give a guess for each"):
        Start(guess).iterates(PAIR)


def test_a_text_chooses_the_solution():
    assert sf.solve(LINE, guess="5*sin(pi*x)")(0.5) > 3
