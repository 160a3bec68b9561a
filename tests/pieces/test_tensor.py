"""Products of kernels along the axes: derivatives, sums, grids, what is kept, what is saved."""

import itertools
import json
import math

import mpmath as mp
import numpy as np
import pytest

from sharpfront.errors import BasisError
from sharpfront.mixture import Mixture
from sharpfront.pieces import coordinate, tables
from sharpfront.pieces import tensor as module
from sharpfront.pieces.coordinate import Points
from sharpfront.pieces.tensor import (
    ALL,
    FEW,
    Axis,
    TensorBasis,
    axis_of_size,
    product_count,
    restore_tensor,
)


def layered(low, high, place, width):
    return coordinate(low, high, Mixture([1.0], np.array([[place]]), np.array([[[width**2]]])))


EVEN = coordinate(-1.0, 0.5)
WIDE = layered(0.0, 2.0, 0.7, 0.3)
LAYER = layered(0.0, 1.0, 1.0, 1e-3)
AXES = {
    "even": Axis(EVEN, 9),
    "few": Axis(EVEN, 2, 6),
    "wide": Axis(WIDE, 10),
    "layer": Axis(LAYER, 12),
}
PLANE = TensorBasis((Axis(WIDE, 9, 11), Axis(EVEN, 2, 7)))
SPACE = TensorBasis((Axis(WIDE, 2, 5), Axis(EVEN, 2, 4), Axis(LAYER, 8, 6)))
FIVE = TensorBasis(tuple(Axis(c, 2, 3) for c in (EVEN, WIDE, LAYER, EVEN, WIDE)))
BASES = {"two": PLANE, "three": SPACE, "five": FIVE}
every_basis = pytest.mark.parametrize("basis", BASES.values(), ids=BASES)


def points_in(basis, count, seed=0):
    rng = np.random.default_rng(seed)
    columns = [a.coordinate.invert(rng.uniform(0, 1, count)).x for a in basis.axes]
    return np.stack(columns, axis=1)


def orders_up_to(dimension, total):
    return [o for o in itertools.product(range(total + 1), repeat=dimension) if sum(o) <= total]


def exact_axis(axis, x, order, functions):
    """d^order of the first functions at x with forty digits, straight from the formulas."""
    c, n = axis.coordinate, axis.kernels
    with mp.workdps(60):

        def raw(s):
            total = mp.mpf(c.uniform) * (s - mp.mpf(c.low))
            for k in range(c.components):
                z = (s - mp.mpf(c.anchor[k]) - mp.mpf(c.offset[k])) / mp.mpf(c.scale[k])
                total += mp.mpf(c.log_share[k]) * mp.asinh(z) + mp.mpf(c.bell_share[k]) * mp.atan(z)
            return total

        low, high = raw(mp.mpf(c.low)), raw(mp.mpf(c.high))
        centres = [mp.mpf(2 * i + 1) / (2 * n) for i in range(-tables.GHOSTS, n + tables.GHOSTS)]
        scale = n / mp.mpf(tables.WIDTH)

        def gaussians(s):
            xi = (raw(s) - low) / (high - low)
            return [mp.exp(-(((xi - centre) * scale) ** 2) / 2) for centre in centres]

        def combined(s, i):
            return mp.fdot([mp.mpf(c) for c in axis.functions.combine[:, i]], gaussians(s))

        return [
            float(mp.diff(lambda s, i=i: combined(s, i), mp.mpf(x), order))
            for i in range(functions)
        ]


@pytest.mark.parametrize("order", range(5))
@pytest.mark.parametrize("name", AXES)
def test_derivatives_along_an_axis_agree_with_sixty_digits(name, order):
    axis = AXES[name]
    at = axis.coordinate.invert(np.array([0.03, 0.41, 0.88]))
    got = axis.matrix(at, order)
    for k, x in enumerate(at.x):
        # The later functions are differences of large terms: their digits are fewer.
        expected = np.array(exact_axis(axis, x, order, 5))
        slope = float(axis.coordinate.derivatives(at, 1)[0][k])
        size = max(np.abs(expected).max(), (slope * axis.kernels) ** order)
        np.testing.assert_allclose(got[k, :5], expected, rtol=0, atol=2e-11 * size)


