"""Random expression trees: derivatives against differences, texts read back, linear forms."""

import numpy as np
import scipy.special as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sharpfront.equation import to_text
from sharpfront.equation.differentiation import partial_derivative, total_derivative
from sharpfront.equation.expression import as_expression
from sharpfront.equation.graph import evaluate
from sharpfront.equation.linearise import is_linear, linear_form
from sharpfront.equation.text import parse
from sharpfront.equation.trace import Symbols, refuse_condition
from sharpfront.errors import EquationError

SYMBOLS = Symbols(("u", "v"), ("x", "y"))
X, Y, U, V = (SYMBOLS.stand_in(name) for name in "xyuv")
LEAVES = (X, Y, U, V, U.dx, U.dy, U.dxy, V.dxx)
POINTS = np.array([[-0.83, 0.37], [-0.21, -0.44], [0.52, 0.91], [1.19, -0.66]])
QUIET = settings(
    max_examples=120,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)

SMOOTH = (
    *(np.sin, np.cos, np.tanh, np.arctan, np.arcsinh, np.negative, np.positive),
    *(sp.erf, sp.expit, sp.ndtr, sp.j0),
    *(lambda a: np.exp(np.tanh(a)), lambda a: np.sqrt(1 + a**2), lambda a: np.log1p(a * a)),
    *(lambda a: np.tanh(a) ** 3, lambda a: 1 / (2 + np.sin(a)), lambda a: 1.7 ** np.sin(a)),
)
JUMPFREE_PAIRS = (
    *(np.add, np.subtract, np.multiply, np.logaddexp),
    lambda a, b: a / (1 + b**2),
    lambda a, b: (1.5 + np.sin(a)) ** np.cos(b),
    lambda a, b: np.hypot(a, 1 + b**2),
    lambda a, b: np.arctan2(a, 1 + b**2),
)
SMOOTH_PAIRS = (
    *JUMPFREE_PAIRS,
    lambda a, b: np.where(X > 0.1, a, b),
    lambda a, b: np.where((Y > 0) & (X < 1), a, 2 * b),
)
ROUGH = (
    *(np.absolute, np.sign, np.floor, np.rint, np.exp2, np.square),
    *(lambda a: np.clip(a, -1, 0.5), lambda a: np.sqrt(abs(a)), lambda a: np.cbrt(a)),
    *(lambda a: -(a**2), lambda a: (-a) ** 2, lambda a: abs(a) ** -0.5, lambda a: 2 - (3 - a)),
)
ROUGH_PAIRS = (
    *(np.maximum, np.minimum, np.true_divide, np.less, np.less_equal, np.greater),
    *(np.greater_equal, np.remainder, np.floor_divide, np.logical_and, np.heaviside),
    *(lambda a, b: abs(a) ** b, lambda a, b: a - (b - a), lambda a, b: a / (b * a)),
    *(lambda a, b: np.where(a > b, a, -b), lambda a, b: (a + b) * (a - b)),
)


def trees(unary, binary, numbers, symbols=LEAVES):
    leaves = st.sampled_from(symbols) | numbers.map(as_expression)

    def grow(parts):
        one = st.tuples(st.sampled_from(unary), parts).map(lambda t: t[0](t[1]))
        two = st.tuples(st.sampled_from(binary), parts, parts).map(lambda t: t[0](t[1], t[2]))
        return one | two

    return st.recursive(leaves, grow, max_leaves=8)


SMALL = st.floats(-2, 2).map(lambda a: round(a, 3))
ANY = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e12, max_value=1e12)
SMOOTH_TREES = trees(SMOOTH, SMOOTH_PAIRS, SMALL)
JUMPFREE_TREES = trees(SMOOTH, JUMPFREE_PAIRS, SMALL)
JUMPING_COEFFICIENTS = trees(SMOOTH, SMOOTH_PAIRS, SMALL, symbols=(X, Y))
COEFFICIENTS = trees((*SMOOTH, *ROUGH), SMOOTH_PAIRS, SMALL, symbols=(X, Y))
ANY_TREES = trees((*SMOOTH, *ROUGH), (*SMOOTH_PAIRS, *ROUGH_PAIRS), ANY | SMALL)


def leaves_at(points):
    """Return all leaves for u = sin(1.3 x + 0.7 y) and v = cos(0.6 x - 1.1 y) with derivatives."""
    x, y = points[:, 0], points[:, 1]
    values = {X.key: x, Y.key: y}
    for name, (a, b), shift in (("u", (1.3, 0.7), 0.0), ("v", (0.6, -1.1), np.pi / 2)):
        for i in range(5):
            for j in range(5):
                phase = a * x + b * y + shift + (i + j) * np.pi / 2
                values["derivative", name, (i, j)] = a**i * b**j * np.sin(phase)
    return values


