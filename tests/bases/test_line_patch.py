"""Rows of one piece: on functions whose derivatives are known, in a layer and outside."""

import numpy as np
import pytest

from sharpfront.bases import even_kernels as tables
from sharpfront.bases.line_patch import line_patch
from sharpfront.maps.mixture_axis import mixture_axis
from sharpfront.mixture import Mixture
from sharpfront.problem.line_problem import IntegralTerm, LineProblem, Term
from sharpfront.rows.line_rows import integral_row, integrated_weight, operator_rows, term_row

WIDTHS = [1.0, 1e-3, 1e-8]
ORDERS = [1, 2, 3, 4, 5, 6]


def piece(eps=1e-3, order=2, kernels=None, low=0.0, high=1.0):
    """Kernels for a layer of width eps at the right end; no more than needed, for rounding."""
    kernels = kernels or (80 if eps < 1 else 16)
    mixture = None if eps >= 1 else Mixture(np.ones(1), np.array([high]), np.array([eps**2]))
    return line_patch(mixture_axis(low, high, mixture), kernels, (low, high), order)


def layer(points, high, eps, order):
    """The derivative of exp((x - high) / eps), from offsets."""
    gap = (points.anchor - high) + points.offset
    return np.exp(gap / eps) / eps**order


def fitted(p, eps):
    """Weights of exp((x - high) / eps): u by its values, W by those of u^(m-2) / xi'^(m-2)."""
    table, points = tables.kernel_table(p.kernels, 2), p.places.rows
    high = p.axis.high
    fields = [layer(points, high, eps, 0)]
    if p.fields == 2:
        low = p.order - 2
        slope = p.axis.derivatives(points, 1)[0]
        fields.append(layer(points, high, eps, low) / slope**low)
    # The functions are orthonormal on the fitting points.
    return np.concatenate([np.linalg.lstsq(table[0], f, rcond=None)[0] for f in fields])


def tolerance(p, order):
    """Each derivative of a field costs two digits; those that w takes over cost none."""
    low = max(p.order - 2, 0)
    level = order - low if low and order >= low else order
    return [1e-11, 1e-9, 1e-7, 1e-5, 1e-3][level]


def highest(p):
    return p.order if p.fields == 2 else 4


@pytest.mark.parametrize("eps", WIDTHS)
@pytest.mark.parametrize("order", ORDERS)
def test_all_derivatives_of_a_layer(eps, order):
    p = piece(eps, order)
    weights, points = fitted(p, eps), p.places.middles
    table = tables.kernel_table(p.kernels, 4, tables.checking_middles)
    for j in range(highest(p) + 1):
        expected = layer(points, 1.0, eps, j)
        by_rows = p.derivative_rows(table, points, j) @ weights
        assert np.abs(by_rows - expected).max() * eps**j < tolerance(p, j), j


@pytest.mark.parametrize("eps", [1.0, 1e-3])
@pytest.mark.parametrize("order", ORDERS)
def test_evaluation_is_rows_times_weights(eps, order):
    p = piece(eps, order)
    weights = fitted(p, eps)
    x = np.concatenate([np.linspace(0, 1, 41), 1 - eps * np.geomspace(1e-3, 1, 20)])
    points = p.axis.nearest(x)
    table = tables.even_kernels(p.kernels).table(p.axis.xi(points), 4)
    for j in range(highest(p) + 1):
        rows = p.derivative_rows(table, points, j) @ weights
        got = p.several(weights, x, [j])[0]
        assert got.shape == x.shape
        assert np.abs(got - rows).max() * eps**j < tolerance(p, j)
        assert np.abs(got - layer(points, 1.0, eps, j)).max() * eps**j < tolerance(p, j)


def test_derivatives_are_those_of_the_values():
    """Central differences of u^(j) against u^(j+1), without an exact solution."""
    p = piece(0.05, 2, 50)
    weights = np.random.default_rng(0).standard_normal(p.size) * 2.0 ** -np.arange(p.size)
    x, h = np.linspace(0.02, 0.98, 49), 1e-5
    for j in range(3):
        difference = p.several(weights, x + h, [j])[0] - p.several(weights, x - h, [j])[0]
        slope = p.several(weights, x, [j + 1])[0]
        np.testing.assert_allclose(difference / (2 * h), slope, atol=3e-5 * np.abs(slope).max())


