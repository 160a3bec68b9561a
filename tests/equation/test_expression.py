"""The graph itself: leaves, derivatives by attribute, evaluation, deep and shared graphs."""

import copy
import functools
import pickle

import numpy as np
import pytest

from sharpfront.equation import function, to_text
from sharpfront.equation.differentiation import partial_derivative, total_derivative
from sharpfront.equation.expression import (
    Constant,
    Coordinate,
    Derivative,
    Normal,
    as_expression,
    split_names,
)
from sharpfront.equation.graph import coordinates_of, derivatives_in, evaluate, ordered
from sharpfront.equation.linearise import is_linear, linear_form, substitute
from sharpfront.equation.trace import Symbols, trace
from sharpfront.equation.weak import is_singular
from sharpfront.errors import EquationError

SYMBOLS = Symbols(("u", "v"), ("x", "y"))
X, Y, U, V = (SYMBOLS.stand_in(name) for name in "xyuv")
POINTS = np.linspace(-1, 2, 7)


def orders(expression):
    assert isinstance(expression, Derivative)
    return expression.orders


class TestDerivativesByAttribute:
    @pytest.mark.parametrize(
        ("expression", "expected"),
        [
            (U, (0, 0)),
            (U.dx, (1, 0)),
            (U.dy, (0, 1)),
            (U.dxx, (2, 0)),
            (U.dxy, (1, 1)),
            (U.dyx, (1, 1)),
            (U.dxxyy, (2, 2)),
            (U.dx.dy, (1, 1)),
            (U.d("x"), (1, 0)),
            (U.d("x", 2), (2, 0)),
            (U.d("y", 3).d("x"), (1, 3)),
            (U.d("x", 0), (0, 0)),
            (U.d("x", np.int64(2)), (2, 0)),
        ],
    )
    def test_orders(self, expression, expected):
        assert orders(expression) == expected

    def test_time_and_numbered_coordinates(self):
        assert orders(Symbols(("u",), ("x", "t")).stand_in("u").dxt) == (1, 1)
        many = Symbols(("u",), ("x1", "x2", "x12")).stand_in("u")
        assert orders(many.dx1x2) == (1, 1, 0)
        assert orders(many.dx12x1) == (1, 0, 1)
        assert orders(many.d("x12", 2)) == (0, 0, 2)

    @pytest.mark.parametrize("name", ["dz", "dt", "dxz", "dq", "dx2", "data", "dtype"])
    def test_unknown_coordinate(self, name):
        advice = rf"`\.{name}` is not a derivative: the coordinates here are x, y\. Write.*\.dxx"
        with pytest.raises(EquationError, match=advice):
            getattr(U, name)
        assert not hasattr(U, name)

    @pytest.mark.parametrize("coordinate", ["z", "xx", "", "u", X, 0])
    def test_unknown_coordinate_in_a_call(self, coordinate):
        with pytest.raises(EquationError, match=r"coordinates here are x, y.*\.d\('x', 2\)"):
            U.d(coordinate)

    def test_the_advice_names_the_coordinates_there_are(self):
        with pytest.raises(EquationError, match=r"Write for example \.dx1, \.dx1x1"):
            _ = Symbols(("u",), ("x1", "x2")).stand_in("u").dx

    @pytest.mark.parametrize("times", [-1, 1.5])
    def test_impossible_order(self, times):
        with pytest.raises(EquationError, match="whole number, 0 or more"):
            U.d("x", times)

    @pytest.mark.parametrize("name", ["laplacian", "shape", "x", "_d"])
    def test_other_attributes_are_plain_attribute_errors(self, name):
        with pytest.raises(AttributeError, match=name):
            getattr(U, name)

    @pytest.mark.parametrize(
        "jumping", [np.where(X > 0.3, 1, 50), np.sign(X), (X > 0.3) * 2, np.heaviside(X, 0)]
    )
    def test_flux_form_with_a_coefficient_that_jumps_keeps_the_flux(self, jumping):
        # The flux goes on where it jumps, the slope does not: k u'' alone would be another problem.
        flux = (jumping * U.dx).dx
        assert is_singular(flux) and not is_singular(jumping * U.dxx)
        leaves = {X.key: POINTS, U.dx.key: np.sin(POINTS), U.dxx.key: np.cos(POINTS)}
        beside = evaluate(jumping * U.dxx, leaves)
        np.testing.assert_array_equal(evaluate(flux, leaves), beside)
        assert not is_singular(np.abs(X).dx)

    def test_derivative_of_what_jumps_with_the_unknown_is_refused(self):
        with pytest.raises(EquationError, match="jumps with u"):
            (np.where(U > 0.5, 1.0, 2.0) * U.dx).dx  # noqa: B018

    def test_flux_form_is_the_derivative_of_the_product(self):
        flux = ((1 + X**2) * U.dx).dx
        leaves = {X.key: POINTS, U.dx.key: np.sin(POINTS), U.dxx.key: np.cos(POINTS)}
        expected = 2 * POINTS * np.sin(POINTS) + (1 + POINTS**2) * np.cos(POINTS)
        np.testing.assert_allclose(evaluate(flux, leaves), expected, rtol=1e-14)

    @pytest.mark.parametrize(
        "expression", [(0 * U).dx, (U**0).dx, X.dxx, (3 * X + 1).dxy, (0 * U.dx).dxx, (0 * U).dn]
    )
    def test_what_has_become_a_constant_still_has_a_derivative(self, expression):
        assert evaluate(expression, {}) == 0

    def test_a_constant_knows_coordinates_by_their_usual_names_only(self):
        assert evaluate(Constant(2.0).d("x12"), {}) == 0
        with pytest.raises(EquationError, match="coordinates here are none"):
            _ = Constant(2.0).dq

    @pytest.mark.parametrize("power", [2, 3, 2.0, 1.5])
    def test_power_at_zero_is_finite_without_a_warning(self, power):
        assert evaluate((X**power).dx, {X.key: np.zeros(1)}) == 0

    def test_second_power_twice(self):
        assert evaluate((X**2).dxx, {X.key: np.zeros(1)}) == 2

    def test_general_power_at_zero_base(self):
        leaves = {X.key: np.zeros(2), Y.key: np.array([1.0, 2.5])}
        np.testing.assert_array_equal(evaluate((X**Y).dy, leaves), 0)
        np.testing.assert_array_equal(evaluate((0**Y).dy, leaves), 0)


