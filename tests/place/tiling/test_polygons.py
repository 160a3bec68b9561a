"""Polygons with slanted sides: how they are cut, and problems with known solutions on them."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt.patchwork import needs_patches
from sharpfront.errors import DomainError
from sharpfront.measure import max_error
from sharpfront.place.tiling.tiling import tiling_of

TRIANGLE = [(0.0, 0.0), (1.0, 0.1), (0.3, 0.8)]


def turned(points, angle, shift=(0.0, 0.0)):
    c, s = np.cos(angle), np.sin(angle)
    return np.asarray(points, dtype=float) @ np.array([[c, s], [-s, c]]) + shift


def convex(seed):
    """Return a polygon of 3 to 7 corners on an ellipse, turned and shifted."""
    random = np.random.default_rng(seed)
    count = 3 + seed % 5
    angles = 2 * np.pi * (np.arange(count) + random.uniform(-0.25, 0.25, count)) / count
    corners = np.stack([np.cos(angles), random.uniform(0.6, 1.0) * np.sin(angles)], axis=1)
    return sf.Polygon(turned(corners, random.uniform(0, 7), random.uniform(-1, 1, 2)))


def star(points=5, inner=0.45):
    angles = np.pi * np.arange(2 * points) / points
    radii = np.where(np.arange(2 * points) % 2, inner, 1.0)
    return sf.Polygon(np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1))


SHAPES = {
    "triangle": lambda: sf.Polygon(TRIANGLE),
    "trapezium": lambda: sf.Polygon([(0, 0), (2, 0), (1.5, 1), (0.3, 1)]),
    "hexagon": lambda: convex(3),
    "star": star,
    "L turned": lambda: sf.Polygon(
        turned([(-1, -1), (0, -1), (0, 0), (1, 0), (1, 1), (-1, 1)], 0.4)
    ),
    "hole": lambda: sf.Polygon(
        [(0, 0), (2, 0), (2, 1.5), (0, 1.5)], [[(0.6, 0.5), (1.0, 0.4), (0.8, 0.9)]]
    ),
    "cut out": lambda: sf.Box((0, 2), (0, 1)) - sf.Polygon(TRIANGLE),
    "joined": lambda: sf.Box((0, 1), (0, 1)) | sf.Polygon([(0.5, 0.5), (2, 0.2), (1.5, 1.4)]),
    "marked": lambda: sf.Polygon(TRIANGLE).part("inflow", lambda x, y: x < 0.2),
    "spiral": lambda: sf.Polygon(
        [
            (0, 0),
            (3, 0.2),
            (3, 3),
            (1, 2.9),
            (1.1, 1),
            (2, 1.2),
            (2, 2),
            (2.4, 2),
            (2.5, 0.7),
            (0.2, 0.5),
        ]
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_charts_tile_a_polygon_with_the_names_of_its_sides(name):
    domain = SHAPES[name]()
    tiling = tiling_of(domain)
    corners = [np.array(block.chart.corners) for block in tiling.blocks]
    areas = [0.5 * np.sum(_cross(x, np.roll(x, -1, axis=0))) for x in corners]
    assert min(areas) > 0
    assert sum(areas) == pytest.approx(domain.measure, rel=1e-6)
    assert {wall[4] for block in tiling.blocks for wall in block.walls} == set(domain.parts)
    lengths = dict.fromkeys(domain.parts, 0.0)
    for block in tiling.blocks:
        for axis, place, _, _, part in block.walls:
            start, stop = np.array(block.chart.edge(axis, int(place > 0)))
            lengths[part] += np.linalg.norm(stop - start)
    for part, pieces in domain.pieces_in(None).items():
        assert lengths[part] == pytest.approx(sum(p.measure for p in pieces), rel=1e-6)


def _cross(a, b):
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]


def charts_at(domain):
    """Return how many charts each corner lies in."""
    every = [c for block in tiling_of(domain).blocks for c in block.chart.corners]
    return [every.count(corner) for corner in map(tuple, domain.rings[0].tolist())]


@pytest.mark.parametrize("seed", range(4))
def test_a_corner_that_points_outwards_lies_in_one_chart(seed):
    assert set(charts_at(convex(seed))) == {1}


@pytest.mark.parametrize(("points", "inner"), [(5, 0.45), (7, 0.6)])
def test_a_corner_that_points_inwards_lies_in_two_charts(points, inner):
    counts = charts_at(star(points, inner))
    assert sorted(counts) == [1] * points + [2] * points


def smooth(x, y):
    return np.exp(0.5 * x) * np.sin(2 * y) + np.cos(x - y)


def slopes(x, y):
    e, s = np.exp(0.5 * x), np.sin(x - y)
    return 0.5 * e * np.sin(2 * y) - s, 2 * e * np.cos(2 * y) + s


def general(u, x, y):
    """An equation with all terms that `smooth` solves."""
    e, c = np.exp(0.5 * x), np.cos(x - y)
    dx, dy = slopes(x, y)
    second = u.dxx - (0.25 * e * np.sin(2 * y) - c)
    across, mixed = u.dyy + 4 * e * np.sin(2 * y) + c, u.dxy - (e * np.cos(2 * y) + c)
    return (
        (2 + 0.1 * x) * second
        + across
        + 0.5 * mixed
        + (1 + y) * (u.dx - dx)
        - (u.dy - dy)
        - 3 * (u - smooth(x, y))
    )


@pytest.mark.parametrize("domain", [*map(convex, range(5)), SHAPES["star"](), SHAPES["hole"]()])
def test_smooth_solutions(domain):
    parts = dict.fromkeys(domain.parts, lambda u, x, y: u - smooth(x, y))
    problem = sf.Problem(domain, general, **parts)
    assert needs_patches(problem)
    solution = sf.solve(problem, tol=1e-7)
    assert solution.converged
    error = max_error(solution, smooth, domain.sample(500))
    assert error < 3 * solution.error_estimate + 1e-12


def beside(domain, side):
    """Return a polygon with one side as a part of its own, and that side's normal."""
    start, stop = domain.rings[0][side], np.roll(domain.rings[0], -1, axis=0)[side]
    normal = np.array([stop[1] - start[1], start[0] - stop[0]])
    normal /= np.linalg.norm(normal)
    level = normal @ start

    def there(x, y):
        return np.abs(normal[0] * x + normal[1] * y - level) < 1e-9

    return domain.part("outlet", there), normal


