"""Meshes fill their domains."""

import numpy as np
import pytest
from tests.geometry.mesh_shapes import Notch, UnitBall, UnitDisk, rim_of, volumes_of

from sharpfront.errors import DomainError
from sharpfront.geometry.meshes.mesh import box_mesh
from sharpfront.geometry.meshes.shape_mesh import shape_mesh, spacing_for


def uneven(n, high=1.0):
    return high * np.linspace(0, 1, n + 1) ** 1.5


@pytest.mark.parametrize("counts", [(3, 4), (2, 3, 4)])
def test_a_box_is_filled(counts):
    sizes = np.array([2.0, 3.0, 5.0])[: len(counts)]
    mesh = box_mesh([uneven(n, size) for n, size in zip(counts, sizes, strict=True)])
    assert volumes_of(mesh).min() > 0
    assert volumes_of(mesh).sum() == pytest.approx(sizes.prod())
    assert len(mesh.cells) == np.prod(counts) * (2 if len(counts) == 2 else 6)


@pytest.mark.parametrize("axes", [[uneven(3)], [uneven(3), np.array([0.0, 0.0, 1.0])]])
def test_axes_that_make_no_mesh_are_refused(axes):
    with pytest.raises(DomainError):
        box_mesh(axes)


def test_a_disk_is_filled_with_good_triangles():
    disk = UnitDisk()
    mesh = shape_mesh(disk, 0.1)
    assert volumes_of(mesh).sum() == pytest.approx(np.pi, rel=3e-3)
    spans = np.linalg.norm(np.diff(mesh.points[mesh.cells[:, [0, 1, 2, 0]]], axis=1), axis=2)
    assert (volumes_of(mesh) / spans.max(axis=1) ** 2).min() > 0.08
    assert spans.max() < 0.2
    assert rim_of(mesh, disk) == pytest.approx([np.pi, np.pi], rel=1e-2)


def test_a_reentrant_corner_stays_open_and_sides_lose_their_flat_cells():
    mesh = shape_mesh(Notch(), 0.07)
    assert volumes_of(mesh).sum() == pytest.approx(0.75)
    assert rim_of(mesh, Notch()) == pytest.approx([3.0, 1.0])


def test_a_ball_is_filled():
    ball = UnitBall()
    mesh = shape_mesh(ball, 0.25)
    assert volumes_of(mesh).sum() == pytest.approx(ball.measure, rel=0.05)
    assert rim_of(mesh, ball).sum() == pytest.approx(4 * np.pi, rel=0.03)


def test_flat_cells_between_boundary_points_are_left_out():
    mesh = shape_mesh(Notch(), 0.05)
    corners = mesh.points[mesh.cells]
    spans = np.linalg.norm(corners[:, :, None] - corners[:, None], axis=3).max(axis=(1, 2))
    assert np.all(volumes_of(mesh) > 1e-3 * spans**2)
    assert volumes_of(mesh).sum() == pytest.approx(0.75)


@pytest.mark.parametrize(("domain", "count"), [(UnitDisk(), 2000), (UnitBall(), 2000)])
def test_the_spacing_for_a_count_gives_about_that_many_points(domain, count):
    found = len(shape_mesh(domain, spacing_for(domain, count)).points)
    assert 0.85 * count < found < 1.3 * count


def test_a_spacing_without_cells_is_refused():
    with pytest.raises(DomainError, match="positive spacing"):
        shape_mesh(UnitDisk(), 0.0)
