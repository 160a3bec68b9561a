"""Curved shapes in the plane: patches that the boundary cuts."""

from __future__ import annotations

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.place.tiling.tiling import tiling_of

SQUARE = sf.Box((0, 1), (0, 1))


def wavy(x, y):
    return np.exp(x) * np.sin(2 * y) + np.cos(3 * x - 2 * y)


def poisson(u, x, y):
    return -sf.laplacian(u) - 3 * np.exp(x) * np.sin(2 * y) - 13 * np.cos(3 * x - 2 * y)


def given(u, x, y):
    return u - wavy(x, y)


def robin(u, x, y):
    return u - wavy(x, y) + 2 * (u.dn - wavy(x, y).dn)


def slope(u, x, y):
    return u.dn - wavy(x, y).dn


def looked_at(domain):
    """Return points of a domain, of its boundary, and just inside it."""
    found = [domain.boundary(part, 60) for part in domain.parts]
    points = np.concatenate([b.points for b in found])
    normals = np.concatenate([b.normals for b in found])
    every = np.concatenate([points, points - 1e-3 * normals, domain.sample(400)])
    return every[domain.contains(every)].T


def assert_right(solution, exact, tol):
    assert solution.converged, solution.outcome
    assert isinstance(solution.approximation.bases["u"], PatchworkBasis)
    x, y = looked_at(solution.domain)
    error = np.abs(solution(x, y) - exact(x, y)).max()
    assert error < tol
    assert error < 10 * max(solution.error_estimate, 1e-12)


def quartic(x, y):
    return (x - 0.2) ** 4 + 1.5 * y**4 + 0.4 * (x - 0.2) * y - 0.3


SHAPES = {
    "disk": lambda: sf.Disk((0.3, 0.2), 0.7),
    "level set": lambda: sf.Implicit(quartic, ((-1.0, 1.4), (-1.0, 1.0))),
    "thin and rotated": lambda: sf.Implicit(
        lambda x, y: (x + y) ** 2 + 30 * (x - y) ** 2 - 1, ((-1.0, 1.0), (-1.0, 1.0))
    ),
    "eccentric ring": lambda: sf.Disk((0, 0), 0.9) - sf.Disk((0.2, 0.1), 0.3).named("hole"),
    "difference": lambda: SQUARE - sf.Disk((0.55, 0.4), 0.2),
    "a hole across a side": lambda: SQUARE - sf.Disk((1.0, 0.45), 0.3),
    "union": lambda: sf.Box((0, 1), (0, 0.6)) | sf.Disk((0.5, 0.6), 0.4),
    "slanted sides": lambda: (
        sf.Polygon([(0, 0), (1.2, 0.1), (0.4, 1)]) - sf.Disk((0.5, 0.35), 0.15)
    ),
    "segment": lambda: sf.Disk((0, 0), 0.8) & sf.HalfSpace((0, 0.1), (0.3, 1)),
    "cloud": lambda: sf.Cloud(0.8 * ring(60), ring(60)),
}


def ring(count):
    angle = 2 * np.pi * np.arange(count) / count
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


@pytest.mark.parametrize("name", SHAPES)
def test_smooth_solutions_on_shapes(name):
    condition = robin if list(SHAPES).index(name) % 2 else given
    solution = sf.solve(sf.Problem(SHAPES[name](), poisson, boundary=condition), tol=1e-6)
    assert_right(solution, wavy, 1e-6)
    assert solution.kernels <= 1010


def steep(x):
    return np.tanh(6 * (x - 0.3))


def cooled(u, x, y):
    return u - steep(x) + 0.5 * (u - steep(x)).dn


@pytest.mark.parametrize("centre", [(0.442, 0.637), (0.3, 0.5)])
def test_boxes_on_the_other_side_of_a_wall_have_no_condition_there(centre):
    """The disk ends beside a side of the box, above which boxes that it cuts go on."""
    domain = sf.Box((0, 1), (0, 0.6)) | sf.Disk(centre, 0.35)
    problem = sf.Problem(domain, lambda u, x, y: -sf.laplacian(u - steep(x)), boundary=cooled)
    assert_right(sf.solve(problem, tol=1e-3), lambda x, y: steep(x), 1e-3)


@pytest.mark.parametrize("radius", [0.1, 3e-3, pytest.param(1e-3, marks=pytest.mark.slow)])
def test_holes_of_any_size(radius):
    centre = (0.37, 0.61)

    def exact(x, y):
        return np.log((x - centre[0]) ** 2 + (y - centre[1]) ** 2) / 20 + x

    problem = sf.Problem(
        SQUARE - sf.Disk(centre, radius),
        lambda u, x, y: sf.laplacian(u),
        boundary=lambda u, x, y: u - exact(x, y),
    )
    assert_right(sf.solve(problem, tol=5e-2), exact, 5e-2)


