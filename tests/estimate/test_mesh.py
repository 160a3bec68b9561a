"""Meshes fill their domains, and know their boundary."""

import numpy as np
import pytest
from tests.estimate.mesh_shapes import Notch, UnitBall, UnitDisk

from sharpfront.errors import DomainError
from sharpfront.estimate.quadrature import cell_rule, facet_rule
from sharpfront.geometry.meshes.mesh import box_mesh
from sharpfront.geometry.meshes.shape_mesh import shape_mesh, spacing_for
from sharpfront.geometry.meshes.sizing import Chart

NAMES = ("left", "right", "bottom", "top", "back", "front")


def uneven(n, high=1.0):
    return high * np.linspace(0, 1, n + 1) ** 1.5


@pytest.mark.parametrize("counts", [(3, 4), (2, 3, 4)])
def test_a_box_is_filled_and_its_faces_have_their_names(counts):
    d = len(counts)
    sizes = np.array([2.0, 3.0, 5.0])[:d]
    axes = [uneven(n, size) for n, size in zip(counts, sizes, strict=True)]
    mesh = box_mesh(axes, NAMES[: 2 * d])
    assert mesh.volumes.min() > 0
    assert mesh.volumes.sum() == pytest.approx(sizes.prod())
    assert len(mesh.cells) == np.prod(counts) * (2 if d == 2 else 6)
    for i, name in enumerate(mesh.names):
        mine = mesh.parts == i
        axis, upper = divmod(i, 2)
        assert mesh.facet_measures[mine].sum() == pytest.approx(sizes.prod() / sizes[axis]), name
        assert np.all(mesh.points[mesh.facets[mine]][..., axis] == (sizes[axis] if upper else 0))
        assert np.all(mesh.normals[mine] == (1 if upper else -1) * np.eye(d)[axis])


def test_gradients_are_those_of_the_barycentric_coordinates():
    mesh = box_mesh([uneven(3), uneven(4)], NAMES[:4])
    values = mesh.points @ [2.0, -3.0] + 1
    slopes = np.einsum("kaj,ka->kj", mesh.gradients, values[mesh.cells])
    assert slopes == pytest.approx(np.tile([2.0, -3.0], (len(mesh.cells), 1)))


def test_each_facet_belongs_to_its_cell():
    for mesh in (box_mesh([uneven(3)] * 2, NAMES[:4]), box_mesh([uneven(2)] * 3, NAMES)):
        for facet, cell in zip(mesh.facets, mesh.facet_cells, strict=True):
            assert set(facet) <= set(mesh.cells[cell])


def test_a_periodic_axis_joins_its_ends_and_has_no_boundary():
    mesh = box_mesh([uneven(3), uneven(4)], ("bottom", "top"), (True, False))
    right = mesh.points[:, 0] == 1
    assert np.all(mesh.points[mesh.images[right], 0] == 0)
    assert np.all(mesh.points[mesh.images[right], 1] == mesh.points[right, 1])
    assert np.all(mesh.images[~right] == np.flatnonzero(~right))
    assert np.all(mesh.normals[:, 0] == 0)
    assert np.all((mesh.normals[:, 1] > 0) == (mesh.parts == 1))


@pytest.mark.parametrize(
    ("axes", "names", "periodic"),
    [
        ([uneven(3)], ("left", "right"), (False,)),
        ([uneven(3), np.array([0.0, 0.0, 1.0])], NAMES[:4], (False, False)),
        ([uneven(3), uneven(3)], NAMES[:4], (True, False)),
    ],
)
def test_axes_that_make_no_mesh_are_refused(axes, names, periodic):
    with pytest.raises(DomainError):
        box_mesh(axes, names, periodic)


@pytest.mark.parametrize("d", [2, 3])
def test_rules_are_exact_for_quadratics(d):
    mesh = box_mesh([uneven(2)] * d, NAMES[: 2 * d])
    rule = cell_rule(mesh)
    for integrand, exact in ((lambda p: p[:, 0] * p[:, 1], 1 / 4), (lambda p: p[:, 0] ** 2, 1 / 3)):
        values = integrand(rule.points)[rule.places] @ rule.weights
        assert values @ mesh.volumes == pytest.approx(exact)
    places = np.einsum("ra,kai->kri", rule.shapes, mesh.points[mesh.cells])
    assert places == pytest.approx(rule.points[rule.places])
    shapes, weights = facet_rule(d)
    assert weights @ (shapes[:, 0] * shapes[:, 1]) == pytest.approx(1 / 6 if d == 2 else 1 / 12)