@pytest.mark.parametrize(("seed", "side"), [(0, 1), (2, 0), (4, 3)])
def test_a_slope_given_on_one_slanted_side(seed, side):
    domain, normal = beside(convex(seed), side)

    def outlet(u, x, y):
        dx, dy = slopes(x, y)
        return u.dn + 2 * u - normal[0] * dx - normal[1] * dy - 2 * smooth(x, y)

    problem = sf.Problem(domain, general, boundary=lambda u, x, y: u - smooth(x, y), outlet=outlet)
    solution = sf.solve(problem, tol=1e-6)
    assert solution.converged
    x, y = domain.sample(500).T
    assert np.abs(solution(x, y) - smooth(x, y)).max() < 1e-6


@pytest.mark.parametrize("seed", [1, 2])
def test_fourth_order(seed):
    domain = convex(seed)

    def exact(x, y):
        return np.exp(x) * np.sin(2 * y)

    problem = sf.Problem(
        domain,
        lambda u, x, y: sf.laplacian(sf.laplacian(u)) - 9 * exact(x, y),
        boundary=lambda u, x, y: (u - exact(x, y), sf.laplacian(u) + 3 * exact(x, y)),
    )
    solution = sf.solve(problem, tol=1e-6)
    assert solution.converged
    x, y = domain.sample(500).T
    assert np.abs(solution(x, y) - exact(x, y)).max() < 1e-6 * max(1, exact(x, y).max())


