"""What every domain promises: one table of domains against one list of properties."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree
from tests.geometry.shape_cases import CASES, SPATIAL, SQUARE

from sharpfront.errors import DomainError
from sharpfront.geometry import Ball, Box, Disk, HalfSpace, Interval

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
PLANE = [case for case in CASES if case.name not in SPATIAL]
in_the_plane = pytest.mark.parametrize("case", PLANE, ids=lambda case: case.name)


def spread(domain, count=500, seed=0):
    return {part: domain.boundary(part, count, seed) for part in domain.parts}


def around(domain, count=400):
    """Points in a box a quarter larger than the domain's."""
    low, high = domain.bounds
    room = 0.25 * (high - low)
    return Box(*np.stack([low - room, high + room]).T).sample(count, "quasi", 5)


@every_case
def test_measure_and_parts(case):
    domain = case.domain
    assert (domain.dimension > 2) == (case.name in SPATIAL)
    assert domain.measure == pytest.approx(case.measure, rel=min(case.tolerance, 1e-3))
    assert domain.parts == tuple(case.parts)
    for part, size in case.parts.items():
        assert domain.boundary_measure(part) == pytest.approx(size, rel=max(case.tolerance, 1e-9))


@every_case
def test_divergence_theorem(case):
    # The integral of x . n over the boundary is the dimension times the measure.
    domain, total = case.domain, 0.0
    for part, found in spread(domain, 1000).items():
        flux = np.mean(np.sum((found.points - domain.bounds.mean(axis=0)) * found.normals, axis=1))
        total += flux * domain.boundary_measure(part)
    assert total / domain.dimension == pytest.approx(
        case.measure, rel=1e-4 if domain.dimension == 2 else 0.015
    )


@every_case
def test_boundary_points_lie_on_the_boundary_with_outward_unit_normals(case):
    domain = case.domain
    step = 1e-5 * np.ptp(domain.bounds)
    for found in spread(domain).values():
        assert found.points.shape == found.normals.shape == (500, domain.dimension)
        assert domain.contains(found.points).all()
        assert np.abs(domain.distance(found.points)).max() < 1e-10
        np.testing.assert_allclose(np.linalg.norm(found.normals, axis=1), 1, rtol=1e-12)
        assert domain.contains(found.points - step * found.normals).all()
        assert not domain.contains(found.points + step * found.normals).any()


@every_case
def test_samples(case):
    domain = case.domain
    for how in ("quasi", "random"):
        points = domain.sample(333, how, seed=2)
        assert points.shape == (333, domain.dimension)
        assert domain.contains(points).all()
        assert np.all(domain.distance(points) > 0)
        assert np.array_equal(points, domain.sample(333, how, seed=2))
        assert not np.array_equal(points, domain.sample(333, how, seed=3))
        assert len(np.unique(points, axis=0)) == 333
    assert domain.sample(0).shape == (0, domain.dimension)
    grid = domain.sample(300, "grid")
    assert 100 < len(grid) <= 300
    assert domain.contains(grid).all()


@every_case
def test_samples_fill_the_region(case):
    # The middle of a finer, independent sample is that of the region.
    domain = case.domain
    size = np.ptp(domain.bounds, axis=0)
    few, many = domain.sample(256), domain.sample(20_000, "random", 9)
    np.testing.assert_allclose(few.mean(axis=0) / size, many.mean(axis=0) / size, atol=0.03)


@every_case
def test_bounds_are_tight(case):
    domain = case.domain
    low, high = domain.bounds
    points = np.concatenate([found.points for found in spread(domain, 3000).values()])
    size = np.max(high - low)
    assert np.all(points >= low - 1e-9 * size)
    assert np.all(points <= high + 1e-9 * size)
    if case.name != "half ball":
        np.testing.assert_allclose(points.min(axis=0), low, atol=0.06 * size)
        np.testing.assert_allclose(points.max(axis=0), high, atol=0.06 * size)


@every_case
def test_the_sign_of_the_distance_tells_inside_from_outside(case):
    domain, points = case.domain, around(case.domain)
    distance, inside = domain.distance(points), domain.contains(points)
    assert distance.shape == inside.shape == (400,)
    assert np.array_equal(distance > 0, inside)
    assert 0.02 < inside.mean() < 0.9


