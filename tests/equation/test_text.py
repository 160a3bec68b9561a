"""Equations as text: what they mean, what is refused, and that nothing is ever evaluated."""

import numpy as np
import pytest
import scipy.special as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from sharpfront.equation import function, to_text
from sharpfront.equation.differentiation import _CHOICES, _RULES
from sharpfront.equation.expression import Constant, Expression, Normal
from sharpfront.equation.graph import evaluate
from sharpfront.equation.linearise import is_linear, linear_form
from sharpfront.equation.parser import UFUNCS, TextError
from sharpfront.equation.text import mistakes_in, parse, parse_condition, unknowns_in
from sharpfront.equation.trace import Symbols
from sharpfront.errors import EquationError

LINE = Symbols(("u",), ("x",))
PLANE = Symbols(("u", "v"), ("x", "y"))
X, Y, U, V = (PLANE.stand_in(name) for name in "xyuv")
LEAVES = {
    leaf.key: value
    for leaf, value in {
        **{X: 0.7, Y: 1.3, U: 2.0, V: 3.0, U.dx: 5.0, U.dy: 7.0, V.dx: 11.0, V.dy: 13.0},
        **{U.dxx: 17.0, U.dxy: 19.0, U.dyy: 23.0, Normal("x"): 0.6, Normal("y"): 0.8},
    }.items()
}


def value(text, **parameters):
    return float(evaluate(parse(text, PLANE, parameters), LEAVES))


class TestMeaning:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("u", 2),
            ("u_x", 5),
            ("u_xx", 17),
            ("u_xy", 19),
            ("u_yx", 19),
            ("v_y - u_yy", 13 - 23),
            ("u = 1", 1),
            ("u_x = u", 3),
            ("1 = u", -1),
            ("u_x = u - 1", 4),
            ("-u**2", -4),
            ("(-u)**2", 4),
            ("2**u**v", 2.0**8),
            ("u - v - x", 2 - 3 - 0.7),
            ("u - (v - x)", 2 - (3 - 0.7)),
            ("u / v / x", 2 / 3 / 0.7),
            ("u * v ** -1", 2 / 3),
            ("+u", 2),
            ("--u", 2),
            ("1e-3*u + .5 + 1_000", 1000.502),
            ("0x10*u", 32),
            ("u_n", 0.6 * 5 + 0.8 * 7),
            ("normal_x * u_x", 3),
            ("pi + e*u", np.pi + np.e * 2),
            ("exp(x) + sin(u_x)", np.exp(0.7) + np.sin(5)),
            ("abs(-u) + maximum(u, v)", 5),
            ("erf(x) - expit(y)", sp.erf(0.7) - sp.expit(1.3)),
            ("where(x < 1, u, v)", 2),
            ("where(x > 1, u, v)", 3),
            ("where(x >= 0.7, u, v) = where(x <= 0.6, u, v)", -1),
            ("where(1 < 2, u, v)", 2),
            ("(x > 0)*u", 2),
            ("  u\n  + v  =\n 1 ", 4),
        ],
    )
    def test_value(self, text, expected):
        assert value(text) == pytest.approx(expected, rel=1e-15)

    def test_the_equation_of_the_readme(self):
        equation = parse("-nu*u_xx + u_x = 0", LINE, {"nu": 1e-4})
        assert is_linear(equation)
        coefficients = {t.orders: evaluate(t.coefficient, {}) for t in linear_form(equation).terms}
        assert coefficients == {(2,): -1e-4, (1,): 1}

    def test_nonlinear(self):
        assert not is_linear(parse("u_x + u*v_y = 0", PLANE))

    @pytest.mark.parametrize("number", [2, 2.5, np.float64(2.5), np.int64(3), np.array(1.5), True])
    def test_parameters(self, number):
        assert value("k*u", k=number) == 2 * float(number)

    def test_a_parameter_may_be_called_pi_or_k_x(self):
        assert value("pi*u", pi=3) == 6
        assert value("k_x*u + u_0", k_x=3, u_0=1) == 7

    def test_names_are_read_as_python_reads_them(self):
        assert value("\N{MICRO SIGN}*u", **{"\N{MICRO SIGN}": 3}) == 6
        greek = Symbols(("φ",), ("x",))
        assert parse("φ_xx", greek).orders == (2,)

    def test_unknown_with_an_underscore_and_numbered_coordinates(self):
        symbols = Symbols(("c_1",), ("x1", "x2"))
        assert parse("c_1_x1x1", symbols).orders == (2, 0)
        assert parse("c_1_x1x2", symbols).orders == (1, 1)

    def test_an_unknown_hides_a_constant(self):
        assert parse("e", Symbols(("e",), ("x",))).orders == (0,)

    @pytest.mark.parametrize("name", sorted(UFUNCS))
    def test_every_function_by_its_name(self, name):
        ufunc = UFUNCS[name]
        arguments = (1.6, 0.9)[: ufunc.nin]
        if name in ("arcsin", "arccos", "arctanh"):
            arguments = (0.3,)
        texts = ", ".join(f"({a} + 0*x + a)" for a in arguments)
        expected = float(ufunc(*arguments))
        assert value(f"1*{name}({texts})", a=0) == pytest.approx(expected, rel=1e-14)

    def test_every_function_with_a_rule_can_be_read(self):
        names = {f.__name__ for f in (*_RULES, *_CHOICES)}
        operators = {"add", "subtract", "multiply", "divide", "power", "negative", "absolute"}
        comparisons = {"less", "less_equal", "greater", "greater_equal"}
        assert names - operators - comparisons <= set(UFUNCS)


