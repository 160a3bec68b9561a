"""Linear or not, and the form: coefficients and source by value."""

import numpy as np
import pytest

from sharpfront.equation import div, function, grad, laplacian
from sharpfront.equation.expression import Constant
from sharpfront.equation.graph import evaluate
from sharpfront.equation.linearise import is_linear, linear_form, tangent_terms
from sharpfront.equation.trace import Symbols
from sharpfront.errors import EquationError

SYMBOLS = Symbols(("u", "v"), ("x", "y"))
X, Y, U, V = (SYMBOLS.stand_in(name) for name in "xyuv")
POINTS = np.array([-1.5, -0.2, 0.6, 2.0])
LEAVES = {X.key: POINTS, Y.key: POINTS**2}

LINEAR = {
    "the unknown": lambda: U,
    "a derivative": lambda: U.dxx - 1,
    "a coefficient": lambda: U * X,
    "a quotient": lambda: U / (1 + X**2),
    "exp of x": lambda: np.exp(X) * U.dx + np.sin(X),
    "a choice by x": lambda: np.where(X > 0, U, 2 * U),
    "a switch": lambda: (X > 0) * U.dx + U,
    "a step coefficient": lambda: np.sign(X) * U + np.floor(X),
    "a remainder of x": lambda: U.dx - X % 1,
    "flux form": lambda: ((1 + X**2) * U.dx).dx,
    "an opaque coefficient": lambda: function(np.cos)(X) * U.dx,
    "a system": lambda: U.dx + X * V.dy,
    "laplacian": lambda: -laplacian(U) + (1, 2) @ grad(U),
    "anisotropic": lambda: div(((2, X), (X, 3)) @ grad(U)),
    "normal": lambda: U.dn + U,
    "power one": lambda: U**1 + np.float_power(U, 1),
    "vanishing square": lambda: U.dx + 0 * U**2,
    "signs": lambda: -(+U),
    "source only": lambda: np.sin(X),
    "clip of x": lambda: np.clip(X, 0, 1) * U,
}
NONLINEAR = {
    "square": lambda: U**2,
    "product": lambda: U * U.dx,
    "product of two": lambda: U * V,
    "reciprocal": lambda: 1 / U,
    "denominator": lambda: U / (1 + U),
    "exp": lambda: np.exp(U),
    "power of two": lambda: 2**U,
    "maximum": lambda: np.maximum(U, 0),
    "minimum": lambda: np.minimum(U, X),
    "abs": lambda: abs(U),
    "clip": lambda: np.clip(U, 0, 1),
    "sqrt of gradient": lambda: np.sqrt(1 + U.dx**2),
    "nonlinear flux": lambda: ((1 + U) * U.dx).dx,
    "choice by u": lambda: np.where(U > 0, U, 2 * U),
    "choice of numbers by u": lambda: U.dx + np.where(U > 0, 1, 2),
    "choice by u as a flag": lambda: np.where(U, X, Y) + U.dx,
    "sign": lambda: U.dx + np.sign(U),
    "heaviside": lambda: U.dx + np.heaviside(U.dx, 0.5),
    "floor": lambda: np.floor(U),
    "floor division": lambda: U // 2,
    "remainder": lambda: U % 1,
    "remainder by u": lambda: X % U,
    "a comparison as a number": lambda: U + (U > X),
    "a combined condition": lambda: U + ((U > 0) & (X > 0)),
    "opaque": lambda: function(np.sin, derivative=np.cos)(U),
    "opaque with a flat derivative": lambda: function(lambda u: u, lambda u: 1.0)(U),
    "a step of v": lambda: U.dx + np.rint(V),
}


@pytest.mark.parametrize("name", LINEAR)
def test_linear(name):
    assert is_linear(LINEAR[name]())


@pytest.mark.parametrize("name", NONLINEAR)
def test_not_linear(name):
    assert not is_linear(NONLINEAR[name]())
    with pytest.raises(EquationError, match="The equation is not linear"):
        linear_form(NONLINEAR[name]())


def test_the_error_names_what_is_not_linear():
    with pytest.raises(EquationError, match="multiplies u depends on a derivative of u"):
        linear_form(U * U.dx)
    with pytest.raises(EquationError, match=r"an unknown stands inside sign\(\.\.\.\)"):
        linear_form(U.dx + np.sign(U))


def form_values(form):
    found = {(t.unknown, t.orders): evaluate(t.coefficient, LEAVES) for t in form.terms}
    assert len(found) == len(form.terms)
    return found


