"""The error of an approximation in the plane and in space: meshes, error equation, comparison."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt.product_rows import product_system
from sharpfront.adapt.questions import LEAST_RATIO, extrapolated
from sharpfront.estimate.elements import Elements
from sharpfront.estimate.space_error import (
    SAFETY,
    change,
    check_by_comparison,
    check_by_elements,
    check_mesh,
    fall,
    graded_mesh,
)
from sharpfront.geometry import Box
from sharpfront.geometry.meshes.sizing import _thinned
from sharpfront.leastsquares import Householder
from sharpfront.mixture import Mixture
from sharpfront.pieces import coordinate
from sharpfront.pieces.tensor import TensorBasis, axis_of_size
from sharpfront.solution.approximation import Approximation

SQUARE = Box((0, 1), (0, 1))


def layered(low, high, place, width):
    return coordinate(low, high, Mixture([1.0], np.array([[place]]), np.array([[[width**2]]])))


def basis_on(domain, functions=12):
    axes = [axis_of_size(coordinate(low, high), functions) for low, high in domain.bounds.T]
    return TensorBasis(tuple(axes))


def solved(problem, basis):
    bases = dict.fromkeys(problem.unknowns, basis)
    system, _ = product_system(problem, bases, basis, 0)
    method = Householder()
    weights = method.solve(method.factor(system), system.rhs)[0]
    parts = np.split(weights, len(bases))
    found = dict(zip(bases, parts, strict=True))
    return Approximation(problem.coordinates, bases, found)


# --- meshes -----------------------------------------------------------------------------------

SHAPES = {
    "disk": sf.Disk((0, 0), 1),
    "L": sf.Polygon(((0, 0), (1, 0), (1, 0.5), (0.5, 0.5), (0.5, 1), (0, 1))),
    "pierced": SQUARE - sf.Disk((0.4, 0.5), 0.2),
    "ellipse": sf.Implicit(lambda x, y: x**2 + 2 * y**2 - 0.6, ((-1.0, 1.0), (-1.0, 1.0))),
}


@pytest.mark.parametrize("width", [None, 0.1, 1e-2, 1e-3])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_graded_mesh_fills_its_shape(shape, width):
    domain = SHAPES[shape]
    (x0, y0), (x1, y1) = domain.bounds
    first = coordinate(x0, x1) if width is None else layered(x0, x1, 0.6 * x1 + 0.4 * x0, width)
    mesh = graded_mesh(domain, [first, coordinate(y0, y1)], 3000)
    assert np.all(mesh.volumes > 0)
    assert mesh.volumes.sum() == pytest.approx(domain.measure, rel=0.02)
    # Its boundary is that of the shape: but for a few beside a layer, nodes of facets lie on it.
    rim = np.unique(mesh.facets)
    off = np.abs(domain.distance(mesh.points[rim])) > 1e-6
    assert off.mean() < 0.03
    if width is None or width > 0.05:
        length = sum(domain.boundary_measure(part) for part in domain.parts)
        assert mesh.facet_measures.sum() == pytest.approx(length, rel=0.02)
    assert 1000 < len(mesh.points) < 9000
    assert np.abs(np.linalg.norm(mesh.normals, axis=1) - 1).max() < 1e-9


def test_both_coordinates_layered():
    domain = sf.Disk((0, 0), 1)
    mesh = graded_mesh(domain, [layered(-1, 1, 0.0, 1e-2), layered(-1, 1, 0.5, 1e-2)], 3000)
    assert np.all(mesh.volumes > 0)
    assert mesh.volumes.sum() == pytest.approx(math.pi, rel=0.02)


def test_nodes_crowd_where_the_coordinate_is_fast():
    domain = sf.Disk((0, 0), 1)
    even = graded_mesh(domain, [coordinate(-1, 1)] * 2, 3000)
    thin = graded_mesh(domain, [layered(-1, 1, 0.2, 1e-3), coordinate(-1, 1)], 3000)
    near = [np.mean(np.abs(m.points[:, 0] - 0.2) < 5e-3) for m in (even, thin)]
    assert near[1] > 0.2 > 0.02 > near[0]
    # Thin cells stay as long as they are far from the layer: few are needed along it.
    middles = thin.points[thin.cells]
    extent = np.ptp(middles, axis=1)[np.abs(middles[:, :, 0].mean(axis=1) - 0.2) < 1e-3]
    assert np.median(extent[:, 1] / extent[:, 0]) > 20


def test_a_graded_ball():
    domain = sf.Ball((0, 0, 0), 1)
    axes = [layered(-1, 1, 0.3, 0.1), coordinate(-1, 1), coordinate(-1, 1)]
    mesh = graded_mesh(domain, axes, 3000)
    assert np.all(mesh.volumes > 0)
    assert mesh.volumes.sum() == pytest.approx(domain.measure, rel=0.05)


def test_the_mesh_of_a_box_is_the_checking_grid():
    basis = basis_on(SQUARE, 24)
    mesh = check_mesh(SQUARE, basis)
    assert len(mesh.points) == math.prod(len(axis.checking) for axis in basis.axes)
    assert mesh.names == SQUARE.parts
    assert len(mesh.points) > 3 * basis.size


def test_the_mesh_of_a_shape_grows_with_the_kernels():
    domain = sf.Disk((0, 0), 1)
    small, large = (len(check_mesh(domain, basis_on(domain, n)).points) for n in (10, 20))
    assert 2.5 * small < large < 6 * small


def test_thinned_points_keep_their_distance_and_leave_no_hole():
    points = np.random.default_rng(0).uniform(0, 1, (500, 2))
    kept = points[_thinned(points, np.full(500, 0.1))]
    gaps = np.linalg.norm(kept[:, None] - kept, axis=2) + np.eye(len(kept))
    assert gaps.min() > 0.08
    assert np.linalg.norm(points[:, None] - kept, axis=2).min(axis=1).max() <= 0.08


# --- the error equation -----------------------------------------------------------------------


def wave(x, y):
    return np.sin(3 * x + 1) * np.cos(4 * y)


def wave_problem(domain, size=1.0):
    return sf.Problem(
        domain,
        lambda u, x, y: sf.laplacian(u) + 25 * size * wave(x, y),
        boundary=lambda u, x, y: u - size * wave(x, y),
    )


DOMAINS = {"square": SQUARE, "disk": SHAPES["disk"], "pierced": SHAPES["pierced"]}


@pytest.mark.parametrize("functions", [6, 8, 10])
@pytest.mark.parametrize("name", DOMAINS)
def test_the_error_equation_tells_the_error(name, functions):
    domain = DOMAINS[name]
    problem, basis = wave_problem(domain), basis_on(domain, functions)
    approximation = solved(problem, basis)
    elements = Elements.build(problem, check_mesh(domain, basis))
    found = check_by_elements(problem, approximation, elements)
    points = np.concatenate(
        [domain.sample(2000), *(domain.boundary(part, 200).points for part in domain.parts)]
    )
    truth = np.abs(approximation.values("u", points, (0, 0)) - wave(*points.T)).max()
    assert 0.4 < found.estimate.value / (SAFETY * truth) < 2.5
    assert found.mismatch > 0
    assert "error equation" in found.estimate.meaning


def test_the_estimate_is_relative_to_a_large_solution():
    """1000 u has the same relative error as 1000 u / 10 of max 100."""
    basis = basis_on(SQUARE, 8)
    values = []
    for size in (1.0, 1e3, 1e5):
        problem = wave_problem(SQUARE, size)
        elements = Elements.build(problem, check_mesh(SQUARE, basis))
        values.append(check_by_elements(problem, solved(problem, basis), elements).estimate.value)
    assert values[1] == pytest.approx(values[2], rel=1e-6)
    assert values[0] == pytest.approx(values[1], rel=0.1)


def test_a_wrong_value_on_the_boundary_is_an_error():
    problem, basis = wave_problem(SQUARE), basis_on(SQUARE, 14)
    approximation = solved(problem, basis)
    shifted = wave_problem(SQUARE)
    constant = solved(
        sf.Problem(SQUARE, lambda u, x, y: sf.laplacian(u), boundary=lambda u, x, y: u - 0.01),
        basis,
    )
    moved = replace(
        approximation, weights={"u": approximation.weights["u"] + constant.weights["u"]}
    )
    elements = Elements.build(shifted, check_mesh(SQUARE, basis))
    found = check_by_elements(shifted, moved, elements)
    assert found.estimate.value == pytest.approx(SAFETY * 0.01, rel=0.05)
    assert found.mismatch == pytest.approx(0.01, rel=0.05)


@pytest.mark.parametrize("error", [math.inf, math.nan])
def test_an_error_that_is_no_number_is_an_infinite_estimate(error):
    problem, basis = wave_problem(SQUARE), basis_on(SQUARE, 6)
    approximation = solved(problem, basis)
    elements = Elements.build(problem, check_mesh(SQUARE, basis))
    broken = SimpleNamespace(
        error=lambda approximation, places: np.full(len(elements.mesh.points), error),
        points=elements.points,
        mesh=elements.mesh,
        places=elements.places,
    )
    assert check_by_elements(problem, approximation, broken).estimate.value == math.inf


# --- comparison -------------------------------------------------------------------------------


def test_the_change_is_the_error_of_the_coarser_solution():
    problem = wave_problem(SQUARE)
    coarse, fine = (solved(problem, basis_on(SQUARE, n)) for n in (7, 14))
    found, _ = check_by_comparison(problem, fine, coarse, 0)
    x, y = np.meshgrid(*[np.linspace(0, 1, 60)] * 2)
    points = np.stack([x.ravel(), y.ravel()], axis=1)
    truth = np.abs(coarse.values("u", points, (0, 0)) - wave(*points.T)).max()
    assert found.estimate.value == pytest.approx(truth, rel=0.3)
    assert "change from the solution" in found.estimate.meaning


def test_the_first_solution_has_nothing_to_be_compared_with():
    problem = wave_problem(SQUARE)
    found, points = check_by_comparison(problem, solved(problem, basis_on(SQUARE, 7)), None, 0)
    assert found.estimate.value == math.inf
    assert len(points) > len(found.points)


def test_the_residual_of_a_resolved_solution_falls_and_that_of_rounding_counts_as_fallen():
    problem = wave_problem(SQUARE)
    coarse, fine, finest = (solved(problem, basis_on(SQUARE, n)) for n in (7, 14, 24))
    points = SQUARE.sample(500)
    assert fall(problem, fine, coarse, points) < 0.1
    assert fall(problem, coarse, fine, points) > 10
    assert fall(problem, finest, finest, points) == 0.0


def test_a_change_on_the_boundary_alone_is_seen():
    problem, basis = wave_problem(SQUARE), basis_on(SQUARE, 14)
    one = solved(problem, basis)
    edge = sf.Problem(
        SQUARE,
        lambda u, x, y: u - np.exp(-(((1 - x) / 0.12) ** 2)),
        boundary=lambda u, x, y: u - np.exp(-(((1 - x) / 0.12) ** 2)),
    )
    other = replace(one, weights={"u": one.weights["u"] + solved(edge, basis).weights["u"]})
    far = np.array([[0.1, 0.1], [0.2, 0.5]])
    assert change(problem, one, other, far) > 0.5


def test_the_change_is_that_of_any_unknown_by_its_own_size():
    problem = sf.Problem(
        SQUARE,
        lambda u, v, x, y: (sf.laplacian(u), sf.laplacian(v)),
        boundary=lambda u, v, x, y: (u - 1, v - 1000),
    )
    one = solved(problem, basis_on(SQUARE, 6))
    points = SQUARE.sample(50)
    for unknown, part in (("u", 0.1), ("v", 0.1)):
        weights = dict(one.weights)
        weights[unknown] = 0.9 * weights[unknown]
        moved = change(problem, one, replace(one, weights=weights), points)
        assert moved == pytest.approx(part, rel=1e-3)
    assert change(problem, one, one, points) == 0.0


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        (1e-2, 1e-3, 1e-3 * 0.3),
        (1e-2, 5e-3, 5e-3),
        (1.0, 1e-9, 1e-9 * 3 * LEAST_RATIO),
        (1e-3, 1e-2, 1e-2),
        (math.inf, 1e-5, 1e-5),
        (1e-5, 0.0, 0.0),
        (1e-5, math.inf, math.inf),
        (0.0, 1e-5, 1e-5),
    ],
)
def test_changes_are_extrapolated_with_caution(before, now, expected):
    assert extrapolated(before, now) == pytest.approx(expected, rel=1e-12)


def test_no_number_is_no_estimate():
    assert math.isnan(extrapolated(1.0, math.nan))
