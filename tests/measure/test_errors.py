"""An error is the largest at any point, relative to max(1, max|u|) of its unknown."""

import numpy as np
import pytest

from sharpfront.measure.errors import max_error, size_of, values_at
from sharpfront.measure.points import tensor_points

LINE = np.linspace(0, 1, 11)


def test_a_function_is_called_in_chunks_of_any_size_and_dimension():
    points = tensor_points(np.linspace(0, 1, 30), np.linspace(0, 2, 40))
    calls = []

    def product(x, y):
        calls.append(len(x))
        return x * y

    for chunk in (1, 7, 1100, 1101, 5000):
        calls.clear()
        np.testing.assert_array_equal(values_at(product, points, chunk), points.prod(axis=1))
        assert max(calls) == min(chunk, len(points)) and sum(calls) == len(points)
    np.testing.assert_array_equal(values_at(lambda x: 3.0, LINE, 4), np.full(11, 3.0))


def test_the_largest_error_is_found_wherever_it_is():
    points = tensor_points(np.linspace(0, 1, 30), np.linspace(0, 2, 40))
    for target in points[[0, 700, -1]]:
        hit = np.all(points == target, axis=1)
        assert max_error(np.where(hit, -7.0, 1.0), lambda x, y: 1 + 0 * x, points) == 8
    assert max_error(lambda x: x, lambda x: x**2, LINE) == pytest.approx(0.25, abs=1e-12)


@pytest.mark.parametrize("height", [0.0, 1e-3, 1.0, 40.0])
def test_it_is_relative_to_large_solutions_only(height):
    found = max_error(lambda x: height * x + 0.5, lambda x: height * x, LINE)
    assert found == pytest.approx(0.5 / max(1.0, height))


def test_of_several_unknowns_each_has_its_own_size_and_the_worst_counts():
    class Found:
        u = staticmethod(lambda x: 100 * x + 1.0)
        v = staticmethod(lambda x: x + 0.1)

    exact = {"u": lambda x: 100 * x, "v": LINE}
    for found in (Found(), {"u": Found.u, "v": Found.v}):
        assert max_error(found, exact, LINE) == pytest.approx(0.1)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_an_infinite_error_and_no_size(bad):
    found = np.where(LINE == 0.5, bad, LINE)
    assert max_error(found, lambda x: x, LINE) == np.inf == max_error(lambda x: x, found, LINE)
    assert size_of(3 * found) == 3.0
