"""Materials with straight slanted edges, and loads between slanted sides."""

import math
from functools import cache

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt.patchwork.exponents import least_exponent
from sharpfront.equation.oblique_lines import Line
from sharpfront.errors import ProblemError
from sharpfront.place.tiling.tiling import tiling_of
from sharpfront.rows.materials import material_lines

SQUARE = sf.Box((0, 1), (0, 1))
TRAPEZIUM = sf.Polygon([(0, 0), (2, 0), (1.5, 1), (0.3, 1)])
BENT = sf.Polygon([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)])
HEXAGON = sf.Polygon([(math.cos(a), math.sin(a)) for a in np.arange(6) * math.pi / 3 + 0.1])


def turned(angle, place):
    """Return distances from a point along a direction and across it, as functions."""
    c, s = math.cos(angle), math.sin(angle)
    a, b = place
    return lambda x, y: (c * (x - a) + s * (y - b), c * (y - b) - s * (x - a))


def one_line(angle, place, ratio):
    """Return a conductivity, a solution that it bends, and its source."""
    at = turned(angle, place)

    def k(x, y):
        return np.where(at(x, y)[0] > 0, ratio, 1.0)

    def exact(x, y):
        s, t = at(x, y)
        return np.exp(t) * (1 + s / k(x, y) + s * s)

    def source(x, y):
        s, t = at(x, y)
        return np.exp(t) * (k(x, y) * (3 + s * s) + s)

    return k, exact, source


def two_lines(angle, place, apart, ratios):
    at = turned(angle, place)
    first, second, third = ratios

    def layers(s, one, two, three):
        return np.where(s > apart, three, np.where(s > 0, two, one))

    def k(x, y):
        return layers(at(x, y)[0], first, second, third)

    def exact(x, y):
        s, t = at(x, y)
        beyond = apart / second + (s - apart) / third
        return np.exp(t) * (1 + layers(s, s / first, s / second, beyond))

    def source(x, y):
        return k(x, y) * exact(x, y)

    return k, exact, source


def crossing(angle, place, one, other):
    at = turned(angle, place)

    def k(x, y):
        s, t = at(x, y)
        return np.where(s > 0, one, 1.0) * np.where(t > 0, other, 1.0)

    def exact(x, y):
        s, t = at(x, y)
        return 1 + s * t / k(x, y)

    return k, exact, lambda x, y: 0 * x


CASES = {
    "trapezium": (TRAPEZIUM, *one_line(0.7, (0.9, 0.4), 10.0)),
    "trapezium, strong": (TRAPEZIUM, *one_line(0.7, (0.9, 0.4), 1e4)),
    "trapezium, along an axis": (TRAPEZIUM, *one_line(0.0, (0.9, 0.4), 10.0)),
    "hexagon, two": (HEXAGON, *two_lines(0.5, (-0.2, 0.0), 0.5, (1.0, 20.0, 3.0))),
    "hexagon, crossing": (HEXAGON, *crossing(0.5, (0.1, -0.05), 7.0, 3.0)),
    "square, corners": (SQUARE, *one_line(math.pi / 4, (0.5, 0.5), 10.0)),
    "square, crossing": (SQUARE, *crossing(0.5, (0.5, 0.4), 7.0, 3.0)),
    "bent": (BENT, *one_line(0.7, (0.8, 0.6), 10.0)),
}


@pytest.mark.parametrize("name", CASES)
def test_smooth_on_either_side(name):
    domain, k, exact, source = CASES[name]
    problem = sf.Problem(
        domain,
        lambda u, x, y: sf.div(k(x, y) * sf.grad(u)) - source(x, y),
        boundary=lambda u, x, y: u - exact(x, y),
    )
    solution = sf.solve(problem, tol=1e-6)
    x, y = domain.sample(2000).T
    error = np.abs(solution(x, y) - exact(x, y)).max()
    assert solution.converged
    assert error < 1e-9
    # Strips took 1800 on a square with one edge; charts do not know more than the edge.
    # Corners have functions of their own.
    assert solution.kernels <= 1900


