"""Curves inside a domain."""

import numpy as np
import pytest
from scipy.special import ellipe

import sharpfront as sf
from sharpfront.geometry.inner_curves import curves_inside

SQUARE = sf.Box((0, 1), (0, 1))


@pytest.mark.parametrize("centre", [(0.5, 0.5), (0.25, 0.5), (0.41, 0.47), (0.755, 0.245)])
@pytest.mark.parametrize("power", [1, 2])
def test_a_function_that_only_touches_zero_has_no_curve(centre, power):
    def away(x, y):
        return np.hypot(x - centre[0], y - centre[1])

    assert curves_inside(lambda x, y: away(x, y) ** power, SQUARE)[0] == []
    assert curves_inside(lambda x, y: -(away(x, y) ** power), SQUARE)[0] == []
    (circle,), complete = curves_inside(lambda x, y: away(x, y) - 0.1, SQUARE)
    assert complete
    assert circle.measure == pytest.approx(0.2 * np.pi, rel=1e-4)


@pytest.mark.parametrize("place", [0.5, 0.25])
def test_nor_has_one_that_touches_zero_along_a_line(place):
    assert not curves_inside(lambda x, y: (x - place) ** 2 + 0 * y, SQUARE)[0]
    assert len(curves_inside(lambda x, y: x - place + 0 * y, SQUARE)[0]) == 1


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

    (curve,), _ = curves_inside(f, SQUARE)
    assert curve.measure == pytest.approx(4 * long * ellipe(1 - (short / long) ** 2), rel=1e-3)


def test_small_disks_side_by_side_are_each_followed_once():
    def f(x, y):
        return np.minimum(np.hypot(x - 0.5, y - 0.3), np.hypot(x - 0.5062, y - 0.3013)) - 0.0021

    lengths = [curve.measure for curve in curves_inside(f, SQUARE)[0]]
    assert lengths == pytest.approx([0.0042 * np.pi] * 2, rel=1e-3)


BENT = sf.Box((-1, 1), (-1, 1)) - sf.Box((0, 2), (-2, 0))


@pytest.mark.parametrize(
    ("domain", "centre", "radius", "length", "complete"),
    [
        # From the wall below to the corner that points inwards, which it touches.
        (BENT, (0.0, -0.75), 0.75, 0.75 * (np.pi / 2 + np.arcsin(1 / 3)), False),
        # From wall to wall, short of that corner.
        (BENT, (-0.6, -0.4), 0.5, 0.5 * (2 * np.pi - 2 * np.arccos(0.8)), True),
        # Round, from one place of the boundary to another.
        (sf.Disk((0, 0), 1), (1.0, 0.0), 1.0, 2 * np.pi / 3, False),
    ],
)
def test_curves_end_on_walls_and_short_of_corners(domain, centre, radius, length, complete):
    def f(x, y):
        return np.hypot(x - centre[0], y - centre[1]) - radius

    curves, whole = curves_inside(f, domain)
    assert whole is complete
    assert sum(curve.measure for curve in curves) == pytest.approx(length, abs=0.03)