@pytest.mark.parametrize("eps", WIDTHS)
@pytest.mark.parametrize("order", ORDERS)
def test_end_rows_are_the_rows_at_the_ends(eps, order):
    p = piece(eps, order)
    weights = fitted(p, eps)
    table = tables.even_kernels(p.kernels).table(np.array([0.0, 1.0]), 4)
    for j in range(order + 1):
        rows = p.end_rows(j)
        assert rows.shape == (2, p.size)
        np.testing.assert_array_equal(rows, p.derivative_rows(table, p.axis.ends, j))
        expected = [np.exp(-1 / eps) / eps**j, 1 / eps**j]
        assert np.abs(rows @ weights - expected).max() * eps**j < 30 * tolerance(p, j)


@pytest.mark.parametrize("order", ORDERS)
def test_a_term_is_a_row_at_its_point(order):
    p = piece(1e-3, order)
    weights = fitted(p, 1e-3)
    for j in range(order + 1):
        np.testing.assert_array_equal(term_row(p, Term(0.0, j, 5.0)), p.end_rows(j)[0])
        np.testing.assert_array_equal(term_row(p, Term(1.0, j)), p.end_rows(j)[1])
        for x in (0.3, 0.9995):
            expected = np.exp((x - 1) / 1e-3) * 1e3**j
            got = term_row(p, Term(x, j)) @ weights
            assert abs(got - expected) * 1e-3**j < tolerance(p, j)


@pytest.mark.parametrize("order", [3, 4, 5, 6])
def test_columns_of_two_fields(order):
    """u and what lies below w comes from the first half of the columns, the rest from the other."""
    p = piece(1e-2, order)
    assert (p.fields, p.size) == (2, 2 * p.width)
    for j in range(order + 1):
        row = p.end_rows(j)
        empty, full = (p.width, 0) if j < order - 2 else (0, p.width)
        assert not np.any(row[:, empty : empty + p.width])
        assert np.any(row[:, full : full + p.width])


@pytest.mark.parametrize("order", [1, 2])
def test_one_field_up_to_order_two(order):
    p = piece(1e-2, order)
    assert (p.fields, p.size) == (1, p.width)


@pytest.mark.parametrize("eps", WIDTHS)
@pytest.mark.parametrize("order", ORDERS)
def test_the_operator_on_a_layer(eps, order):
    """With c_j = eps^j a_j(x), L u = sum a_j exp((x - 1) / eps): of order one everywhere."""
    p = piece(eps, order)
    a = [lambda x, j=j: np.cos(x + j) + 0.1 * j for j in range(order + 1)]
    problem = LineProblem(
        (0.0, 1.0), tuple((lambda x, f=f, j=j: eps**j * f(x)) for j, f in enumerate(a)), np.sin
    )
    table = tables.kernel_table(p.kernels, p.tabulated, tables.checking_middles)
    points = p.places.middles
    matrix, source, data = operator_rows(problem, p, table, points)
    n = table.shape[1]
    np.testing.assert_array_equal(data, problem.sample(points.x))
    np.testing.assert_array_equal(source[:n], np.sin(points.x))
    got = matrix @ fitted(p, eps)
    expected = sum(f(points.x) for f in a) * layer(points, 1.0, eps, 0)
    assert np.abs(got[:n] - expected).max() < (1e-7 if order < 5 else 1e-5)
    if p.fields == 1:
        assert matrix.shape == (n, p.size)
        return
    # The second half says u^(m-2) = w, here true to the rounding of that derivative of u.
    assert matrix.shape == (2 * n, p.size)
    assert not source[n:].any()
    assert np.abs(got[n:]).max() * eps ** (order - 2) < [1e-9, 1e-7, 1e-5, 1e-3][order - 3]


@pytest.mark.parametrize("order", [3, 4, 5, 6])
def test_the_definition_row_sees_a_second_field_that_is_wrong(order):
    p = piece(1.0, order)
    problem = LineProblem((0.0, 1.0), (1.0,) * (order + 1))
    table = tables.kernel_table(p.kernels, p.tabulated, tables.checking_middles)
    matrix, *_ = operator_rows(problem, p, table, p.places.middles)
    weights = fitted(p, 1.0)
    weights[p.width :] *= 1.5
    got = matrix[table.shape[1] :] @ weights
    expected = -0.5 * layer(p.places.middles, 1.0, 1.0, 0)
    np.testing.assert_allclose(got, expected, atol=1e-3 if order > 4 else 1e-7)


