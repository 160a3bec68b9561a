"""Weights that end in what the fit leaves of errors elsewhere."""

import numpy as np

from sharpfront.place.patches.tails import Tails, without_echoes


def tails(last, analytic, tail):
    last, tail = np.array(last)[:, None], np.array(tail)[:, None]
    analytic = np.array(analytic)[:, None]
    return Tails(tail, np.full_like(tail, np.inf), analytic, last, tail)


def test_slow_weights_below_those_that_fall_are_noise():
    found = without_echoes(
        tails([1e-3, 1e-4, 1e-2], [True, False, False], [1e-3, 6e-3, 0.5]), np.full((3, 1), 16.0)
    )
    # Of the patch that falls, of the one beside it, and of one that is slow by itself.
    np.testing.assert_allclose(found.tail[:, 0], [1e-3, 4e-4, 0.5])
    np.testing.assert_allclose(found.rest, found.tail)
    assert not found.analytic[1, 0]


def test_nothing_is_noise_where_no_weights_fall():
    slow = tails([1e-3, 1e-4], [False, False], [0.1, 6e-3])
    np.testing.assert_array_equal(without_echoes(slow, np.full((2, 1), 16.0)).tail, slow.tail)
