"""Every operator by value, with symbols and with every kind of number on either side."""

import math
import operator
from fractions import Fraction

import numpy as np
import pytest
import scipy.special as sp

from sharpfront.equation.expression import Constant
from sharpfront.equation.graph import evaluate
from sharpfront.equation.operators import Operators
from sharpfront.equation.trace import Symbols
from sharpfront.errors import EquationError

SYMBOLS = Symbols(("u",), ("x", "y"))
X, Y, U = (SYMBOLS.stand_in(name) for name in "xyu")
POINTS = np.array([0.3, 1.7, 2.5, 0.9])
OTHERS = np.array([1.1, 0.4, 2.5, -1.3])
LEAVES = {X.key: POINTS, Y.key: OTHERS, U.key: POINTS * OTHERS}

BINARY = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "pow": operator.pow,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
LOGICAL = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}
UNARY = {"neg": operator.neg, "pos": operator.pos, "abs": operator.abs}
NUMBERS = (
    *(2, 1, 2.5, True, Fraction(5, 2)),
    *(np.float64(2.5), np.float32(2.5), np.float16(2.5), np.longdouble(2.5)),
    *(np.int64(2), np.uint8(2), np.array(2.5), np.array(2)),
)


def value(expression):
    return evaluate(expression, LEAVES)


def test_every_operator_of_the_class_is_in_these_tables():
    tested = {f"__{n}__" for n in (*BINARY, *LOGICAL, *UNARY, "invert")}
    tested |= {f"__r{n}__" for n in (*BINARY, *LOGICAL)}
    refused = {"eq", "ne", "bool", "float", "int", "index", "complex", "array", "getitem"}
    refused |= {"iter", "len", "call", "round", "array_ufunc", "array_function", "hash"}
    own = {
        name
        for name, member in vars(Operators).items()
        if name.startswith("__") and callable(member) and name not in vars(object)
    }
    assert own <= tested | {f"__{n}__" for n in refused}


@pytest.mark.parametrize("name", BINARY)
def test_two_symbols(name):
    np.testing.assert_array_equal(value(BINARY[name](X, Y)), BINARY[name](POINTS, OTHERS))


@pytest.mark.parametrize("number", NUMBERS, ids=lambda n: f"{type(n).__name__}-{n}")
@pytest.mark.parametrize("name", BINARY)
def test_number_on_either_side(name, number):
    combine, plain = BINARY[name], float(number)
    # The left number is what a reflected operator, or NumPy's dispatch, has to get right.
    np.testing.assert_array_equal(value(combine(number, X)), combine(plain, POINTS))
    np.testing.assert_array_equal(value(combine(X, number)), combine(POINTS, plain))


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    np.testing.assert_array_equal(value(UNARY[name](Y)), UNARY[name](OTHERS))


@pytest.mark.parametrize("name", LOGICAL)
def test_conditions_combine(name):
    combine = LOGICAL[name]
    expected = combine(POINTS > 0.5, OTHERS > 0.5)
    np.testing.assert_array_equal(value(combine(X > 0.5, Y > 0.5)), expected)


@pytest.mark.parametrize("flag", [True, False, np.True_, np.False_])
@pytest.mark.parametrize("name", LOGICAL)
def test_flag_on_either_side_of_a_condition(name, flag):
    combine = LOGICAL[name]
    np.testing.assert_array_equal(value(combine(flag, Y > 0.5)), combine(flag, OTHERS > 0.5))
    np.testing.assert_array_equal(value(combine(Y > 0.5, flag)), combine(OTHERS > 0.5, flag))


def test_negated_condition():
    np.testing.assert_array_equal(value(~(Y > 0.5)), ~(OTHERS > 0.5))
    np.testing.assert_array_equal(value(np.invert(Y > 0.5)), ~(OTHERS > 0.5))
    np.testing.assert_array_equal(value(np.bitwise_and(Y > 0.5, True)), OTHERS > 0.5)


def test_conditions_count_as_zero_and_one():
    window = (X > 0.5) - (X > 2)
    np.testing.assert_array_equal(value(window), [0, 1, 0, 1])
    np.testing.assert_array_equal(value((X > 0.5) + (X > 2)), [0, 1, 2, 1])
    np.testing.assert_array_equal(value(-(X > 0.5)), [0, -1, -1, -1])