@pytest.mark.parametrize("eps", [1.0, 1e-2, 1e-6, 1e-9])
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_integral_of_a_layer(eps, order):
    p = piece(eps, order)
    weights = fitted(p, eps)
    exact = eps * -np.expm1(-1 / eps)
    assert integral_row(p, IntegralTerm()) @ weights == pytest.approx(exact, abs=1e-12)
    got = integral_row(p, IntegralTerm(lambda x: 2 * np.ones_like(x))) @ weights
    assert got == pytest.approx(2 * exact, abs=2e-12)
    slope = integral_row(p, IntegralTerm(1.0, 1)) @ weights
    assert slope == pytest.approx(-np.expm1(-1 / eps), abs=1e-11)


@pytest.mark.parametrize("eps", [1.0, 1e-6])
@pytest.mark.parametrize("power", range(6))
def test_integral_of_a_polynomial_whatever_the_coordinate(eps, power):
    """The weight varies, and the kernels are crowded in a layer that is not there."""
    p = piece(eps, kernels=100, low=-1.0, high=2.0)
    x = p.places.rows.x
    weights = np.linalg.lstsq(tables.kernel_table(100, 0)[0], x**power, rcond=None)[0]
    got = integral_row(p, IntegralTerm(lambda x: x**2)) @ weights
    exact = (2.0 ** (power + 3) - (-1.0) ** (power + 3)) / (power + 3)
    assert got == pytest.approx(exact, abs=3e-12 * 2.0**power)


def test_functions_are_sampled_on_their_own_side_of_a_jump():
    c = mixture_axis(0.0, 1.0)
    inner = np.nextafter(1.0, 0.0)
    p = line_patch(c, 12, (0.0, inner), 2)

    def step(x):
        return np.where(x < 1.0, 1.0, 100.0)

    problem = LineProblem((0.0, 2.0), (step, 0.0, 1.0), step)
    data = p.sample(problem, p.places.nodes)
    assert np.all(data[0] == 1)
    assert np.all(data[-1] == 1)
    assert p.places.nodes.x[-1] == 1.0
    plain = integral_row(line_patch(c, 12, (0.0, 1.0), 2), IntegralTerm())
    np.testing.assert_allclose(integral_row(p, IntegralTerm(step)), plain, atol=1e-13)


def test_integrals_stay_on_their_own_side_of_a_jump():
    """Points of a layer at the jump are so near to it that their positions round to it."""
    narrow = piece(1e-15).axis
    inner = np.nextafter(1.0, 0.0)

    def step(x):
        return np.where(x < 1.0, 1.0, 100.0)

    plain = integral_row(line_patch(narrow, 40, (0.0, 1.0), 2), IntegralTerm())
    assert np.any(narrow.invert(tables.quadrature(40)[0]).x == 1.0)
    got = integral_row(line_patch(narrow, 40, (0.0, inner), 2), IntegralTerm(step))
    np.testing.assert_array_equal(got, plain)


@pytest.mark.parametrize("factor", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("kernels", [60, 100, 143])
def test_integrals_follow_components_of_several_widths(kernels, factor):
    """The integral of one is the length, however the kernels crowd at an end."""
    crowded = Mixture(
        np.array([0.45, 0.4, 0.1, 0.05]),
        1 - factor * np.array([2e-5, 4e-4, 1.25e-3, 7.4e-3]),
        (factor * np.array([3e-5, 1.2e-4, 3e-5, 3.4e-4])) ** 2,
    )
    length = integrated_weight(
        line_patch(mixture_axis(0.7, 1.0, crowded), kernels, (0.7, 1.0), 2), IntegralTerm()
    )
    assert length == pytest.approx(0.3, rel=1e-13)


def test_places_are_the_tables_points_in_x():
    p = piece(1e-5, kernels=20)
    c = p.axis
    for points, s in [
        (p.places.rows, tables.fitting_points(20)),
        (p.places.nodes, tables.checking_nodes(20)),
        (p.places.middles, tables.checking_middles(20)),
    ]:
        np.testing.assert_allclose(c.xi(points), s, atol=1e-14)
        np.testing.assert_array_equal(p.rates(points), c.derivatives(points, 2))
    assert p.places is p.places


def test_a_piece_holds_its_ends_and_what_is_between():
    p = piece(low=-1.0, high=2.0)
    assert [p.holds(x) for x in (-1.0, 0.0, 2.0)] == [True] * 3
    assert [p.holds(x) for x in (-1.0000001, 2.0000001)] == [False] * 2
