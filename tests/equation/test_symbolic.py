"""SymPy expressions into the graph and back."""

import importlib
import subprocess
import sys

import numpy as np
import pytest
import scipy.special as sp
import sympy
from hypothesis import given
from hypothesis import strategies as st
from tests.equation.test_expression_trees import (
    POINTS,
    QUIET,
    ROUGH,
    ROUGH_PAIRS,
    SMOOTH,
    SMOOTH_PAIRS,
    SYMBOLS,
    trees,
)

import sharpfront as sf
from sharpfront.equation import function
from sharpfront.equation.graph import evaluate, ordered
from sharpfront.equation.parser import UFUNCS
from sharpfront.equation.symbolic import KNOWN, from_expression
from sharpfront.equation.text import parse
from sharpfront.equation.to_symbolic import to_expression
from sharpfront.errors import EquationError, MissingExtraError

x, y, t, nu, k = sympy.symbols("x y t nu k")
u, v = (sympy.Function(name)(x, y) for name in "uv")
LINE = sf.Interval(0, 1)
ux = sympy.Function("u")(x)
ut = sympy.Function("u")(x, t)


def values(expression, points=POINTS):
    """Return the values of a graph where unknowns and their derivatives have some."""
    leaves = {("coordinate", c): points[:, i] for i, c in enumerate("xy")}
    for i, node in enumerate(n for n in ordered(expression) if hasattr(n, "orders")):
        leaves[node.key] = np.cos(points[:, 0] * (1 + hash_of(node)) + 0.3 * points[:, 1] + i * 0)
    leaves |= {("normal", c): points[:, 1 - i] for i, c in enumerate("xy")}
    with np.errstate(all="ignore"):
        return np.broadcast_to(evaluate(expression, leaves), (len(points),))


def hash_of(node):
    return (ord(node.unknown) - ord("t")) * 0.37 + node.orders[0] * 0.11 + node.orders[1] * 0.23


def same(a, b):
    np.testing.assert_allclose(values(a), values(b), rtol=1e-9, atol=1e-12)


class TestRoundTrip:
    """From the graph to SymPy and back to the same values."""

    @QUIET
    @given(trees(SMOOTH, SMOOTH_PAIRS, st.floats(-3, 3)))
    def test_smooth_trees(self, tree):
        before = values(tree)
        after = values(from_expression(to_expression(tree), SYMBOLS, condition=True))
        good = np.isfinite(before) & (np.abs(before) < 1e6)
        np.testing.assert_allclose(after[good], before[good], rtol=1e-6, atol=1e-6)

    @pytest.mark.parametrize("name", sorted(set(UFUNCS) - {"rint", "isnan", "isfinite"}))
    def test_every_function_of_texts(self, name):
        arguments = ", ".join(("0.3 + 0.2*sin(x)", "0.4 + 0.1*y")[: UFUNCS[name].nin])
        arguments = arguments.replace("0.3", "1.3") if name == "arccosh" else arguments
        arguments = f"2, {arguments.split(', ')[1]}" if name == "jv" else arguments
        tree = parse(f"u + where({name}({arguments}) > -9, {name}({arguments}), 0)", SYMBOLS)
        same(tree, from_expression(to_expression(tree), SYMBOLS))

    @pytest.mark.parametrize("build", [*ROUGH, *ROUGH_PAIRS], ids=range(len(ROUGH + ROUGH_PAIRS)))
    def test_rough_functions(self, build):
        u_, x_ = SYMBOLS.stand_in("u"), SYMBOLS.stand_in("x")
        tree = build(u_ + 0.123, x_) if build in ROUGH_PAIRS else build(u_ + 0.123)
        if build is np.rint:
            with pytest.raises(EquationError, match="rint has no counterpart"):
                to_expression(tree)
        else:
            same(tree, from_expression(to_expression(tree), SYMBOLS, condition=True))

    def test_a_function_of_the_users_own(self):
        f = function(lambda a: np.interp(a, [-1, 2], [0, 3]), derivative=lambda a: 1 + 0 * a)
        tree = f(SYMBOLS.stand_in("x")) * SYMBOLS.stand_in("u").dx
        back = from_expression(to_expression(tree), SYMBOLS)
        same(tree, back)
        same(tree.d("x"), back.d("x"))


