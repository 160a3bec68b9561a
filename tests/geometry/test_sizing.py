"""Meshes know every part of a boundary, however small, and grow away from it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.geometry.mesh_shapes import facets_of, rim_of, simplex_measures, volumes_of

from sharpfront.geometry import Ball, Box, Disk, Polygon
from sharpfront.geometry.meshes.shape_mesh import shape_mesh, spacing_for

SQUARE = Box((0, 1), (0, 1))
CUBE = Box((0, 1), (0, 1), (0, 1))


def covered(mesh, domain, slack):
    """Every part has facets of its own, and they are as large as the part."""
    wanted = [domain.boundary_measure(part) for part in domain.parts]
    assert rim_of(mesh, domain) == pytest.approx(wanted, rel=slack)


@settings(max_examples=15, derandomize=True, deadline=None)
@given(st.floats(0.1, 0.9), st.floats(0.1, 0.9), st.floats(-4, -1.1), st.sampled_from([500, 6000]))
def test_a_hole_of_any_size_has_its_facets(x, y, digits, count):
    domain = SQUARE - Disk((x, y), 10**digits)
    mesh = shape_mesh(domain, spacing_for(domain, count))
    covered(mesh, domain, 0.02)
    assert volumes_of(mesh).sum() == pytest.approx(domain.measure, rel=1e-3)
    assert len(mesh.points) < 1.3 * count + 800


@pytest.mark.parametrize("radius", [0.05, 1e-4])
@pytest.mark.parametrize("centre", [(0.5, 0.4, 0.6), (0.15, 0.8, 0.3)])
def test_so_has_a_hole_in_space(radius, centre):
    domain = CUBE - Ball(centre, radius)
    mesh = shape_mesh(domain, spacing_for(domain, 1500))
    covered(mesh, domain, 0.12)
    corners = mesh.points[facets_of(mesh)]
    assert (
        np.count_nonzero(np.linalg.norm(corners - centre, axis=2).max(axis=1) < 1.1 * radius) > 100
    )


@pytest.mark.parametrize("size", [0.05, 1e-3, 1e-4])
@pytest.mark.parametrize("corners", [3, 4, 7, 20])
def test_so_have_holes_of_polygons_and_their_spacing_grows_steadily(size, corners):
    angle = 0.3 + 2 * np.pi * np.arange(corners) / corners
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    holes = [(0.3, 0.3) + size * ring, (0.7, 0.6) + 0.3 * size * ring]
    domain = Polygon([(0, 0), (1, 0), (1, 1), (0, 1)], holes)
    mesh = shape_mesh(domain, spacing_for(domain, 2000))
    covered(mesh, domain, 0.02)
    edges = np.unique(np.sort(mesh.cells[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
    spans = np.linalg.norm(mesh.points[edges[:, 0]] - mesh.points[edges[:, 1]], axis=1)
    longest = np.zeros(len(mesh.points))
    shortest = np.full(len(mesh.points), np.inf)
    for ends in edges.T:
        np.maximum.at(longest, ends, spans)
        np.minimum.at(shortest, ends, spans)
    assert np.quantile(longest / shortest, 0.99) < 6


@pytest.mark.parametrize("gap", [0.02, 1e-3])
def test_a_narrow_gap_keeps_its_two_sides_apart(gap):
    domain = SQUARE - Disk((0.2 + gap, 0.5), 0.2) - Disk((0.61 + 2 * gap, 0.5), 0.2)
    mesh = shape_mesh(domain, spacing_for(domain, 1500))
    covered(mesh, domain, 0.02)


def test_one_name_for_all_of_the_boundary_hides_no_hole():
    domain = (SQUARE - Disk((0.3, 0.6), 1e-3)).named("wall")
    mesh = shape_mesh(domain, spacing_for(domain, 2000))
    corners = mesh.points[facets_of(mesh)]
    near = np.linalg.norm(corners.mean(axis=1) - [0.3, 0.6], axis=1) < 2e-3
    assert simplex_measures(corners[near]).sum() == pytest.approx(2e-3 * np.pi, rel=0.02)


def test_a_short_part_of_a_straight_side_has_facets_and_no_more_than_its_own():
    domain = SQUARE.part("inlet", lambda x, y: (x < 1e-9) & (np.abs(y - 0.3) < 1e-3))
    mesh = shape_mesh(domain, spacing_for(domain, 2000))
    inlet = rim_of(mesh, domain)[domain.parts.index("inlet")]
    assert inlet == pytest.approx(2e-3, rel=0.3)
