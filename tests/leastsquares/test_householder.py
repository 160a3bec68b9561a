"""Plain QR with damping: exact where columns are independent, small weights where they are not."""

import math

import numpy as np
import pytest

from sharpfront.errors import LinearSystemError
from sharpfront.kernels.assemble import Block, LinearSystem
from sharpfront.leastsquares import SVD, Householder


def solved(*blocks, method=None):
    method = method or Householder()
    system = LinearSystem(tuple(blocks))
    return method.solve(method.factor(system), system.rhs)


@pytest.mark.parametrize("shape", [(5, 5), (40, 7), (300, 60), (3, 1)])
def test_independent_columns_give_the_least_squares_answer(shape):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal(shape), rng.standard_normal(shape[0])
    weights, outcome, facts = solved(Block("a", a, b))
    expected = np.linalg.lstsq(a, b, rcond=None)[0]
    size = np.abs(expected).max() * np.linalg.cond(a)
    np.testing.assert_allclose(weights, expected, rtol=0, atol=1e-14 * size)
    assert (outcome.kind, facts.rank, facts.dead_columns) == ("converged", shape[1], 0)
    norm = np.linalg.norm(a @ expected - b)
    assert facts.residual_norm == pytest.approx(norm, rel=1e-10, abs=1e-13)


def test_independent_columns_are_not_damped():
    """Damping of any size changes nothing while no column depends on the others."""
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((30, 6)), rng.standard_normal(30)
    plain = solved(Block("a", a, b))[0]
    heavy = solved(Block("a", a, b), method=Householder(damping=1e3))[0]
    np.testing.assert_array_equal(plain, heavy)


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8])
def test_columns_of_all_sizes_are_scaled_to_one(size):
    rng = np.random.default_rng(2)
    scale = size * 10.0 ** np.arange(-4, 5, 2)
    a, b = rng.standard_normal((20, 5)) * scale, rng.standard_normal(20)
    weights, _, facts = solved(Block("a", a, b))
    expected = np.linalg.lstsq(a / scale, b, rcond=None)[0]
    np.testing.assert_allclose(weights * scale, expected, rtol=1e-12)
    assert facts.condition < 100


def dependent(rng, rows, columns, rank):
    return rng.standard_normal((rows, rank)) @ rng.standard_normal((rank, columns))


@pytest.mark.parametrize(("rows", "columns", "rank"), [(30, 9, 4), (200, 80, 50), (6, 6, 1)])
def test_dependent_columns_get_small_weights_and_a_small_residual(rows, columns, rank):
    rng = np.random.default_rng(3)
    a = dependent(rng, rows, columns, rank)
    b = a @ rng.standard_normal(columns)
    weights, outcome, facts = solved(Block("a", a, b))
    least = np.linalg.lstsq(a, b, rcond=1e-12)[0]
    assert facts.residual_norm <= 1e-13 * np.linalg.norm(b)
    assert np.linalg.norm(weights) < 50 * np.linalg.norm(least)
    assert outcome.kind == "converged"
    assert facts.rank < columns
    assert facts.condition > 1e12


def test_what_cannot_be_met_costs_no_residual_and_its_weights_are_bounded_by_the_damping():
    """Dependent columns divide what is not met by their rounding or by the damping, no less."""
    rng = np.random.default_rng(4)
    a = dependent(rng, 60, 20, 10)
    b = rng.standard_normal(60)
    best = np.linalg.norm(a @ np.linalg.lstsq(a, b, rcond=1e-12)[0] - b)
    scale = 1.0 / np.linalg.norm(a, axis=0)
    for damping in (1e-10, 1e-13, 1e-15):
        weights, _, facts = solved(Block("a", a, b), method=Householder(damping))
        # w / scale is r s / (s^2 + damping^2) along each singular direction of the unit columns.
        assert np.linalg.norm(weights / scale) <= np.linalg.norm(b) / damping
        assert facts.residual_norm == pytest.approx(best, rel=0.05)
    tame = np.linalg.norm(solved(Block("a", a, b), method=Householder(1e-10))[0])
    wild = np.linalg.norm(solved(Block("a", a, b), method=Householder(1e-40))[0])
    assert wild > 1e4 * tame


def test_more_damping_gives_smaller_weights():
    rng = np.random.default_rng(5)
    a = dependent(rng, 40, 12, 6)
    b = rng.standard_normal(40)
    norms = [np.linalg.norm(solved(Block("a", a, b), method=Householder(d))[0]) for d in (1e-6, 10)]
    least = np.linalg.norm(
        SVD().solve(SVD().factor(one := LinearSystem((Block("a", a, b),))), one.rhs)[0]
    )
    assert norms[1] < 0.5 * norms[0]
    assert norms[0] < 20 * least


