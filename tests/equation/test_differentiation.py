"""Every derivative rule against differences of the function itself.

The cases are read from the table of rules, so that a new rule is tested as it is written.
"""

import itertools

import mpmath
import numpy as np
import pytest
import scipy.special as sp

from sharpfront.equation.differentiation import (
    _CHOICES,
    _RULES,
    JUMPS,
    partial,
    partial_derivative,
    total_derivative,
)
from sharpfront.equation.expression import Apply, Constant, Function, apply
from sharpfront.equation.graph import evaluate
from sharpfront.equation.trace import Symbols
from sharpfront.errors import EquationError

SYMBOLS = Symbols(("u",), ("x", "y"))
X, Y = SYMBOLS.stand_in("x"), SYMBOLS.stand_in("y")
REFUSED = {(sp.jv, 0)}

# Away from each other and from whole numbers and pi/2, and with no whole number as a ratio: the
# functions are smooth in the stencils around these, or jump elsewhere.
CANDIDATES = (
    (-2.37, -0.58, 0.41, 0.64, 2.13, 2.86, 3.71),
    (-3.19, -0.69, 0.55, 1.45, 2.61),
)
STEP = 4e-3
STENCIL = np.array([-4, -3, -2, -1, 1, 2, 3, 4])
WEIGHTS = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 4 / 5, -1 / 5, 4 / 105, -1 / 280])

FUNCTIONS = (*_RULES, *_CHOICES)
ARGUMENTS = [(f, i) for f in FUNCTIONS for i in range(f.nin) if (f, i) not in REFUSED]


def name_of(case):
    return getattr(case, "__name__", str(case))


def difference(compute, points, i):
    """Return the eighth-order central difference of ``compute(*points)`` along argument i."""
    total = 0.0
    for offset, weight in zip(STENCIL, WEIGHTS, strict=True):
        moved = [p + STEP * offset if j == i else p for j, p in enumerate(points)]
        total = total + weight * compute(*moved)
    return total / STEP


def cases_where_finite(compute, nin, i):
    """Return the candidates at which the function is real in the whole stencil, (nin, m)."""
    points = np.array(list(itertools.product(*CANDIDATES[:nin]))).T
    with np.errstate(all="ignore"):
        good = np.isfinite(difference(compute, points, i)) & np.isfinite(compute(*points))
    assert good.sum() >= 3, "too few points at which this rule can be tested"
    return points[:, good]


def assert_is_derivative(expression, compute, leaves, i):
    points = cases_where_finite(compute, len(leaves), i)
    values = dict(zip([leaf.key for leaf in leaves], points, strict=True))
    expected = difference(compute, points, i)
    np.testing.assert_allclose(
        np.broadcast_to(evaluate(expression, values), expected.shape),
        expected,
        rtol=2e-9,
        atol=1e-10 * (1 + np.abs(compute(*points)).max()),
    )


@pytest.mark.parametrize(("ufunc", "i"), ARGUMENTS, ids=name_of)
def test_rule_against_differences(ufunc, i):
    leaves = (X, Y)[: ufunc.nin]
    assert_is_derivative(partial_derivative(ufunc(*leaves), leaves[i].key), ufunc, leaves, i)


# The rule for jv is one for orders that are numbers, which those of its derivative here are not.
@pytest.mark.parametrize(("ufunc", "i"), [c for c in ARGUMENTS if c[0] is not sp.jv], ids=name_of)
def test_second_derivative_against_differences_of_the_first(ufunc, i):
    leaves = (X, Y)[: ufunc.nin]
    first = partial_derivative(ufunc(*leaves), leaves[i].key)

    def compute(*points):
        values = evaluate(first, dict(zip([leaf.key for leaf in leaves], points, strict=True)))
        return np.broadcast_to(values, points[0].shape)

    assert_is_derivative(partial_derivative(first, leaves[i].key), compute, leaves, i)