def fourth_order_difference(f, points, axis, step):
    shift = np.zeros(points.shape[1])
    shift[axis] = step
    return (
        8 * (f(points + shift) - f(points - shift))
        - (f(points + 2 * shift) - f(points - 2 * shift))
    ) / (12 * step)


@pytest.mark.parametrize("name", ["two", "three"])
def test_every_derivative_up_to_the_fourth_is_that_of_the_one_before(name):
    basis = BASES[name]
    rng = np.random.default_rng(1)
    # Weights that fall with the number of the function, as those of a solution do.
    numbers = np.unravel_index(basis.kept, basis.shape)
    weights = rng.standard_normal(basis.size) * 0.1 ** sum(numbers)
    points = points_in(basis, 6)
    low, high = (np.array([getattr(a.coordinate, e) for a in basis.axes]) for e in ("low", "high"))
    points = low + (high - low) * (0.1 + 0.8 * (points - low) / (high - low))
    for orders in orders_up_to(basis.dimension, 4):
        if not any(orders):
            continue
        axis = next(i for i, o in enumerate(orders) if o)
        lower = tuple(o - (i == axis) for i, o in enumerate(orders))
        slopes = basis.axes[axis].coordinate
        step = 2e-3 / float(slopes.derivatives(slopes.nearest(points[:, axis]), 1)[0].max())
        expected = fourth_order_difference(
            lambda p, lower=lower: basis.values(weights, p, lower), points, axis, step
        )
        got = basis.values(weights, points, orders)
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-5 * np.abs(got).max())


@every_basis
def test_columns_are_products_of_the_axes_functions(basis):
    points = points_in(basis, 5)
    orders = tuple(range(basis.dimension)) if basis.dimension < 5 else (1, 0, 2, 0, 1)
    matrix = basis.matrix(points, orders)
    tables_of = [
        a.matrix(a.coordinate.nearest(points[:, i]), o)
        for i, (a, o) in enumerate(zip(basis.axes, orders, strict=True))
    ]
    numbers = np.unravel_index(basis.kept, basis.shape)
    expected = math.prod(t[:, n] for t, n in zip(tables_of, numbers, strict=True))
    assert matrix.shape == (5, basis.size)
    np.testing.assert_allclose(matrix, expected, rtol=1e-12)


@every_basis
def test_combined_is_the_sum_of_the_matrices(basis):
    points = points_in(basis, 20)
    rng = np.random.default_rng(2)
    d = basis.dimension
    orders = [tuple(2 * (i == j) for j in range(d)) for i in range(d)]
    orders += [(1, 1, *(0,) * (d - 2)), (0,) * d]
    coefficients = [rng.standard_normal(20) for _ in orders]
    got = basis.combined(points, orders, coefficients)
    expected = sum(
        c[:, None] * basis.matrix(points, o) for c, o in zip(coefficients, orders, strict=True)
    )
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


@every_basis
@pytest.mark.parametrize("chunk", [None, 200])
def test_values_are_the_matrix_times_the_weights(basis, chunk, monkeypatch):
    if chunk:
        monkeypatch.setattr(module, "_CHUNK", chunk)
    points = points_in(basis, 37)
    weights = np.random.default_rng(3).standard_normal(basis.size)
    for orders in [(0,) * basis.dimension, (1, 2, *(0,) * (basis.dimension - 2))]:
        expected = basis.matrix(points, orders) @ weights
        got = basis.values(weights, points, orders)
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@every_basis
def test_a_grid_gives_the_values_at_its_points(basis):
    rng = np.random.default_rng(4)
    weights = rng.standard_normal(basis.size)
    places = [
        a.coordinate.invert(np.sort(rng.uniform(0, 1, 2 + i))) for i, a in enumerate(basis.axes)
    ]
    grids = np.meshgrid(*[p.x for p in places], indexing="ij")
    points = np.stack([g.ravel() for g in grids], axis=1)
    for orders in [(0,) * basis.dimension, (0, 1, *(0,) * (basis.dimension - 2))]:
        got = basis.on_grid(weights, places, orders)
        expected = basis.values(weights, points, orders)
        assert got.shape == grids[0].shape
        scale = 1e-11 * np.abs(expected).max()
        np.testing.assert_allclose(got.ravel(), expected, rtol=0, atol=scale)