@pytest.mark.parametrize(
    "ufunc",
    [np.exp, np.sin, np.tanh, np.log, np.sqrt, np.arctan, np.cbrt, sp.erf, sp.expit, sp.gamma],
)
def test_ufunc(ufunc):
    np.testing.assert_array_equal(value(ufunc(X)), ufunc(POINTS))


@pytest.mark.parametrize("ufunc", [np.maximum, np.minimum, np.hypot, np.arctan2, np.heaviside])
def test_ufunc_of_two(ufunc):
    np.testing.assert_array_equal(value(ufunc(X, Y)), ufunc(POINTS, OTHERS))
    np.testing.assert_array_equal(value(ufunc(0.7, Y)), ufunc(0.7, OTHERS))
    np.testing.assert_array_equal(value(ufunc(X, np.float32(0.5))), ufunc(POINTS, 0.5))


def test_ufunc_made_from_python():
    shifted = np.frompyfunc(lambda a: a + 1, 1, 1)
    result = value(shifted(X))
    assert result.dtype == float
    np.testing.assert_array_equal(result, POINTS + 1)


@pytest.mark.parametrize(
    "choice",
    [
        lambda x, y: np.where(x > y, x, 2 * y),
        lambda x, y: np.where(x > 1, 5, 7.0),
        lambda x, y: np.where(x > 1, x, 0),
        lambda x, y: np.clip(x, 0.5, 2),
        lambda x, y: np.clip(x, None, y),
        lambda x, y: np.clip(x, y, None),
        lambda x, y: np.clip(x, a_min=0.5, a_max=2),
        lambda x, y: np.clip(x, min=0.5),
        lambda x, y: np.clip(x, max=2),
        lambda x, y: np.clip(1.0, y, x),
        lambda x, y: np.ones_like(x) * y,
        lambda x, y: np.zeros_like(x) + y,
        lambda x, y: np.full_like(x, 3.5) * y,
    ],
)
def test_functions_that_are_no_ufuncs(choice):
    np.testing.assert_array_equal(value(choice(X, Y)), choice(POINTS, OTHERS))


def test_where_accepts_a_constant_condition():
    np.testing.assert_array_equal(value(np.where(True, X, Y)), POINTS)
    np.testing.assert_array_equal(value(np.where(False, X, Y)), OTHERS)


@pytest.mark.parametrize(
    "decide",
    [
        lambda u: 1 if u > 0 else 2,
        lambda u: u and 1,
        lambda u: u or 1,
        lambda u: not u,
        lambda u: max(u, 0),
        lambda u: 0 < u < 1,
        lambda u: sorted([u, 2 * u]),
    ],
)
def test_a_decision_on_a_symbol_says_what_to_write(decide):
    with pytest.raises(EquationError, match=r"Write np\.where\(condition, a, b\), np\.maximum"):
        decide(U)


def test_equality_says_to_write_a_difference():
    for compare in (operator.eq, operator.ne):
        for other in (1, U, X):
            with pytest.raises(EquationError, match=r"write `u\.dx - 1`, not `u\.dx == 1`"):
                compare(U, other)
    with pytest.raises(EquationError, match=r"np\.equal"):
        _ = U in [1, 2]
    np.testing.assert_array_equal(value(np.equal(X, Y)), POINTS == OTHERS)


@pytest.mark.parametrize(
    "convert",
    [float, int, complex, range, math.exp, math.floor, np.asarray, np.float64, lambda u: [1, 2][u]],
)
def test_a_number_made_of_a_symbol_says_to_use_numpy(convert):
    with pytest.raises(EquationError, match=r"np\.exp\(x\), or wrap your own: sf\.function"):
        convert(U)


