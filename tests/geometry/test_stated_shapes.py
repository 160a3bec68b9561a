"""Shapes that a few numbers state: what holds for everything in the registry."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sharpfront as sf
from sharpfront.errors import DomainError
from sharpfront.geometry.registry import SHAPES
from sharpfront.geometry.restore import restore_domain
from sharpfront.problem_file import read
from sharpfront.show.statement.code import Code
from sharpfront.show.statement.script import domain_code
from sharpfront.show.statement.typeset import domain_rows

every_shape = pytest.mark.parametrize("kind", SHAPES)


def made(kind):
    return SHAPES[kind](**SHAPES[kind].example)


@every_shape
def test_it_comes_back_from_its_state_and_from_its_code(kind):
    shape = made(kind)
    assert restore_domain(shape.state()) == shape
    assert eval(domain_code(shape, Code(())), {"sf": sf}) == shape
    assert eval(repr(shape), {type(shape).__name__: type(shape)}) == shape


@every_shape
def test_a_file_states_it_with_the_same_words(kind, tmp_path):
    words = ", ".join(
        f"{k} = {list(v) if isinstance(v, tuple) else v}" for k, v in SHAPES[kind].example.items()
    )
    count = len(next(iter(SHAPES[kind].example.values())))
    regions = [f"{kind} = {{ {words} }}", f"box = {[[-1, 1]] * count}"]
    joined = ", ".join(f"{{ {region} }}" for region in regions)
    lines = [
        'equation = "-laplacian(u) = 1"',
        "[domain]",
        f"intersection = [{joined}]",
        "[conditions]",
        'boundary = "u = 0"',
    ]
    (tmp_path / "p.toml").write_text("\n".join(lines))
    assert read(tmp_path / "p.toml").problem.domain.first == made(kind)


@every_shape
def test_its_inequality_is_its_inside(kind):
    shape = made(kind)
    points = np.random.default_rng(1).uniform(-2.5, 2.5, (500, shape.dimension))
    left, right = shape.inequality(points.T)
    assert np.array_equal(left < right, shape.distance(points) > 0)
    assert "&lt;" in next(domain_rows(shape))[0]


@settings(derandomize=True, deadline=None, max_examples=25)
@given(
    st.floats(0.05, 20.0),
    st.floats(0, 6.3),
    st.floats(-3, 3),
    st.floats(0.0, 1.5) | st.sampled_from([0.0, 1e-13, 1e-7]),
)
def test_distances_of_an_ellipse(ratio, angle, along, off):
    """On normals, up to the curve's centre of curvature, the foot is the nearest point."""
    shape = sf.Ellipse((1, -2), (1.0, ratio), angle)
    found = shape.boundary("surface", 64)
    least = min(1.0, ratio**2) / max(1.0, ratio)
    depth = off * least * 0.6 if off < 1 else -off
    points = found.points - depth * found.normals
    np.testing.assert_allclose(shape.distance(points), depth, atol=1e-11 * max(1, ratio))


@pytest.mark.parametrize("wrong", [((0, 0), (1, 0)), ((0, 0, 0), (1, 1)), ((0, 0), (1, 2, 3))])
def test_what_is_no_ellipse(wrong):
    with pytest.raises(DomainError, match="two positive semi-axes"):
        sf.Ellipse(*wrong)


def test_a_load_on_an_ellipse():
    a, b = 2.0, 0.5
    shape = sf.Ellipse((0.3, 0), (a, b), math.pi / 5)
    problem = sf.Problem(shape, lambda u, x, y: -sf.laplacian(u) - 1, boundary=lambda u, x, y: u)
    solution = sf.solve(problem, tol=1e-8)
    x, y = shape.sample(200).T
    left, _ = shape.inequality((x, y))
    exact = (1 - left) / (2 / a**2 + 2 / b**2)
    assert solution.converged
    assert np.abs(solution(x, y) - exact).max() < 1e-9