NOT_AN_EQUATION = {
    "attribute": "u.dx",
    "dunder attribute": "u.__class__",
    "attribute of a number": "(1).real",
    "subscript": "u[0]",
    "lambda": "lambda: 1",
    "list": "[u, v]",
    "tuple": "(u, v)",
    "set": "{u}",
    "dict": "{}",
    "list comprehension": "[u for i in x]",
    "generator": "sin(u for i in x)",
    "string": "'u'",
    "bytes": "b'u'",
    "f-string": "f'{u}'",
    "walrus": "(w := u)",
    "conditional": "u if x else v",
    "and": "u and v",
    "not": "not u",
    "invert": "~u",
    "await": "await u",
    "yield": "(yield u)",
    "star": "*u",
    "star argument": "sin(*x)",
    "double star argument": "sin(**x)",
    "keywords unpacked": "sin(u, **v)",
    "keyword argument": "sin(x=u)",
    "keyword": "where(x > 0, u, v, out=u)",
    "call of a call": "sin(u)(v)",
    "call of an attribute": "u.sin(x)",
    "method of a string": "'{}'.format(u)",
    "import": "__import__('os')",
    "import chain": "__import__('os').system('echo')",
    "eval": "eval('1')",
    "open": "open('/etc/passwd')",
    "getattr": "getattr(u, 'dx')",
    "dunder": "__builtins__",
    "dunder of the unknown": "u___class__",
    "true": "True*u",
    "none": "None",
    "ellipsis": "...",
    "complex": "1j*u",
    "inverted": "~u",
    "laplacian of two": "laplacian(u, v)",
    "diff along an unknown": "diff(u, v)",
    "diff along nothing": "diff(u)",
    "diff along a number": "diff(u, 1)",
    "not equal": "where(x != 1, u, v)",
    "in": "where(x in y, u, v)",
    "is": "where(x is y, u, v)",
    "matrix product": "u @ v",
    "modulo": "u % 2",
    "floor division": "u // 2",
    "shift": "u << 2",
    "bitwise": "u & v",
    "statement": "import os",
    "assignment": "u; v",
    "two lines": "u\n\nv",
    "comment": "# u",
    "slice": "u[::1]",
    "type hint": "u: v",
    "empty": "",
    "blank": "   ",
    "no left side": "= u",
    "no right side": "u =",
    "unbalanced": "(u",
    "null byte": "u\0",
    "number and name": "2u",
    "two names": "nu u",
    "prime": "u'",
    "backslash": "u \\",
}


