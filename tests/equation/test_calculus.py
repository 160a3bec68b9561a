"""grad, div and laplacian by value, and vectors with every kind of factor."""

import numpy as np
import pytest

from sharpfront.equation import div, grad, laplacian
from sharpfront.equation.calculus import Vector
from sharpfront.equation.graph import evaluate
from sharpfront.equation.trace import Symbols
from sharpfront.errors import EquationError

SYMBOLS = Symbols(("u", "v"), ("x", "y"))
X, Y, U, V = (SYMBOLS.stand_in(name) for name in "xyuv")
LEAVES = {
    leaf.key: value
    for leaf, value in {
        **{X: 0.7, Y: -1.3, U: 2.0, V: 3.0, U.dx: 5.0, U.dy: 7.0, V.dx: 11.0, V.dy: 13.0},
        **{U.dxx: 17.0, U.dxy: 19.0, U.dyy: 23.0},
    }.items()
}


def value(expression):
    return float(evaluate(expression, LEAVES))


def values(vector):
    assert isinstance(vector, Vector)
    return [value(component) for component in vector]


class TestOperators:
    def test_grad(self):
        assert values(grad(U)) == [5, 7]
        assert values(grad(X**2 * Y)) == pytest.approx([2 * 0.7 * -1.3, 0.49])

    def test_laplacian(self):
        assert value(laplacian(U)) == 17 + 23
        assert value(laplacian(U)) == value(div(grad(U)))
        assert value(laplacian(X**2 + 3 * Y**2)) == 8

    def test_div(self):
        assert value(div((U, V))) == 5 + 13
        assert value(div([U, V])) == 5 + 13
        assert value(div(Vector((U, V)))) == 5 + 13
        assert value(div((U, 1))) == 5
        assert value(div((0, V))) == 13

    def test_flux_form_in_the_plane(self):
        k = 1 + X * Y
        expected = -1.3 * 5 + 0.7 * 7 + (1 + 0.7 * -1.3) * (17 + 23)
        assert value(div(k * grad(U))) == pytest.approx(expected, rel=1e-14)

    def test_transport_in_both_forms(self):
        assert value(div((2 * U, 3 * U))) == value((2, 3) @ grad(U)) == 2 * 5 + 3 * 7

    def test_time_is_no_space_coordinate(self):
        u = Symbols(("u",), ("x", "t")).stand_in("u")
        assert len(grad(u)) == 1
        assert laplacian(u).key == u.dxx.key
        assert div((u,)).key == u.dx.key

    def test_three_dimensions(self):
        symbols = Symbols(("u",), ("x", "y", "z"))
        x, y, z = (symbols.stand_in(c) for c in "xyz")
        leaves = {x.key: 1.0, y.key: 2.0, z.key: 3.0}
        assert evaluate(laplacian(x**2 * y * z**2), leaves) == 2 * 2 * 9 + 2 * 2 * 1
        assert len(grad(symbols.stand_in("u"))) == 3

    def test_of_what_has_become_constant(self):
        assert value(laplacian(0 * U)) == 0
        assert value(laplacian(3 * X + Y)) == 0
        assert value(div(0 * grad(U))) == 0
        assert value(div(grad(X + Y))) == 0


class TestFactors:
    @pytest.mark.parametrize(
        "factor",
        [2, 2.0, np.float64(2), np.float32(2), np.int64(2), np.array(2.0), np.array(2)],
        ids=lambda f: type(f).__name__,
    )
    def test_number_on_either_side(self, factor):
        assert values(factor * grad(U)) == [10, 14]
        assert values(grad(U) * factor) == [10, 14]
        assert values(grad(U) / factor) == [2.5, 3.5]

    @pytest.mark.parametrize("factor", [X, U, np.exp(X), 1 + X**2, V.dx])
    def test_expression_on_either_side(self, factor):
        expected = [value(factor) * 5, value(factor) * 7]
        assert values(factor * grad(U)) == pytest.approx(expected)
        assert values(grad(U) * factor) == pytest.approx(expected)
        assert values(grad(U) / factor) == pytest.approx([5 / value(factor), 7 / value(factor)])

    @pytest.mark.parametrize(
        "other", [(2.0, 3.0), [2.0, 3.0], np.array([2.0, 3.0]), Vector((2.0, 3.0))], ids=type
    )
    def test_vector_on_either_side(self, other):
        assert values(grad(U) + other) == values(other + grad(U)) == [7, 10]
        assert values(grad(U) - other) == [3, 4]
        assert values(other - grad(U)) == [-3, -4]
        assert value(grad(U) @ other) == value(other @ grad(U)) == 10 + 21

    def test_vector_of_expressions(self):
        assert value((Y, -X) @ grad(U)) == pytest.approx(-1.3 * 5 - 0.7 * 7)
        assert value(grad(U) @ grad(V)) == 5 * 11 + 7 * 13
        assert values(-grad(U)) == [-5, -7]

    def test_matrix_times_gradient(self):
        matrix = np.array([[2.0, 1.0], [0.5, 3.0]])
        assert values(matrix @ grad(U)) == [17, 23.5]
        assert values(((X, 0), (0, 1)) @ grad(U)) == pytest.approx([3.5, 7])

    def test_items(self):
        gradient = grad(U)
        assert len(gradient) == 2
        assert gradient[0].key == U.dx.key
        assert [c.key for c in gradient] == [U.dx.key, U.dy.key]


class TestRefusals:
    @pytest.mark.parametrize("other", [(1, 2, 3), (1,), np.ones(3), 2, np.float64(2), X])
    def test_vectors_of_different_length(self, other):
        for combine in (lambda v, w: v + w, lambda v, w: v - w, lambda v, w: v @ w):
            with pytest.raises(EquationError, match="vector of 2 components meets"):
                combine(grad(U), other)
            with pytest.raises(EquationError, match="vector of 2 components meets"):
                combine(other, grad(U))

    @pytest.mark.parametrize(
        "combine",
        [
            lambda v: v * v,
            lambda v: v / v,
            lambda v: np.exp(v[0]) + (v * v)[0],
            lambda v: laplacian(v),
            lambda v: grad(v),
            lambda v: div((v, v)),
        ],
    )
    def test_a_vector_in_the_place_of_a_number(self, combine):
        with pytest.raises(EquationError, match=r"Write v @ w for a scalar product"):
            combine(grad(U))

    def test_an_array_as_factor(self):
        with pytest.raises(EquationError, match="array of shape"):
            np.ones(2) * grad(U)

    @pytest.mark.parametrize("parts", [(U,), (U, V, U), ()])
    def test_div_counts_components(self, parts):
        if not parts:
            assert value(div(parts)) == 0
            return
        with pytest.raises(EquationError, match=f"each of x, y; got {len(parts)}"):
            div(parts)

    @pytest.mark.parametrize("thing", [U, 2.0, np.array(1.0)])
    def test_div_wants_a_vector(self, thing):
        with pytest.raises(EquationError, match=r"write div\(\(a, b\)\)"):
            div(thing)

    @pytest.mark.parametrize("constant", [3, 0 * U, X.dx])
    def test_grad_of_a_constant(self, constant):
        with pytest.raises(EquationError, match=r"c \* grad\(u\) instead of grad\(c \* u\)"):
            grad(constant)