@every_case
def test_distance_is_that_to_the_nearest_boundary_point_or_less(case):
    domain, points = case.domain, around(case.domain, 200)
    found = np.concatenate([each.points for each in spread(domain, 4000).values()])
    nearest, _ = cKDTree(found).query(points)
    size = np.max(np.ptp(domain.bounds, axis=0))
    assert np.all(np.abs(domain.distance(points)) <= nearest + 1e-9 * size)
    if case.exact_distance:
        gap = 0.001 if domain.dimension == 2 else 0.35 if domain.dimension == 4 else 0.04
        assert np.all(np.abs(domain.distance(points)) >= nearest - gap * size)


@every_case
def test_boundaries_follow_the_seed(case):
    domain = case.domain
    part = domain.parts[-1]
    one, same, other = (domain.boundary(part, 20, seed).points for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


@every_case
@pytest.mark.parametrize("count", [0, 1, 2, 3, 7])
def test_the_number_of_boundary_points_is_the_one_asked_for(case, count):
    for part in case.domain.parts:
        assert case.domain.boundary(part, count).points.shape == (count, case.domain.dimension)


@every_case
def test_corners_and_axes(case):
    domain = case.domain
    assert domain.corners.shape == (case.corners, domain.dimension)
    assert domain.periodic_axes == (False,) * domain.dimension
    if case.corners:
        assert domain.contains(domain.corners).all()
        assert np.abs(domain.distance(domain.corners)).max() < 1e-9


@in_the_plane
def test_points_on_curves_are_evenly_spaced(case):
    domain = case.domain
    for part in domain.parts:
        found = domain.boundary(part, 800)
        step = domain.boundary_measure(part) / 800
        gaps, _ = cKDTree(found.points).query(found.points, k=2)
        assert np.median(gaps[:, 1]) == pytest.approx(step, rel=0.01)
        # Only around corners can two points be closer than a step.
        assert np.mean(gaps[:, 1] < 0.97 * step) < 0.03


@pytest.mark.parametrize("name", ["ball", "solid", "cloud in space", "ellipsoid", "half ball"])
def test_points_on_surfaces_keep_apart(name):
    domain = next(case.domain for case in CASES if case.name == name)
    found = domain.boundary("surface", 400).points
    gaps, _ = cKDTree(found).query(found, k=2)
    even = np.sqrt(domain.boundary_measure("surface") / 400)
    assert gaps[:, 1].min() > 0.5 * even


@pytest.mark.parametrize("name", ["disk", "ball", "ball4", "petal", "ellipsoid"])
def test_normals_are_those_of_the_formula(name):
    domain = next(case.domain for case in CASES if case.name == name)
    found = domain.boundary("surface", 200)
    if name.startswith(("disk", "ball")):
        away = found.points - np.array(domain.centre)
    elif name == "ellipsoid":
        away = found.points * [1, 1, 4]
    else:
        x, y = (found.points - 0.5).T
        r, angle = np.hypot(x, y), np.arctan2(y, x)
        turn = 0.5 * np.sin(5 * angle) / r
        away = np.stack([x / r - turn * y / r, y / r + turn * x / r], axis=1)
    expected = away / np.linalg.norm(away, axis=1)[:, None]
    np.testing.assert_allclose(found.normals, expected, atol=1e-8 if name == "petal" else 1e-10)


def test_midpoints_of_equal_steps():
    found = SQUARE.boundary("right", 4)
    assert found.points.tolist() == [[1, 0.125], [1, 0.375], [1, 0.625], [1, 0.875]]
    angle = np.arctan2(*Disk((0, 0), 2).boundary("surface", 8).points.T[::-1])
    np.testing.assert_allclose(np.sort(angle), np.pi * (np.arange(8) - 3.5) / 4, atol=1e-14)


def test_all_seeds_stay_away_from_corners():
    for seed in range(40):
        along = SQUARE.boundary("top", 5, seed).points[:, 0]
        assert along.min() > 0.019
        assert along.max() < 0.981
        np.testing.assert_allclose(np.abs(np.diff(along)), 0.2)


@pytest.mark.parametrize("dimension", [2, 3, 5, 8])
def test_balls_in_any_dimension(dimension):
    ball = Ball([1.0] * dimension, 0.5)
    assert ball.coordinates == Box(*[(0, 1)] * dimension).coordinates
    points = ball.sample(50)
    assert np.all(np.linalg.norm(points - 1, axis=1) < 0.5)
    found = ball.boundary("surface", 4096)
    np.testing.assert_allclose(np.linalg.norm(found.points - 1, axis=1), 0.5, rtol=1e-12)
    np.testing.assert_allclose(found.normals.mean(axis=0), 0, atol=0.02)
    # By symmetry each coordinate of a unit normal has the mean square 1/d.
    np.testing.assert_allclose((found.normals**2).mean(axis=0), 1 / dimension, rtol=0.05)


def test_periodic_boxes():
    box = Box((0, 1), (0, 2), periodic=("x",))
    assert box.periodic_axes == (True, False)
    assert box.parts == ("bottom", "top")
    assert box.corners.shape == (0, 2)
    assert box.measure == 2
    assert box != Box((0, 1), (0, 2))
    assert repr(box) == "Box(sides=((0.0, 1.0), (0.0, 2.0)), periodic=('x',))"
    assert box.boundary("top", 3).points[:, 1].tolist() == [2.0] * 3
    with pytest.raises(DomainError, match="'left' is not a part"):
        box.boundary("left")
    assert Box((0, 1), (0, 1), periodic=("x", "y")).parts == ()
    assert Interval(0, 1, periodic=True).periodic_axes == (True,)
    assert Interval(0, 1).periodic_axes == (False,)
    four = Box(*[(0, 1)] * 4, periodic=("x2",))
    assert four.parts == ("x1_low", "x1_high", "x3_low", "x3_high", "x4_low", "x4_high")
    assert np.all(four.boundary("x3_high", 5).points[:, 2] == 1)


def test_ends_of_an_interval_measure_one():
    assert Interval(0, 3).boundary_measure("left") == 1
    assert Interval(0, 3).corners.tolist() == [[0.0], [3.0]]


@pytest.mark.parametrize(
    "domain, text",
    [
        (Disk((0.5, 0.25), 0.2), "Disk((0.5, 0.25), 0.2)"),
        (Ball((0, 0, 1), 2), "Ball((0, 0, 1), 2)"),
        (HalfSpace((0, 0), (0, 3)), "HalfSpace((0, 0), (0, 1))"),
        (Disk((0, 0), 1).named("hole"), "Disk((0, 0), 1).named('hole')"),
        (Disk((0, 0), 1) | Disk((1, 0), 1), "(Disk((0, 0), 1) | Disk((1, 0), 1))"),
        (Disk((0, 0), 1).part("east", lambda x, y: x > 0), "Disk((0, 0), 1).part('east', ...)"),
    ],
)
def test_names_of_domains(domain, text):
    assert repr(domain) == text


def test_shapes_are_values():
    assert Disk((0, 0), 1) == Disk([0, 0], 1.0) != Disk((0, 0), 2)
    assert SQUARE - Disk((0, 0), 0.5) == SQUARE - Disk((0, 0), 0.5)
    assert len({Disk((0, 0), 1), Disk((0, 0), 1), Ball((0, 0), 1)}) == 2


def test_points_on_triangles_are_uniform():
    domain = next(case.domain for case in CASES if case.name == "solid")
    points = domain.boundary("surface", 8000).points
    # The box has sides 1, 2, 3: the mean squares over its faces of areas 6, 3 and 2.
    area = {0: 12, 1: 6, 2: 4}
    for axis, half in enumerate((0.5, 1.0, 1.5)):
        expected = (area[axis] * half**2 + (22 - area[axis]) * half**2 / 3) / 22
        assert np.mean(points[:, axis] ** 2) == pytest.approx(expected, rel=0.01)


def test_an_arc_across_the_start_of_its_circle_is_one_piece():
    domain = SQUARE & Disk((0, 0.5), 0.3)
    found = domain.boundary("surface", 5).points
    angle = np.arctan2(found[:, 1] - 0.5, found[:, 0])
    np.testing.assert_allclose(
        np.sort(angle), np.pi * np.array([-0.4, -0.2, 0, 0.2, 0.4]), atol=1e-9
    )
