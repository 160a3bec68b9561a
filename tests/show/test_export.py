"""Files that other viewers read, read back."""

import sys
from dataclasses import replace

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt import Paper
from sharpfront.errors import MissingExtraError, ProblemError

meshio = pytest.importorskip("meshio")
SQUARE = sf.Box((0, 1), (0, 1))


def flow(domain, eps):
    return sf.Problem(
        domain, lambda u, x, y: -eps * sf.laplacian(u) + u.dx - 1, boundary=lambda u, x, y: u
    )


@pytest.fixture(scope="module")
def layer():
    return sf.solve(flow(SQUARE, 1e-2), tol=0.1, max_kernels=300)


@pytest.fixture(scope="module")
def disk():
    return sf.solve(flow(sf.Disk((0, 0), 1), 1.0), tol=0.1)


def areas(mesh):
    corners = mesh.points[mesh.cells[0].data]
    sides = corners[:, 1:] - corners[:, :1]
    return np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1) / 2


@pytest.mark.parametrize("suffix", [".vtu", ".vtk", ".xdmf"])
def test_what_is_written_comes_back(layer, tmp_path, suffix):
    path = sf.export(layer, tmp_path / f"layer{suffix}", resolution=20)
    assert list(tmp_path.iterdir()) == [path]
    mesh = meshio.read(path)
    x, y = mesh.points[:, 0], mesh.points[:, 1]
    assert np.isclose(areas(mesh).sum(), 1.0)
    assert np.allclose(mesh.point_data["u"], layer(x, y), atol=1e-12)
    slopes = np.stack([layer.d("x")(x, y), layer.d("y")(x, y), 0 * x], axis=1)
    assert np.allclose(mesh.point_data["grad_u"], slopes, atol=1e-9)
    assert np.allclose(mesh.point_data["residual"], np.abs(layer.residual(x, y)), atol=1e-9)


def test_nodes_follow_the_kernels(layer, tmp_path):
    mesh = meshio.read(sf.export(layer, tmp_path / "a.vtu", resolution=40))
    x = np.unique(mesh.points[:, 0])
    assert 30 < len(x) <= 50
    assert np.sum(x > 0.95) > 4


def test_shapes_are_filled(disk, tmp_path):
    mesh = meshio.read(sf.export(disk, tmp_path / "disk.vtu", resolution=40))
    assert np.isclose(areas(mesh).sum(), np.pi, rtol=1e-2)
    assert 0.7 < len(mesh.points) / (40**2 * np.pi / 4) < 1.4
    x, y = mesh.points[:, 0], mesh.points[:, 1]
    assert np.allclose(mesh.point_data["u"], disk(x, y), atol=1e-12)


SHAPES = {
    "disk with a thin layer": (sf.Disk((0.2, 0.1), 1), 1e-6),
    "half a disk": (sf.Disk((0, 0), 1) & sf.Box((-1, 1), (0, 1)), 0.01),
    "plate with a hole": (SQUARE - sf.Disk((0.4, 0.6), 0.1), 0.01),
    "triangle": (sf.Polygon([(0, 0), (1, 0.2), (0.3, 0.9)]), 0.01),
}


@pytest.mark.parametrize("name", SHAPES)
def test_cells_follow_patches_and_end_at_the_boundary(name, tmp_path):
    domain, eps = SHAPES[name]
    solution = sf.solve(
        sf.Problem(
            domain, lambda u, x, y: -eps * sf.laplacian(u) + u - 1, boundary=lambda u, x, y: u
        ),
        tol=1e-2,
    )
    mesh = meshio.read(sf.export(solution, tmp_path / "a.vtu", resolution=60))
    points = mesh.points[:, :2]
    assert np.isclose(areas(mesh).sum(), domain.measure, rtol=5e-3)
    assert domain.distance(points).min() > -1e-9
    # Nodes that no cell has would be drawn as dots, and a layer of 1e-3 has nodes across it.
    assert len(np.unique(mesh.cells[0].data)) == len(points)
    u = mesh.point_data["u"]
    assert np.count_nonzero((u > 0.1) & (u < 0.9)) > 100


def test_solids_end_at_their_surface(tmp_path):
    ball = sf.Ball((0, 0, 0), 1)
    solution = sf.solve(
        sf.Problem(ball, lambda u, x, y, z: -sf.laplacian(u) - 6, boundary=lambda u, x, y, z: u),
        tol=1e-2,
    )
    mesh = meshio.read(sf.export(solution, tmp_path / "a.vtu", resolution=24))
    corners = mesh.points[mesh.cells[0].data]
    volumes = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])) / 6
    assert np.isclose(volumes.sum(), ball.measure, rtol=2e-2)
    radius = np.linalg.norm(mesh.points, axis=1)
    assert radius.max() < 1 + 1e-9
    np.testing.assert_allclose(mesh.point_data["u"], 1 - radius**2, atol=1e-2)