def test_repeated_positions_give_what_single_ones_give():
    """Positions along an axis are computed once where they repeat."""
    points = points_in(PLANE, 3)
    many = np.concatenate([points] * 5)
    expected = np.tile(PLANE.matrix(points, (1, 0)), (5, 1))
    np.testing.assert_allclose(PLANE.matrix(many, (1, 0)), expected, rtol=1e-13)


@every_basis
def test_state_and_back_bit_for_bit(basis):
    words = basis.state()
    # Through text and arrays, as a file would carry it.
    plain = {
        k: v if isinstance(v, np.ndarray) else json.loads(json.dumps(v)) for k, v in words.items()
    }
    again = restore_tensor(plain)
    points = points_in(basis, 11)
    orders = (2, 1, *(0,) * (basis.dimension - 2))
    assert again.shape == basis.shape
    np.testing.assert_array_equal(again.matrix(points, orders), basis.matrix(points, orders))
    np.testing.assert_array_equal(again.centres, basis.centres)
    assert [a.most for a in again.axes] == [a.most for a in basis.axes]


# --- what is kept -----------------------------------------------------------------------------


def counted(shape, power):
    """Products by hand: sum (k_i/K_i)^p < 1."""
    total = 0
    for numbers in itertools.product(*[range(n) for n in shape]):
        share = sum((k / n) ** power for k, n in zip(numbers, shape, strict=True))
        total += share < 1 - 1e-12
    return total


@pytest.mark.parametrize(
    ("shape", "count"),
    [((2, 2), 4), ((3, 3), 9), ((4, 4), 15), ((5, 5), 22), ((5, 3), 14), ((2, 2, 2), 8)],
)
def test_small_products_counted_by_hand(shape, count):
    """(4, 4) leaves out (3, 3); (5, 5) leaves out (4, 4), (4, 3) and (3, 4), 16 + 9 = 25."""
    assert product_count(shape) == count


@pytest.mark.parametrize("shape", [(14, 20), (7, 31), (8, 8, 12), (1, 9), (6, 1, 5)])
def test_up_to_three_dimensions_an_ellipse_is_kept(shape):
    assert product_count(shape) == counted(shape, 2)


@pytest.mark.parametrize("shape", [(4, 4, 4, 4), (3, 3, 3, 3, 3), (5, 4, 3, 5, 2)])
def test_beyond_three_dimensions_the_total_degree_is_kept(shape):
    assert product_count(shape) == counted(shape, 1)
    if len(set(shape)) == 1:
        # Polynomials of total degree below K in d variables.
        d, degree = len(shape), shape[0] - 1
        assert product_count(shape) == math.comb(d + degree, d)


def test_the_smoothest_products_are_kept_and_the_corner_is_not():
    kept = np.zeros(math.prod(PLANE.shape), dtype=bool)
    kept[PLANE.kept] = True
    kept = kept.reshape(PLANE.shape)
    assert kept[0].all()
    assert kept[:, 0].all()
    assert not kept[-1, -1]
    assert PLANE.size == PLANE.kernels == kept.sum()


@every_basis
def test_the_block_holds_the_weights_where_they_are_kept(basis):
    weights = np.arange(1.0, basis.size + 1)
    block = basis.block(weights)
    assert block.shape == basis.shape
    np.testing.assert_array_equal(block.ravel()[basis.kept], weights)
    assert np.count_nonzero(block) == basis.size


# --- an axis ----------------------------------------------------------------------------------


@pytest.mark.parametrize("functions", [4, 8, 13, 14, 20, 31, 32, 45, 70])
def test_an_axis_has_the_functions_that_were_asked_for(functions):
    axis = axis_of_size(EVEN, functions)
    assert abs(axis.size - functions) <= (0 if functions <= 12 else 2)
    assert axis.coordinate is EVEN


@pytest.mark.parametrize("axis", [Axis(EVEN, 9), Axis(EVEN, 2, 6), Axis(LAYER, 20)], ids=repr)
def test_functions_are_orthonormal_on_even_and_cosine_rows(axis):
    if axis.kernels >= FEW:
        rows = tables.fitting_points(axis.kernels)
    else:
        rows = module._fitting_points(axis.kernels, ALL)
    values = axis.functions.table(rows, 0).values[0][:, :6]
    np.testing.assert_allclose(values.T @ values / len(rows), np.eye(6), atol=1e-9)


