"""A domain together with a span of time."""

import numpy as np
import pytest

from sharpfront import Box, Disk, Interval
from sharpfront.errors import DomainError
from sharpfront.geometry import SpaceTime, restore_domain

LINE = SpaceTime(Interval(-1, 2), (0.5, 2.5))
DISK = SpaceTime(Disk((0, 0), 1), (0, 3))


def test_what_it_is():
    assert LINE.dimension == 2 and LINE.coordinates == ("x", "t")
    assert DISK.dimension == 3 and DISK.coordinates == ("x", "y", "t")
    assert np.array_equal(LINE.bounds, [[-1, 0.5], [2, 2.5]])
    assert np.isclose(LINE.measure, 6) and np.isclose(DISK.measure, 3 * np.pi, rtol=1e-6)
    assert LINE.parts == ("left", "right")
    assert np.isclose(DISK.boundary_measure(DISK.parts[0]), 6 * np.pi, rtol=1e-6)
    assert repr(LINE) == f"SpaceTime({LINE.space!r}, (0.5, 2.5))"


def test_time_does_not_return():
    assert SpaceTime(Interval(0, 1, periodic=True), (0, 1)).periodic_axes == (True, False)
    assert LINE.periodic_axes == (False, False)


@pytest.mark.parametrize(
    ("point", "inside"),
    [
        ((0.0, 1.0), True),
        ((-1.0, 0.5), True),
        ((2.0, 2.5), True),
        ((0.0, 0.49), False),
        ((0.0, 2.51), False),
        ((2.01, 1.0), False),
    ],
)
def test_contains_needs_both(point, inside):
    assert LINE.contains(np.array([point]))[0] == inside


def test_distance_is_to_the_nearer_of_both():
    points = np.array([[0.0, 1.5], [-0.9, 1.5], [0.5, 0.6], [0.5, 2.45], [0.5, 3.0]])
    assert np.allclose(LINE.distance(points), [1.0, 0.1, 0.1, 0.05, -0.5])


def test_samples_lie_in_it_in_the_order_of_time():
    for domain in (LINE, DISK):
        points = domain.sample(64, seed=3)
        assert points.shape == (64, domain.dimension)
        assert domain.contains(points).all()
        assert np.all(np.diff(points[:, -1]) > 0)
        assert np.isclose(points[:, -1].mean(), np.mean(domain.time))
    assert np.array_equal(LINE.sample(8, seed=3), LINE.sample(8, seed=3))


def test_corners_are_those_of_space_at_both_ends():
    box = SpaceTime(Box((0, 1), (0, 2)), (0, 4))
    corners = {tuple(c) for c in box.corners}
    assert corners == {(x, y, t) for x in (0.0, 1.0) for y in (0.0, 2.0) for t in (0.0, 4.0)}


def test_boundary_belongs_to_space():
    with pytest.raises(DomainError, match=r"domain\.space\.boundary"):
        LINE.boundary("left")


@pytest.mark.parametrize("domain", [LINE, DISK], ids=["line", "disk"])
def test_state_restores_it(domain):
    again = restore_domain(domain.state())
    assert isinstance(again, SpaceTime)
    assert again.time == domain.time and repr(again) == repr(domain)
    points = domain.sample(20)
    assert np.array_equal(again.distance(points), domain.distance(points))


def test_whether_it_is_a_box_and_in_time_is_asked_of_a_domain():
    box = Box((0, 1), (0, 2))
    assert box.is_box and Interval(0, 1).is_box
    assert not (DISK.is_box or DISK.space.is_box or box.named("wall").is_box)
    assert DISK.time == (0, 3) and box.time is None
    assert DISK.space.space is DISK.space and box.space is box
