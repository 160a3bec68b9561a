"""Every problem file of the catalogue states the problem that Python states."""

import contextlib
import functools
import tempfile
import tomllib
from pathlib import Path

import numpy as np
import pytest

from sharpfront.equation.expression import derivatives_in, evaluate
from sharpfront.problem_file import read_text
from sharpfront.problem_file.listing import listing, named

FILES = [name for name, listed in listing().items() if listed.file is not None]
# What a file leaves out, and why it says so.
NO_EXACT = {"bratu", "bratu-upper", "troesch", "sharp-source", "cavity", "burgers", "heat-hat"}
NO_EXACT |= {"allen-cahn-in-time", "korteweg-de-vries", "kuramoto-sivashinsky", "gray-scott"}
NEEDS_A_SURFACE = {"ellipsoid", "torus"}


@functools.cache
def surface(name):
    """Return a folder with the surface, made by the recipe in the comments of the file."""
    pytest.importorskip("trimesh")
    folder = Path(tempfile.mkdtemp())
    lines = named(name).file.splitlines()
    recipe = [line.removeprefix("#   ") for line in lines if line.startswith("#   ")]
    with contextlib.chdir(folder):
        exec("\n".join(recipe), {})
    return folder


def both(name, value=None):
    """Return the problem of the file and that of Python for a value of the parameter."""
    listed = named(name)
    changed = {} if value is None else {listed.parameter: value}
    folder = surface(name) if name in NEEDS_A_SURFACE else "."
    try:
        return read_text(listed.file, f"{name}.toml", folder, changed), listed.stated(value)
    except ImportError as error:
        pytest.skip(str(error))


def some_points(stated, problem):
    """Return points of the domain, most of them inside its features, (m, d) with time."""
    if stated.points is not None:
        points = stated.points()
        points = points[:, None] if points.ndim == 1 else points
        return points[np.random.default_rng(1).permutation(len(points))[:200]]
    points = problem.domain.sample(200)
    if problem.time:
        moments = np.linspace(*problem.time, 200)[:, None]
        points = np.hstack([points, np.random.default_rng(2).permutation(moments)])
    return points


def same(first, second, points, symbols, normals=None):
    """Compare two expressions at points with random values for the derivatives."""
    draw = np.random.default_rng(7)
    leaves = {("coordinate", c): points[:, i] for i, c in enumerate(symbols.coordinates)}
    if normals is not None:
        leaves |= {
            ("normal", c): normals[:, i]
            for i, c in enumerate(c for c in symbols.coordinates if c != "t")
        }
    inside = {d.key for e in (first, second) for d in derivatives_in(e)}
    leaves |= {key: draw.normal(size=len(points)) for key in sorted(inside)}
    with np.errstate(all="ignore"):
        a, b = (np.asarray(evaluate(e, leaves), dtype=float) for e in (first, second))
    scale = max(1.0, float(np.max(np.abs(b))))
    assert np.all(np.isfinite(b))
    assert np.max(np.abs(a - b)) < 2e-12 * scale


def mild(name):
    """Return a value at which nothing is so thin that a part of the statement does not count."""
    return 5.0 if name == "troesch" else 0.5


def variants():
    for name in FILES:
        yield name, None
        listed = named(name)
        if listed.parameter in read_parameters(name):
            yield name, mild(name)


def read_parameters(name):
    return tomllib.loads(named(name).file).get("parameters", {})


CASES = [pytest.param(name, value, id=f"{name} {value or ''}") for name, value in variants()]


@pytest.mark.parametrize(("name", "value"), CASES)
def test_equations_and_conditions_are_the_same(name, value):
    stated, python = both(name, value)
    mine, theirs = stated.problem, python.problem
    assert mine.unknowns == theirs.unknowns
    assert mine.coordinates == theirs.coordinates
    points = some_points(python, theirs)
    for a, b in zip(mine.equations, theirs.equations, strict=True):
        same(a, b, points, mine.symbols)
    assert [c.part for c in mine.conditions] == [c.part for c in theirs.conditions]
    for a, b in zip(mine.conditions, theirs.conditions, strict=True):
        on = theirs.domain.boundary(a.part, 20)
        places = on.points
        if theirs.time:
            moments = np.linspace(*theirs.time, len(places))[:, None]
            places = np.hstack([places, moments])
        for one, other in zip(a.residuals, b.residuals, strict=True):
            same(one, other, places, mine.symbols, on.normals)
    for a, b in zip(mine.further, theirs.further, strict=True):
        assert a.point == pytest.approx(b.point, abs=1e-14)
        for one, other in zip(a.residuals, b.residuals, strict=True):
            same(one, other, points, mine.symbols)


@pytest.mark.parametrize("name", FILES)
def test_domains_are_the_same(name):
    mine, theirs = (s.problem.domain for s in both(name))
    assert mine.parts == theirs.parts
    assert mine.periodic_axes == theirs.periodic_axes
    assert mine.bounds == pytest.approx(theirs.bounds, abs=1e-12)
    low, high = theirs.bounds
    draw = np.random.default_rng(3).uniform(size=(500, theirs.dimension))
    box = low - 0.1 + draw * (high - low + 0.2)
    assert np.array_equal(mine.contains(box), theirs.contains(box))
    for part in mine.parts:
        assert mine.boundary(part, 9).points == pytest.approx(theirs.boundary(part, 9).points)


TIME = [name for name in FILES if named(name).dimension.endswith("t")]


@pytest.mark.parametrize("name", TIME)
def test_time_and_initial_state_are_the_same(name):
    for value in (None, mild(name)):
        stated, python = both(name, value)
        mine, theirs = stated.problem, python.problem
        assert mine.time == pytest.approx(theirs.time)
        assert set(mine.initial.states) == set(theirs.initial.states)
        points = theirs.domain.sample(200)
        if theirs.domain.dimension == 1:
            points = np.unique(np.append(points[:, 0], 0.3))[:, None]
        for state in theirs.initial.states:
            gap = mine.initial.values(state, points) - theirs.initial.values(state, points)
            assert np.max(np.abs(gap)) < 1e-12 * max(1, np.max(np.abs(gap)))


@pytest.mark.parametrize(("name", "value"), CASES)
def test_exact_solutions_are_the_same(name, value):
    stated, python = both(name, value)
    assert set(stated.exact) == (set() if name in NO_EXACT else set(python.exact))
    points = some_points(python, python.problem)
    for unknown, mine in stated.exact.items():
        gap = mine(*points.T) - python.exact[unknown](*points.T)
        assert np.max(np.abs(gap)) < 1e-13 * max(1, np.max(np.abs(mine(*points.T))))


@pytest.mark.parametrize("name", sorted(NO_EXACT))
def test_a_file_says_what_it_leaves_out(name):
    first = named(name).file.splitlines()[0]
    assert first.startswith("#")
    assert "exact solution" in first or "No formula" in first


def test_only_what_cannot_be_written_has_no_file():
    assert [name for name in listing() if name not in FILES] == ["hump"]


def test_guess_of_the_upper_branch():
    stated, python = both("bratu-upper")
    x = np.linspace(0, 1, 11)
    assert stated.options["guess"]["u"](x) == pytest.approx(python.options["guess"](x))
