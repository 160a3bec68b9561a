"""A Python function becomes expressions: its parameters, its result, and what it may not do."""

import functools

import numpy as np
import pytest
import scipy.special as sp

from sharpfront.equation import function, grad, laplacian
from sharpfront.equation.expression import Coordinate, Derivative
from sharpfront.equation.graph import evaluate
from sharpfront.equation.linearise import linear_form
from sharpfront.equation.trace import (
    Symbols,
    is_coordinate_name,
    require_unknowns,
    trace,
    unknowns_of,
)
from sharpfront.errors import EquationError

LINE = Symbols(("u",), ("x",))
PLANE = Symbols(("u",), ("x", "y"))
POINTS = np.linspace(0.1, 1, 4)


def one(residual, symbols=LINE):
    (expression,) = trace(residual, symbols)
    return expression


def at(expression, **values):
    """Evaluate with values by name: x, u, u_x, u_xx."""
    leaves = {}
    for name, value in values.items():
        unknown, _, letters = name.partition("_")
        if is_coordinate_name(name):
            leaves["coordinate", name] = value
        else:
            leaves["derivative", unknown, (len(letters),)] = value
    return evaluate(expression, leaves)


class TestSymbols:
    def test_stand_ins(self):
        assert isinstance(LINE.stand_in("x"), Coordinate)
        assert isinstance(LINE.stand_in("u"), Derivative)
        assert PLANE.stand_in("u").orders == (0, 0)

    @pytest.mark.parametrize("name", ["x", "y", "z", "t", "x1", "x12"])
    def test_coordinate_names(self, name):
        assert is_coordinate_name(name)

    @pytest.mark.parametrize("name", ["u", "xy", "x_1", "tt", "X", "y1", ""])
    def test_other_names(self, name):
        assert not is_coordinate_name(name)


class TestWhatAResidualMayContain:
    def test_captured_constants_and_functions(self):
        nu, k = 1e-2, np.float64(3)

        def source(x):
            return np.exp(-x) * sp.erf(x) + x**2

        expression = one(lambda u, x: -nu * u.dxx + k * x * u.dx - source(x))
        expected = -nu * 5 + 3 * POINTS * 7 - source(POINTS)
        np.testing.assert_allclose(at(expression, x=POINTS, u_xx=5, u_x=7), expected, rtol=1e-14)

    def test_opaque_functions(self):
        table = function(lambda x: np.interp(x, [0, 1], [2, 4]))
        expression = one(lambda u, x: table(x) * u)
        np.testing.assert_allclose(at(expression, x=POINTS, u=3), 3 * (2 + 2 * POINTS), rtol=1e-14)

    def test_a_statement_body(self):
        def residual(u, x):
            total = 0
            for k in range(1, 4):
                total += k * u * x**k
            total -= 1
            return total

        expected = 2 * (POINTS + 2 * POINTS**2 + 3 * POINTS**3) - 1
        np.testing.assert_allclose(at(one(residual), x=POINTS, u=2), expected, rtol=1e-14)

    def test_choices(self):
        expression = one(lambda u, x: np.where((x > 0.3) & (x < 0.8), u, np.clip(x, 0.2, 0.9)))
        expected = np.where((POINTS > 0.3) & (POINTS < 0.8), 5, np.clip(POINTS, 0.2, 0.9))
        np.testing.assert_array_equal(at(expression, x=POINTS, u=5), expected)

    def test_select(self):
        expression = one(lambda u, x: u + np.select([x < 0.3, x < 0.8], [1, x], default=-2))
        expected = 5 + np.select([POINTS < 0.3, POINTS < 0.8], [1.0, POINTS], default=-2)
        np.testing.assert_array_equal(at(expression, x=POINTS, u=5), expected)

    def test_normal(self):
        expression = one(lambda u, x: u.dn)
        assert evaluate(expression, {("normal", "x"): -1.0, ("derivative", "u", (1,)): 4}) == -4


