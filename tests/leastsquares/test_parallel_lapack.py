"""Routines that are called without the interpreter's lock do what SciPy's do, to the last bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg.lapack import dgeqrf, dpotrf, dtpmqrt, dtpqrt, dtrtrs

from sharpfront.errors import LinearSystemError
from sharpfront.leastsquares.parallel_lapack import (
    _called,
    add_gram,
    factor_cholesky,
    reduce_below,
    reflect,
    solve_triangle,
)


@settings(derandomize=True, deadline=None, max_examples=20)
@given(st.integers(1, 30), st.integers(1, 40), st.integers(1, 9), st.integers(0, 99))
def test_the_same_bits_as_the_locked_ones(m, n, k, seed):
    rng = np.random.default_rng(seed)
    upper, below, top, bottom = (
        np.asfortranarray(rng.random(shape)) for shape in ((n, n), (m, n), (n, k), (m, k))
    )
    upper += np.eye(n)
    block = min(16, n)
    wanted, v, t, _ = dtpqrt(0, block, upper, below)
    rotated, left, _ = dtpmqrt(0, v, t, top, bottom, trans=b"T")
    rows = np.asfortranarray(below.copy())
    reflect(rows, 32)
    np.testing.assert_array_equal(rows, dgeqrf(below, lwork=32 * n)[0])
    gram = np.asfortranarray(upper.T @ upper)
    lower, _ = dpotrf(gram, lower=1)
    across, _ = dtrtrs(lower, top, lower=1)
    mine = top.copy(order="F")
    assert factor_cholesky(gram)
    solve_triangle(gram, mine, lower=True)
    np.testing.assert_array_equal(mine, across)
    reduce_below(upper, below, top, bottom, block)
    np.testing.assert_array_equal(np.triu(upper), np.triu(wanted))
    np.testing.assert_array_equal(top, rotated)
    np.testing.assert_array_equal(bottom, left)
    solve_triangle(upper, top)
    np.testing.assert_array_equal(top, dtrtrs(wanted, rotated)[0])


def test_what_cannot_be_is_refused():
    assert not factor_cholesky(np.asfortranarray(-np.eye(3)))
    with pytest.raises(ValueError, match="Fortran"):
        factor_cholesky(np.arange(9.0).reshape(3, 3))
    with pytest.raises(LinearSystemError, match="argument 4"):
        _called("dpotrf", b"L", 3, np.eye(3, order="F"), 1)


def test_gram_matrices_are_added_to_the_lower_half():
    rng = np.random.default_rng(1)
    rows, matrix = (np.asfortranarray(rng.random(shape)) for shape in ((5, 7), (7, 7)))
    before = matrix.copy()
    add_gram(matrix, rows, -0.5)
    np.testing.assert_allclose(np.tril(matrix), np.tril(before - 0.5 * rows.T @ rows), rtol=1e-14)
    np.testing.assert_array_equal(np.triu(matrix, 1), np.triu(before, 1))
    add_gram(matrix[:0, :0], rows[:, :0], 1.0)