INTO = {
    sympy.sin(x) / y**2: "sin(x)/y**2",
    sympy.Rational(1, 3) * x + sympy.pi - sympy.E: "x/3 + pi - e",
    sympy.sqrt(x + 2) * sympy.exp(-x / 2): "sqrt(x + 2)*exp(-x/2)",
    sympy.Abs(x) + sympy.sign(y): "abs(x) + sign(y)",
    sympy.Max(x, y, 0) - sympy.Min(x, y): "maximum(maximum(x, y), 0) - minimum(x, y)",
    sympy.Heaviside(x - y): "heaviside(x - y, 0.5)",
    sympy.Heaviside(x, 1): "heaviside(x, 1)",
    sympy.Piecewise((1, x < 0), (x, (x < 1) & (y > 0)), (2, True)): (
        "where(x < 0, 1, where(x < 1 and y > 0, x, 2))"
    ),
    sympy.sec(x) + sympy.coth(y): "1/cos(x) + 1/tanh(y)",
    sympy.Derivative(u**2 * y, x): "2*u*u_x*y",
    sympy.Derivative(x * u, (x, 2), y): "2*u_xy + x*u_xxy",
    u.diff(x, 2) + u.diff(y, 2) - v * u.diff(x): "u_xx + u_yy - v*u_x",
    sympy.Eq(u.diff(x), 1 / (1 + v**2)): "u_x = 1/(1 + v**2)",
    sympy.Symbol("normal_x") * u.diff(x) - sympy.Symbol("u_n"): "normal_x*u_x - u_n",
    nu * u.diff(x) + k: "0.25*u_x + 3",
    sympy.Float("1e-3") * u ** sympy.Rational(3, 2): "0.001*u**1.5",
    sympy.Function("u")(x, y) + sympy.Symbol("x", real=True): "u + x",
}


@pytest.mark.parametrize("expression", INTO, ids=str)
def test_an_expression_is_what_its_text_is(expression):
    read = from_expression(expression, SYMBOLS, {"nu": 0.25, "k": 3.0})
    same(read, parse(INTO[expression], SYMBOLS))


def test_every_known_function_is_one_of_sympy():
    assert all(hasattr(sympy, name) for name in KNOWN)