@pytest.mark.parametrize("seed", [0, 3])
def test_a_system_with_a_condition_at_a_point(seed):
    domain = convex(seed)
    middle = tuple(domain.rings[0].mean(axis=0).tolist())

    def u_exact(x, y):
        return -2 * np.sin(x) * np.sin(2 * y)

    def v_exact(x, y):
        return -np.cos(x) * np.cos(2 * y)

    def stokes(u, v, p, x, y):
        return (
            -sf.laplacian(u) + p.dx - 5 * u_exact(x, y) - np.exp(x) * y,
            -sf.laplacian(v) + p.dy - 5 * v_exact(x, y) - np.exp(x),
            u.dx + v.dy,
        )

    problem = sf.Problem(
        domain,
        stokes,
        boundary=lambda u, v, p, x, y: (u - u_exact(x, y), v - v_exact(x, y)),
        conditions=[sf.at(middle, lambda u, v, p, x, y: p - np.exp(x) * y)],
    )
    solution = sf.solve(problem, tol=1e-5)
    assert solution.converged
    x, y = domain.sample(300).T
    assert np.abs(solution.u(x, y) - u_exact(x, y)).max() < 1e-5
    assert np.abs(solution.p(x, y) - np.exp(x) * y).max() < 1e-5 * max(1, np.exp(x).max())


@pytest.mark.parametrize(("opening", "angle"), [(1.5, 0.4), (1.8, 2.0)])
def test_a_corner_that_points_inwards(opening, angle):
    """r^a sin(a t) in a sector of opening pi / a, its rim made of straight pieces."""
    turns = angle + opening * np.pi * np.linspace(0, 1, 7)
    rim = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    domain = sf.Polygon([(0.0, 0.0), *map(tuple, rim)])
    power, middle = 1 / opening, angle + 0.5 * opening * np.pi

    def exact(x, y):
        along = x * np.cos(middle) + y * np.sin(middle)
        across = y * np.cos(middle) - x * np.sin(middle)
        turn = np.arctan2(across, along) + 0.5 * opening * np.pi
        return (x * x + y * y) ** (power / 2) * np.sin(power * turn)

    problem = sf.Problem(
        domain, lambda u, x, y: -sf.laplacian(u), boundary=lambda u, x, y: u - exact(x, y)
    )
    solution = sf.solve(problem, tol=1e-2)
    assert solution.converged
    r, t = np.meshgrid(np.geomspace(1e-6, 0.85, 30), np.linspace(turns[0], turns[-1], 31)[1:-1])
    x, y = (r * np.cos(t)).ravel(), (r * np.sin(t)).ravel()
    assert np.abs(solution(x, y) - exact(x, y)).max() < 1e-2


@pytest.mark.parametrize("width", [3e-2, 1e-3])
def test_a_layer_beside_slanted_sides(width):
    """Straight layers along all sides of a rhombus: exp(-distance / width)."""
    domain = sf.Polygon(turned([(-1.2, 0), (0, -0.8), (1.2, 0), (0, 0.8)], 0.3))
    sides = list(zip(domain.rings[0], np.roll(domain.rings[0], -1, axis=0), strict=True))

    def exact(x, y):
        total = 0.5 * np.cos(x + y)
        for start, stop in sides:
            inwards = np.array([start[1] - stop[1], stop[0] - start[0]])
            inwards = inwards / np.linalg.norm(inwards)
            total = total + np.exp(
                -((x - start[0]) * inwards[0] + (y - start[1]) * inwards[1]) / width
            )
        return total

    problem = sf.Problem(
        domain,
        lambda u, x, y: -(width**2) * sf.laplacian(u) + u - (0.5 + width**2) * np.cos(x + y),
        boundary=lambda u, x, y: u - exact(x, y),
    )
    solution = sf.solve(problem, tol=1e-5)
    assert solution.converged
    rim = domain.boundary("surface", 400)
    depths = width * np.linspace(0.01, 10, 40)
    points = np.concatenate([rim.points - depth * rim.normals for depth in depths])
    x, y = points[domain.contains(points)].T
    assert np.abs(solution(x, y) - exact(x, y)).max() < 1e-5 * exact(x, y).max()