@pytest.mark.parametrize("domain", [SQUARE, sf.Disk((0, 0), 1)])
def test_free_kernels(domain, tmp_path):
    problem = sf.Problem(domain, lambda u, x, y: u - x, boundary=lambda u, x, y: u - x)
    solution = sf.solve(problem, tol=0.5, adaptor=Paper(kernels=40, iterations=1))
    mesh = meshio.read(sf.export(solution, tmp_path / "a.vtu", resolution=20))
    assert np.isclose(areas(mesh).sum(), domain.measure, rtol=2e-2)
    x, y = mesh.points[:, 0], mesh.points[:, 1]
    assert np.allclose(mesh.point_data["u"], solution(x, y), atol=1e-9)


def test_lines_and_space(tmp_path):
    line = sf.solve(
        sf.Problem(
            sf.Interval(0, 1),
            lambda u, x: -1e-4 * u.dxx + u.dx,
            left=lambda u, x: u,
            right=lambda u, x: u - 1,
        )
    )
    mesh = meshio.read(sf.export(line, tmp_path / "line.vtu", resolution=100))
    assert mesh.cells[0].type == "line"
    assert np.sum(mesh.points[:, 0] > 1 - 1e-3) > 10
    assert np.allclose(mesh.point_data["u"], line(mesh.points[:, 0]))
    cube = sf.solve(
        sf.Problem(
            sf.Box((0, 1), (0, 1), (0, 1)),
            lambda u, x, y, z: u - z,
            boundary=lambda u, x, y, z: u - z,
        ),
        tol=0.1,
        max_kernels=130,
    )
    mesh = meshio.read(sf.export(cube, tmp_path / "cube.vtu", resolution=5))
    assert mesh.cells[0].data.shape == (6 * 4**3, 4)
    assert np.allclose(mesh.point_data["u"], cube(*mesh.points.T))


def test_systems_and_loaded_solutions(tmp_path):
    problem = sf.Problem(
        SQUARE,
        lambda u, v, x, y: (-sf.laplacian(u) - v, -sf.laplacian(v) - 1),
        boundary=lambda u, v, x, y: (u, v),
    )
    pair = sf.solve(problem, tol=0.1, max_kernels=200)
    mesh = meshio.read(sf.export(pair, tmp_path / "a.vtu", resolution=8))
    assert set(mesh.point_data) == {"u", "v", "grad_u", "grad_v", "residual_1", "residual_2"}
    mesh = meshio.read(sf.export(replace(pair, problem=None), tmp_path / "b.vtu", resolution=8))
    assert set(mesh.point_data) == {"u", "v", "grad_u", "grad_v"}


def test_a_failed_export_leaves_the_old_file(layer, tmp_path, monkeypatch):
    path = sf.export(layer, tmp_path / "a.vtu", resolution=4)
    before = path.read_bytes()

    def fail(temporary, *_, **__):
        temporary.write_text("half")
        raise KeyboardInterrupt

    monkeypatch.setattr(meshio, "write", fail)
    with pytest.raises(KeyboardInterrupt):
        sf.export(layer, path, resolution=4)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_slips_are_named(layer, tmp_path, monkeypatch):
    with pytest.raises(ProblemError, match=r"\.vtu, \.vtk, \.xdmf, \.nc, \.csv files, got 'a.stl'"):
        sf.export(layer, tmp_path / "a.stl")
    with pytest.raises(ProblemError, match="2 or more, got 1"):
        sf.export(layer, tmp_path / "a.vtu", resolution=1)
    monkeypatch.setitem(sys.modules, "meshio", None)
    with pytest.raises(MissingExtraError, match=r"sharpfront\[export\]"):
        sf.export(layer, tmp_path / "a.vtu")


def test_one_patch_for_a_shape_ends_at_its_boundary(tmp_path):
    """Equations of order six take one patch over the box around a disk."""
    disk = sf.Disk((0, 0), 1)

    def conditions(u, x, y):
        once = sf.laplacian(u)
        return u - x, once, sf.laplacian(once)

    problem = sf.Problem(
        disk, lambda u, x, y: sf.laplacian(sf.laplacian(sf.laplacian(u))), boundary=conditions
    )
    mesh = meshio.read(sf.export(sf.solve(problem), tmp_path / "a.vtu", resolution=40))
    assert np.isclose(areas(mesh).sum(), np.pi, rtol=1e-2)
    assert np.linalg.norm(mesh.points, axis=1).max() < 1 + 1e-9
