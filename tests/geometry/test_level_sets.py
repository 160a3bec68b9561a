"""Regions given by a function or by points of their boundary."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.geometry.shape_cases import PETAL_AREA, PETAL_LENGTH, petal, ring
from tests.lazy import Lazy

from sharpfront.errors import DomainError
from sharpfront.geometry import Cloud, Implicit

trimesh = Lazy("trimesh")


def test_petal():
    region = Implicit(petal, ((0, 1), (0, 1)))
    found = region.boundary("surface", 1000)
    assert np.abs(petal(*found.points.T)).max() < 1e-12
    step = np.linalg.norm(found.points - np.roll(found.points, 1, axis=0), axis=1)
    assert np.ptp(step) < 0.02 * step.mean()
    assert region.measure == pytest.approx(PETAL_AREA, rel=1e-6)
    assert region.boundary_measure("surface") == pytest.approx(PETAL_LENGTH, rel=1e-5)
    assert region.bounds[1][0] == pytest.approx(0.93, abs=1e-9)


def test_surface_points_are_exact():
    def torus(x, y, z):
        return (np.hypot(x, y) - 1) ** 2 + z**2 - 0.16

    region = Implicit(torus, ((-2, 2), (-2, 2), (-1, 1)))
    found = region.boundary("surface", 500)
    assert np.abs(torus(*found.points.T)).max() < 1e-12
    assert region.measure == pytest.approx(2 * math.pi**2 * 0.16, rel=2e-3)
    assert region.boundary_measure("surface") == pytest.approx(4 * math.pi**2 * 0.4, rel=2e-3)
    np.testing.assert_allclose(region.bounds, [[-1.4, -1.4, -0.4], [1.4, 1.4, 0.4]], atol=5e-3)
    points = region.sample(200)
    assert np.all(torus(*points.T) < 0)
    exact = 0.4 - np.hypot(np.hypot(points[:, 0], points[:, 1]) - 1, points[:, 2])
    np.testing.assert_allclose(region.distance(points), exact, atol=5e-5)


def test_several_closed_curves():
    def two(x, y):
        near = np.hypot(x, y)
        return np.minimum(np.maximum(near - 1, 0.5 - near), np.hypot(x - 2, y) - 0.3)

    region = Implicit(two, ((-2, 3), (-2, 2)))
    assert region.measure == pytest.approx(math.pi * (0.75 + 0.09), rel=1e-5)
    assert region.boundary_measure("surface") == pytest.approx(3.6 * math.pi, rel=1e-5)
    assert region.contains(np.array([[0.7, 0], [0.2, 0], [2, 0], [1.5, 0]])).tolist() == [
        True, False, True, False,
    ]  # fmt: skip


def test_distance_to_a_circle_far_and_near():
    # The function is no distance: its slope varies a thousandfold.
    region = Implicit(lambda x, y: np.exp(3 * np.hypot(x, y)) - math.exp(3), ((-2, 2), (-2, 2)))
    points = np.random.default_rng(0).uniform(-1.9, 1.9, (300, 2))
    exact = 1 - np.linalg.norm(points, axis=1)
    np.testing.assert_allclose(region.distance(points), exact, atol=1e-6)


@pytest.mark.parametrize(
    "f, bounds, message",
    [
        (lambda x, y: x**2 + y**2 + 1, ((-1, 1), (-1, 1)), "negative nowhere.*negative means ins"),
        (lambda x, y: x**2 + y**2 - 4, ((-1, 1), (-1, 1)), "touches its bounds"),
        (lambda x, y: x - 0.5, ((0, 1), (0, 1)), "touches its bounds"),
        (lambda x, y: np.where(x > 0, np.nan, -1.0), ((-1, 1), (-1, 1)), r"NaN at \["),
        (lambda x: x, ((-1, 1), (-1, 1)), "arrays of x, y and return a number for each"),
        (lambda x, y: [1.0, 2.0, 3.0], ((-1, 1), (-1, 1)), "a number for each"),
        (petal, ((0, 1),), "two or three coordinates, got 1"),
        (petal, ((0, 1), (1, 0)), "lower end must come first"),
    ],
)
def test_what_is_no_implicit_region(f, bounds, message):
    with pytest.raises(DomainError, match=message):
        Implicit(f, bounds)


def square_of(count):
    along, one = (np.arange(count) + 0.5) / count, np.ones(count)
    points = [[along, 0 * one], [one, along], [along, one], [0 * one, along]]
    normals = np.repeat([[0, -1], [1, 0], [0, 1], [-1, 0]], count, axis=0)
    return np.concatenate([np.stack(side, axis=1) for side in points]), normals


def test_cloud_of_a_square_rounds_its_corners_only():
    for count, error in ((25, 0.012), (100, 0.003)):
        region = Cloud(*square_of(count))
        assert region.measure == pytest.approx(1, abs=error)
        assert region.boundary_measure("surface") == pytest.approx(4, abs=6 * error)
        points = square_of(count)[0]
        assert np.abs(region.distance(points)).max() < 0.05 / count


def test_cloud_passes_through_points_of_an_ellipse():
    angle = np.linspace(0, 2 * np.pi, 241)[:-1]
    points = np.stack([2 * np.cos(angle), np.sin(angle)], axis=1)
    region = Cloud(points, points / [4, 1])
    assert np.abs(region.distance(points)).max() < 1e-4
    assert region.measure == pytest.approx(2 * np.pi, rel=1e-4)


@pytest.mark.slow
def test_cloud_of_a_box_in_space():
    mesh = trimesh.creation.box((1, 1, 1)).subdivide().subdivide().subdivide()
    region = Cloud(mesh.triangles_center, mesh.face_normals)
    assert region.measure == pytest.approx(1, rel=0.02)
    assert region.contains(np.array([[0, 0, 0], [0.4, 0.4, 0.4], [0.6, 0, 0]])).tolist() == [
        True, True, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "points, normals, message",
    [
        (ring(50), -ring(50), "do not surround a region.*normals lead outwards"),
        (ring(50)[:30], ring(50)[:30], "do not surround a region.*gaps"),
        (ring(50), ring(49), r"\(50, 2\) and \(49, 2\)"),
        (ring(8), ring(8), "twelve points"),
        (ring(50), 0 * ring(50), "must not be zero"),
        (np.concatenate([ring(50)] * 2), np.concatenate([ring(50)] * 2), "coincide"),
        (ring(50) * np.nan, ring(50), "NaN"),
        (ring(50)[:, :1], ring(50)[:, :1], "two or three dimensions"),
        ("points", ring(50), "rows of numbers"),
    ],
)
def test_what_is_no_cloud(points, normals, message):
    with pytest.raises(DomainError, match=message):
        Cloud(points, normals)


def test_names():
    assert repr(Implicit(petal, ((0, 1), (0, 1.5)))) == "Implicit(petal, ((0, 1), (0, 1.5)))"
    assert repr(Cloud(ring(50), ring(50))) == "Cloud(50 points in 2 dimensions)"
