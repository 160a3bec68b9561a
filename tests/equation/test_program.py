"""Expressions run as a list of calls have the values of their graphs."""

import numpy as np
import pytest

from sharpfront.equation.expression import Coordinate, Derivative, Function, apply_function
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


def test_what_holds_coordinates_alone_is_evaluated_once_for_all_runs():
    called = []

    def source(x):
        called.append(len(x))
        return np.sin(x)

    own = {X.key: POINTS, U.key: np.cos(3.0 * POINTS)}
    given = apply_function(Function("source", source), X)
    program = Program([U**2 + 2.0 * given, given])
    prepared = program.prepared(own)
    for values in (np.cos(POINTS), POINTS**2):
        own[U.key][:] = values
        found = program.finished(prepared, len(POINTS))
        expected = values**2 + 2.0 * np.sin(POINTS), np.sin(POINTS)
        np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert called == [len(POINTS)]


def test_a_prepared_run_survives_what_is_done_to_the_result():
    program = Program([2.0 * X])
    prepared = program.prepared(LEAVES)
    program.finished(prepared, len(POINTS))[:] = 7.0
    np.testing.assert_allclose(program.finished(prepared, len(POINTS)), [2.0 * POINTS])
