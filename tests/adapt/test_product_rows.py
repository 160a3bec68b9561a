"""Rows of products of kernels: where they are, what they say and how much they weigh."""

import math

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt import product_rows as module
from sharpfront.adapt.product_rows import (
    WEIGHT,
    boundary_points,
    interior_points,
    product_system,
)
from sharpfront.errors import ProblemError
from sharpfront.geometry import Box
from sharpfront.mixture import Mixture
from sharpfront.pieces import coordinate
from sharpfront.pieces.tensor import Axis, TensorBasis, axis_of_size, product_count

SQUARE = Box((0, 1), (0, 2))


def layered(low, high, place, width):
    return coordinate(low, high, Mixture([1.0], np.array([[place]]), np.array([[[width**2]]])))


def basis_on(domain, functions=10):
    axes = [axis_of_size(coordinate(low, high), functions) for low, high in domain.bounds.T]
    return TensorBasis(tuple(axes))


def system_of(problem, basis=None, seed=0):
    basis = basis or basis_on(problem.domain)
    bases = dict.fromkeys(problem.unknowns, basis)
    return (*product_system(problem, bases, basis, seed), basis)


def fitted(basis, function):
    """Weights of the functions nearest to a function of the coordinates."""
    points = interior_points(
        Box(*[(a.coordinate.low, a.coordinate.high) for a in basis.axes]), basis
    )
    matrix = basis.matrix(points, (0,) * basis.dimension)
    return np.linalg.lstsq(matrix, function(*points.T), rcond=1e-13)[0]


def blocks_of(system, label):
    return [block for block in system.blocks if block.label == label]


def poisson(domain, boundary, **parts):
    return sf.Problem(domain, lambda u, x, y: sf.laplacian(u) - 1, boundary=boundary, **parts)


def value(u, x, y):
    return u - x


def test_every_row_is_of_length_one_and_conditions_weigh_more():
    system, rows, _ = system_of(poisson(SQUARE, value, right=lambda u, x, y: u.dn))
    for block in system.blocks:
        np.testing.assert_allclose(np.linalg.norm(block.matrix, axis=1), 1.0, rtol=1e-12)
        assert block.weight == (1.0 if block.label == "equation" else WEIGHT)
    assert [row.label for row in rows] == ["equation", "left", "right", "bottom", "top"]
    assert WEIGHT > 1


def test_a_row_and_its_right_hand_side_are_divided_by_the_same_norm():
    """A function that solves the problem satisfies every row."""
    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: sf.laplacian(u) - 3 * u.dx - np.exp(x) * np.sin(y) * (-3),
        boundary=lambda u, x, y: 100 * u - 100 * np.exp(x) * np.sin(y),
    )
    basis = basis_on(SQUARE, 14)
    system, *_ = system_of(problem, basis)
    weights = fitted(basis, lambda x, y: np.exp(x) * np.sin(y))
    for block in system.blocks:
        np.testing.assert_allclose(block.matrix @ weights, block.rhs, atol=1e-6)


@pytest.mark.parametrize("part", ["left", "right", "bottom", "top"])
def test_faces_of_a_box_carry_the_fitting_points_and_their_normal(part):
    basis = TensorBasis((Axis(layered(0, 1, 1.0, 1e-3), 10), Axis(coordinate(0, 2), 9)))
    face = boundary_points(SQUARE, part, basis, 0)
    axis = 0 if part in ("left", "right") else 1
    upper = part in ("right", "top")
    assert np.all(face.points[:, axis] == SQUARE.bounds[int(upper), axis])
    normal = np.zeros(2)
    normal[axis] = 1.0 if upper else -1.0
    np.testing.assert_array_equal(face.normals, np.tile(normal, (len(face.points), 1)))
    np.testing.assert_array_equal(face.points[:, 1 - axis], basis.axes[1 - axis].fitting.x)


@pytest.mark.parametrize("part", ["left", "right", "bottom", "top"])
@pytest.mark.parametrize("robin", [0.0, 2.5])
def test_slopes_are_taken_along_the_outward_normal(part, robin):
    """u = x^2 y + 3y: the rows of du/dn + r u on one side hold for its own slope, sign and all."""
    outward = {
        "left": lambda x, y: -2 * x * y,
        "right": lambda x, y: 2 * x * y,
        "bottom": lambda x, y: -(x**2) - 3,
        "top": lambda x, y: x**2 + 3,
    }[part]
    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: sf.laplacian(u) - 2 * y,
        boundary=lambda u, x, y: u - x**2 * y - 3 * y,
        **{part: lambda u, x, y: u.dn + robin * (u - x**2 * y - 3 * y) - outward(x, y)},
    )
    basis = basis_on(SQUARE, 12)
    system, *_ = system_of(problem, basis)
    weights = fitted(basis, lambda x, y: x**2 * y + 3 * y)
    (block,) = blocks_of(system, part)
    np.testing.assert_allclose(block.matrix @ weights, block.rhs, atol=1e-9)
    # And not for a function with another slope there.
    other = fitted(basis, lambda x, y: x**2 * y + 3 * y + (x + 0.3) * (y + 0.3))
    assert np.abs(block.matrix @ other - block.rhs).max() > 1e-4