def below_a_load(x, y, place=0.9):
    """A solution that bends on a line, so that its slope jumps by twice the sine of y."""
    return np.sin(y) * (x**2 + np.abs(x - place))


def its_source(x, y, place=0.9):
    return np.sin(y) * (2 - x**2 - np.abs(x - place))


@pytest.mark.parametrize(
    "load",
    [
        lambda u, x, y: 2 * np.sin(y) * sf.delta(x - 0.9),
        lambda u, x, y: 6 * np.sin(y) * sf.delta(2.7 - 3 * x),
        lambda u, x, y: (2 * np.sin(y) + u - 0.81 * np.sin(y)) * sf.delta(x - 0.9),
    ],
    ids=["load", "another slope", "spring"],
)
def test_a_load_between_slanted_sides(load):
    problem = sf.Problem(
        TRAPEZIUM,
        lambda u, x, y: sf.laplacian(u) - its_source(x, y) - load(u, x, y),
        boundary=lambda u, x, y: u - below_a_load(x, y),
    )
    solution = sf.solve(problem, tol=1e-6)
    x, y = TRAPEZIUM.sample(2000).T
    assert solution.converged
    assert np.abs(solution(x, y) - below_a_load(x, y)).max() < 1e-9


def test_a_load_on_the_edge_of_a_material():
    def k(x):
        return np.where(x > 0.9, 5.0, 1.0)

    def exact(x, y):
        return np.sin(y) * np.where(x > 0.9, 0.6, 1.0) * (x - 0.9)

    problem = sf.Problem(
        TRAPEZIUM,
        lambda u, x, y: (
            sf.div(k(x) * sf.grad(u)) + k(x) * exact(x, y) - 2 * np.sin(y) * sf.delta(x - 0.9)
        ),
        boundary=lambda u, x, y: u - exact(x, y),
    )
    solution = sf.solve(problem, tol=1e-6)
    x, y = TRAPEZIUM.sample(2000).T
    assert solution.converged
    assert np.abs(solution(x, y) - exact(x, y)).max() < 1e-9


def test_loads_that_are_refused_between_slanted_sides():
    for words, load in (
        ("derivatives of sf.delta", lambda x: sf.delta(x - 0.9).dx),
        ("slivers", lambda x: sf.delta(x - 1.999)),
        ("does not lie between", lambda x: sf.delta(x - 3)),
        ("jumps at x = 0.9", lambda x: np.where(x > 0.9, 1.0, 2.0) * sf.delta(x - 0.9)),
    ):
        problem = sf.Problem(
            TRAPEZIUM,
            lambda u, x, y, q=load: sf.laplacian(u) - q(x),
            boundary=lambda u, x, y: u,
        )
        with pytest.raises(ProblemError, match=words):
            sf.Patches().start(problem, 1e-3, 0)


def kellogg(angle, exponent, ratio, sigma):
    """Return quarters of a plane with a singular solution, turned (Kellogg 1974)."""
    at, g, rho = turned(angle, (0.0, 0.0)), exponent, math.pi / 4

    def k(x, y):
        s, t = at(x, y)
        return np.where(s * t > 0, ratio, 1.0)

    def exact(x, y):
        s, t = at(x, y)
        around, half = np.mod(np.arctan2(t, s), 2 * math.pi), math.pi / 2
        parts = [
            math.cos((half - sigma) * g) * np.cos((around - half + rho) * g),
            math.cos(rho * g) * np.cos((around - 2 * half + sigma) * g),
            math.cos(sigma * g) * np.cos((around - 2 * half - rho) * g),
            math.cos((half - rho) * g) * np.cos((around - 3 * half - sigma) * g),
        ]
        later = np.where(around < 3 * half, parts[2], parts[3])
        first = np.where(around < half, parts[0], parts[1])
        return np.sqrt(s * s + t * t) ** g * np.where(around < 2 * half, first, later)

    return k, exact


