"""One table of solutions against what every basis has to be.

A new basis joins by one line in SOLUTIONS: a problem whose solution has it. What a basis has is
written in `sharpfront.kernels.basis`; nothing else of it is asked for by solutions and pictures.
"""

import functools

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.errors import BasisError
from sharpfront.kernels.basis import Basis, PlacedBasis, SharingBasis

SQUARE = sf.Box((0, 1), (0, 1))


def _line(strategy=None):
    options = {} if strategy is None else {"adaptor": strategy}
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: -0.05 * u.dxx + u.dx - np.cos(3 * x),
        boundary=lambda u, x: u,
    )
    return sf.solve(problem, tol=1e-4, **options)


def _plane(domain=SQUARE, width=0.3):
    problem = sf.Problem(
        domain,
        lambda u, x, y: -(width**2) * sf.laplacian(u) + u - np.cos(x + y),
        boundary=lambda u, x, y: u,
    )
    return sf.solve(problem, tol=1e-3)


SOLUTIONS = {
    "one width": lambda: _line(sf.Uniform(30)),
    "mixture's coordinate": _line,
    "polynomials on one box": _plane,
    "a corner that points inwards": lambda: _plane(SQUARE - sf.Box((0.5, 2), (0.5, 2))),
    "strips along a circle": lambda: _plane(sf.Disk((0, 0), 1), 0.03),
    "slanted sides": lambda: _plane(sf.Polygon([(0, 0), (1, 0.1), (0.3, 0.9)])),
    "space": lambda: sf.solve(
        sf.Problem(
            sf.Box((0, 1), (0, 1), (0, 1)),
            lambda u, x, y, z: -sf.laplacian(u) - np.cos(x + y + z),
            boundary=lambda u, x, y, z: u - np.cos(x + y + z) / 3,
        ),
        tol=1e-3,
    ),
    "elements in time": lambda: sf.solve(
        sf.Problem(
            sf.Interval(0, 1),
            lambda u, x, t: u.dt - 0.1 * u.dxx,
            boundary=lambda u, x, t: u,
            initial=lambda x: np.sin(np.pi * x),
            time=(0, 0.1),
        ),
        tol=1e-3,
    ),
    "levels in time": lambda: sf.solve(
        sf.Problem(
            sf.Interval(0, 1),
            lambda u, x, t: u.dt - 0.1 * u.dxx,
            boundary=lambda u, x, t: u,
            initial=lambda x: np.sin(np.pi * x),
            time=(0, 0.1),
        ),
        tol=1e-2,
        adaptor=sf.Patches(),
    ),
    "the plane in time": lambda: sf.solve(
        sf.Problem(
            SQUARE,
            lambda u, x, y, t: u.dt - 0.1 * sf.laplacian(u),
            boundary=lambda u, x, y, t: u,
            initial=lambda x, y: np.sin(np.pi * x) * np.sin(np.pi * y),
            time=(0, 0.1),
        ),
        tol=1e-2,
    ),
    "the plane in time, two derivatives": lambda: sf.solve(
        sf.Problem(
            SQUARE,
            lambda u, x, y, t: u.dtt - 0.1 * sf.laplacian(u),
            boundary=lambda u, x, y, t: u,
            initial=(lambda x, y: np.sin(np.pi * x) * np.sin(np.pi * y), lambda x, y: 0 * x),
            time=(0, 0.1),
        ),
        tol=1e-2,
    ),
}


@functools.cache
def basis_of(name):
    solution = SOLUTIONS[name]()
    (basis,) = solution.approximation.bases.values()
    (weights,) = solution.approximation.weights.values()
    return solution, basis, np.asarray(weights)


def inside(solution, count=40):
    """Return points inside the domain, in time of space and time, (m, d)."""
    low, high = solution.domain.bounds
    middle, half = 0.5 * (low + high), 0.475 * (high - low)
    points = middle + half * np.random.default_rng(2).uniform(-1, 1, (50 * count, len(low)))
    return points[solution.domain.contains(points)][:count]


EVERY = pytest.mark.parametrize("name", SOLUTIONS)


@EVERY
def test_a_basis_has_what_solutions_ask_for(name):
    solution, basis, weights = basis_of(name)
    points = inside(solution)
    assert isinstance(basis, Basis)
    assert len(weights) == basis.size >= basis.kernels > 0
    assert basis.dimension == points.shape[1]


@EVERY
def test_values_are_the_matrix_times_weights_for_every_derivative(name):
    solution, basis, weights = basis_of(name)
    points = inside(solution)
    if solution.in_time:
        # Nothing is fitted with all steps at once.
        with pytest.raises(BasisError, match="values"):
            basis.matrix(points, (0,) * basis.dimension)
        return
    for k in range(basis.dimension):
        for order in (0, 1, 2):
            orders = tuple(order if i == k else 0 for i in range(basis.dimension))
            matrix = np.asarray(basis.matrix(points, orders))
            assert matrix.shape == (len(points), basis.size)
            values = np.asarray(basis.values(weights, points, orders))
            scale = (np.abs(matrix) @ np.abs(weights)).max()
            np.testing.assert_allclose(values, matrix @ weights, atol=1e-12 * scale)
    assert np.abs(values).max() > 0


@EVERY
def test_derivatives_are_those_of_the_values(name):
    solution, basis, weights = basis_of(name)
    points = inside(solution)
    size = np.ptp(points, axis=0)
    for k in range(basis.dimension):
        one = tuple(int(i == k) for i in range(basis.dimension))
        step = 1e-5 * size * np.array(one)
        ahead, behind = (
            np.asarray(basis.values(weights, points + s * step, (0,) * basis.dimension))
            for s in (1, -1)
        )
        found = np.asarray(basis.values(weights, points, one))
        slopes = (ahead - behind) / (2 * step[k])
        # A few points may lie beside the line between two patches, where slopes differ.
        off = np.abs(found - slopes) > 1e-4 * np.abs(found).max() + 1e-6 / size[k]
        assert np.count_nonzero(off) <= 2


@EVERY
def test_faster_ways_give_the_same(name):
    solution, basis, weights = basis_of(name)
    points = inside(solution)
    first = tuple(int(i == 0) for i in range(basis.dimension))
    orders = [(0,) * basis.dimension, first]
    if isinstance(basis, SharingBasis):
        for found, o in zip(basis.several(weights, points, orders), orders, strict=True):
            np.testing.assert_allclose(found, basis.values(weights, points, o), rtol=1e-12)


@EVERY
def test_where_functions_are_is_inside_the_domain(name):
    solution, basis, _ = basis_of(name)
    if not isinstance(basis, PlacedBasis) or solution.in_time:
        pytest.skip("it does not say where its functions are at one moment")
    centres, covariances = np.asarray(basis.centres), np.asarray(basis.covariances)
    low, high = solution.domain.bounds
    reach = 3 * np.sqrt(np.max(np.diagonal(covariances, axis1=1, axis2=2), axis=0))
    assert ((centres >= low - reach) & (centres <= high + reach)).all()
    assert (np.linalg.eigvalsh(covariances) > 0).all()


@EVERY
def test_what_is_saved_comes_back_to_the_bit(name, tmp_path):
    solution, _, _ = basis_of(name)
    points = inside(solution)
    solution.save(tmp_path / "solution.npz")
    again = sf.load(tmp_path / "solution.npz")
    np.testing.assert_array_equal(again(*points.T), solution(*points.T))