@pytest.mark.parametrize("centre", [(-0.35, 0.4)])
def test_slopes_all_round_with_an_integral(centre):
    """Of x^2 + y over a ring, whose integrals are known."""
    big, small = 0.9, 0.3
    integral = np.pi * (big**4 - small**4) / 4
    integral -= np.pi * small**2 * (centre[0] ** 2 + centre[1])
    problem = sf.Problem(
        sf.Disk((0, 0), big) - sf.Disk(centre, small),
        lambda u, x, y: sf.laplacian(u) - 2,
        boundary=lambda u, x, y: u.dn - (x**2 + y).dn,
        conditions=[sf.integral(lambda u, x, y: u, equals=integral)],
    )
    assert_right(sf.solve(problem, tol=1e-8), lambda x, y: x**2 + y, 1e-8)


@pytest.mark.parametrize("gap", [1e-3, 1e-8])
def test_slivers(gap):
    """Data that bend on a line make patches end there, however little is beyond it."""
    place = 0.7 - gap

    def bent(x):
        return np.where(x < place, 0.0, x - place)

    def exact(x, y):
        return wavy(x, y) + bent(x) ** 3 / 6

    problem = sf.Problem(
        sf.Disk((0, 0), 0.7),
        lambda u, x, y: poisson(u, x, y) + bent(x),
        boundary=lambda u, x, y: u - exact(x, y),
    )
    assert_right(sf.solve(problem, tol=1e-6), exact, 1e-6)


def test_what_lies_inside_of_boxes_adds_up():
    """Area and moments of a disk with a hole, box by box."""
    domain = sf.Disk((0.1, -0.2), 1.0) - sf.Disk((0.4, 0.0), 0.2)
    region = tiling_of(domain).blocks[0].region
    area = first = 0.0
    lines = np.linspace(-1.3, 1.4, 5)
    for low in np.stack(np.meshgrid(lines[:-1], lines[:-1]), axis=-1).reshape(-1, 2):
        found = region.look(low, low + lines[1] - lines[0])
        if found is True:
            area, first = area + 0.675**2, first + 0.675**2 * (low[0] + 0.3375)
        elif found is not False:
            points, weights = found.quadrature
            area, first = area + weights.sum(), first + weights @ points[:, 0]
    assert area == pytest.approx(np.pi * (1 - 0.04), abs=1e-10)
    assert first == pytest.approx(np.pi * (0.1 - 0.04 * 0.4), abs=1e-10)


def test_parts_keep_their_names():
    domain = (sf.Disk((0, 0), 1) - sf.Disk((0, 0), 0.5).named("inner")).part(
        "top", lambda x, y: (y > 0.3) & (x**2 + y**2 > 0.5)
    )
    problem = sf.Problem(
        domain,
        lambda u, x, y: -sf.laplacian(u),
        surface=lambda u, x, y: u - x - 1,
        top=lambda u, x, y: u - x - 1,
        inner=lambda u, x, y: u.dn + (x - 0 * y) / 0.5,
    )
    assert_right(sf.solve(problem, tol=1e-6), lambda x, y: x + 1, 1e-6)


def test_a_system_and_a_nonlinear_equation():
    def bump(x, y):
        return np.exp(0.5 * x) * np.cos(y)

    problem = sf.Problem(
        sf.Disk((0.1, 0), 0.8) - sf.Disk((0.2, 0.1), 0.25),
        lambda u, v, x, y: (
            -sf.laplacian(u) + u * v - 0.75 * bump(x, y) - bump(x, y) * x,
            -sf.laplacian(v) + u - bump(x, y),
        ),
        boundary=lambda u, v, x, y: (u - bump(x, y), v - x),
    )
    solution = sf.solve(problem, tol=1e-6)
    x, y = looked_at(problem.domain)
    assert solution.converged
    assert np.abs(solution.u(x, y) - bump(x, y)).max() < 1e-6
    assert np.abs(solution.v(x, y) - x).max() < 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_places_along_an_axis_that_differ_by_rounding_alone(seed):
    """The ends of a half disk's diameter differ by 1e-16: boxes between them were cut for ever."""
    rng = np.random.default_rng(seed)
    centre = np.round(rng.uniform(-1, 1, 2), 1) * (seed > 0)
    normal = [(0, -1), (1, 0), (-1, 0)][seed]
    domain = sf.Disk(tuple(centre), 1.0) & sf.HalfSpace(tuple(centre), normal)
    tiling = tiling_of(domain)
    assert tiling is not None
    axis = int(np.argmax(np.abs(normal)))
    assert set(tiling.corners[:, axis]) == {tiling.blocks[0].walls[0][1]}
