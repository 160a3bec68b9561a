"""Values of a parameter for which a problem of the catalogue has no meaning."""

import math
import tomllib

import pytest

from sharpfront.catalog import listing
from sharpfront.errors import SharpfrontError


@pytest.mark.parametrize("value", [0, -1, -1e-9, math.inf, -math.inf, math.nan, "0.1", True, None])
@pytest.mark.parametrize("name", listing())
def test_every_problem_refuses_them(name, value):
    listed = listing()[name]
    points = listed.points if listed.has_points else listed.problem
    for call in (listed.problem, listed.exact, points):
        with pytest.raises(SharpfrontError, match=r"expected a positive, finite number, got"):
            call(value)


@pytest.mark.parametrize(("name", "value"), [("bratu", 4.0), ("bratu-upper", 3.7)])
def test_a_problem_without_a_solution_says_so(name, value):
    with pytest.raises(SharpfrontError, match=f"{name}: there is no such problem"):
        listing()[name].exact(value)


@pytest.mark.parametrize("name", [n for n, listed in listing().items() if listed.file])
def test_it_is_solved_to_the_tolerance_of_its_file(name):
    listed = listing()[name]
    written = tomllib.loads(listed.file).get("solve", {}).get("tol")
    assert listed.stated().options.get("tol") == written
