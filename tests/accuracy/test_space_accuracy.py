"""The catalogue in two dimensions and more: error, estimate, kernels and solves, with defaults."""

import importlib.util
import math

import pytest
from tests.accuracy import frozen

import sharpfront as sf
from sharpfront import catalog
from sharpfront.measure import max_error

# Solids from files.
NEEDS_TRIMESH = ("torus",)
# Test points along each axis, by dimension.
PER_AXIS = {2: 60, 3: 15, 5: 4}


def measured(row):
    """Return a row's solution and what of it is frozen; errors are relative to max(1, |u|)."""
    entry, value = catalog.named(row["problem"]), float(row["value"])
    solution = sf.solve(entry.problem(value), tol=float(row["tol"]))
    points = entry.points(value, per_axis=PER_AXIS[solution.domain.dimension])
    exact = entry.exact(value)
    return solution, {
        "functions": solution.kernels,
        "solves": len(solution.history),
        "error": max_error(solution, exact, points),
        "estimate": solution.error_estimate,
    }


@pytest.mark.parametrize("row", frozen.params("space"))
def test_the_catalogue(row):
    if row["problem"] in NEEDS_TRIMESH and not importlib.util.find_spec("trimesh"):
        pytest.skip("trimesh is not installed")
    solution, found = measured(row)
    tol = float(row["tol"])
    assert solution.converged, solution.outcome
    assert found["error"] < tol and found["estimate"] <= tol
    if found["error"] > frozen.ROUNDING:
        assert 1 / 5 < found["estimate"] / found["error"] < 50
    frozen.assert_as_frozen(row, found)


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
