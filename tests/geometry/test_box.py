"""Interval and box of any dimension: parts, normals, samples and distances."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sharpfront.errors import DomainError
from sharpfront.geometry import BoundaryPoints, Box, Interval

HYPOTHESIS = settings(deadline=None, max_examples=80, derandomize=True, database=None)
BOXES = [
    Interval(-1, 2),
    Box((0, 1)),
    Box((0, 1), (-2, 5)),
    Box((0, 1), (-2, 5), (10, 10.5)),
    Box((0, 1), (-2, 5), (10, 10.5), (-1, 0)),
    Box(*[(i, 2 * i + 1) for i in range(5)]),
    Box((1e-8, 2e-8), (-1e6, 1e6)),
]
every_box = pytest.mark.parametrize("box", BOXES, ids=repr)
numbers = st.floats(-1e6, 1e6, allow_nan=False)


@st.composite
def boxes(draw):
    sides = []
    for _ in range(draw(st.integers(1, 4))):
        low, width = draw(numbers), draw(st.floats(1e-6, 1e6))
        assume(low + width > low)
        sides.append((low, low + width))
    return Box(*sides)


@st.composite
def boxes_with_points(draw):
    """A box and points inside, outside and right on its faces and corners."""
    box = draw(boxes())
    along = [st.one_of(st.sampled_from(side), st.floats(*side), numbers) for side in box.sides]
    points = draw(st.lists(st.tuples(*along), min_size=1, max_size=8))
    return box, np.array(points)


def test_interval_knows_its_ends():
    interval = Interval(-1, 2)
    assert (interval.left, interval.right) == (-1.0, 2.0)
    assert interval.dimension == 1
    assert interval.coordinates == ("x",)
    assert interval.parts == ("left", "right")
    assert interval.measure == 3.0
    assert interval.bounds.tolist() == [[-1.0], [2.0]]
    assert repr(interval) == "Interval(-1, 2)"
    assert isinstance(interval, Box)


@pytest.mark.parametrize("part, end, normal", [("left", -1.0, -1.0), ("right", 2.0, 1.0)])
def test_ends_of_an_interval_are_points_with_outward_normals(part, end, normal):
    for count in (1, 50):
        face = Interval(-1, 2).boundary(part, count)
        assert face.points.tolist() == [[end]]
        assert face.normals.tolist() == [[normal]]


def test_a_periodic_interval_has_no_ends():
    ring = Interval(-1, 1, periodic=True)
    assert ring.parts == ()
    assert repr(ring) == "Interval(-1, 1, periodic=True)"
    assert ring != Interval(-1, 1)
    assert not Interval(-1, 1).periodic
    assert ring.contains(np.array([[-1.0], [1.0], [1.5]])).tolist() == [True, True, False]
    with pytest.raises(DomainError, match="'left' is not a part"):
        ring.boundary("left")


@pytest.mark.parametrize(
    "dimension, coordinates, parts",
    [
        (1, "x", "left right"),
        (2, "x y", "left right bottom top"),
        (3, "x y z", "left right bottom top back front"),
        (4, "x1 x2 x3 x4", "x1_low x1_high x2_low x2_high x3_low x3_high x4_low x4_high"),
    ],
)
def test_names(dimension, coordinates, parts):
    box = Box(*[(0, 1)] * dimension)
    assert box.coordinates == tuple(coordinates.split())
    assert box.parts == tuple(parts.split())
    assert box.dimension == dimension


def test_names_go_on_in_any_dimension():
    box = Box(*[(0, 1)] * 12)
    assert box.coordinates[-1] == "x12"
    assert len(box.parts) == len(set(box.parts)) == 24
    assert box.boundary("x12_high", 3).points[:, 11].tolist() == [1.0] * 3


@pytest.mark.parametrize(
    "part, axis, value, sign",
    [
        ("left", 0, 0.0, -1),
        ("right", 0, 1.0, 1),
        ("bottom", 1, -2.0, -1),
        ("top", 1, 5.0, 1),
        ("back", 2, 10.0, -1),
        ("front", 2, 10.5, 1),
    ],
)
def test_faces_of_a_box(part, axis, value, sign):
    box = Box((0, 1), (-2, 5), (10, 10.5))
    face = box.boundary(part, 40)
    assert isinstance(face, BoundaryPoints)
    assert face.points.shape == face.normals.shape == (40, 3)
    assert np.all(face.points[:, axis] == value)
    expected = np.zeros(3)
    expected[axis] = sign
    assert np.array_equal(face.normals, np.tile(expected, (40, 1)))
    others = [i for i in range(3) if i != axis]
    low, high = box.bounds
    # The other coordinates fill the face and keep their own sides.
    assert np.all(face.points[:, others] > low[others])
    assert np.all(face.points[:, others] < high[others])
    middle = face.points[:, others].mean(axis=0)
    np.testing.assert_allclose(middle, (low + high)[others] / 2, atol=0.06 * max(high - low))
    assert np.all(np.ptp(face.points[:, others], axis=0) > 0.8 * (high - low)[others])


@every_box
def test_bounds_and_measure(box):
    low, high = box.bounds
    assert box.bounds.shape == (2, box.dimension)
    assert tuple(zip(low, high, strict=True)) == box.sides
    assert box.measure == pytest.approx(math.prod(high - low), rel=1e-14)


@every_box
def test_corners_belong_to_the_closed_box(box):
    corners = np.array(list(itertools.product(*box.sides)))
    assert box.contains(corners).all()
    assert np.all(box.distance(corners) == 0)
    low, high = box.bounds
    assert not box.contains(corners + (corners - (low + high) / 2) * 1e-3).any()


@every_box
@pytest.mark.parametrize("how", ["random", "quasi", "grid"])
def test_samples_are_inside_and_come_with_a_seed(box, how):
    points = box.sample(100, how, seed=3)
    assert points.shape[1] == box.dimension
    assert points.dtype == np.float64
    low, high = box.bounds
    assert np.all((points > low) & (points < high))
    assert np.array_equal(points, box.sample(100, how, seed=3))
    if how != "grid":
        assert points.shape[0] == 100
        assert not np.array_equal(points, box.sample(100, how, seed=4))
        assert len(np.unique(points, axis=0)) == 100


@pytest.mark.parametrize("how", ["random", "quasi", "grid"])
def test_samples_fill_the_box(how):
    box = Box((0, 1), (-2, 5))
    points = box.sample(4096, how)
    unit = (points - box.bounds[0]) / (box.bounds[1] - box.bounds[0])
    np.testing.assert_allclose(unit.mean(axis=0), 0.5, atol=0.02)
    np.testing.assert_allclose(unit.var(axis=0), 1 / 12, atol=0.005)
    assert abs(np.corrcoef(unit.T)[0, 1]) < 0.05


def test_quasi_random_points_leave_no_gap():
    gaps = {
        how: np.diff(np.sort(Interval(0, 1).sample(256, how)[:, 0])).max()
        for how in ("quasi", "random")
    }
    assert gaps["quasi"] < 2 / 256 < gaps["random"]


@pytest.mark.parametrize(
    "dimension, count, expected",
    [(1, 7, 7), (2, 9, 9), (2, 10, 9), (3, 1000, 1000), (3, 999, 729), (5, 243, 243), (2, 1, 1)],
)
def test_grid_takes_the_largest_cube_that_fits(dimension, count, expected):
    points = Box(*[(0, 1)] * dimension).sample(count, "grid")
    assert len(points) == expected
    per_side = round(expected ** (1 / dimension))
    np.testing.assert_allclose(
        np.unique(points[:, -1].round(12)), (np.arange(per_side) + 0.5) / per_side
    )


@pytest.mark.parametrize("how", ["random", "quasi", "grid"])
def test_no_points(how):
    assert Box((0, 1), (0, 1)).sample(0, how).shape == (0, 2)
    assert Box((0, 1), (0, 1)).boundary("left", 0).points.shape == (0, 2)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 100])
def test_the_number_of_points_is_the_one_asked_for(count):
    assert len(Box((0, 1), (0, 1)).sample(count)) == count
    assert len(Box((0, 1), (0, 1)).boundary("top", count).points) == count


def test_boundary_samples_follow_the_seed():
    box = Box((0, 1), (0, 1), (0, 1))
    one, same, other = (box.boundary("top", 20, seed).points for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


@HYPOTHESIS
@given(drawn=boxes_with_points())
def test_distance_is_positive_inside_and_agrees_with_contains(drawn):
    box, points = drawn
    inside, distance = box.contains(points), box.distance(points)
    assert distance.shape == inside.shape == (len(points),)
    assert np.array_equal(inside, distance >= 0)
    low, high = box.bounds
    interior = np.all((points > low) & (points < high), axis=1)
    assert np.array_equal(interior, distance > 0)


@HYPOTHESIS
@given(drawn=boxes_with_points())
def test_distance_is_that_to_the_nearest_point_of_the_boundary(drawn):
    box, points = drawn
    low, high = box.bounds
    for point, distance in zip(points, box.distance(points), strict=True):
        onto_faces = []
        for axis, end in itertools.product(range(box.dimension), range(2)):
            nearest = np.clip(point, low, high)
            nearest[axis] = box.bounds[end][axis]
            onto_faces.append(np.linalg.norm(point - nearest))
        assert abs(distance) == pytest.approx(min(onto_faces), rel=1e-12, abs=1e-15)


@HYPOTHESIS
@given(box=boxes(), which=st.integers(0, 7), seed=st.integers(0, 2**31), step=st.floats(1e-3, 1e3))
def test_boundary_points_lie_on_it_and_normals_lead_outside(box, which, seed, step):
    part = box.parts[which % len(box.parts)]
    face = box.boundary(part, 9, seed)
    assert np.all(box.distance(face.points) == 0)
    assert box.contains(face.points).all()
    np.testing.assert_allclose(np.linalg.norm(face.normals, axis=1), 1)
    outside = face.points + step * face.normals
    assert not box.contains(outside).any()
    np.testing.assert_allclose(box.distance(outside), -step, rtol=1e-6)
    width = min(high - low for low, high in box.sides)
    axis = int(np.argmax(np.abs(face.normals[0])))
    inside = face.points - 0.5 * width * face.normals
    assert np.all((inside[:, axis] > box.sides[axis][0]) & (inside[:, axis] < box.sides[axis][1]))
    again = box.boundary(part, 9, seed)
    assert np.array_equal(face.points, again.points)


@HYPOTHESIS
@given(box=boxes(), how=st.sampled_from(["random", "quasi", "grid"]), seed=st.integers(0, 2**31))
def test_samples_of_any_box_are_inside_it(box, how, seed):
    points = box.sample(17, how, seed)
    assert box.contains(points).all()
    assert np.array_equal(points, box.sample(17, how, seed))


def test_nan_is_nowhere():
    assert not Box((0, 1), (0, 1)).contains(np.array([[0.5, np.nan]])).any()


def test_boxes_are_values():
    assert Box((0, 1), (0, 2)) == Box([0, 1], np.array([0, 2]))
    assert Box((0, 1)) != Box((0, 2))
    assert len({Interval(0, 1), Interval(0.0, 1.0), Interval(0, 2)}) == 2
    assert repr(Box((0, 1), (0, 2.5))) == "Box(sides=((0.0, 1.0), (0.0, 2.5)))"
    with pytest.raises(AttributeError):
        Box((0, 1)).sides = ()


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Interval(1, 1), r"differ.*\(1, 1\)"),
        (lambda: Interval(2, 1), r"lower end must come first.*\(2, 1\)"),
        (lambda: Interval(0, math.inf), "finite"),
        (lambda: Interval(math.nan, 1), "finite"),
        (lambda: Interval("a", 1), "pair of numbers"),
        (lambda: Box(), "at least one side"),
        (lambda: Box(0, 1), r"pair of numbers such as \(0, 1\), both finite, got 0"),
        (lambda: Box((0, 1, 2)), "pair of numbers"),
        (lambda: Box((0, 1), (1, 0)), "lower end"),
        (lambda: Box((0, 1)).sample(-1), "whole number, 0 or more, got -1"),
        (lambda: Box((0, 1), (0, 1)).boundary("left", -3), "whole number, 0 or more, got -3"),
        (lambda: Box((0, 1)).sample(4, "sobol"), "'random', 'quasi' or 'grid', got 'sobol'"),
    ],
)
def test_what_is_no_region_is_refused(make, message):
    with pytest.raises(DomainError, match=message):
        make()


@pytest.mark.parametrize(
    "box, part, hint",
    [
        (Interval(0, 1), "Left", "left, right. Did you mean 'left'"),
        (Box((0, 1), (0, 1)), "botom", "left, right, bottom, top. Did you mean 'bottom'"),
        (Box(*[(0, 1)] * 4), "x4_hgh", "Did you mean 'x4_high'"),
        (Interval(0, 1), "zzz", "its parts are left, right."),
    ],
)
def test_an_unknown_part_is_refused_with_a_suggestion(box, part, hint):
    with pytest.raises(DomainError) as error:
        box.boundary(part)
    assert repr(part) in str(error.value)
    assert hint in str(error.value)
    assert ("Did you mean" in str(error.value)) == ("Did you mean" in hint)
