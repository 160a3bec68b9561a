"""Expressions run as a list of calls have the values of their graphs."""

import numpy as np
import pytest

from sharpfront.equation.expression import Coordinate, Derivative
from sharpfront.equation.program import Program

X = Coordinate("x", ("x",))
U = Derivative("u", ("x",), (0,))
POINTS = np.array([-1.7, -0.3, 0.0, 0.4, 2.5])
LEAVES = {X.key: POINTS, U.key: np.cos(3.0 * POINTS)}


@pytest.mark.parametrize(
    "make",
    [
        lambda u, x: u**2 - x**3,
        lambda u, x: u**-1 + np.exp(x) ** 2,
        lambda u, x: (x > 0.1) * u + (u <= x),
        lambda u, x: np.where(x > 0.2, u, x) + np.maximum(u, x),
        lambda u, x: np.sin(u) ** 3,
    ],
)
def test_values_are_those_of_numpy(make):
    u, x = LEAVES[U.key], POINTS
    expected = make(u, x)
    found = Program([make(U, X)]).run(LEAVES, len(x))
    assert found.shape == (1, len(x)) and found.dtype == float
    np.testing.assert_allclose(found[0], expected, rtol=1e-14)


@pytest.mark.parametrize("make", [lambda u, x: u, lambda u, x: u + 0.0 * x, lambda u, x: u**2])
def test_what_is_returned_belongs_to_the_caller(make):
    before = {key: values.copy() for key, values in LEAVES.items()}
    Program([make(U, X)]).run(LEAVES, len(POINTS))[:] = 7.0
    for key, values in before.items():
        assert np.array_equal(LEAVES[key], values)