class TestNormalDerivative:
    def test_value(self):
        leaves = {
            ("normal", "x"): np.array([0.6, -1.0]),
            ("normal", "y"): np.array([0.8, 0.0]),
            U.dx.key: np.array([2.0, 3.0]),
            U.dy.key: np.array([5.0, 7.0]),
        }
        np.testing.assert_allclose(evaluate(U.dn, leaves), [5.2, -3.0], rtol=1e-15)

    def test_time_has_no_part_in_it(self):
        u = Symbols(("u",), ("x", "t")).stand_in("u")
        leaves = {("normal", "x"): np.array([-1.0]), u.dx.key: np.array([4.0])}
        assert evaluate(u.dn, leaves) == -4

    def test_of_a_product(self):
        leaves = {X.key: 2.0, U.key: 5.0, U.dx.key: 3.0, U.dy.key: 7.0}
        leaves |= {("normal", "x"): 0.6, ("normal", "y"): 0.8}
        expected = 0.6 * (5 + 2 * 3) + 0.8 * 2 * 7
        assert evaluate((X * U).dn, leaves) == pytest.approx(expected, rel=1e-15)

    def test_in_the_interior_it_says_boundary(self):
        with pytest.raises(EquationError, match="outward normal and has a meaning on a boundary"):
            evaluate(U.dn, {U.dx.key: POINTS, U.dy.key: POINTS})

    def test_is_not_differentiated(self):
        with pytest.raises(EquationError, match=r"differentiate before `\.dn`"):
            _ = U.dn.dx

    def test_has_no_meaning_in_time_alone(self):
        with pytest.raises(EquationError, match="time is the only coordinate"):
            _ = Symbols(("u",), ("t",)).stand_in("u").dn


class TestEvaluation:
    def test_broadcasts(self):
        leaves = {X.key: POINTS[:, None], Y.key: POINTS}
        assert evaluate(X * Y, leaves).shape == (7, 7)

    def test_a_constant_has_no_shape(self):
        assert evaluate(as_expression(3), {}).shape == ()

    def test_missing_values_are_named(self):
        with pytest.raises(EquationError, match="'derivative', 'u'"):
            evaluate(U, {X.key: POINTS})

    def test_shared_nodes_are_computed_once(self):
        calls = []

        def counted(x):
            calls.append(len(x))  # some points of them are asked for by themselves once
            return x

        shared = function(counted)(X)
        evaluate(shared * shared + shared, {X.key: POINTS})
        assert calls.count(len(POINTS)) == 1

    def test_points_are_not_changed(self):
        points = POINTS.copy()

        def writes(x):
            x[:] = 0
            return x

        evaluate(function(writes)(X) + X, {X.key: points})
        np.testing.assert_array_equal(points, POINTS)


class TestSubstitute:
    def test_unknown_by_an_expression(self):
        replaced = substitute(U * X + U, lambda leaf: np.sin(X) if leaf.key == U.key else leaf)
        expected = np.sin(POINTS) * (POINTS + 1)
        np.testing.assert_allclose(evaluate(replaced, {X.key: POINTS}), expected, rtol=1e-14)

    def test_reaches_into_choices_and_opaque_functions(self):
        double = function(lambda a: 2 * a)
        replaced = substitute(
            np.where(X > 0, double(U), U), lambda leaf: Y if leaf.key == U.key else leaf
        )
        assert not derivatives_in(replaced)
        np.testing.assert_array_equal(
            evaluate(replaced, {X.key: np.array([-1, 1]), Y.key: np.array([5, 5])}), [5, 10]
        )