def central(compute, step):
    """Return the sixth-order central difference of ``compute(h)`` at h = 0."""
    weights = {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}
    odd = (w * (compute(k * step) - compute(-k * step)) for k, w in weights.items())
    return sum(odd) / step


def assert_slope(computed, compute):
    """Compare with differences; two steps tell how far the differences can be trusted."""
    coarse, fine = central(compute, 4e-3), central(compute, 2e-3)
    scale = 1 + np.abs(fine) + np.abs(compute(0.0))
    allowed = 1e-9 * scale + 10 * np.abs(coarse - fine)
    # Where the differences themselves are not sure of three digits they prove nothing.
    trusted = np.abs(coarse - fine) < 1e-3 * scale
    assert np.all((np.abs(computed - fine) <= allowed) | ~trusted)


@given(JUMPFREE_TREES | JUMPING_COEFFICIENTS, st.sampled_from("xy"))
@QUIET
def test_total_derivative_against_differences(expression, coordinate):
    direction = np.eye(2)["xy".index(coordinate)]

    def compute(step):
        values = evaluate(expression, leaves_at(POINTS + step * direction))
        return np.broadcast_to(values, (4,))

    assert_slope(evaluate(total_derivative(expression, coordinate), leaves_at(POINTS)), compute)


@given(JUMPFREE_TREES)
@QUIET
def test_mixed_derivatives_commute(expression):
    leaves = leaves_at(POINTS)
    first = evaluate(expression.d("x").d("y"), leaves)
    second = evaluate(expression.d("y").d("x"), leaves)
    np.testing.assert_allclose(first, second, rtol=1e-8, atol=1e-8 * (1 + np.abs(first).max()))


@given(SMOOTH_TREES, st.sampled_from(LEAVES))
@QUIET
def test_partial_derivative_against_differences(expression, leaf):
    leaves = leaves_at(POINTS)
    computed = evaluate(partial_derivative(expression, leaf.key), leaves)

    def compute(step):
        moved = leaves | {leaf.key: leaves[leaf.key] + step}
        return np.broadcast_to(evaluate(expression, moved), (4,))

    assert_slope(computed, compute)


@given(ANY_TREES)
@QUIET
def test_text_is_read_back_with_the_same_values(expression):
    leaves = leaves_at(POINTS)
    text = to_text(expression)
    try:
        refuse_condition(expression, "equation")
        read = parse(text, SYMBOLS)
    except EquationError as error:
        # A constant may have overflowed, and a comparison is no equation: nothing else may fail.
        assert "is a comparison" in str(error) or "inf" in text or "nan" in text, text
        return
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(evaluate(read, leaves), evaluate(expression, leaves), text)


@given(st.lists(st.tuples(COEFFICIENTS, st.sampled_from(LEAVES[2:])), min_size=1, max_size=4))
@QUIET
def test_a_sum_of_coefficients_times_derivatives_is_linear(parts):
    leaves = leaves_at(POINTS)
    zero = {k: np.zeros(4) for k in leaves if k[0] == "derivative"}
    residual = as_expression(0.0)
    for coefficient, derivative in parts:
        residual = residual + coefficient * derivative - coefficient
    assert is_linear(residual)
    form = linear_form(residual)
    total = evaluate(form.source, leaves)
    for term in form.terms:
        key = ("derivative", term.unknown, term.orders)
        total = total + evaluate(term.coefficient, leaves) * leaves[key]
    np.testing.assert_allclose(total, evaluate(residual, leaves), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(evaluate(form.source, leaves), evaluate(residual, leaves | zero))


@given(SMOOTH_TREES)
@QUIET
def test_linear_by_the_graph_is_linear_by_value(expression):
    """What is_linear accepts obeys f(a + s d) = f(a) + s (f(a + d) - f(a))."""
    if not is_linear(expression):
        return
    leaves = leaves_at(POINTS)
    random = np.random.default_rng(0)
    direction = {k: random.normal(size=4) for k in leaves if k[0] == "derivative"}

    def along(step):
        moved = {k: leaves[k] + step * direction[k] for k in direction}
        return evaluate(expression, leaves | moved)

    slope = along(1.0) - along(0.0)
    expected = along(0.0) - 3 * slope
    np.testing.assert_allclose(
        along(-3.0), expected, rtol=1e-9, atol=1e-9 * (1 + np.abs(expected).max())
    )
