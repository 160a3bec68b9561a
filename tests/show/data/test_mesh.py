"""Meshes fill boxes, and of shapes what lies inside them."""

import math

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.errors import DomainError
from sharpfront.show.data.mesh import box_mesh, clipped


def uneven(n, high=1.0):
    return high * np.linspace(0, 1, n + 1) ** 1.5


def volumes_of(mesh):
    """Area or volume of each cell."""
    corners = mesh.points[mesh.cells]
    sides = corners[:, 1:] - corners[:, :1]
    return np.abs(np.linalg.det(sides)) / math.factorial(sides.shape[1])


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


SHAPES = {
    "disk": (sf.Disk((0, 0), 1), 40, 3e-3),
    "notch": (sf.Box((0, 1), (0, 1)) - sf.Box((0.5, 1), (0.5, 1)), 41, 1e-3),
    "ball": (sf.Ball((0, 0, 0), 1), 20, 2e-2),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_is_filled_up_to_its_boundary(name):
    domain, count, close = SHAPES[name]
    axes = [np.linspace(low, high, count) for low, high in domain.bounds.T]
    mesh = clipped(box_mesh(axes), domain.contains)
    assert volumes_of(mesh).sum() == pytest.approx(domain.measure, rel=close)
    assert domain.distance(mesh.points).min() > -1e-9
    assert len(np.unique(mesh.cells)) == len(mesh.points)