STRONG = 0.1, 161.4476387975881, -14.92256510455152
MILD = 0.5, 5.8284271247461907, -2.3561944901923448


@cache
def graded(count=2000):
    """Return points at all distances from the origin."""
    rng = np.random.default_rng(0)
    r, a = 10 ** rng.uniform(-6, -0.3, count), rng.uniform(0, 2 * math.pi, count)
    return r * np.cos(a), r * np.sin(a)


@pytest.mark.parametrize("domain", [sf.Box((-1, 1), (-1, 1)), HEXAGON])
@pytest.mark.parametrize("strength", [STRONG, MILD])
def test_a_singular_crossing_has_its_functions(domain, strength):
    k, exact = kellogg(0.45, *strength)
    problem = sf.Problem(
        domain,
        lambda u, x, y: sf.div(k(x, y) * sf.grad(u)),
        boundary=lambda u, x, y: u - exact(x, y),
    )
    solution = sf.solve(problem, tol=1e-4)
    assert solution.converged
    assert np.abs(solution(*graded()) - exact(*graded())).max() < 1e-6


def test_without_functions_a_singular_crossing_is_looked_at():
    """Cells about it saw 5e-4 of an error of 0.15."""
    k, exact = kellogg(0.45, *STRONG)
    # Functions are known where conductivities are one number in each quarter.
    problem = sf.Problem(
        sf.Box((-1, 1), (-1, 1)),
        lambda u, x, y: sf.div(k(x, y) * (1 + 1e-9 * x) * sf.grad(u)),
        boundary=lambda u, x, y: u - exact(x, y),
    )
    solution = sf.solve(problem, tol=5e-2, max_kernels=12_000)
    error = np.abs(solution(*graded()) - exact(*graded())).max()
    assert solution.error_estimate > error / 3


@pytest.mark.parametrize("angle", [0.0, 0.45])
@pytest.mark.parametrize("ratio", [1e-4, 1e2])
def test_exponents_where_a_slanted_edge_ends(angle, ratio):
    c, s = math.cos(angle), math.sin(angle)
    corners = [(-1, 0), (1, 0), (1, 1), (-1, 1)]
    domain = sf.Polygon([(c * x - s * y, s * x + c * y) for x, y in corners])
    at = turned(angle, (0.0, 0.0))
    problem = sf.Problem(
        domain,
        lambda u, x, y: sf.div(np.where(at(x, y)[0] < 0, 1.0, ratio) * sf.grad(u)),
        **dict.fromkeys(domain.parts, lambda u, x, y: u),
    )
    lines = material_lines(problem)
    assert lines == (Line((pytest.approx(c), pytest.approx(s)), pytest.approx(0.0)),)
    # Between two walls with values an edge at a right angle is none: u = 0 on both.
    found = least_exponent(problem, tiling_of(domain), np.zeros(2), lines)
    assert found == np.inf
    oblique = [Line((math.cos(angle + 0.9), math.sin(angle + 0.9)), 0.0)]
    other = turned(angle + 0.9, (0.0, 0.0))
    problem = sf.Problem(
        domain,
        lambda u, x, y: sf.div(np.where(other(x, y)[0] < 0, 1.0, ratio) * sf.grad(u)),
        **dict.fromkeys(domain.parts, lambda u, x, y: u),
    )
    found = least_exponent(problem, tiling_of(domain), np.zeros(2), oblique)
    # k1 cot(a w1) + k2 cot(a w2) = 0 for openings w1 and w2.
    w = math.pi / 2 + 0.9
    a = np.linspace(0.4, 0.999, 100_000)
    values = 1 / np.tan(a * w) + ratio / np.tan(a * (math.pi - w))
    root = a[np.flatnonzero(np.diff(np.sign(values)) != 0)]
    first = root[0] if len(root) and root[0] < 0.6 else np.inf
    assert found == pytest.approx(first, rel=0.02)