def test_gaussian_kernels_are_fitted_although_they_depend_on_each_other():
    x, centres = np.linspace(0, 1, 200)[:, None], np.linspace(-0.1, 1.1, 60)
    matrix = np.exp(-0.5 * ((x - centres) / 0.08) ** 2)
    target = np.tanh(4 * x[:, 0] - 2)
    weights, _, facts = solved(Block("a", matrix, target))
    assert np.abs(matrix @ weights - target).max() < 1e-8
    # Without pivots the triangle's diagonal need not show how many columns depend on others.
    assert facts.rank <= 60
    assert facts.condition > 1e11


def test_fewer_rows_than_columns_are_met():
    rng = np.random.default_rng(6)
    a, b = rng.standard_normal((4, 9)), rng.standard_normal(4)
    weights, _, facts = solved(Block("a", a, b))
    assert weights.shape == (9,)
    np.testing.assert_allclose(a @ weights, b, atol=1e-8)
    assert facts.residual_norm < 1e-8
    least = np.linalg.lstsq(a, b, rcond=None)[0]
    assert np.linalg.norm(weights) < 20 * np.linalg.norm(least)


def test_dead_columns_are_counted_and_get_nothing():
    rng = np.random.default_rng(7)
    a, b = rng.standard_normal((20, 6)), rng.standard_normal(20)
    a[:, [1, 4]] = 0.0
    weights, _, facts = solved(Block("a", a, b))
    assert facts.dead_columns == 2
    assert np.abs(weights[[1, 4]]).max() < 1e-12
    live = [0, 2, 3, 5]
    expected = np.linalg.lstsq(a[:, live], b, rcond=None)[0]
    np.testing.assert_allclose(weights[live], expected, rtol=1e-10)
    assert facts.condition == math.inf


def test_weights_of_blocks_count():
    rng = np.random.default_rng(8)
    a, b = rng.standard_normal((10, 4)), rng.standard_normal(10)
    c, d = rng.standard_normal((3, 4)), rng.standard_normal(3)
    got = solved(Block("a", a, b), Block("c", c, d, 7.0))
    stacked = np.concatenate([a, 7 * c]), np.concatenate([b, 7 * d])
    np.testing.assert_allclose(got[0], np.linalg.lstsq(*stacked, rcond=None)[0], rtol=1e-12)
    norm = np.linalg.norm(stacked[0] @ got[0] - stacked[1])
    assert got[2].residual_norm == pytest.approx(norm, rel=1e-12)


def test_blocks_of_some_columns_are_padded():
    rng = np.random.default_rng(9)
    first, last = rng.standard_normal((5, 2)), rng.standard_normal((6, 3))
    b, c = rng.standard_normal(5), rng.standard_normal(6)
    system = LinearSystem((Block("a", first, b), Block("c", last, c, start=2)), (0, 2, 5))
    method = Householder()
    weights = method.solve(method.factor(system), system.rhs)[0]
    np.testing.assert_allclose(weights[:2], np.linalg.lstsq(first, b, rcond=None)[0], rtol=1e-12)
    np.testing.assert_allclose(weights[2:], np.linalg.lstsq(last, c, rcond=None)[0], rtol=1e-12)


@pytest.mark.parametrize("deficient", [False, True])
def test_one_factorisation_serves_many_right_hand_sides(deficient):
    rng = np.random.default_rng(10)
    a = dependent(rng, 30, 8, 5) if deficient else rng.standard_normal((30, 8))
    method = Householder()
    state = method.factor(LinearSystem((Block("a", a, np.zeros(30)),)))
    best = np.linalg.pinv(a, rcond=1e-12)
    for _ in range(3):
        # Dependent columns are asked only for what they can meet.
        rhs = a @ rng.standard_normal(8) if deficient else rng.standard_normal(30)
        before = rhs.copy()
        weights = method.solve(state, rhs)[0]
        np.testing.assert_allclose(a @ weights, a @ best @ rhs, atol=1e-10)
        np.testing.assert_array_equal(rhs, before)
        np.testing.assert_array_equal(method.solve(state, rhs)[0], weights)
    assert not method.solve(state, np.zeros(30))[0].any()


def test_the_system_is_left_as_it_was():
    rng = np.random.default_rng(11)
    a, b = np.asfortranarray(rng.standard_normal((9, 3))), rng.standard_normal(9)
    before = a.copy(), b.copy()
    solved(Block("a", a, b))
    np.testing.assert_array_equal(a, before[0])
    np.testing.assert_array_equal(b, before[1])


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_rows_that_are_not_numbers_are_refused(bad):
    a = np.ones((4, 2))
    a[2, 1] = bad
    with pytest.raises(LinearSystemError, match="NaN or infinity"):
        solved(Block("a", a, np.ones(4)))
