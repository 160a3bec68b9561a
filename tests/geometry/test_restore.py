"""Domains come back from their states."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from tests.geometry.shape_cases import CASES, L_SHAPE, SQUARE, petal, ring
from tests.lazy import Lazy

from sharpfront.geometry import (
    Box,
    Cloud,
    Disk,
    HalfSpace,
    Implicit,
    Interval,
    Polygon,
    Solid,
    restore_domain,
)

trimesh = Lazy("trimesh")

EXACT = [
    Interval(-1, 2),
    Interval(0, 1, periodic=True),
    Box((0, 1), (0, 2), periodic=("y",)),
    Polygon(L_SHAPE, [[(0.2, 0.2), (0.4, 0.2), (0.3, 0.5)]]),
    SQUARE & HalfSpace((0.5, 0.5), (1, 3)).named("cut"),
    (SQUARE - Disk((0.5, 0.5), 0.2).named("hole")) | Disk((1, 1), 0.1),
]


def through_json(state):
    """Return the state after its words have been through JSON, arrays beside them."""
    if isinstance(state, np.ndarray):
        return state.copy()
    if isinstance(state, dict):
        return {key: through_json(value) for key, value in state.items()}
    if isinstance(state, list):
        return [through_json(value) for value in state]
    return json.loads(json.dumps(state))


@pytest.mark.parametrize("domain", EXACT, ids=repr)
def test_exact_domains_come_back_equal(domain):
    again = restore_domain(through_json(domain.state()))
    assert again == domain
    assert type(again) is type(domain)
    assert again.parts == domain.parts
    assert again.periodic_axes == domain.periodic_axes


# Two clouds with thousands of points in space would take most of the time.
@pytest.mark.parametrize(
    "case", [c for c in CASES if c.name != "cloud in space"], ids=lambda case: case.name
)
def test_every_domain_comes_back(case):
    domain, again = case.domain, restore_domain(through_json(case.domain.state()))
    assert again.parts == domain.parts
    points = Box(*domain.bounds.T).sample(2000)
    clear = np.abs(domain.distance(points)) > 1e-3
    assert np.array_equal(again.contains(points)[clear], domain.contains(points)[clear])
    for part in domain.parts:
        assert again.boundary_measure(part) == pytest.approx(
            domain.boundary_measure(part), rel=2e-3 if domain.dimension == 2 else 0.015
        )


def test_solids_keep_their_triangles():
    solid = Solid(trimesh.creation.box((1, 2, 3)))
    again = restore_domain(solid.state())
    assert np.array_equal(again.vertices, solid.vertices)
    assert np.array_equal(again.faces, solid.faces)


def test_clouds_keep_their_points():
    cloud = Cloud(ring(50), ring(50))
    again = restore_domain(through_json(cloud.state()))
    assert np.array_equal(again.points, ring(50))
    np.testing.assert_allclose(again.normals, ring(50), rtol=1e-15)


def test_implicit_regions_come_back_as_clouds():
    region = Implicit(petal, ((0, 1), (0, 1)))
    again = restore_domain(region.state())
    assert isinstance(again, Cloud)
    assert again.measure == pytest.approx(region.measure, rel=5e-5)
    found = again.boundary("surface", 300)
    assert np.abs(petal(*found.points.T)).max() < 1e-5


def test_parts_by_a_function_come_back_without_it():
    domain = SQUARE.part("inflow", lambda x, y: (x < 0.1) & (y > 0.3))
    again = restore_domain(through_json(domain.state()))
    assert again.parts == domain.parts
    assert again.boundary_measure("inflow") == pytest.approx(0.8, abs=1e-3)
    assert again.state()["points"].shape == domain.state()["points"].shape
    assert np.all(again.boundary("inflow", 50).points[:, 0] < 0.1)


@pytest.mark.parametrize("domain", EXACT, ids=repr)
def test_domains_travel_between_processes(domain):
    for part in domain.parts:
        domain.boundary(part, 3)
    again = pickle.loads(pickle.dumps(domain))
    assert again == domain
    assert again.measure == domain.measure
