"""Curves inside a domain."""

import numpy as np
import pytest
from scipy.special import ellipe

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


# Half as wide as a cell of the grid that curves are first followed on, and up to thirty cells.
@pytest.mark.parametrize("long", [1.64e-3, 4.2e-3, 1.1e-2, 0.07])
@pytest.mark.parametrize(("share", "tilt"), [(1.0, 0.0), (0.42, 0.7)])
@pytest.mark.parametrize("centre", [(0.5089, 0.0913), (0.5, 0.5), (0.3711, 0.8042)])
def test_small_and_thin_ellipses_are_followed_all_round(long, share, tilt, centre):
    short = max(share * long, 1.55e-3)

    def f(x, y):
        along = (x - centre[0]) * np.cos(tilt) + (y - centre[1]) * np.sin(tilt)
        across = (y - centre[1]) * np.cos(tilt) - (x - centre[0]) * np.sin(tilt)
        return (along / long) ** 2 + (across / short) ** 2 - 1

    (curve,) = curves_inside(f, SQUARE)
    assert curve.measure == pytest.approx(4 * long * ellipe(1 - (short / long) ** 2), rel=1e-3)


def test_small_disks_side_by_side_are_each_followed_once():
    def f(x, y):
        return np.minimum(np.hypot(x - 0.5, y - 0.3), np.hypot(x - 0.5062, y - 0.3013)) - 0.0021

    lengths = [curve.measure for curve in curves_inside(f, SQUARE)]
    assert lengths == pytest.approx([0.0042 * np.pi] * 2, rel=1e-3)