@pytest.mark.parametrize("name", NOT_AN_EQUATION)
def test_refused(name):
    with pytest.raises(EquationError):
        parse(NOT_AN_EQUATION[name], PLANE)


@pytest.mark.parametrize(
    "text",
    [
        "9**9**9**9*u",
        "u*9**9**9",
        "2**10000*u",
        "1/0*u",
        "0/0 + u",
        "log(-1)*u",
        "log(0) + u",
        "exp(1000)*u",
        "(-8)**(1/3)*u",
        "1e400*u",
        "u - 1e400",
        "9" * 400 + "*u",
        "9" * 5000 + "*u",
    ],
    ids=lambda text: text[:20],
)
def test_numbers_that_are_not_finite(text):
    with pytest.raises(EquationError, match=r"finite real numbers|too large|Cannot read"):
        parse(text, PLANE)


@pytest.mark.parametrize("number", [np.inf, np.nan])
def test_a_parameter_that_is_not_finite(number):
    with pytest.raises(EquationError, match=r"'nu' in 'nu\*u' is (inf|nan)"):
        parse("nu*u", PLANE, {"nu": number})


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10_000 + "u" + ")" * 10_000,
        "-" * 100_000 + "u",
        "sin(" * 5000 + "u" + ")" * 5000,
        "u" + "**u" * 20_000,
        "u" + "+u" * 50_000,
        "where(x<1," * 2000 + "u" + ",1)" * 2000,
    ],
    ids=["parentheses", "signs", "calls", "powers", "sum", "choices"],
)
def test_huge_nesting_is_an_error_not_a_crash(text):
    with pytest.raises(EquationError) as caught:
        parse(text, PLANE)
    assert len(str(caught.value)) < 2000


class TestAdvice:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("u_x == 1", r"An equation has one `=`.*Did you mean 'u_x = 1'"),
            ("u = v = 1", r"An equation has one `=`"),
            ("u_x = x^2", r"'\^' in .*Write \*\* for a power"),
            ("u_x = v + x[0]", r"'x\[0\]' in 'u_x = v \+ x\[0\]' cannot stand in an equation"),
            ("u.dx = 1", r"'u\.dx' in .*Allowed are numbers, names"),
            ("u_z", r"'u_z' in 'u_z' is not known.*Known: u, v, x, y.*written u_x"),
            ("w_x", r"'w_x' in 'w_x' is not known"),
            ("nu*u", r"'nu' .*Other names are parameters: give their values"),
            ("alhpa*u", r"Did you mean 'alpha'\?"),
            ("sine(x)*u", r"'sine' .*is not a known function\. Did you mean 'sin'\?"),
            ("u(0)", r"'u' .*is not a known function.*Known: abs, arccos"),
            ("sin(x, y)*u", r"sin takes 1 argument\(s\), got 2"),
            ("maximum(x)*u", r"maximum takes 2 argument\(s\), got 1"),
            ("where(x, y)", r"where takes \(condition, a, b\), got 2"),
            ("u < 1", r"is a comparison .*Write `u - 1` for u = 1"),
            ("u + ", r"Cannot read 'u \+' in 'u \+ '.*Write for example -nu\*u_xx"),
        ],
    )
    def test_message(self, text, message):
        with pytest.raises(EquationError, match=message):
            parse(text, PLANE, {"alpha": 1.0})

    @pytest.mark.parametrize("name", ["u", "x", "sin", "where", "u_x", "v_yy", "u_n", "normal_x"])
    def test_a_parameter_name_that_is_taken(self, name):
        with pytest.raises(EquationError, match=f"name '{name}' is taken; choose another"):
            parse("u", PLANE, {name: 1.0})

    @pytest.mark.parametrize("thing", [None, 3, lambda u: u, b"u"])
    def test_not_a_text(self, thing):
        with pytest.raises(EquationError, match="Expected a text such as"):
            parse(thing, PLANE)

    @pytest.mark.parametrize("number", ["1", np.ones(2) * 1j, np.ones(2), None])
    def test_a_parameter_that_is_no_number(self, number):
        with pytest.raises(EquationError, match=r"real numbers|array of shape"):
            parse("k*u", PLANE, {"k": number})


