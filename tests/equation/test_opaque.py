"""sf.function: interpolants, tables and other code that the tracer does not look into."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from sharpfront.equation import function
from sharpfront.equation.graph import evaluate
from sharpfront.equation.trace import Symbols
from sharpfront.errors import EquationError

SYMBOLS = Symbols(("u",), ("x", "y"))
X, Y, U = (SYMBOLS.stand_in(name) for name in "xyu")
POINTS = np.linspace(0, 1, 5)
LEAVES = {X.key: POINTS, Y.key: 2 * POINTS, U.key: 1 - POINTS}


def value(expression):
    return evaluate(expression, LEAVES)


class TestValues:
    def test_a_table(self):
        k = function(lambda x: np.interp(x, [0, 1], [1, 3]))
        np.testing.assert_allclose(value(k(X)), 1 + 2 * POINTS, rtol=1e-15)

    def test_a_spline(self):
        spline = CubicSpline(POINTS, np.sin(POINTS))
        k = function(spline, derivative=spline.derivative())
        np.testing.assert_allclose(value(k(X)), np.sin(POINTS), atol=1e-15)
        np.testing.assert_allclose(value(k(X).dx), spline(POINTS, 1), rtol=1e-15)

    def test_several_arguments_and_numbers(self):
        f = function(lambda a, b: a - 10 * b)
        np.testing.assert_array_equal(value(f(X, Y)), POINTS - 20 * POINTS)
        np.testing.assert_array_equal(value(f(X, 3)), POINTS - 30)
        np.testing.assert_array_equal(value(f(3, X)), 3 - 10 * POINTS)

    def test_of_an_expression(self):
        doubled = 2 * function(np.sin)(X * U) + 1
        np.testing.assert_array_equal(value(doubled), 2 * np.sin(POINTS * (1 - POINTS)) + 1)

    def test_called_with_arrays_it_computes(self):
        f = function(lambda x: x**2)
        np.testing.assert_array_equal(f(POINTS), POINTS**2)
        assert float(f(3)) == 9

    @pytest.mark.parametrize("result", [2, 2.5, np.float32(2), True])
    def test_a_number_stands_for_all_points(self, result):
        np.testing.assert_array_equal(value(function(lambda x: result)(X) * X), result * POINTS)

    def test_gets_arrays_of_one_shape(self):
        shapes = []

        def look(a, b):
            shapes.append((a.shape, b.shape))
            return a

        value(function(look)(X, 3))
        assert shapes[0] == ((5,), (5,)) and all(a == b for a, b in shapes)

    def test_its_name_is_in_the_text(self):
        def viscosity(x):
            return x

        assert repr(function(viscosity)(X)) == "viscosity(x)"
        assert repr(function(CubicSpline(POINTS, POINTS))(X)) == "CubicSpline(x)"


class TestDerivatives:
    def test_chain_rule(self):
        f = function(np.sin, derivative=np.cos)
        np.testing.assert_allclose(value(f(3 * X).dx), 3 * np.cos(3 * POINTS), rtol=1e-15)

    def test_one_for_each_argument(self):
        f = function(lambda a, b: a**2 * b, derivative=(lambda a, b: 2 * a * b, lambda a, b: a**2))
        np.testing.assert_allclose(value(f(X, Y).dx), 4 * POINTS**2, rtol=1e-15)
        np.testing.assert_allclose(value(f(X, Y).dy), POINTS**2, rtol=1e-15)
        np.testing.assert_allclose(value(f(X, 3 * X).dx), 9 * POINTS**2, rtol=1e-15)

    def test_second_derivative(self):
        f = function(np.sin, derivative=function(np.cos, derivative=lambda x: -np.sin(x)))
        np.testing.assert_allclose(value(f(2 * X).dxx), -4 * np.sin(2 * POINTS), rtol=1e-15)

    def test_needed_only_where_something_is_differentiated(self):
        k = function(np.sin)
        assert value((k(X) * Y).dy).shape == (5,)

    @pytest.mark.parametrize(
        "differentiate",
        [
            lambda: function(np.sin)(X).dx,
            lambda: (function(np.sin)(X) * U.dx).dx,
            lambda: function(np.sin, derivative=np.cos)(X).dxx,
        ],
    )
    def test_missing(self, differentiate):
        with pytest.raises(EquationError, match=r"argument 1\. Give it: sf\.function\(f, deriv"):
            differentiate()

    @pytest.mark.parametrize(
        "wrong",
        [
            function(lambda x: np.sin(3 * x), derivative=lambda x: np.cos(3 * x)),
            function(np.exp, derivative=lambda x: -np.exp(x)),
            function(np.cos, derivative=function(np.sin, derivative=np.cos)),
        ],
    )
    def test_of_another_function(self, wrong):
        x = np.linspace(0, 1, 50)
        for _ in range(2):
            with pytest.raises(EquationError, match=r"does not belong to it: where that is 0\."):
                evaluate(wrong(X).dx, {("coordinate", "x"): x})

    @pytest.mark.parametrize(
        ("f", "derivative", "breaks"),
        [
            # A jump is no slope, kinks of a table are none, and rough tables are smoothed a little.
            (lambda x: np.where(x < 0.5, 1, 9), lambda x: 0 * x, (0.5,)),
            (lambda x: np.abs(x - 0.3), lambda x: np.sign(x - 0.3), (0.3,)),
            (lambda x: 1e9 + x, np.ones_like, ()),
            (lambda x: np.tanh((x - 0.3) / 1e-9), lambda x: 0 * x, ()),
            (lambda x: x + 1e-3 * np.sin(100 * x), np.ones_like, ()),
        ],
    )
    def test_of_what_is_not_smooth(self, f, derivative, breaks):
        x = np.linspace(0, 1, 50)
        own = function(f, derivative=derivative, breaks=breaks)(X).dx
        np.testing.assert_array_equal(evaluate(own, {("coordinate", "x"): x}), derivative(x))

    @pytest.mark.parametrize("breaks", [(), ((0.31,), ())])
    def test_of_what_jumps_at_a_place_that_moves(self, breaks):
        none = lambda x, t: 0 * x * t  # noqa: E731
        steps = function(lambda x, t: (x - 0.2 * t > 0.31) * 1.0, (none, none), breaks)(X, Y).dx
        x = np.linspace(0, 1, 50)
        with pytest.raises(EquationError, match=r"along its argument 1.*with np\.where"):
            for t in range(3):
                classical = evaluate(
                    steps, {("coordinate", "x"): x, ("coordinate", "y"): np.full_like(x, t)}
                )
        assert breaks == () or classical.max() == 0.0

    @pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
    def test_which_breaks_are_jumps(self, unit):
        bent = lambda x: np.where(x < 0.3, x, np.where(x < 0.6, 0.6 - x, 5e-7))  # noqa: E731
        places = (0.0, 0.3 * unit, 0.6 * unit)
        k = function(lambda x: bent(x / unit), breaks=places)
        assert [k.jumps_at(x) for x in places] == [False, False, True]

    def test_of_what_jumps_at_a_place_that_is_not_given(self):
        x = np.linspace(0, 1, 50)
        steps = function(lambda x: np.where(x < 0.31, 1.0, 2.0), derivative=lambda x: 0 * x)
        with pytest.raises(EquationError, match=r"jumps at 0\.31.*breaks=\[0\.31\]"):
            evaluate(steps(X).dx, {("coordinate", "x"): x})

    def test_missing_for_the_second_argument(self):
        f = function(np.hypot, derivative=lambda a, b: a)
        with pytest.raises(EquationError, match=r"'hypot' along its argument 2"):
            _ = f(X, Y).dy


class TestRefusals:
    @pytest.mark.parametrize(
        "f",
        [
            lambda x: np.ones(3),
            lambda x: np.ones((5, 1)),
            lambda x: np.outer(x, x),
            lambda x: x[1:],
            lambda x: [1.0, 2.0],
        ],
    )
    def test_wrong_shape(self, f):
        with pytest.raises(EquationError, match=r"shape \(5,\) and returned.*np\.vectorize"):
            value(function(f)(X))

    @pytest.mark.parametrize(
        "f", [lambda x: None, lambda x: "a", lambda x: 1j * x, lambda x: 1j, lambda x: [None] * 5]
    )
    def test_not_real(self, f):
        with pytest.raises(EquationError, match="must return one real value per point"):
            value(function(f)(X))

    @pytest.mark.parametrize("thing", [None, 3, "sin", np.ones(3)])
    def test_not_callable(self, thing):
        with pytest.raises(EquationError, match="expects a callable"):
            function(thing)
        with pytest.raises(EquationError, match="expects a callable"):
            function(np.sin, derivative=thing)

    def test_a_list_of_derivatives(self):
        with pytest.raises(EquationError, match="expects a callable"):
            function(np.hypot, derivative=[np.sin, np.cos])

    def test_no_argument(self):
        with pytest.raises(EquationError, match=r"needs an argument: write f\(x\)"):
            function(np.sin)()
