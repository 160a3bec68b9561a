"""Data that fall between the points of a patch and its sides."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.bases.patch import Patch
from sharpfront.maps import AxisMap
from sharpfront.place.patches.cuts import Cell
from sharpfront.place.patches.data_probes import DataProbes, Holding
from sharpfront.place.patches.data_resolution import missed_in, with_seen_data
from sharpfront.place.patches.refine import Limits
from sharpfront.place.tiling.tiling import tiling_of

BOX = sf.Box((0, 1), (0, 1))
WHOLE = Patch((AxisMap(0.0, 1.0), AxisMap(0.0, 1.0)), (9, 9))
TOL = 1e-5


def stated(source):
    return sf.Problem(
        BOX, lambda u, x, y: sf.laplacian(u) - source(x, y), boundary=lambda u, x, y: u
    )


@pytest.mark.parametrize("width", [1e-3, 1e-4])
@pytest.mark.parametrize("mirrored", [False, True])
def test_what_falls_off_beside_a_side_is_missed(width, mirrored):
    problem = stated(lambda x, y: np.exp(-(1 - x if mirrored else x) / width) * (1 + y) / width)
    looks = DataProbes(problem, (), TOL)
    missed = missed_in(looks, [WHOLE])[0]
    # A load of 1.5 along the side: about its part of the patch.
    assert 0.01 < missed < 10.0
    assert not Holding(problem, TOL)(WHOLE, 0)
    cells = with_seen_data(looks, tiling_of(BOX), [Cell(WHOLE)], Limits(9, 14, 9), TOL, 60_000)
    assert 1 < len(cells) < 100
    assert missed_in(looks, [c.patch for c in cells]).max() <= TOL


def test_smooth_data_are_not_missed():
    problem = stated(lambda x, y: np.exp(2 * x) * np.sin(5 * y))
    assert missed_in(DataProbes(problem, (), TOL), [WHOLE])[0] == 0.0


@pytest.mark.parametrize("power", [-0.5, -1.4])
def test_infinite_data_enter_by_their_means(power):
    problem = stated(lambda x, y: x**power * (1 + y))
    assert missed_in(DataProbes(problem, (), TOL), [WHOLE])[0] == 0.0


def test_cuts_towards_what_is_missed_end_where_functions_do():
    problem = stated(lambda x, y: np.exp(-x / 1e-4) * 1e4)
    looks, one, limits = DataProbes(problem, (), TOL), [Cell(WHOLE)], Limits(9, 14, 9)
    every, some = (
        with_seen_data(looks, tiling_of(BOX), one, limits, TOL, most) for most in (60_000, 200)
    )
    assert 1 < len(some) < len(every)