def test_a_cut_axis_has_the_smoothest_functions():
    cut = Axis(EVEN, 9, 5)
    at = EVEN.invert(np.linspace(0, 1, 41))
    values, slopes = (cut.matrix(at, order) for order in (0, 1))
    assert cut.size == 5
    # Each function turns more often than the one before.
    turns = [int(np.sum(np.diff(np.sign(v)) != 0)) for v in values.T]
    assert turns == [0, 1, 2, 3, 4]
    assert np.all(np.isfinite(slopes))


@pytest.mark.parametrize("axis", AXES.values(), ids=AXES)
def test_rows_fill_the_axis_and_outnumber_the_functions(axis):
    fitting, checking = axis.fitting.x, axis.checking
    for places in (fitting, checking):
        assert places[0] == axis.coordinate.low
        assert places[-1] == axis.coordinate.high
        assert np.all(np.diff(places) > 0)
    assert len(fitting) >= 1.3 * axis.size
    assert len(checking) > 1.4 * axis.size


@pytest.mark.parametrize("kernels", [8, 12, 30])
def test_the_error_is_asked_for_where_the_equation_was_not_fitted(kernels):
    """Nodes may be rows; the middles of cells, where residuals are seen, mostly are not."""
    axis = Axis(EVEN, kernels)
    rows, nodes = axis.fitting.x, axis.checking
    middles = 0.5 * (nodes[1:] + nodes[:-1])
    assert np.mean(np.abs(middles[:, None] - rows).min(axis=1) < 1e-6) < 0.15


def test_kernels_are_thin_across_a_layer_and_long_beside_it():
    basis = TensorBasis((Axis(LAYER, 12), Axis(EVEN, 9)))
    centres, covariances = basis.centres, basis.covariances
    assert centres.shape == (108, 2)
    assert covariances.shape == (108, 2, 2)
    assert np.all(centres >= [0, -1])
    assert np.all(centres <= [1, 0.5])
    nearest = np.argmax(centres[:, 0])
    thin, long = np.sqrt(np.diag(covariances[nearest]))
    assert thin < 5e-3
    assert long == pytest.approx(tables.WIDTH * 1.5 / 9, rel=1e-12)
    # As wide as the distance between neighbours says, everywhere.
    x = Axis(LAYER, 12).centres
    gaps = np.gradient(x)
    ratio = Axis(LAYER, 12).deviations / gaps
    np.testing.assert_allclose(ratio, tables.WIDTH, rtol=0.3)
    assert not covariances[:, 0, 1].any()


def test_an_even_axis_has_even_kernels():
    axis = Axis(EVEN, 6)
    np.testing.assert_allclose(axis.centres, -1 + 1.5 * (np.arange(6) + 0.5) / 6, rtol=1e-14)
    np.testing.assert_allclose(axis.deviations, tables.WIDTH * 1.5 / 6, rtol=1e-14)


# --- refusals ---------------------------------------------------------------------------------


def test_fifth_derivatives_are_refused():
    with pytest.raises(BasisError, match="up to 4, asked for 5"):
        PLANE.matrix(points_in(PLANE, 2), (0, 5))
    with pytest.raises(BasisError, match="system of lower order"):
        PLANE.values(np.zeros(PLANE.size), points_in(PLANE, 2), (5, 0))
    # Four along each of two axes are carried.
    assert np.all(np.isfinite(PLANE.matrix(points_in(PLANE, 2), (4, 4))))


@pytest.mark.parametrize(
    ("shape", "orders"), [((3, 3), (0, 0)), ((3, 2), (0, 0, 0)), ((3,), (0, 0))]
)
def test_points_of_another_dimension_are_refused(shape, orders):
    with pytest.raises(BasisError, match="Expected points of shape"):
        PLANE.matrix(np.zeros(shape), orders)


def test_offsets_from_an_end_keep_their_digits():
    """A point 1e-19 from the end is not the end."""
    axis = Axis(layered(0.0, 1.0, 0.0, 1e-18), 12)
    at = Points(np.zeros(2), np.array([0.0, 5e-18]))
    values = axis.matrix(at, 0)[:, :4]
    assert np.abs(np.diff(values, axis=0)).max() > 0.1