PROBLEMS = {
    "layer": (
        LINE,
        (sympy.Eq(-nu * ux.diff(x, 2) + ux.diff(x), 0), "-nu*u_xx + u_x = 0"),
        {"left": (ux, "u"), "right": (sympy.Eq(ux, 1), "u = 1")},
    ),
    "robin": (
        LINE,
        (
            -ux.diff(x, 2) + ux - sympy.Piecewise((0, x < 0.3), (1, True)),
            "-u_xx + u = where(x<0.3,0,1)",
        ),
        {"left": (ux.diff(x) - ux, "u_x = u"), "right": (sympy.Symbol("u_n"), "u_n = 0")},
    ),
    "nonlinear": (
        LINE,
        (-nu * ux.diff(x, 2) + ux**3 - sympy.sin(x), "-nu*u_xx + u**3 = sin(x)"),
        {"boundary": (ux, "u")},
    ),
    "time": (
        LINE,
        (sympy.Eq(ut.diff(t) + ut * ut.diff(x), nu * ut.diff(x, 2)), "u_t + u*u_x = nu*u_xx"),
        {"boundary": (ut, "u"), "initial": (sympy.sin(sympy.pi * x), "sin(pi*x)")},
    ),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_problems_are_solved_as_their_texts_are(name):
    domain, equations, conditions = PROBLEMS[name]
    more = {"time": (0, 0.05)} if name == "time" else {}
    found = []
    for i in range(2):
        given_ = {part: both[i] for part, both in conditions.items()}
        stated = sf.Problem(domain, equations[i], parameters={"nu": 0.1}, **given_, **more)
        found.append(sf.solve(stated, tol=1e-6))
    places = (np.linspace(0, 1, 50), *((0.05,) if more else ()))
    assert all(f.converged for f in found)
    np.testing.assert_allclose(found[0](*places), found[1](*places), atol=3e-6)


def test_further_conditions_guess_and_exact_solution():
    exact = sympy.exp(k * x) * sympy.cos(3 * x)
    source = sympy.simplify(exact.diff(x, 2))
    value, mean = exact.subs(x, sympy.Rational(1, 4)), sympy.integrate(exact, (x, 0, 1))
    numbers = {"k": 0.7}
    problem = sf.Problem(
        LINE,
        sympy.Eq(ux.diff(x, 2) + ux**2, source + exact**2),
        conditions=[
            sf.at(0.25, ux - value),
            sf.integral(ux, equals=float(mean.subs(k, 0.7))),
        ],
        parameters=numbers,
    )
    found = sf.solve(problem, tol=1e-6, guess=exact)
    points = np.linspace(0, 1, 101)
    truth = sf.from_sympy(exact, x, parameters=numbers)
    assert found.converged
    assert np.max(np.abs(found(points) - truth(points))) < 1e-5


def test_a_system_and_its_way_back():
    a, b = sympy.Function("a")(x), sympy.Function("b")(x)
    problem = sf.Problem(
        LINE,
        (sympy.Eq(-a.diff(x, 2) + b, 1), sympy.Eq(-b.diff(x, 2) + a, x)),
        boundary=(a, b),
        conditions=(),
    )
    stated = sf.to_sympy(problem)
    again = sf.Problem(LINE, stated.equations, conditions=stated.further, **stated.parts)
    first, second = (sf.solve(p, tol=1e-6) for p in (problem, again))
    assert problem.unknowns == again.unknowns == ("a", "b")
    np.testing.assert_allclose(first.a([0.2, 0.7]), second.a([0.2, 0.7]), atol=1e-7)


def test_a_whole_problem_goes_both_ways():
    problem = sf.Problem(
        LINE,
        "-u_xx + exp(x)*u = where(x < 0.5, 1, 2)",
        left="u_n = 0",
        conditions=[sf.at(0.5, "u = 1")],
    )
    stated = sf.to_sympy(problem)
    assert isinstance(stated.equations[0], sympy.Eq)
    again = sf.Problem(LINE, stated.equations, conditions=stated.further, **stated.parts)
    first, second = (sf.solve(p, tol=1e-8) for p in (problem, again))
    np.testing.assert_allclose(first([0.1, 0.9]), second([0.1, 0.9]), atol=1e-8)


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        (lambda: sf.Problem(LINE, nu * ux.diff(x, 2) + k * ux), "k, nu in .* have no value.*'k': "),
        (
            lambda: sf.Problem(LINE, ux.diff(x, 2) + y),
            "y in .* has no value.*here are x",
        ),
        (lambda: sf.Problem(LINE, ut.diff(x)), "t in .* has no value.*t is one with time="),
        (
            lambda: sf.Problem(LINE, ux.diff(x), left=ux.subs(x, 0)),
            r"u\(0\) is not written",
        ),
        (
            lambda: sf.Problem(LINE, ux.diff(x), left=ux.diff(x).subs(x, 0)),
            "part of the boundary",
        ),
        (lambda: sf.Problem(LINE, ux.diff(x), left=sympy.Symbol("u") - 1), r"Function\('u'\)\(x\)"),
        (lambda: sf.Problem(LINE, sympy.sin(x)), "No unknown is found"),
        (lambda: sf.Problem(LINE, ux.diff(x) - sympy.I), "not a finite real number.*two unknowns"),
        (lambda: sf.Problem(LINE, ux.diff(x) - sympy.oo), "not a finite real number"),
        (
            lambda: sf.Problem(LINE, ux.diff(x) - sympy.DiracDelta(ux)),
            "an expression of one",
        ),
        (lambda: sf.Problem(LINE, ux.diff(x) - sympy.zeta(x)), "no counterpart.*Known functions"),
        (lambda: sf.Problem(LINE, ux.diff(x) - sympy.Integral(ux, x)), r"sf\.integral"),
        (lambda: sf.Problem(LINE, ux > 1), "comparison"),
        (lambda: sf.Problem(LINE, sympy.Function("d")(x).diff(x)), "cannot be called 'd'"),
        (lambda: sf.Problem(LINE, ux.diff(x), left=sympy.Integer(0)), "it must say of what"),
        (lambda: sf.from_sympy("x**2", "x"), "expression of SymPy, got the text"),
        (lambda: sf.from_sympy(x**2, "q"), "Coordinates are x, y, z, t"),
        (lambda: sf.from_sympy(x**2 * k, "x"), "k in .* has no value"),
        (lambda: sf.from_sympy(ux, "x"), "not an unknown here"),
        (lambda: sf.to_sympy("u_x = 0"), "expects a Problem"),
    ],
)
def test_what_cannot_be_read_is_refused(stated, words):
    with pytest.raises(EquationError, match=words):
        stated()


def test_texts_are_never_sympified(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a text reached sympify")

    monkeypatch.setattr(sympy.core.sympify, "parse_expr", refuse, raising=False)
    monkeypatch.setattr(sympy, "sympify", refuse)
    monkeypatch.setattr(sympy.parsing.sympy_parser, "parse_expr", refuse)
    problem = sf.Problem(LINE, "u_xx = sin(x)", boundary="u = 0")
    sf.to_sympy(problem)
    sf.from_sympy(x + 1, "x")


def test_sympy_is_not_imported_unless_it_is_used():
    code = (
        "import sys, sharpfront as sf; sf.Problem(sf.Interval(0, 1), 'u_xx = 1', boundary='u = 0');"
        "sys.exit('sympy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_sympy_the_extra_is_named(monkeypatch):
    real = importlib.import_module

    def missing(name, *args):
        if name == "sympy":
            raise ImportError(name)
        return real(name, *args)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(MissingExtraError, match=r"sharpfront\[symbolic\]"):
        sf.to_sympy(sf.Problem(LINE, "u_xx = 1", boundary="u = 0"))


def test_values_of_formulas():
    formula = sf.from_sympy(sympy.erf(x / k) + t, "x, t", parameters={"k": 2})
    np.testing.assert_allclose(formula([0.0, 1.0], 3.0), sp.erf([0.0, 0.5]) + 3)