class TestReading:
    def test_derivatives_in_order_of_appearance_once_each(self):
        found = derivatives_in(V.dx * U + U.dyy + U)
        assert [(d.unknown, d.orders) for d in found] == [
            ("v", (1, 0)),
            ("u", (0, 0)),
            ("u", (0, 2)),
        ]

    def test_coordinates(self):
        assert coordinates_of(3 * U) == ("x", "y")
        assert coordinates_of(as_expression(3)) == ()
        assert coordinates_of(Normal("x")) == ()

    def test_arguments_come_before_their_use(self):
        seen = set()
        for node in ordered(np.sin(X * U) + X * U.dx):
            for argument in getattr(node, "arguments", ()):
                assert id(argument) in seen
            seen.add(id(node))

    @pytest.mark.parametrize(
        ("letters", "coordinates", "expected"),
        [
            ("xy", ("x", "y"), ("x", "y")),
            ("x1x12", ("x1", "x12"), ("x1", "x12")),
            ("xq", ("x",), None),
            ("", ("x",), None),
            ("xt", (), ("x", "t")),
            ("q", (), None),
        ],
    )
    def test_split_names(self, letters, coordinates, expected):
        assert split_names(letters, coordinates) == expected


TERMS = 5000


@pytest.fixture(scope="module")
def residual():
    def sum_of_many(u, x):
        return u.dx + sum(np.sin(k * x) * u for k in range(1, TERMS)) - 1

    (traced,) = trace(sum_of_many, SYMBOLS)
    return traced


class TestDeepAndShared:
    def test_evaluate(self, residual):
        leaves = {X.key: np.array([0.5]), U.key: np.array([2.0]), U.dx.key: np.array([3.0])}
        expected = 2 + 2 * np.sin(0.5 * np.arange(1, TERMS)).sum()
        np.testing.assert_allclose(evaluate(residual, leaves), expected, rtol=1e-12)

    def test_differentiate(self, residual):
        leaves = {X.key: np.array([0.5])}
        k = np.arange(1, TERMS)
        partial = partial_derivative(residual, U.key)
        np.testing.assert_allclose(evaluate(partial, leaves), np.sin(0.5 * k).sum(), rtol=1e-12)
        leaves |= {U.key: 1.0, U.dx.key: 0.0, U.dxx.key: 0.0}
        total = total_derivative(residual, "x")
        expected = (k * np.cos(0.5 * k)).sum()
        np.testing.assert_allclose(evaluate(total, leaves), expected, rtol=1e-10)

    def test_linear_form(self, residual):
        assert is_linear(residual)
        assert len(linear_form(residual).terms) == 2

    def test_text(self, residual):
        assert to_text(residual).count("sin(") == TERMS - 1
        assert len(repr(residual)) < 2000

    def test_nesting(self):
        nested = functools.reduce(lambda e, _: np.sin(e), range(TERMS), X)
        assert np.isfinite(evaluate(nested.dx, {X.key: 0.3}))
        assert to_text(nested).endswith(")" * TERMS)

    def test_a_shared_graph_is_as_cheap_as_its_nodes(self):
        doubled = functools.reduce(lambda e, _: e + e, range(200), X)
        assert evaluate(doubled, {X.key: 1.0}) == 2.0**200
        assert evaluate(doubled.dx, {}) == 2.0**200
        assert to_text(doubled).endswith("...")
        assert repr(doubled).endswith("...")


class TestNodesAsValues:
    def test_nodes_are_hashable_and_immutable(self):
        assert len({U, V, X}) == 3
        with pytest.raises(AttributeError):
            U.unknown = "w"

    @pytest.mark.parametrize(
        "duplicate", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))]
    )
    def test_copies_have_the_same_values(self, duplicate):
        expression = duplicate(np.exp(X) * U.dx)
        leaves = {X.key: POINTS, U.dx.key: POINTS}
        np.testing.assert_array_equal(evaluate(expression, leaves), np.exp(POINTS) * POINTS)

    def test_repr_is_the_mathematics(self):
        assert repr(2 * U.dx + np.sin(X)) == "2*u_x + sin(x)"


def test_what_is_written_twice_is_one_node():
    x = Coordinate("x", ("x",))

    def written():
        return np.sin(0.1 * x) * (x - 2) + np.sin(0.1 * x)

    one, two = written(), written()
    assert one is two
    assert np.sin(0.1 * x) is not np.sin(-0.1 * x)
    assert (x + 0.0 * x) is x and (x - 1) is not (x - 2)
    # Zero has a sign that a quotient tells.
    assert np.copysign(x, 0.0) is not np.copysign(x, -0.0)
