"""Test points reach into the features and stay in the domain."""

import numpy as np
import pytest

from sharpfront.catalog import OUTFLOW, listing
from sharpfront.geometry import Box
from sharpfront.measure import max_error
from sharpfront.measure.points import Feature, cloud, front_points, graded_axis, steepest

SPATIAL = [e for e in listing().values() if e.dimension in ("2", "3", "5") and e.has_points]
CASES = [(entry, value) for entry in SPATIAL for value in entry.values]
NAMES = [f"{entry.name} {value:g}" for entry, value in CASES]
SQUARE = Box((0, 1), (0, 1))


def from_centre(x, y):
    return np.hypot(x - 0.5, y - 0.5)


# The distance to what is sharp, and its width.
SHARP = {
    "outflow": lambda eps, x, y: (1 - x, eps),
    "corner": lambda eps, x, y: (np.minimum(1 - x, 1 - y), eps),
    "four-layers": lambda eps, x, y: (np.minimum.reduce([x, 1 - x, y, 1 - y]), eps**0.5),
    "circular-front": lambda w, x, y: (from_centre(x, y) - 0.25, w),
    "smooth-circular-front": lambda w, x, y: (from_centre(x, y) - 0.25, w),
    "wavy-front": lambda w, x, y: (x - 0.3 - 0.4 * y - 0.06 * np.sin(3 * np.pi * y), w),
    "sharp-source": lambda w, x, y: (from_centre(x, y), w),
    "allen-cahn": lambda nu, x, y: (x - 0.4, (2 * nu) ** 0.5),
    "reaction-sheet": lambda eps, x, y: (x, eps),
}


def points_of(entry, value):
    try:
        return entry.points(value), entry.problem(value).domain
    except ImportError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(("entry", "value"), CASES, ids=NAMES)
def test_points_lie_in_the_domain_and_reach_into_every_feature(entry, value):
    points, domain = points_of(entry, value)
    assert points.shape[1] == domain.dimension
    assert 5000 < len(points) < 150_000
    assert domain.contains(points).all()
    if entry.name in SHARP:
        distance, width = SHARP[entry.name](value, *points.T)
        for low in (1e-3, 1e-2, 0.1, 1.0):
            near = np.abs(distance) / width
            assert np.count_nonzero((near > 0.9 * low) & (near < 10 * low)) > 300


def test_axis_is_geometric_about_features_and_keeps_its_ends():
    axis = graded_axis(0, 1, (Feature(1.0, 1e-6), Feature(0.3, 1e-2)), 300)
    assert 250 < len(axis) <= 310
    assert axis[0] == 0
    assert axis[-1] == 1
    assert 1 - axis[-2] == pytest.approx(1e-9)
    assert 0.3 in axis
    for side in (-1, 1):
        steps = side * (axis - 0.3)
        assert np.min(steps[steps > 0]) == pytest.approx(1e-5)
    assert np.max(np.diff(axis)) < 0.05


def test_axis_without_features_clusters_towards_its_ends():
    axis = graded_axis(-1, 2, (), 50)
    assert len(axis) == 50
    assert axis[1] - axis[0] < 0.1 * np.max(np.diff(axis))
    np.testing.assert_allclose(axis + axis[::-1], 1, atol=1e-15)


def test_points_beside_a_front_lie_on_both_sides_along_its_normals():
    feet, normals = np.array([[0.5, 0.5]]), np.array([[0.6, 0.8]])
    points = front_points(SQUARE, feet, normals, 0.01, 20)
    signed = (points - feet) @ normals[0]
    assert np.sort(np.abs(signed))[1] == pytest.approx(1e-5)
    assert 0 < np.count_nonzero(signed > 0) == np.count_nonzero(signed < 0)
    assert np.max(np.abs((points - feet) @ [-0.8, 0.6])) < 1e-15
    assert SQUARE.contains(points).all()


def test_cloud_has_boundary_and_corners():
    points = cloud(SQUARE, 1000)
    inward = SQUARE.distance(points)
    assert np.count_nonzero(inward < 1e-11) > 100
    assert np.count_nonzero(inward > 1e-3) > 900
    corners = points[np.all((points == 0) | (points == 1), axis=1)]
    assert len(corners) == 4


def test_a_missed_layer_is_seen():
    eps = 1e-4
    points = OUTFLOW.points(eps, per_axis=60)
    error = max_error(lambda x, y: x * np.sin(np.pi * y), OUTFLOW.exact(eps), points)
    assert error == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("width", [0.3, 1e-2, 1e-5])
def test_steepest_finds_a_front_of_any_width(width):
    found = steepest(lambda x: np.tanh((x - 0.377) / width), 0.0, 1.0, 201)
    assert abs(found.position - 0.377) < 0.1 * width
    # A jump of 2 and a slope of 1 / width, while the whole jump is in sight.
    assert 0.5 * width < found.width < 3 * width