def test_oblique_slopes_on_a_disk():
    """u = x + 2y: du/dn = n_x + 2 n_y at every angle."""
    domain = sf.Disk((0.2, 0.1), 1.0)
    problem = sf.Problem(
        domain,
        lambda u, x, y: sf.laplacian(u) - u + x + 2 * y,
        boundary=lambda u, x, y: 2 * u.dn + u.dx - 1 - 2 * (x - 0.2) - 4 * (y - 0.1),
    )
    basis = basis_on(domain, 12)
    system, rows, _ = system_of(problem, basis)
    weights = fitted(basis, lambda x, y: x + 2 * y)
    for block in system.blocks:
        np.testing.assert_allclose(block.matrix @ weights, block.rhs, atol=1e-9)
    np.testing.assert_allclose(rows[1].normals, rows[1].points - [0.2, 0.1], atol=1e-9)


# --- inside -----------------------------------------------------------------------------------


def test_a_box_is_filled_by_the_product_of_the_axes_rows():
    basis = TensorBasis((Axis(layered(0, 1, 0.0, 1e-4), 9), Axis(coordinate(0, 2), 2, 8)))
    points = interior_points(SQUARE, basis)
    x, y = (axis.fitting.x for axis in basis.axes)
    assert len(points) == len(x) * len(y)
    np.testing.assert_array_equal(points.reshape(len(x), len(y), 2)[:, 0, 0], x)
    np.testing.assert_array_equal(points.reshape(len(x), len(y), 2)[0, :, 1], y)
    # Rows follow the kernels into the layer.
    assert np.sum(x < 1e-3) > 5


@pytest.mark.parametrize(
    "domain",
    [
        sf.Disk((0, 0), 1),
        sf.Polygon(((0, 0), (1, 0), (1, 0.5), (0.5, 0.5), (0.5, 1), (0, 1))),
        Box((0, 1), (0, 1)) - sf.Disk((0.5, 0.5), 0.3),
        sf.Ball((0, 0, 0), 1),
    ],
    ids=["disk", "L", "pierced", "ball"],
)
def test_a_shape_has_rows_inside_only_and_enough_of_them(domain):
    basis = basis_on(domain, 10)
    points = interior_points(domain, basis)
    assert np.all(domain.contains(points))
    assert len(points) > 2 * basis.size
    for part in domain.parts:
        face = boundary_points(domain, part, basis, 0)
        assert np.abs(domain.distance(face.points)).max() < 1e-6
        np.testing.assert_allclose(np.linalg.norm(face.normals, axis=1), 1.0, rtol=1e-9)
    count = sum(len(boundary_points(domain, part, basis, 0).points) for part in domain.parts)
    assert count > basis.size ** (1 - 1 / domain.dimension)


def test_rows_on_the_boundary_of_a_shape_follow_the_kernels():
    domain = sf.Disk((0, 0), 1)
    even = basis_on(domain, 16)
    thin = TensorBasis((axis_of_size(layered(-1, 1, 0.2, 1e-3), 20), even.axes[1]))
    near = []
    for basis in (even, thin):
        points = boundary_points(domain, domain.parts[0], basis, 0).points
        near.append(np.mean(np.abs(points[:, 0] - 0.2) < 0.02))
    assert near[1] > 5 * near[0]
    assert near[1] < 0.9


@pytest.mark.parametrize("dimension", [4, 5])
def test_beyond_three_dimensions_points_are_drawn(dimension):
    domain = Box(*[(0.0, 1.0)] * dimension)
    basis = basis_on(domain, 4)
    points = interior_points(domain, basis, 3)
    assert points.shape == (math.ceil(module.SHAPE_ROWS * basis.size), dimension)
    assert np.array_equal(points, interior_points(domain, basis, 3))
    assert not np.array_equal(points, interior_points(domain, basis, 4))
    face = boundary_points(domain, "x2_high", basis, 3)
    assert np.all(face.points[:, 1] == 1.0)
    assert len(face.points) >= 0.7 * product_count(basis.shape[1:])


# --- seams ------------------------------------------------------------------------------------


def periodic_problem(equation, periodic=("x",), **parts):
    return sf.Problem(Box((0, 1), (0, 2), periodic=periodic), equation, **parts)


def test_a_seam_joins_value_and_slope():
    system, _, basis = system_of(
        periodic_problem(lambda u, x, y: sf.laplacian(u) - u, bottom=value, top=value),
        basis_on(SQUARE, 16),
    )
    seams = blocks_of(system, "seam")
    assert len(seams) == 2
    assert all(s.weight == WEIGHT and not s.rhs.any() for s in seams)
    assert seams[0].rows == len(basis.axes[1].fitting.x)
    joined = fitted(basis, lambda x, y: np.cos(2 * np.pi * x) * y)
    for seam in seams:
        assert np.abs(seam.matrix @ joined).max() < 1e-5
    # x jumps by one and its slope does not; (x - 1/2)^2 the other way round.
    jump, kink = (fitted(basis, f) for f in (lambda x, y: x + y, lambda x, y: (x - 0.5) ** 2 + y))
    misses = [[np.abs(s.matrix @ w).max() for s in seams] for w in (jump, kink)]
    assert misses[0][0] > 1e-4 > 1e-8 > misses[0][1]
    assert misses[1][1] > 1e-4 > 1e-8 > misses[1][0]


