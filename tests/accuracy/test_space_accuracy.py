"""The catalogue in two dimensions and more: error, estimate, kernels and solves, with defaults."""

import math

import pytest

import sharpfront as sf
from sharpfront import catalog
from sharpfront.measure import max_error

# Entry, parameter, tolerance, most kernels, most solves: a little above what was measured.
TABLE = [
    (catalog.OUTFLOW, 1e-2, 1e-6, 600, 7),
    (catalog.OUTFLOW, 1e-3, 1e-6, 600, 7),
    (catalog.OUTFLOW, 1e-4, 1e-6, 700, 7),
    (catalog.CORNER, 1e-2, 1e-5, 900, 6),
    (catalog.CORNER, 1e-3, 1e-4, 700, 6),
    (catalog.FOUR_LAYERS, 1e-2, 1e-5, 600, 4),
    (catalog.FOUR_LAYERS, 1e-4, 1e-4, 1800, 3),
    pytest.param(catalog.CIRCULAR_FRONT, 2e-2, 1e-5, 17_000, 4, marks=pytest.mark.slow),
    pytest.param(catalog.WAVY_FRONT, 1e-2, 1e-4, 13_500, 8, marks=pytest.mark.slow),
    (catalog.SHARP_SOURCE, 1e-2, 1e-7, 9_500, 4),
    (catalog.SQUARE_WAVES, 6.0, 1e-7, 1800, 4),
    (catalog.PETAL, 4.0, 1e-7, 6500, 4),
    (catalog.L_SHAPE, 4.0, 1e-7, 800, 4),
    (catalog.PIERCED_SQUARE, 4.0, 1e-7, 2300, 4),
    pytest.param(catalog.BIHARMONIC_PETAL, 5.0, 5e-5, 5700, 5, marks=pytest.mark.slow),
    (catalog.CUBE, 1.0, 3e-6, 1200, 4),
    (catalog.HYPERCUBE, 5, 1e-3, 500, 3),
]
# The ball is solved on docs/gallery/space.md.
SOLID = [(catalog.TORUS, 1.0, 1e-5, 1000, 4)]
# Errors below this are rounding's, of which no estimate knows.
ROUNDING = 1e-12


def checked(entry, value, tol, kernels, solves):
    solution = sf.solve(entry.problem(value), tol=tol)
    points = entry.points(value, per_axis={2: 60, 3: 15, 5: 4}[solution.domain.dimension])
    exact = entry.exact(value)
    error = max_error(solution, exact, points)
    assert solution.converged, solution.outcome
    assert error < tol
    assert solution.kernels <= kernels
    assert len(solution.history) <= solves
    assert solution.error_estimate <= tol
    if error > ROUNDING:
        assert 1 / 5 < solution.error_estimate / error < 50
    return solution


@pytest.mark.parametrize(
    ("entry", "value", "tol", "kernels", "solves"), TABLE, ids=lambda v: getattr(v, "name", None)
)
def test_the_catalogue(entry, value, tol, kernels, solves):
    checked(entry, value, tol, kernels, solves)


@pytest.mark.parametrize(
    ("entry", "value", "tol", "kernels", "solves"), SOLID, ids=lambda v: getattr(v, "name", None)
)
def test_solids_from_files(entry, value, tol, kernels, solves):
    pytest.importorskip("trimesh")
    checked(entry, value, tol, kernels, solves)


@pytest.mark.parametrize("eps", [1e-2, 1e-4])
def test_the_width_of_a_layer_costs_little(eps):
    """Kernels grow with the logarithm of the width at most."""
    kernels = sf.solve(catalog.OUTFLOW.problem(eps), tol=1e-5).kernels
    assert kernels < 400 + 60 * abs(math.log10(eps))


def test_a_smaller_tolerance_gives_a_smaller_error():
    entry, value = catalog.CORNER, 1e-2
    points, exact = entry.points(value, per_axis=60), entry.exact(value)
    errors = []
    for tol in (1e-3, 1e-6, 1e-8):
        solution = sf.solve(entry.problem(value), tol=tol)
        assert solution.converged
        errors.append(max_error(solution, exact, points))
        assert errors[-1] < tol
    assert errors[0] > errors[1] > errors[2]


def test_the_measure_of_this_table_sees_an_error():
    """Another problem's solution fails: the points and the bound are not for show."""
    entry = catalog.OUTFLOW
    solution = sf.solve(entry.problem(1e-2), tol=1e-6)
    points = entry.points(1.1e-2, per_axis=60)
    assert max_error(solution, entry.exact(1.1e-2), points) > 1e-2