@pytest.mark.parametrize("ufunc", FUNCTIONS, ids=name_of)
def test_chain_rule_with_a_number_in_one_place(ufunc):
    """A number has no derivative, so its own rule must not be asked for."""
    inner = 0.3 * X + 0.55
    inner = inner + 2 if ufunc is np.arccosh else inner
    arguments = (inner,) if ufunc.nin == 1 else (Constant(2.0), inner)
    expression = apply(ufunc, *arguments)
    points = np.array([0.21, 0.74])
    expected = difference(lambda x: evaluate(expression, {X.key: x}), [points], 0)
    computed = np.broadcast_to(evaluate(expression.dx, {X.key: points}), points.shape)
    np.testing.assert_allclose(computed, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("ufunc", _RULES, ids=name_of)
def test_one_rule_for_each_argument(ufunc):
    assert len(_RULES[ufunc]) == ufunc.nin


EXACT = {
    np.exp: mpmath.exp,
    np.expm1: mpmath.expm1,
    np.log: mpmath.log,
    np.log1p: mpmath.log1p,
    np.sqrt: mpmath.sqrt,
    np.cbrt: mpmath.cbrt,
    np.sin: mpmath.sin,
    np.cos: mpmath.cos,
    np.tan: mpmath.tan,
    np.arctan: mpmath.atan,
    np.arcsinh: mpmath.asinh,
    np.sinh: mpmath.sinh,
    np.cosh: mpmath.cosh,
    np.tanh: mpmath.tanh,
    sp.erf: mpmath.erf,
    sp.erfc: mpmath.erfc,
    sp.ndtr: mpmath.ncdf,
    sp.expit: lambda a: 1 / (1 + mpmath.exp(-a)),
    sp.j0: lambda a: mpmath.besselj(0, a),
    sp.j1: lambda a: mpmath.besselj(1, a),
}


@pytest.mark.parametrize("ufunc", EXACT, ids=name_of)
@pytest.mark.parametrize("point", [1e-9, 1e-3, 0.7, 2.2, 9.0, 24.0])
def test_rule_to_rounding_from_tiny_to_large_arguments(ufunc, point):
    with mpmath.workdps(40):
        step = mpmath.mpf(point) / 10**15
        expected = float(mpmath.diff(EXACT[ufunc], mpmath.mpf(point), h=step))
    computed = evaluate(ufunc(X).dx, {X.key: point})
    # 1 - tanh^2 is right to rounding of 1, not of itself.
    assert computed == pytest.approx(expected, rel=2e-13, abs=1e-15)


class TestChoices:
    @pytest.mark.parametrize(
        ("choose", "expected"),
        [
            (lambda x: np.where(x > 0, x**2, -x), [-1, 6]),
            (lambda x: np.maximum(x, 0), [0, 1]),
            (lambda x: np.minimum(x, 0), [1, 0]),
            (lambda x: np.maximum(2 * x, x), [1, 2]),
            (lambda x: np.clip(x, -5, 1), [1, 0]),
            (lambda x: abs(x), [-1, 1]),
        ],
    )
    def test_value(self, choose, expected):
        points = np.array([-2.0, 3.0])
        np.testing.assert_array_equal(evaluate(choose(X).dx, {X.key: points}), expected)

    @pytest.mark.parametrize(
        ("choose", "point"),
        [
            (lambda x: np.where(x > 0, np.sqrt(x), x), 0.0),
            (lambda x: np.where(x > 0, np.sqrt(x), x), -2.0),
            (lambda x: np.where(x <= 0, x, np.log(x)), 0.0),
            (lambda x: np.maximum(x, np.log(x + 1)), -1.0),
            (lambda x: np.minimum(x, 1 / (x - 1) ** 2), 1.0),
        ],
    )
    def test_the_branch_not_taken_may_be_infinite(self, choose, point):
        with np.errstate(divide="ignore", invalid="ignore"):
            assert evaluate(choose(X).dx, {X.key: point}) == 1

    def test_equal_constants_need_no_choice(self):
        assert isinstance(np.where(Y > 0, X, X + 1).dx, Constant)

    def test_tie_takes_one_side_not_both(self):
        assert evaluate(np.maximum(X, 2 * X).dx, {X.key: 0.0}) in (1, 2)


class TestUnknownRules:
    def test_the_advice_is_to_give_the_derivative(self):
        with pytest.raises(EquationError, match=r"Write sf\.function\(gamma, derivative=\.\.\.\)"):
            _ = sp.gamma(X).dx

    def test_a_function_without_a_rule_still_has_values(self):
        assert evaluate(sp.gamma(X) * X.dx, {X.key: 5.0}) == 24

    def test_order_of_a_bessel_function(self):
        assert evaluate(sp.jv(1, X).dx, {X.key: 0.8}) == pytest.approx(sp.jvp(1, 0.8), rel=1e-13)
        with pytest.raises(EquationError, match="order of a Bessel function must be a number"):
            _ = sp.jv(X, 2.0).dx

    def test_partial_of_a_plain_function_asks_for_its_derivative(self):
        with pytest.raises(EquationError, match=r"'table' along its argument 1\. Give it"):
            partial(Apply(Function("table", lambda a: a), (X,)), 0)


def test_jumps_are_those_whose_slope_hides_them():
    assert {np.sign, np.heaviside, np.floor, np.remainder, np.less} <= JUMPS
    assert not {np.add, np.multiply, np.negative, np.exp} & JUMPS


def test_coordinates_are_independent():
    product = np.exp(X) * Y
    assert evaluate(total_derivative(product, "y"), {X.key: 0.0}) == 1
    assert evaluate(total_derivative(product, "x"), {X.key: 0.0, Y.key: 3.0}) == 3
