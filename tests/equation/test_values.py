"""Values of expressions and forms at arrays of points."""

import numpy as np
import pytest

from sharpfront.equation.graph import evaluate
from sharpfront.equation.linearise import linear_form
from sharpfront.equation.trace import Symbols
from sharpfront.equation.values import at_points, environment, form_values
from sharpfront.errors import EquationError

SYMBOLS = Symbols(("u",), ("x", "y"))
X, Y, U = (SYMBOLS.stand_in(name) for name in "xyu")
POINTS = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
NORMALS = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])


def test_environment_names_columns():
    leaves = environment(("x", "y"), POINTS)
    np.testing.assert_array_equal(evaluate(X + 10 * Y, leaves), [10, 32, 54])
    assert ("normal", "x") not in leaves


def test_environment_with_normals():
    leaves = environment(("x", "y"), POINTS, NORMALS)
    np.testing.assert_array_equal(leaves["normal", "x"], NORMALS[:, 0])
    np.testing.assert_array_equal(leaves["normal", "y"], NORMALS[:, 1])


def test_normals_in_space_and_time():
    leaves = environment(("x", "t"), POINTS, NORMALS[:, :1])
    assert ("normal", "t") not in leaves
    np.testing.assert_array_equal(leaves["normal", "x"], NORMALS[:, 0])


def test_a_constant_is_given_at_every_point():
    np.testing.assert_array_equal(at_points(3 + 0 * X, {}, 4, "source"), [3, 3, 3, 3])


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (1 / X, r"The source is inf at x = 0, y = 1\. .*multiply the equation by what vanishes"),
        (np.log(X - 1), r"The source is nan at x = 0, y = 1\."),
        (X * np.log(X), r"The source is nan .*has a limit .*scipy\.special\.xlogy\(x, x\)"),
        (1 / (X - 2), r"The source is inf at x = 2, y = 3\."),
    ],
)
def test_values_that_are_not_finite(expression, message):
    with pytest.raises(EquationError, match=message):
        at_points(expression, environment(("x", "y"), POINTS), 3, "source")


def test_form_values():
    form = linear_form(X * U.dx - 2 * U + np.exp(Y))
    coefficients, source = form_values(form, environment(("x", "y"), POINTS), 3)
    np.testing.assert_array_equal(coefficients, [POINTS[:, 0], [-2, -2, -2]])
    np.testing.assert_allclose(source, np.exp(POINTS[:, 1]), rtol=1e-15)


def test_form_values_say_where_they_come_from():
    leaves = environment(("x", "y"), POINTS)
    with pytest.raises(EquationError, match="coefficient in the left condition is inf"):
        form_values(linear_form(U / X), leaves, 3, "left condition")
    with pytest.raises(EquationError, match="source of the equation is inf"):
        form_values(linear_form(U + 1 / X), leaves, 3)