def test_a_disk_is_filled_with_good_triangles():
    disk = UnitDisk()
    mesh = shape_mesh(disk, 0.1)
    assert mesh.volumes.sum() == pytest.approx(np.pi, rel=3e-3)
    spans = np.linalg.norm(np.diff(mesh.points[mesh.cells[:, [0, 1, 2, 0]]], axis=1), axis=2)
    assert (mesh.volumes / spans.max(axis=1) ** 2).min() > 0.08
    assert spans.max() < 0.2
    for i in range(2):
        assert mesh.facet_measures[mesh.parts == i].sum() == pytest.approx(np.pi, rel=1e-2)
    centres = mesh.points[mesh.facets].mean(axis=1)
    assert np.all(np.sum(centres * mesh.normals, axis=1) > 0.99)
    assert not mesh.axes


def test_a_reentrant_corner_stays_open_and_sides_lose_their_flat_cells():
    mesh = shape_mesh(Notch(), 0.07)
    assert mesh.volumes.sum() == pytest.approx(0.75)
    assert mesh.facet_measures[mesh.parts == 0].sum() == pytest.approx(3.0)
    assert mesh.facet_measures[mesh.parts == 1].sum() == pytest.approx(1.0)
    assert np.abs(mesh.normals).max(axis=1) == pytest.approx(1.0)


def test_a_ball_is_filled():
    ball = UnitBall()
    mesh = shape_mesh(ball, 0.25)
    assert mesh.volumes.sum() == pytest.approx(ball.measure, rel=0.05)
    assert mesh.facet_measures.sum() == pytest.approx(4 * np.pi, rel=0.03)
    centres = mesh.points[mesh.facets].mean(axis=1)
    assert np.all(np.sum(centres * mesh.normals, axis=1) > 0.7)


def test_flat_cells_between_boundary_points_are_left_out():
    mesh = shape_mesh(Notch(), 0.05)
    corners = mesh.points[mesh.cells]
    spans = np.linalg.norm(corners[:, :, None] - corners[:, None], axis=3).max(axis=(1, 2))
    assert np.all(mesh.volumes > 1e-3 * spans**2)
    assert mesh.volumes.sum() == pytest.approx(0.75)


@pytest.mark.parametrize(("domain", "count"), [(UnitDisk(), 2000), (UnitBall(), 2000)])
def test_the_spacing_for_a_count_gives_about_that_many_points(domain, count):
    found = len(shape_mesh(domain, spacing_for(domain, count)).points)
    assert 0.85 * count < found < 1.3 * count


def test_clustered_points_get_thin_cells_where_the_triangulation_is_told_so():
    def stretch(points):
        return np.stack([points[:, 0], points[:, 1] / 0.02], axis=1)

    lattice = np.stack(np.meshgrid(np.arange(-5, 6), np.arange(-5, 6)), axis=-1).reshape(-1, 2)
    inside = (lattice + np.stack([lattice[:, 1] % 2, 0 * lattice[:, 1]], axis=1) / 2) * [0.1, 0.002]

    def tallest(mesh):
        corners = mesh.points[mesh.cells]
        middle = np.all(np.abs(corners.mean(axis=1)) < [0.35, 0.008], axis=1)
        return np.ptp(corners[middle, :, 1], axis=1).max()

    told = shape_mesh(UnitDisk(), 0.2, interior=inside, chart=Chart(stretch))
    assert tallest(told) == pytest.approx(0.002)
    assert tallest(shape_mesh(UnitDisk(), 0.2, interior=inside)) > 0.0035


def test_a_spacing_without_cells_is_refused():
    with pytest.raises(DomainError, match="positive spacing"):
        shape_mesh(UnitDisk(), 0.0)