class TestParameters:
    @pytest.mark.parametrize(
        "residual",
        [
            lambda u, x: x * u,
            lambda x, u: x * u,
            lambda u, *x: x[0] * u,
            lambda u, x, k=1.0: k * x * u,
            lambda u, x, **options: x * u,
            lambda u, *, x: x * u,
            lambda *, u, x: x * u,
            functools.partial(lambda u, k, x: k * x * u, k=1.0),
            functools.partial(lambda k, u, x: k * x * u, 1.0),
        ],
    )
    def test_any_order_and_kind(self, residual):
        np.testing.assert_allclose(at(one(residual), x=POINTS, u=3), 3 * POINTS, rtol=1e-15)
        assert unknowns_of(residual, ("x",)) == ("u",)

    def test_methods_and_callable_objects(self):
        class Reaction:
            rate = 2

            def residual(self, u, x):
                return self.rate * x * u

            __call__ = residual

        for residual in (Reaction().residual, Reaction()):
            np.testing.assert_allclose(at(one(residual), x=POINTS, u=3), 6 * POINTS, rtol=1e-15)

    def test_a_coordinate_may_be_left_out(self):
        assert at(one(lambda u: 2 * u), u=3) == 6
        assert one(lambda u, y: u + y, PLANE) is not None

    def test_a_starred_parameter_takes_the_coordinates_not_named(self):
        assert one(lambda u, *x: x[1] + 0 * u, PLANE).name == "y"
        assert one(lambda u, x, *rest: rest[0] + 0 * u, PLANE).name == "y"

    def test_unknowns_in_their_order(self):
        assert unknowns_of(lambda v, x, u, y, p: 0, ("x", "y")) == ("v", "u", "p")
        assert unknowns_of(lambda u, x, nu=1: 0, ("x",)) == ("u",)

    def test_no_unknown(self):
        with pytest.raises(EquationError, match=r"no unknown .*Write for example lambda u, x, y:"):
            unknowns_of(lambda x, y: x, ("x", "y"))

    @pytest.mark.parametrize("name", ["y", "z", "x1"])
    def test_unknown_coordinate(self, name):
        residual = eval(f"lambda u, {name}: u")
        message = rf"'{name}' is not a coordinate of this domain, whose coordinates are x\."
        with pytest.raises(EquationError, match=message):
            trace(residual, LINE)
        with pytest.raises(EquationError, match=message):
            unknowns_of(residual, ("x",))

    def test_time_where_there_is_none(self):
        with pytest.raises(EquationError, match=r"Give time=\(t0, t1\) for a problem in time"):
            trace(lambda u, x, t: u.dt, LINE)

    def test_unknown_coordinate_of_a_derivative(self):
        with pytest.raises(EquationError, match=r"`\.dy` .*coordinates here are x\. Write .*\.dxx"):
            trace(lambda u, x: u.dy, LINE)
        with pytest.raises(EquationError, match=r"`\.dt` .*coordinates here are x\."):
            trace(lambda u, x: u.dt + u.dx, LINE)

    def test_a_parameter_that_is_nothing(self):
        with pytest.raises(EquationError, match=r"'nu'; the unknowns here are u .*nu=nu"):
            trace(lambda u, x, nu: nu * u, LINE)

    @pytest.mark.parametrize("thing", ["u", 3, None, (lambda u: u,)])
    def test_not_a_function(self, thing):
        with pytest.raises(EquationError, match=r"such as lambda u, x: u\.dx - 1, got"):
            trace(thing, LINE)

    def test_a_function_whose_parameters_cannot_be_read(self):
        for use in (lambda f: trace(f, LINE), lambda f: unknowns_of(f, ("x",))):
            with pytest.raises(EquationError, match=r"Wrap it: lambda u, x"):
                use(max)


class TestResult:
    def test_several(self):
        for many in (lambda u, x: (u, u.dx), lambda u, x: [u, u.dx]):
            assert [e.orders for e in trace(many, LINE)] == [(0,), (1,)]

    def test_a_vector(self):
        assert [e.orders for e in trace(lambda u, x, y: grad(u), PLANE)] == [(1, 0), (0, 1)]

    def test_numbers_become_constants(self):
        assert one(lambda u, x: 3).value == 3
        assert trace(lambda u, x: (u, np.float32(2)), LINE)[1].value == 2

    @pytest.mark.parametrize(
        ("residual", "message"),
        [
            (lambda u, x: None, "returned None: is a `return` missing"),
            (lambda u, x: (u, None), "real numbers"),
            (lambda u, x: True, "`u - 1`, not `u == 1`"),
            (lambda u, x: u == 1, r"write `u\.dx - 1`, not `u\.dx == 1`"),
            (lambda u, x: u > 1, r"is a comparison \(u > 1\).*Write `u - 1` for u = 1"),
            (lambda u, x: np.float64(1) == u, "is a comparison"),
            (lambda u, x: (u, (u > 1) & (x > 0)), "is a comparison"),
            (lambda u, x: (), "returned nothing"),
            (lambda u, x: "u", "real numbers"),
            (lambda u, x: {"u": u}, "real numbers"),
            (lambda u, x: np.ones(3), "array of shape"),
            (lambda u, x: (u, (u, u)), "turned into a number"),
            (lambda u, x: np.array([u, u]), "turned into a number"),
        ],
    )
    def test_refused(self, residual, message):
        with pytest.raises(EquationError, match=message):
            trace(residual, LINE)

    def test_the_message_says_which_function(self):
        with pytest.raises(EquationError, match="The condition on 'left' returned None"):
            trace(lambda u, x: None, LINE, what="condition on 'left'")

    def test_if_says_what_to_write(self):
        def residual(u, x):
            if u > 0:
                return u.dx
            return u.dxx

        with pytest.raises(EquationError, match=r"`if`, `and`.*Write np\.where\(condition, a, b\)"):
            trace(residual, LINE)

    def test_errors_of_the_users_own_code_pass_through(self):
        with pytest.raises(ZeroDivisionError):
            trace(lambda u, x: u / (1 // 0), LINE)


class TestRequireUnknowns:
    def test_good(self):
        require_unknowns(trace(lambda u, x: (u, laplacian(u)), LINE), "equation")

    @pytest.mark.parametrize("residual", [lambda u, x: x - 1, lambda u, x: 0 * u, lambda u, x: 3])
    def test_without_the_unknown(self, residual):
        advice = r"The equation does not contain an unknown.*Write for example `u - 1` for u = 1"
        with pytest.raises(EquationError, match=advice):
            require_unknowns(trace(residual, LINE), "equation")

    def test_which_of_several(self):
        with pytest.raises(EquationError, match="The condition 2 does not contain"):
            require_unknowns(trace(lambda u, x: (u, x), LINE), "condition")


def test_leaves_are_the_same_each_time_so_that_what_is_read_of_them_is_known():
    symbols = Symbols(("u",), ("x",))
    first, second = (trace(lambda u, x: u.dxx - 2 * x, symbols)[0] for _ in range(2))
    assert first is second
    assert linear_form(first) is linear_form(second)
    (other,) = trace(lambda u, y: u.dyy - 2 * y, Symbols(("u",), ("y",)))
    assert other is not first
    with pytest.raises(AttributeError, match="coordinates here are x"):
        trace(lambda u, x: u.dz, symbols)