@pytest.mark.parametrize(
    ("equation", "count"),
    [
        (lambda u, x, y: u.dx + u.dyy, 1),
        (lambda u, x, y: sf.laplacian(u), 2),
        (lambda u, x, y: u.d("x", 3) + u, 3),
        (lambda u, x, y: sf.laplacian(sf.laplacian(u)), 4),
        (lambda u, x, y: u.dyy - u, 1),
    ],
)
def test_derivatives_below_the_highest_go_on(equation, count):
    problem = periodic_problem(equation, bottom=value, top=value)
    assert module._continued(problem, 0) == [("u", k) for k in range(count)]


def test_both_seams_and_every_unknown():
    problem = periodic_problem(
        lambda u, v, x, y: (sf.laplacian(u) - v, v - sf.laplacian(u) + v.dx), periodic=("x", "y")
    )
    system, _, basis = system_of(problem)
    seams = blocks_of(system, "seam")
    # u: two along each axis; v: one along each.
    assert len(seams) == 6
    halves = [(s.matrix[:, : basis.size].any(), s.matrix[:, basis.size :].any()) for s in seams]
    assert sorted(halves) == [(False, True)] * 2 + [(True, False)] * 4


# --- further conditions -----------------------------------------------------------------------


def test_a_condition_at_a_point_stands_against_all_rows():
    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: sf.laplacian(u),
        boundary=lambda u, x, y: u.dn,
        conditions=sf.at((0.3, 1.2), lambda u, x, y: 4 * u - 8),
    )
    basis = basis_on(SQUARE, 12)
    system, *_ = system_of(problem, basis)
    (block,) = blocks_of(system, "at")
    assert block.rows == 1
    assert block.weight == pytest.approx(WEIGHT * math.sqrt(basis.size))
    two = fitted(basis, lambda x, y: 2 + 0 * x)
    np.testing.assert_allclose(block.matrix @ two, block.rhs, atol=1e-9)
    other = fitted(basis, lambda x, y: 2 + (x - 0.3))
    np.testing.assert_allclose(block.matrix @ other, block.rhs, atol=1e-9)


@pytest.mark.parametrize("layer", [None, 1e-2])
def test_integrals_of_known_functions(layer):
    first = coordinate(0, 1) if layer is None else layered(0, 1, 1.0, layer)
    basis = TensorBasis((Axis(first, 20), axis_of_size(coordinate(0, 2), 14)))
    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: sf.laplacian(u),
        boundary=lambda u, x, y: u.dn,
        conditions=sf.integral(lambda u, x, y: (1 + x) * u - y, equals=5.0),
    )
    system, *_ = system_of(problem, basis)
    (block,) = blocks_of(system, "integral")
    assert block.rows == 1
    assert block.weight == pytest.approx(WEIGHT * math.sqrt(basis.size))
    # With u = c x: integral of (1 + x) c x - y = 2 c (1/2 + 1/3) - 2 = 5.
    c = 7 / (5 / 3)
    weights = fitted(basis, lambda x, y: c * x)
    np.testing.assert_allclose(block.matrix @ weights, block.rhs, rtol=1e-7)
    assert abs(block.matrix @ (1.01 * weights) - block.rhs)[0] > 5e-3 * abs(block.rhs[0])


def test_quadrature_is_exact_for_the_box():
    basis = TensorBasis((Axis(layered(0, 1, 1.0, 1e-3), 20), Axis(coordinate(0, 2), 9)))
    points, volumes = module._quadrature(basis)
    assert volumes.sum() == pytest.approx(2.0, rel=1e-9)
    assert volumes @ (points[:, 0] ** 2 * points[:, 1]) == pytest.approx(2 / 3, rel=1e-9)


def test_an_integral_over_a_shape_is_refused():
    problem = sf.Problem(
        sf.Disk((0, 0), 1),
        lambda u, x, y: sf.laplacian(u),
        boundary=lambda u, x, y: u.dn,
        conditions=sf.integral(lambda u, x, y: u),
    )
    with pytest.raises(ProblemError, match=r"on boxes.*sf\.at"):
        system_of(problem)


def test_rows_do_not_depend_on_the_seed_up_to_three_dimensions_in_a_box():
    problem = poisson(SQUARE, value)
    one, other = (system_of(problem, seed=seed)[0] for seed in (0, 1))
    for a, b in zip(one.blocks, other.blocks, strict=True):
        np.testing.assert_array_equal(a.matrix, b.matrix)
