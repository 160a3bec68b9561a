"""Formulas: what each kind of node becomes, and that all of it is well-formed."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.equation.expression import Coordinate, Derivative, Normal
from sharpfront.equation.trace import Symbols, trace
from sharpfront.show.statement.mathml import (
    equation_terms,
    name_to_mathml,
    number_to_mathml,
    to_mathml,
)

SYMBOLS = Symbols(("u", "v"), ("x", "y", "t"))
MINUS = "<mo form='prefix'>−</mo>"


def made(function):
    (expression,) = trace(function, SYMBOLS, what="equation")
    return expression


def shown(function, names=None):
    text = to_mathml(made(function), names)
    return ET.fromstring(text)


def plain(element):
    """Return the signs of a formula in the order of reading; invisible ones left out."""
    return "".join(element.itertext()).replace("\u2061", "").replace("\u00a0", " ")


def read(terms):
    return " ".join(plain(ET.fromstring(f"<mrow>{term}</mrow>")) for term in terms)


def equation(function, names=None):
    return read(equation_terms(made(function), names))


def test_division_is_a_fraction():
    found = shown(lambda u, x, y, t: u / (1 + x)).find(".//mfrac")
    assert [plain(part) for part in found] == ["u", "1+x"]


def test_powers_are_raised_and_their_base_is_kept_together():
    found = shown(lambda u, x, y, t: (x + 1) ** 2 * u).find(".//msup")
    assert [plain(part) for part in found] == ["(x+1)", "2"]
    assert shown(lambda u, x, y, t: np.square(x) * u).find(".//msup") is not None


def test_derivatives_are_subscripts():
    found = shown(lambda u, x, y, t: u.dxy + u.dt).findall(".//msub")
    assert [[plain(part) for part in each] for each in found] == [["u", "xy"], ["u", "t"]]


def test_functions():
    assert plain(shown(lambda u, x, y, t: np.sin(x) * u)) == "sin(x)u"
    assert plain(shown(lambda u, x, y, t: np.log(x) * u)) == "ln(x)u"
    assert plain(shown(lambda u, x, y, t: np.maximum(x, u))) == "max(x,u)"
    assert plain(shown(lambda u, x, y, t: abs(u))) == "|u|"
    assert shown(lambda u, x, y, t: np.sqrt(u)).find(".//msqrt") is not None
    found = shown(lambda u, x, y, t: np.exp(-x) * u).find(".//msup")
    assert [plain(part) for part in found] == ["e", "−x"]


def test_own_functions_have_their_name_or_f():
    def bump(x):
        return x

    assert plain(shown(lambda u, x, y, t: sf.function(bump)(x) * u)) == "bump(x)u"
    assert plain(shown(lambda u, x, y, t: sf.function(lambda x: x)(x) * u)) == "f(x)u"


def test_choices_are_cases():
    rows = shown(lambda u, x, y, t: np.where(x > 0, u, 2 * u)).findall(".//mtr")
    assert [plain(row) for row in rows] == ["uif x>0", "2uotherwise"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.25, "0.25"),
        (1e-4, "10−4"),
        (1.5e-7, "1.5×10−7"),
        (2e6, "2×106"),
        (np.pi, "π"),
        (2 * np.pi, "2π"),
        (np.pi**2, "π2"),
        (3.14159, "3.14159"),
    ],
)
def test_numbers(value, text):
    assert plain(ET.fromstring(f"<mrow>{number_to_mathml(value)}</mrow>")) == text


def test_signs_stand_where_they_are_read():
    assert equation(lambda u, x, y, t: -1e-4 * u.dxx + u * u.dx) == "−10−4uxx +uux =0"
    assert equation(lambda u, x, y, t: u.dx - (-2) * u) == "ux +2u =0"
    assert equation(lambda u, x, y, t: u.dx - (u - v_of(u))) == "ux −u +u2 =0"
    assert equation(lambda u, x, y, t: -(x - 2) * u.dy) == "−(x−2)uy =0"


def v_of(u):
    return u**2


def test_what_has_no_unknown_goes_to_the_right():
    assert equation(lambda u, x, y, t: u - 1) == "u =1"
    assert equation(lambda u, x, y, t: u.dx + x - np.sin(y)) == "ux =−x +sin(y)"
    assert equation(lambda u, x, y, t: 1 - u) == "u =1"


def test_the_normal_derivative_is_found_again():
    found = made(lambda u, x, y, t: 3 * u.dn + u - 1)
    (fraction,) = ET.fromstring(f"<mrow>{''.join(equation_terms(found))}</mrow>").findall(
        ".//mfrac"
    )
    assert plain(fraction) == "∂u∂n"
    assert equation(lambda u, x, y, t: u.dn) == "∂u∂n =0"
    # A part of it is not the whole.
    assert equation(lambda u, x, y, t: Normal("x") * u.dx + u) == "nxux +u =0"


def test_greek_names_and_indices():
    assert plain(ET.fromstring(name_to_mathml("nu"))) == "ν"
    assert plain(ET.fromstring(name_to_mathml("Omega"))) == "Ω"
    assert plain(ET.fromstring(name_to_mathml("lambda"))) == "λ"
    assert [e.text for e in ET.fromstring(name_to_mathml("eps_1"))] == ["ε", "1"]
    assert [e.text for e in ET.fromstring(name_to_mathml("x2"))] == ["x", "2"]
    theta = Derivative("theta", ("x",), (2,))
    assert plain(ET.fromstring(to_mathml(theta))) == "θxx"
    assert plain(ET.fromstring(to_mathml(Coordinate("x1", ("x1",))))) == "x1"


def test_constants_can_have_names():
    names = {1e-4: "nu"}
    assert equation(lambda u, x, y, t: -1e-4 * u.dxx + 2e-4 * u, names) == "−νuxx +2×10−4u =0"


def test_products_of_numbers_have_a_cross():
    text = to_mathml(made(lambda u, x, y, t: u * np.multiply(x, 2) * 3))
    assert plain(ET.fromstring(text)) == "2×3ux"


def test_names_cannot_break_out():
    leaf = Derivative("<b>", ("x",), (0,))
    assert "<b>" not in to_mathml(leaf)


def test_long_expressions_are_not_written_out():
    def long(u, x, y, t):
        for _ in range(40):
            u = u * u + 1
        return u

    assert to_mathml(made(long)) == "<mtext>(a long expression)</mtext>"
    assert read(equation_terms(made(long))) == "(a long expression) =0"
