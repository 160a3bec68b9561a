"""Every statement holds for its exact solution: equation and conditions, also inside layers."""

import numpy as np
import pytest
from tests.catalog.statements import EXACT, exact_values, residuals

from sharpfront.catalog import CIRCULAR_FRONT, FOUR_LAYERS, SMOOTH_CIRCULAR_FRONT, named
from sharpfront.equation.values import environment, form_values

CASES = [(entry, value) for entry in map(named, EXACT) for value in entry.values]
NAMES = [f"{entry.name} {value:g}" for entry, value in CASES]


def stated(entry, value):
    """Return the problem, if the packages that its domain needs are here."""
    try:
        return entry.problem(value)
    except ImportError as error:
        pytest.skip(str(error))


def some_points(entry, value, count):
    points = entry.points(value, per_axis=40 if entry.dimension == "2" else 9)
    if entry is CIRCULAR_FRONT:
        # No derivatives at the tip of the cone.
        points = points[np.hypot(*(points - 0.5).T) > 1.01e-4 * value]
    chosen = np.random.default_rng(5).permutation(len(points))[:count]
    return points[chosen]


def count_for(entry, count):
    # The series is long in multiple precision.
    return 1 if entry.name == "sharp-source" else count


@pytest.mark.parametrize(("entry", "value"), CASES, ids=NAMES)
def test_equation_holds(entry, value):
    problem = stated(entry, value)
    points = some_points(entry, value, count_for(entry, 30))
    left, size = residuals(problem.forms[0], entry.name, value, problem.coordinates, points)
    assert np.max(np.abs(left)) < 3e-13 * size


@pytest.mark.parametrize(("entry", "value"), CASES, ids=NAMES)
def test_conditions_hold_on_every_part(entry, value):
    problem = stated(entry, value)
    assert {c.part for c in problem.conditions} == set(problem.domain.parts)
    for condition in problem.conditions:
        on = problem.domain.boundary(condition.part, count_for(entry, 8))
        for form in condition.forms:
            left, size = residuals(
                form, entry.name, value, problem.coordinates, on.points, on.normals
            )
            assert np.max(np.abs(left)) < 3e-13 * size


@pytest.mark.parametrize(("entry", "value"), CASES, ids=NAMES)
def test_exact_solution_is_accurate(entry, value):
    stated(entry, value)
    points = some_points(entry, value, count_for(entry, 30))
    values = entry.exact(value)(*points.T)
    assert np.max(np.abs(values - exact_values(entry.name, value, points))) < 1e-13


@pytest.mark.parametrize(("entry", "value"), [(FOUR_LAYERS, 1e-8), (SMOOTH_CIRCULAR_FRONT, 1e-4)])
def test_very_thin_features_neither_overflow_nor_lose_the_source(entry, value):
    problem, points = entry.problem(value), some_points(entry, value, 30)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        entry.exact(value)(*points.T)
        left, size = residuals(problem.forms[0], entry.name, value, problem.coordinates, points)
    assert np.max(np.abs(left)) < 1e-11 * size


@pytest.mark.parametrize("entry", [CIRCULAR_FRONT, SMOOTH_CIRCULAR_FRONT])
@pytest.mark.parametrize("width", [2e-2, 5e-3])
def test_source_is_finite_at_the_centre_of_a_circular_front(entry, width):
    form, centre = entry.problem(width).forms[0], np.array([[0.5, 0.5]])
    _, source = form_values(form, environment(("x", "y"), centre), 1)
    # Minus the source, which is near u = -1 there: the cone's tip adds less than a tenth.
    assert 0.99 < source[0] < 1.1


def test_smooth_circular_front_differs_from_the_sharp_one_by_its_tail():
    points = some_points(CIRCULAR_FRONT, 2e-2, 200)
    for width, bound in ((2e-2, 2 * np.exp(-0.25 / 2e-2)), (5e-3, 1e-15)):
        gap = SMOOTH_CIRCULAR_FRONT.exact(width)(*points.T) - CIRCULAR_FRONT.exact(width)(*points.T)
        assert np.max(np.abs(gap)) <= bound