def test_a_solution_on_charts_is_saved_loaded_and_refused_outside(tmp_path):
    domain = SHAPES["hole"]()
    problem = sf.Problem(
        domain,
        general,
        surface=lambda u, x, y: u - smooth(x, y),
        hole1=lambda u, x, y: u - smooth(x, y),
    )
    solution = sf.solve(problem, tol=1e-4)
    solution.save(tmp_path / "hole.npz")
    again = sf.load(tmp_path / "hole.npz")
    x, y = domain.sample(50).T
    np.testing.assert_allclose(again(x, y), solution(x, y), rtol=1e-12)
    np.testing.assert_allclose(again.d("x")(x, y), solution.d("x")(x, y), rtol=1e-10, atol=1e-12)
    rim = domain.boundary("surface", 30).points
    np.testing.assert_allclose(solution(*rim.T), smooth(*rim.T), atol=1e-4)
    with pytest.raises(DomainError):
        solution(0.8, 0.6)


@pytest.mark.parametrize(("seed", "mean"), [(1, 2.0), (4, -0.5)])
def test_slopes_all_around_and_a_mean(seed, mean):
    """A constant, from the integral of u + x and the polygon's centre of mass."""
    domain = convex(seed)
    x, y = domain.rings[0].T
    x1, y1 = np.roll(x, -1), np.roll(y, -1)
    centre = np.sum((x + x1) * (x * y1 - x1 * y)) / (6 * domain.measure)

    problem = sf.Problem(
        domain,
        lambda u, x, y: sf.laplacian(u),
        boundary=lambda u, x, y: u.dn,
        conditions=[sf.integral(lambda u, x, y: u + x, equals=mean)],
    )
    solution = sf.solve(problem, tol=1e-8)
    assert solution.converged
    assert solution(*domain.rings[0].mean(axis=0)) == pytest.approx(mean / domain.measure - centre)


@pytest.mark.parametrize("seed", [2, 3])
def test_a_nonlinear_equation(seed):
    domain = convex(seed)

    def exact(x, y):
        return np.sin(x + 2 * y)

    problem = sf.Problem(
        domain,
        lambda u, x, y: -sf.laplacian(u) + u**3 - 5 * exact(x, y) - exact(x, y) ** 3,
        boundary=lambda u, x, y: u - exact(x, y),
    )
    solution = sf.solve(problem, tol=1e-6)
    assert solution.converged
    x, y = domain.sample(300).T
    assert np.abs(solution(x, y) - exact(x, y)).max() < 1e-6


@pytest.mark.parametrize(
    ("turned", "place", "width"),
    [(0.0, 0.13, 0.01), pytest.param(0.7, -0.2, 0.006, marks=pytest.mark.slow)],
)
def test_charts_are_cut_along_straight_fronts(turned, place, width):
    corners = [(-1, -0.8), (0.9, -1), (1.1, 0.4), (0.2, 1.0), (-0.8, 0.7)]
    cos, sin = np.cos(turned), np.sin(turned)

    def exact(x, y):
        return np.tanh((cos * x + sin * y - place) / width) + np.sin(x + 1)

    def equation(u, x, y):
        t = np.tanh((cos * x + sin * y - place) / width)
        bent = -2 * t * (1 - t * t) / width**2 - np.sin(x + 1)
        return -sf.laplacian(u) + bent + u - exact(x, y)

    problem = sf.Problem(sf.Polygon(corners), equation, boundary=lambda u, x, y: u - exact(x, y))
    solution = sf.solve(problem, tol=1e-2)
    s, t = np.meshgrid(np.linspace(-6, 6, 41) * width, np.linspace(-0.4, 0.4, 9))
    x, y = cos * (place + s) - sin * t, sin * (place + s) + cos * t
    assert solution.converged and solution.kernels < 5000
    assert np.abs(solution(x, y) - exact(x, y)).max() < 1e-2