ALPHABET = st.sampled_from(list("uvxy_n0159.e+-*/()=<>!, ^&|~[]{}:;'\"\\@%\n#\0é²"))
WORDS = st.sampled_from(["u_x", "sin(", "where(", "**", "pi", "lambda ", "__", "if ", "1e9", "<="])


@given(st.lists(ALPHABET | WORDS, max_size=12).map("".join))
@settings(max_examples=400, deadline=None, database=None, derandomize=True)
def test_any_text_is_an_expression_or_an_equation_error(text):
    try:
        result = parse(text, PLANE)
    except EquationError:
        return
    assert isinstance(result, Expression)


class TestUnknowns:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("-nu*u_xx + u_x = 0", ("u",)),
            ("v_y + u_x = v_x", ("v", "u")),
            ("c_1_x = c_2_x", ("c_1", "c_2")),
            ("φ_xx = 1", ("φ",)),
            ("normal_x*u_x", ("u",)),
            ("u_xx + u_n", ("u",)),
            ("sin(u_x)/u_y", ("u",)),
        ],
    )
    def test_found(self, text, expected):
        assert unknowns_in(text, ("x", "y")) == expected

    def test_numbered_coordinates(self):
        assert unknowns_in("u_x1x1 + u_x2", ("x1", "x2")) == ("u",)

    def test_parameters_are_none(self):
        assert unknowns_in("-k_x*u_xx", ("x",), parameters={"k_x": 1.0}) == ("u",)

    @pytest.mark.parametrize("text", ["u = 1", "u_t = u", "_x", "x", "exp(u)", ""])
    def test_none(self, text):
        with pytest.raises(EquationError, match=r"No derivative along x is found .*-nu\*u_xx"):
            unknowns_in(text, ("x",))


class TestToText:
    @pytest.mark.parametrize(
        ("expression", "expected"),
        [
            (-1e-4 * U.dxx + U.dx, "(-0.0001)*u_xx + u_x"),
            (U - (V - X), "u - (v - x)"),
            (U - V - X, "u - v - x"),
            ((U + V) * X, "(u + v)*x"),
            (U / (V * X), "u/(v*x)"),
            (U * (V / X), "u*(v/x)"),
            (-(U**2), "-u**2"),
            ((-U) ** 2, "(-u)**2"),
            (U**-2, "u**(-2)"),
            ((U**2) ** V, "(u**2)**v"),
            (2 ** (U**V), "2**(u**v)"),
            (-(U + V), "-(u + v)"),
            (-(-1 * U), "-(-1)*u"),
            (U - (-V), "u - (-v)"),
            (abs(U), "abs(u)"),
            (np.where(X > 0, U, 1e7), "where(x > 0, u, 10000000.0)"),
            ((X <= 1) * U, "(x <= 1)*u"),
            ((X < 1) < Y, "(x < 1) < y"),
            (np.maximum(U, np.sin(X)), "maximum(u, sin(x))"),
            (U.dn, "normal_x*u_x + normal_y*u_y"),
            (function(np.sin)(X) * U, "sin(x)*u"),
            (Constant(0.0), "0"),
            (Constant(-0.0), "-0.0"),
            (Constant(1e-12), "1e-12"),
        ],
    )
    def test_text(self, expression, expected):
        assert to_text(expression) == expected

    def test_opaque_functions_are_not_read_back(self):
        with pytest.raises(EquationError, match=r"'viscosity' .*is not a known function"):
            parse(to_text(function(viscosity)(X) * U), PLANE)

    def test_a_text_cut_short_is_not_read_back(self):
        text = to_text(U + V + X + Y, limit=4)
        assert text.endswith("...")
        with pytest.raises(EquationError):
            parse(text, PLANE)


