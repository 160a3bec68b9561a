"""Curves inside a domain."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.geometry.inner import curves_inside

SQUARE = sf.Box((0, 1), (0, 1))


@pytest.mark.parametrize("centre", [(0.5, 0.5), (0.25, 0.5), (0.41, 0.47), (0.755, 0.245)])
@pytest.mark.parametrize("power", [1, 2])
def test_a_function_that_only_touches_zero_has_no_curve(centre, power):
    def away(x, y):
        return np.hypot(x - centre[0], y - centre[1])

    assert curves_inside(lambda x, y: away(x, y) ** power, SQUARE) == []
    assert curves_inside(lambda x, y: -(away(x, y) ** power), SQUARE) == []
    (circle,) = curves_inside(lambda x, y: away(x, y) - 0.1, SQUARE)
    assert circle.measure == pytest.approx(0.2 * np.pi, rel=1e-4)


@pytest.mark.parametrize("place", [0.5, 0.25])
def test_nor_has_one_that_touches_zero_along_a_line(place):
    assert not curves_inside(lambda x, y: (x - place) ** 2 + 0 * y, SQUARE)
    assert len(curves_inside(lambda x, y: x - place + 0 * y, SQUARE)) == 1