class TestForm:
    def test_terms_and_source(self):
        form = linear_form(-1e-4 * U.dxx + (1 + X) * U.dx + U / X - np.exp(X))
        found = form_values(form)
        assert set(found) == {("u", (2, 0)), ("u", (1, 0)), ("u", (0, 0))}
        assert found["u", (2, 0)] == -1e-4
        np.testing.assert_allclose(found["u", (1, 0)], 1 + POINTS, rtol=1e-15)
        np.testing.assert_allclose(found["u", (0, 0)], 1 / POINTS, rtol=1e-15)
        np.testing.assert_allclose(evaluate(form.source, LEAVES), -np.exp(POINTS), rtol=1e-15)

    def test_terms_of_one_derivative_add_up(self):
        form = linear_form(U.dx + X * U.dx - 3 * (U.dx - 2) + U - U)
        found = form_values(form)
        assert set(found) == {("u", (1, 0))}
        np.testing.assert_allclose(found["u", (1, 0)], POINTS - 2, rtol=1e-14)
        assert evaluate(form.source, LEAVES) == 6

    def test_choice(self):
        form = linear_form(np.where(X > 0, U + 1, 2 * U))
        np.testing.assert_array_equal(form_values(form)["u", (0, 0)], [2, 2, 1, 1])
        np.testing.assert_array_equal(evaluate(form.source, LEAVES), [0, 0, 1, 1])

    def test_flux_form(self):
        found = form_values(linear_form((np.exp(X) * U.dx).dx))
        np.testing.assert_allclose(found["u", (2, 0)], np.exp(POINTS), rtol=1e-15)
        np.testing.assert_allclose(found["u", (1, 0)], np.exp(POINTS), rtol=1e-15)

    def test_system(self):
        form = linear_form(U.dx + X * V.dyy - V + Y)
        assert [(t.unknown, t.orders) for t in form.terms] == [
            ("u", (1, 0)),
            ("v", (0, 2)),
            ("v", (0, 0)),
        ]
        np.testing.assert_array_equal(evaluate(form.source, LEAVES), POINTS**2)

    def test_normals_are_coefficients(self):
        form = linear_form(U.dn - 2 * U)
        leaves = {("normal", "x"): 0.6, ("normal", "y"): 0.8}
        found = {t.orders: float(evaluate(t.coefficient, leaves)) for t in form.terms}
        assert found == {(1, 0): 0.6, (0, 1): 0.8, (0, 0): -2.0}

    def test_order(self):
        assert linear_form(U.dxxy + U.dx).order == 3
        assert [t.order for t in linear_form(U.dxxy + U.dx).terms] == [3, 1]
        assert linear_form(np.sin(X)).order == 0

    def test_a_singular_coefficient_does_not_reach_the_source(self):
        form = linear_form(U / X + U.dx - 1)
        assert isinstance(form.source, Constant)
        assert form.source.value == -1

    @pytest.mark.parametrize("name", LINEAR)
    def test_the_form_is_the_expression(self, name):
        """Sum of terms plus source equals the residual for any values of the unknowns."""
        expression = LINEAR[name]()
        random = np.random.default_rng(3)
        leaves = dict(LEAVES) | {("normal", c): random.normal(size=4) for c in "xy"}
        form = linear_form(expression)
        total = evaluate(form.source, leaves)
        for term in form.terms:
            key = ("derivative", term.unknown, term.orders)
            leaves[key] = random.normal(size=4)
            total = total + evaluate(term.coefficient, leaves) * leaves[key]
        np.testing.assert_allclose(total, evaluate_all(expression, leaves), rtol=1e-13, atol=1e-13)


def evaluate_all(expression, leaves):
    """Evaluate with zero for derivatives that fell out of the form."""
    zeros = {d.key: np.zeros(4) for d in (U, U.dx, U.dy, V)}
    return evaluate(expression, zeros | leaves)


class TestNewton:
    @pytest.mark.parametrize("name", NONLINEAR)
    def test_tangent_is_the_slope_of_the_residual(self, name):
        """About a state the terms are the derivative of the residual along any direction."""
        expression = NONLINEAR[name]()
        random = np.random.default_rng(5)
        keys = [d.key for d in (U, U.dx, U.dxx, V)]
        state = {key: 0.3 + random.random(4) for key in keys}
        direction = {key: random.normal(size=4) for key in keys}
        terms = tangent_terms(expression)
        slope = sum(
            evaluate(t.coefficient, LEAVES | state) * direction["derivative", t.unknown, t.orders]
            for t in terms
        )

        def residual(step):
            return evaluate(expression, LEAVES | {k: state[k] + step * direction[k] for k in keys})

        expected = (residual(1e-5) - residual(-1e-5)) / 2e-5
        np.testing.assert_allclose(slope, expected, rtol=1e-7, atol=1e-8)

    def test_coefficients_hold_the_state(self):
        terms = {t.orders: t.coefficient for t in tangent_terms(U * U.dx)}
        leaves = {U.key: 3.0, U.dx.key: 5.0}
        assert evaluate(terms[0, 0], leaves) == 5
        assert evaluate(terms[1, 0], leaves) == 3
