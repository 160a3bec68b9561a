"""Equations written as on paper get the suggestion that a person would make."""

import re

import pytest

import sharpfront as sf
from sharpfront.equation.parser import FUNCTIONS
from sharpfront.equation.repair import repaired
from sharpfront.equation.text import parse
from sharpfront.equation.trace import Symbols
from sharpfront.errors import EquationError

LINE = sf.Interval(0, 1)
SYMBOLS = Symbols(("u",), ("x", "y"))
MEANT = {
    "2u": "2*u",
    "3 x": "3*x",
    "2.5u_xx": "2.5*u_xx",
    "1e-3u_xx": "1e-3*u_xx",
    "(1 + x)u_x": "(1 + x)*u_x",
    "2(1 + x)": "2*(1 + x)",
    "(1 + x)(1 - x)": "(1 + x)*(1 - x)",
    "2sin(x)": "2*sin(x)",
    "u u_x": "u*u_x",
    "2x(1 - x)": "2*x*(1 - x)",
    "u'": "u_x",
    "-u'' + u' + u": "-u_xx + u_x + u",
    "u′′ + u’": "u_xx + u_x",
    "u″": "u_xx",
    "sin x": "sin(x)",
    "sin 2x + 1": "sin(2*x) + 1",
    "exp -x": "exp(-x)",
    "cos pi x": "cos(pi*x)",
    "sin x cos y": "sin(x)*cos(y)",
    "u_xx − u": "u_xx - u",
    "nu·u_xx": "nu*u_xx",
    "nu×u_xx": "nu*u_xx",
    "u² + x³": "u**2 + x**3",
    "x⁻¹ + u": "x**(-1) + u",
    "u^2": "u**2",
    "u_x == 1": "u_x = 1",
    "u_{xx} + 2u": "u_xx + 2*u",
    "where(x ≤ 0.5, 2u, 1)": "where(x <= 0.5, 2*u, 1)",
    "uxx + u": "u_xx",
    "du": "u_x",
    "u(x) + 1": "u",
    "x(1 - x)": "x*(1 - x)",
    "ln(x)": "log",
    "asin(x)": "arcsin",
    "max(x, y)": "maximum",
}


@pytest.mark.parametrize("text", MEANT)
def test_the_message_asks_whether_it_is_meant(text):
    with pytest.raises(EquationError) as caught:
        parse(text, SYMBOLS, {"nu": 1.0})
    asked = re.findall(r"Did you mean (?:the derivative )?'(.*?)'\?", str(caught.value))
    assert MEANT[text] in asked


@pytest.mark.parametrize("text", [t for t in MEANT if repaired(t, "xy", FUNCTIONS)])
def test_what_is_suggested_can_be_read(text):
    parse(repaired(text, "xy", FUNCTIONS), SYMBOLS, {"nu": 1.0, "du": 1.0})


@pytest.mark.parametrize("text", ["-u'' = 1", "2u'' + u = sin x", "u² = u''"])
def test_a_problem_of_primes_alone(text):
    with pytest.raises(EquationError, match=r"Did you mean '.*u_xx.*'\?"):
        sf.Problem(LINE, text, boundary="u = 0")


@pytest.mark.parametrize("text", ["u_xx = 1 +", "u_xx = )(", "u_xx = $", "import os", "u_xx = 'a'"])
def test_no_suggestion_where_nothing_is_known(text):
    found = repaired(text, "x", FUNCTIONS)
    assert found is None or "import" in text


@pytest.mark.parametrize(
    "text", ["u_xx + u = exp(-x)", "where(x < 1 and y > 0, 1, 2)", "-1e-5*u_x"]
)
def test_what_is_right_is_left_alone(text):
    assert repaired(text, "xy", FUNCTIONS) is None
