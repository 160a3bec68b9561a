"""Layers along outlines with corners: strips that meet on mitres."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ive, kve

import sharpfront as sf
from sharpfront.geometry.curves import Segment
from sharpfront.maps import Strip
from sharpfront.place.patches.settings import PatchSettings
from sharpfront.place.strips.collars import collared
from sharpfront.place.strips.outlines import OutlineSide
from sharpfront.place.tiling.tiling import tiling_of


def beside_line(point, normal, w):
    """Return a solution of w^2 lap u = u with a layer along a line."""
    return lambda x, y: np.exp(((x - point[0]) * normal[0] + (y - point[1]) * normal[1]) / w)


def within_circle(centre, radius, w):
    def layer(x, y):
        r = np.hypot(x - centre[0], y - centre[1])
        return ive(0, r / w) / ive(0, radius / w) * np.exp((r - radius) / w)

    return layer


def around_circle(centre, radius, w):
    def layer(x, y):
        r = np.hypot(x - centre[0], y - centre[1])
        return kve(0, r / w) / kve(0, radius / w) * np.exp((radius - r) / w)

    return layer


def cap(rng, w):
    centre, radius, angle = rng.uniform(-1, 1, 2), rng.uniform(0.7, 1.4), rng.uniform(0, 2 * np.pi)
    normal = np.array([np.cos(angle), np.sin(angle)])
    point = centre + normal * radius * rng.uniform(-0.4, 0.4)
    domain = sf.Disk(tuple(centre), radius) & sf.HalfSpace(tuple(point), tuple(normal))
    return domain, [within_circle(centre, radius, w), beside_line(point, normal, w)]


def bitten(rng, w):
    low = rng.uniform(-1, 1, 2)
    high = low + rng.uniform(0.8, 1.5, 2)
    radius = rng.uniform(0.3, 0.5) * float(np.min(high - low))
    domain = sf.Box((low[0], high[0]), (low[1], high[1])) - sf.Disk(tuple(high), radius)
    sides = [(low, (0, -1)), (low, (-1, 0)), (high, (0, 1)), (high, (1, 0))]
    lines = [beside_line(point, normal, w) for point, normal in sides]
    return domain, [around_circle(high, radius, w), *lines]


def graded(domain, w):
    """Return points of a domain, on its boundary and into a layer along it."""
    found = [domain.boundary(part, 101) for part in domain.parts]
    points = np.concatenate([b.points for b in found])
    normals = np.concatenate([b.normals for b in found])
    lines = [points - w * d * normals for d in (0, 0.1, 0.5, 1, 2, 5, 10, 15, 20, 25)]
    every = np.concatenate([domain.sample(1000), *lines])
    return every[domain.contains(every)].T


@pytest.mark.parametrize(("shape", "seed"), [(cap, 0), (bitten, 2)])
def test_layers_of_sides_that_meet_at_corners(shape, seed):
    rng = np.random.default_rng(seed)
    w = 10 ** rng.uniform(-4, -2)
    domain, layers = shape(rng, w)
    sizes = rng.uniform(0.5, 1.5, len(layers))

    def exact(x, y):
        return sum(size * layer(x, y) for size, layer in zip(sizes, layers, strict=True))

    given = sf.function(exact)
    problem = sf.Problem(
        domain,
        lambda u, x, y: -(w**2) * sf.laplacian(u) + u,
        boundary=lambda u, x, y: u - given(x, y),
    )
    solution = sf.solve(problem, tol=1e-4)
    x, y = graded(domain, w)
    truth = exact(x, y)
    assert solution.converged and solution.kernels < 8000
    assert np.abs(solution(x, y) - truth).max() < 1e-4 * max(1.0, np.abs(truth).max())


def sink(rng):
    """Return a box with a round bite in its lower side, or at a corner, that wind is drawn into."""
    size, radius = rng.uniform(1.5, 2.5, 2), rng.uniform(0.4, 0.6)
    centre = size[0] * rng.uniform(0.4, 0.6), radius * rng.choice([0.0, rng.uniform(0.1, 0.6)])
    if rng.random() < 0.3:
        centre = (0.0, centre[1])
    domain = sf.Box((0, size[0]), (0, size[1])) - sf.Disk(centre, radius).named("bite")
    return domain, centre, radius


def drawn_in(domain, centre, radius, eps):
    """Return wind into a bite, and its layer: walls are parallel to it, or it leaves them."""

    def exact(x, y):
        r = np.sqrt((x - centre[0]) ** 2 + (y - centre[1]) ** 2)
        return np.exp(-np.log(r / radius) / eps) + np.cos(2 * x + y)

    def equation(u, x, y):
        a, b = x - centre[0], y - centre[1]
        wind = (-a / (a**2 + b**2), -b / (a**2 + b**2))
        smooth = np.cos(2 * x + y)
        along = -np.sin(2 * x + y) * (2 * wind[0] + wind[1])
        return -eps * sf.laplacian(u) + wind[0] * u.dx + wind[1] * u.dy - 5 * eps * smooth - along

    given = sf.function(exact)
    return sf.Problem(domain, equation, boundary=lambda u, x, y: u - given(x, y)), exact


@pytest.mark.parametrize("seed", range(4))
def test_strips_end_on_walls_beside_which_nothing_decays(seed):
    rng = np.random.default_rng(seed)
    eps = 10 ** rng.uniform(-4, -2.5)
    domain, centre, radius = sink(rng)
    problem, exact = drawn_in(domain, centre, radius, eps)
    tiling = collared(problem, tiling_of(domain), PatchSettings(), 1e-5)
    parts = {w[4] for b in tiling.blocks if isinstance(b.chart, Strip) for w in b.walls if w[0]}
    assert parts == {"bite"}
    solution = sf.solve(problem, tol=1e-5)
    x, y = graded(domain, eps)
    assert solution.converged and solution.kernels < 4000
    assert np.abs(solution(x, y) - exact(x, y)).max() < 2e-5


SHAPES = {
    "half disk": sf.Disk((0, 0), 1) & sf.HalfSpace((0, 0.1), (0.1, 1)),
    "lens": sf.Disk((-0.5, 0), 1) & sf.Disk((0.5, 0), 1),
    "bitten box": sf.Box((0, 1), (0, 1)) - sf.Disk((1, 1), 0.4),
    "box and disk": sf.Box((0, 1), (0, 0.6)) | sf.Disk((0.5, 0.6), 0.4),
}


def tiled(domain, eps):
    problem = sf.Problem(
        domain, lambda u, x, y: -eps * sf.laplacian(u) + u - 1, boundary=lambda u, x, y: u
    )
    return collared(problem, tiling_of(domain), PatchSettings(), 1e-6)


def strips_of(tiling):
    return [block.chart for block in tiling.blocks if isinstance(block.chart, Strip)]


def enclosed(panels, which):
    """Return the area that closed panels enclose."""
    z, weights = np.polynomial.legendre.leggauss(24)
    panel, t = np.repeat(which, len(z)), np.tile(z, len(which))
    points, slopes = panels.at(panel, t), panels.slopes(panel, t)
    cross = points[:, 0] * slopes[:, 1] - points[:, 1] * slopes[:, 0]
    return abs(0.5 * float(np.tile(weights, len(which)) @ cross))


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("eps", [4e-5, 1e-7])
def test_strips_and_what_they_leave_make_up_the_domain(name, eps):
    domain = SHAPES[name]
    tiling = tiled(domain, eps)
    if not strips_of(tiling):
        assert name == "box and disk" and eps == 4e-5  # No room beside its shortest sides.
        return
    z, weights = np.polynomial.legendre.leggauss(24)
    area = 0.0
    for strip in strips_of(tiling):
        at = [0.5 * (z + 1.0) * size for size in strip.size]
        s, d = (a.ravel() for a in np.meshgrid(*at, indexing="ij"))
        taylor = strip.taylor(np.stack([s, d], axis=1))
        a, b = taylor[(1, 0)], taylor[(0, 1)]
        cross = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
        assert np.all(cross * cross[0] > 0.0)
        area += abs(0.25 * float(strip.size.prod() * np.outer(weights, weights).ravel() @ cross))
    region = tiling.blocks[0].region
    assert region is not None
    area += enclosed(region.panels, np.array(sorted(region.strips)))
    assert area == pytest.approx(domain.measure, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_positions_short_of_corners_are_found_again(seed):
    """Lines across strips that are deeper than long are far from being normals there."""
    rng = np.random.default_rng(seed)
    width, height = rng.uniform(0.9, 1.3, 2)
    corner = (width, height)
    domain = sf.Box((0, width), (0, height)) - sf.Disk(corner, rng.uniform(0.28, 0.33))
    for strip in strips_of(tiled(domain, 1.2e-4)):
        at = rng.uniform(0, 1, (300, 2)) * strip.size
        at[:100, 1] = 0.0
        np.testing.assert_allclose(strip.inverse(strip.points(at)), at, atol=1e-11)


def test_a_corner_that_is_too_sharp_has_no_mitre():
    thin = sf.Disk((-0.98, 0), 1) & sf.Disk((0.98, 0), 1)
    assert not strips_of(tiled(thin, 1e-7))


@pytest.mark.parametrize("seed", range(3))
def test_where_both_ends_share_a_side_nothing_is_left_between_them(seed):
    """A rest as short as rounding has no direction."""
    rng = np.random.default_rng(seed)
    for length in rng.uniform(0.1, 3.0, 40):
        curve = Segment(np.zeros(2), np.array([length, 0.0]))
        first = rng.uniform(0.1, 0.9) * curve.measure
        for side in (OutlineSide("side", curve), OutlineSide("side", curve, None, True)):
            panels = side.panels(first, curve.measure - first)
            assert len(panels.parts) == 2 and np.isfinite(panels.normals).all()


@pytest.mark.parametrize("length", [0.3, 0.7, 1.1, 1.3])
def test_a_side_that_one_corner_takes_all_of_has_no_panel_of_no_length(length):
    curve = Segment(np.zeros(2), np.array([length, 0.0]))
    for first in (np.nextafter(curve.measure, 0.0), curve.measure):
        for side in (OutlineSide("side", curve), OutlineSide("side", curve, None, True)):
            panels = side.panels(first, 0.0)
            assert len(panels.parts) == 1 and np.isfinite(panels.normals).all()