def viscosity(x):
    return x


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("laplacian(u)", 17 + 23),
        ("laplacian(3*u + x**2)", 3 * 40 + 2),
        ("laplacian(2)", 0),
        ("diff(u, x, y)", 19),
        ("diff(x*u_x, x)", 5 + 0.7 * 17),
        ("diff(k*y, y) + diff(k, x)", 4),
        ("where(0 < x < 1 and y > 1, 1, 2)", 1),
        ("where(0 < x < 0.5 or y < 1, 1, 2)", 2),
        ("where(not (x > 1), 1, 2)", 1),
    ],
)
def test_derivatives_of_expressions_and_joined_comparisons(text, expected):
    assert value(text, k=4.0) == pytest.approx(expected, rel=1e-14)


def test_a_parameter_may_be_an_expression():
    w = parse("x*y", PLANE)
    assert value("w*u + diff(w, x)", w=w) == pytest.approx(0.7 * 1.3 * 2 + 1.3, rel=1e-14)


def test_unknowns_are_found_inside_laplacian_and_diff():
    assert unknowns_in("laplacian( u ) + diff(v, x) + w_x", ("x", "y")) == ("w", "u", "v")


class TestConditions:
    @pytest.mark.parametrize(
        ("text", "holds"),
        [("x > 0.5", True), ("x > 0.5 and y < 1", False), ("0.6 < x < a or y < 0", True)],
    )
    def test_meaning(self, text, holds):
        condition = parse_condition(text, Symbols((), ("x", "y")), {"a": 0.8})
        assert bool(evaluate(condition, LEAVES)) is holds

    @pytest.mark.parametrize("text", ["x - 1", "x = 1", "x == 1", "z > 1", "x >"])
    def test_refused(self, text):
        with pytest.raises(EquationError):
            parse_condition(text, Symbols((), ("x", "y")))
        assert mistakes_in(text, Symbols((), ("x", "y")), condition=True)


class TestMistakes:
    def test_all_of_them_with_their_place(self):
        found = mistakes_in("-nuu*u_xx + expp(x) + q^2 = sin(x, 1) + log(0*nuu)", LINE, {"nu": 1.0})
        assert [error.part for error in found] == ["^", "nuu", "expp", "q", "sin"]
        assert "Did you mean 'nu'?" in str(found[1])
        assert "Did you mean 'exp'?" in str(found[2])
        assert "Write ** for a power" in str(found[0])

    @pytest.mark.parametrize(
        ("text", "part"),
        [("u_x +", "u_x +"), ("u = 1 = 2", "="), ("u == 1", "=="), ("log(0)*u", "log(0)")],
    )
    def test_the_first_where_nothing_can_be_read_behind_it(self, text, part):
        (error,) = mistakes_in(text, LINE)
        assert error.part == part
        with pytest.raises(TextError):
            parse(text, LINE)

    def test_none(self):
        assert mistakes_in("-nu*u_xx + u_x = exp(x)", LINE, {"nu": 1.0}) == ()
        assert mistakes_in("x < 1", LINE, condition=True) == ()

    def test_a_name_without_unknowns_is_refused_in_words(self):
        with pytest.raises(EquationError, match=r"'q' in 'q\*x' is not known.*Known: x"):
            parse("q*x", Symbols((), ("x",)))

    def test_a_comparison_is_no_equation(self):
        (error,) = mistakes_in("u > 1", LINE)
        assert "comparison" in str(error)


@pytest.mark.parametrize("text", ["diff(u_x, x) = 1", "diff(u_xx, x, x) = 1", "diff(u, x) = u"])
def test_what_is_differentiated_may_be_a_derivative_itself(text):
    assert unknowns_in(text, ("x",)) == ("u",)


def test_a_value_at_a_place_is_no_product():
    with pytest.raises(EquationError) as caught:
        parse("u(0) = 0", Symbols(("u",), ("x",)))
    assert "belongs to a part" in str(caught.value) and "u*(0)" not in str(caught.value)
