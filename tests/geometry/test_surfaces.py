"""Points on surfaces of solids in boxes."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.geometry.surfaces import spread_over, surfaces_of

BOX, BALL = sf.Box((0, 1), (0, 1), (0, 1)), sf.Ball((0.5, 0.4, 0.6), 0.3)
SOLIDS = {
    "ball": BALL,
    "hole": BOX - BALL,
    "bite": BOX - sf.Ball((0.5, 0.5, 0), 0.3),
    "cap": BOX | sf.Ball((0.5, 0.5, 1), 0.3),
    "half": BALL & sf.HalfSpace((0.5, 0.4, 0.6), (1, 2, -1)),
    "level": sf.Implicit(lambda x, y, z: x**2 + 2 * y**2 + z**4 - 1, ((-2, 2),) * 3),
}


@pytest.fixture(params=SOLIDS)
def solid(request):
    return SOLIDS[request.param]


def surfaces(solid):
    return surfaces_of({part: solid.smooth_pieces(part) for part in solid.parts})


def test_points_lie_on_the_boundary_and_normals_lead_out(solid):
    found, _ = spread_over(surfaces(solid), *solid.bounds, 100)
    assert np.abs(solid.distance(found.points)).max() < 1e-9
    step = 1e-4 * found.normals
    assert np.mean(solid.contains(found.points - step)) > 0.99
    assert np.mean(~solid.contains(found.points + step)) > 0.99


def test_areas_add_up_box_by_box(solid):
    own, (low, high) = surfaces(solid), solid.bounds
    share = np.random.default_rng(5).uniform(0.35, 0.65)
    whole = sum(solid.boundary_measure(part) for part in solid.parts)
    cut = low[0] + share * (high[0] - low[0])
    left = spread_over(own, low, np.array([cut, *high[1:]]), 400)[1].sum()
    right = spread_over(own, np.array([cut, *low[1:]]), high, 400)[1].sum()
    assert left + right == pytest.approx(whole, rel=0.03)


def test_bends_towards_the_solid():
    (ball,) = surfaces(BALL)
    assert ball.bends[1] == pytest.approx(-1 / 0.3)
    hole = next(s for s in surfaces(BOX - BALL) if s.is_curved)
    assert hole.bends[1] == pytest.approx(1 / 0.3)


def test_sides_across_an_axis_are_walls():
    walls = [s.wall for s in surfaces(BOX - BALL) if s.wall is not None]
    assert sorted((axis, place) for axis, place, *_ in walls) == [
        (axis, float(place)) for axis in range(3) for place in range(2)
    ]
    found, areas = surfaces(BOX - BALL)[0].on_wall(np.zeros(3), np.full(3, 0.5), 6)
    assert areas.sum() == pytest.approx(0.25) and np.all(found.points[:, 0] == 0)
