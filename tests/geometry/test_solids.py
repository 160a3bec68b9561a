"""Polygons and closed triangle surfaces, from files too."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from tests.geometry.shape_cases import L_SHAPE, ico
from tests.lazy import Lazy

from sharpfront.errors import DomainError, MissingExtraError
from sharpfront.geometry import Box, Polygon, Solid, restore_domain

trimesh = Lazy("trimesh")


@pytest.mark.parametrize("suffix", ["stl", "obj", "ply"])
def test_surfaces_from_files(tmp_path, suffix):
    path = tmp_path / f"part.{suffix}"
    trimesh.creation.cylinder(radius=1, height=2, sections=64).export(path)
    solid = Solid(path)
    sides = 64 * np.sin(2 * np.pi / 64) / 2
    assert solid.measure == pytest.approx(2 * sides, rel=1e-6)
    assert solid.parts == ("surface",)
    np.testing.assert_allclose(solid.bounds, [[-1, -1, -1], [1, 1, 1]], atol=2e-3)
    points = np.array([[0, 0, 0], [0, 0, 1.01], [0.9, 0, 0], [0.9, 0.9, 0]])
    assert solid.contains(points).tolist() == [True, False, True, False]
    np.testing.assert_allclose(solid.distance(points[:3]), [1, -0.01, 0.1], atol=2e-3)
    assert Solid(str(path)).measure == solid.measure


def test_a_surface_turned_inside_out_is_turned_back():
    mesh = ico()
    mesh.invert()
    assert mesh.volume < 0
    solid = Solid(mesh)
    assert solid.measure == pytest.approx(ico().volume)
    found = solid.boundary("surface", 100)
    assert np.all(np.sum(found.points * found.normals, axis=1) > 0.9)


def test_vertices_in_the_same_place_are_one():
    mesh = ico(1)
    loose = trimesh.Trimesh(mesh.triangles.reshape(-1, 3), np.arange(240).reshape(-1, 3),
                            process=False)  # fmt: skip
    assert not loose.is_watertight
    assert len(Solid(loose).vertices) == len(mesh.vertices)


def test_solids_combine():
    box = Box((-2, 2), (-2, 2), (-2, 2))
    domain = box - Solid(ico()).named("ball")
    assert domain.measure == pytest.approx(64 - ico().volume, rel=1e-3)
    assert domain.boundary_measure("ball") == pytest.approx(ico().area, rel=0.01)
    found = domain.boundary("ball", 50)
    assert np.all(np.sum(found.points * found.normals, axis=1) < -0.9)


def moved(mesh, way):
    mesh.apply_translation(way)
    return mesh


def opened():
    mesh = ico(1)
    return trimesh.Trimesh(mesh.vertices, mesh.faces[3:])


def inconsistent():
    mesh = ico(1)
    faces = mesh.faces.copy()
    faces[5] = faces[5][::-1]
    return trimesh.Trimesh(mesh.vertices, faces, process=False)


def flat():
    mesh = ico(1)
    return trimesh.Trimesh(mesh.vertices * [1, 1, 0], mesh.faces, process=False)


@pytest.mark.parametrize(
    "make, message",
    [
        (opened, "not closed: 9 of its 120 edges"),
        (inconsistent, "do not agree on which side is outside"),
        (flat, "not closed|no volume"),
        (lambda: ico(2) + moved(ico(2), [0.5, 0.1, 0]), "passes through itself, for example near"),
        (lambda: 3, "a file or a trimesh.Trimesh, got int"),
        (lambda: "missing.stl", "no file 'missing.stl'"),
        (lambda: trimesh.Trimesh(), "needs triangles"),
        (lambda: trimesh.Trimesh(ico(1).vertices * np.nan, ico(1).faces, process=False), "finite"),
    ],
)
def test_what_is_no_solid(make, message):
    with pytest.raises(DomainError, match=message):
        Solid(make())


@pytest.mark.parametrize(
    "name, text, message",
    [
        ("part.step", "anything", "STL, OBJ or PLY, got 'part.step'"),
        ("part.stl", "this is no surface", "cannot be read as a surface"),
        ("part.obj", "", "cannot be read as a surface"),
        ("part.ply", "ply\nformat nonsense", "cannot be read as a surface"),
    ],
)
def test_files_that_are_no_surface(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(DomainError, match=message):
        Solid(path)


def test_polygon_from_shapely():
    shape = shapely.Point(0, 0).buffer(1).difference(shapely.box(-0.1, -0.1, 0.1, 0.1))
    domain = Polygon(shape)
    assert domain.measure == pytest.approx(shape.area)
    assert domain.parts == ("surface", "hole1")
    assert domain.boundary_measure("hole1") == pytest.approx(0.8)
    assert repr(domain) == "Polygon(64 corners, 1 hole)"


def test_both_ways_round_and_closed_or_not():
    one, other = Polygon(L_SHAPE), Polygon([*L_SHAPE[::-1], L_SHAPE[-1]])
    for domain in (one, other):
        assert domain.measure == 3
        found = domain.boundary("surface", 64)
        assert not domain.contains(found.points + 1e-6 * found.normals).any()
        assert len(domain.corners) == 6
    assert one == Polygon(L_SHAPE)
    assert hash(one) == hash(Polygon(L_SHAPE))
    assert one != Polygon(L_SHAPE[:4])
    assert repr(one) == "Polygon(6 corners)"


def test_a_corner_without_a_bend_is_none():
    assert len(Polygon([(0, 0), (1, 0), (2, 0), (2, 1), (0, 1)]).corners) == 4


def test_distance_to_a_reentrant_corner():
    domain = Polygon(L_SHAPE)
    points = np.array([[0.5, 0.5], [1.5, 1.5], [0.9, 0.9], [3, 0.5]])
    np.testing.assert_allclose(domain.distance(points), [0.5, -0.5, np.hypot(0.1, 0.1), -1])


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Polygon([(0, 0), (1, 1), (1, 0), (0, 1)]), "crosses or touches itself"),
        (lambda: Polygon([(0, 0), (2, 2), (2, 0), (0, 1)]), r"crosses.*Self-intersection"),
        (lambda: Polygon(L_SHAPE, [[(5, 5), (6, 5), (6, 6)]]), "Hole lies outside"),
        (lambda: Polygon([(0, 0), (1, 1), (2, 2)]), "no area"),
        (lambda: Polygon([(0, 0), (1, 1)]), r"three corners or more.*\(2, 2\)"),
        (lambda: Polygon([(0, 0, 0), (1, 0, 0), (0, 1, 0)]), "two coordinates each"),
        (lambda: Polygon([(0, 0), (1, np.nan), (0, 1)]), "NaN"),
        (lambda: Polygon("corners"), "rows of numbers"),
        (lambda: Polygon([1, 2, 3]), "rows of numbers"),
        (lambda: Polygon(L_SHAPE, [[(0, 0), (1, 1)]]), "Hole 1 needs three"),
        (lambda: Polygon(shapely.Point(0, 0)), "got a Point"),
        (lambda: Polygon(shapely.MultiPolygon([shapely.box(0, 0, 1, 1)])), "Join several with |"),
    ],
)  # fmt: skip
def test_what_is_no_polygon(make, message):
    with pytest.raises(DomainError, match=message):
        make()


@pytest.mark.parametrize(
    "hidden, package, make",
    [
        ("shapely", "shapely", lambda states: Polygon(L_SHAPE)),
        ("trimesh", "trimesh", lambda states: Solid("part.stl")),
        ("igl", "libigl", lambda states: Solid("part.stl")),
        ("shapely", "shapely", lambda states: restore_domain(states[0])),
        ("trimesh", "trimesh", lambda states: restore_domain(states[1])),
        ("igl", "libigl", lambda states: restore_domain(states[1])),
    ],
)
def test_a_missing_package_is_named(monkeypatch, hidden, package, make):
    states = (Polygon(L_SHAPE).state(), Solid(ico(1)).state())
    monkeypatch.setitem(__import__("sys").modules, hidden, None)
    with pytest.raises(MissingExtraError, match=rf"{package} is needed.*sharpfront\[geometry\]"):
        make(states)