@pytest.mark.parametrize("take", [len, iter, list, lambda u: u[0], lambda u: u[:, None]])
def test_items_of_a_symbol_say_to_use_where(take):
    with pytest.raises(EquationError, match=r"no length and no items.*np\.where"):
        take(U)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: np.interp(x, [0, 1], [2, 3]), r"np\.interp\(x, xs, ys\), breaks=.*derivative="),
        (round, r"write np\.rint\(x\)"),
        (lambda x: round(x, 2), r"np\.rint\(100 \* x\) / 100"),
        (lambda x: np.round(x), r"write np\.rint\(x\)"),
        (lambda x: np.sum(x), r"np\.sum is not a ufunc.*over points have no meaning"),
        (lambda x: x.xx, r"no attribute 'xx'\. For derivatives .*Write for example \.dx"),
        (lambda x: np.where(x > 0), r"np\.where is not a ufunc"),
        (lambda x: np.add.reduce(x), r"np\.add\.reduce .*sf\.function"),
        (lambda x: np.exp(x, where=True), r"np\.exp with \['where'\]"),
        (lambda x: np.exp(x, out=np.zeros(2)), r"np\.exp with \['out'\]"),
        (lambda x: np.modf(x), r"np\.modf .*one result"),
        (lambda x: np.gcd(x, 2), r"np\.gcd is not a function of real numbers"),
        (lambda x: np.matmul(x, x), r"np\.matmul .*v @ grad\(u\)"),
        (lambda x: np.clip(x, 0, 1, out=np.zeros(2)), r"Write np\.clip\(value, low, high\)"),
        (lambda x: np.clip(x, 0, 1, dtype=float), r"Write np\.clip\(value, low, high\)"),
    ],
)
def test_untraceable_calls_say_what_to_write(call, message):
    with pytest.raises(EquationError, match=message):
        call(X)


@pytest.mark.parametrize("name", ["add", "mul", "pow", "lt"])
@pytest.mark.parametrize("array", [np.ones(3), [1.0, 2.0], np.ones((2, 2)), np.array([1.0])])
def test_arrays_are_refused_on_both_sides(name, array):
    message = r"array of shape \(.*sf\.function\(lambda x: np\.interp"
    with pytest.raises(EquationError, match=message):
        BINARY[name](U, array)
    with pytest.raises(EquationError, match=message):
        BINARY[name](array, U)


@pytest.mark.parametrize("thing", ["a", None, np.datetime64("2020-01-01"), object(), {}])
def test_other_things_are_refused_by_name(thing):
    with pytest.raises(EquationError, match=f"real numbers.*{type(thing).__name__}"):
        U + thing


def test_a_whole_number_beyond_64_bits():
    np.testing.assert_array_equal(value(3 * 10**30 * X), 3e30 * POINTS)


def test_a_whole_number_beyond_floats_is_refused():
    with pytest.raises(EquationError, match="too large for a float"):
        10**400 * U


class TestConstantFolding:
    def test_two_constants_become_one(self):
        folded = np.exp(Constant(0.0)) + Constant(2.0) ** 3
        assert isinstance(folded, Constant)
        assert folded.value == 9

    @pytest.mark.parametrize(
        ("combine", "expected"),
        [
            (lambda: Constant(1.0) / 0, np.inf),
            (lambda: 0 / Constant(0.0), np.nan),
            (lambda: Constant(2.0) ** -1, 0.5),
            (lambda: Constant(2) ** -2, 0.25),
            (lambda: 2 ** Constant(-1), 0.5),
            (lambda: Constant(9) ** 9**9, np.inf),
            (lambda: np.log(Constant(-1.0)), np.nan),
            (lambda: np.exp(Constant(1e9)), np.inf),
        ],
    )
    def test_no_warning_and_no_integer_power(self, combine, expected):
        np.testing.assert_equal(combine().value, expected)

    @pytest.mark.parametrize(
        ("expression", "same"),
        [
            (X + 0, X),
            (0 + X, X),
            (X - 0, X),
            (X * 1, X),
            (1 * X, X),
            (X / 1, X),
            (X**1, X),
        ],
    )
    def test_neutral_elements_leave_the_symbol(self, expression, same):
        assert expression is same

    @pytest.mark.parametrize(
        ("expression", "number"), [(X * 0, 0), (0 * X, 0), (0 / X, 0), (X**0, 1)]
    )
    def test_absorbing_elements_leave_a_number(self, expression, number):
        assert isinstance(expression, Constant)
        assert expression.value == number

    def test_zero_minus(self):
        np.testing.assert_array_equal(value(0 - Y), -OTHERS)

    def test_whole_numbers_at_the_points(self):
        leaves = {X.key: np.array([1, 2, 4])}
        np.testing.assert_array_equal(evaluate(X**-1, leaves), [1, 0.5, 0.25])
        np.testing.assert_array_equal(evaluate(np.reciprocal(X), leaves), [1, 0.5, 0.25])
