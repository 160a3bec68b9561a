"""Layers along closed curves: strips along them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ive

import sharpfront as sf
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.maps import Strip
from sharpfront.place.patches.settings import PatchSettings
from sharpfront.place.strips.collars import collared
from sharpfront.place.tiling.tiling import tiling_of


def reaction(domain, w, boundary=lambda u, x, y: u):
    return sf.Problem(domain, lambda u, x, y: -(w**2) * sf.laplacian(u) + u - 1, boundary=boundary)


def graded(domain, w):
    """Return points of a domain, on its boundary and into a layer along it."""
    found = [domain.boundary(part, 37) for part in domain.parts]
    points = np.concatenate([b.points for b in found])
    normals = np.concatenate([b.normals for b in found])
    lines = [points - w * d * normals for d in (0, 0.1, 0.5, 1, 2, 5, 10, 15, 20, 25)]
    every = np.concatenate([domain.sample(300), *lines])
    return every[domain.contains(every)].T


def rim(centre, radius, w):
    """Return the solution with a layer along a circle, and its slope along the normal there."""

    def exact(x, y):
        r = np.hypot(x - centre[0], y - centre[1])
        return 1 - ive(0, r / w) / ive(0, radius / w) * np.exp((r - radius) / w)

    return exact, -ive(1, radius / w) / ive(0, radius / w) / w


@pytest.mark.parametrize("w", [0.05, 4e-3, 1e-5])
def test_a_layer_costs_the_same_whatever_its_width(w):
    centre, radius = (0.3, -1.2), 0.7
    exact, _ = rim(centre, radius, w)
    solution = sf.solve(reaction(sf.Disk(centre, radius), w), tol=1e-6)
    x, y = graded(solution.domain, w)
    assert solution.converged and solution.kernels < 2500
    assert np.abs(solution(x, y) - exact(x, y)).max() < 1e-6


@pytest.mark.parametrize("kind", ["slope", "robin"])
def test_slopes_along_a_curve_with_a_layer(kind):
    w = 2e-3
    exact, slope = rim((0, 0), 1.0, w)
    boundary = {
        "slope": lambda u, x, y: w * (u.dn - slope),
        "robin": lambda u, x, y: u + w * (u.dn - slope),
    }
    solution = sf.solve(reaction(sf.Disk((0, 0), 1), w, boundary[kind]), tol=1e-5)
    x, y = graded(solution.domain, w)
    assert solution.converged
    assert np.abs(solution(x, y) - exact(x, y)).max() < 1e-5


def elliptic(a, b, w, count=1500):
    """Return a solution of w^2 lap u = u with a full layer along the rim of an ellipse."""
    phi = 2 * np.pi * np.arange(count) / count
    cos, sin = np.cos(phi), np.sin(phi)
    support = np.hypot(a * cos, b * sin)
    radius = (a * b) ** 2 / support**3
    weight = np.sqrt(radius / (2 * np.pi * w)) * (1 + np.sin(2 * phi) / 2) * 2 * np.pi / count

    def exact(x, y):
        x, y = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(y, dtype=float))
        lines = (np.multiply.outer(x, cos) + np.multiply.outer(y, sin) - support) / w
        return np.exp(lines) @ weight

    return exact


@pytest.mark.parametrize("w", [1e-2])
def test_a_layer_that_varies_along_an_ellipse(w):
    exact = elliptic(1.0, 0.5, w)
    given = sf.function(exact)
    domain = sf.Implicit(lambda x, y: x**2 + 4 * y**2 - 1, ((-1.2, 1.2), (-0.8, 0.8)))
    problem = sf.Problem(
        domain,
        lambda u, x, y: -(w**2) * sf.laplacian(u) + u,
        boundary=lambda u, x, y: u - given(x, y),
    )
    solution = sf.solve(problem, tol=1e-5)
    x, y = graded(domain, w)
    assert solution.converged and solution.kernels < 5000
    assert np.abs(solution(x, y) - exact(x, y)).max() < 1e-5


def strip():
    problem = reaction(sf.Disk((0.2, 0.1), 0.8), 1e-2)
    tiling = collared(problem, tiling_of(problem.domain), PatchSettings(), 1e-4)
    return next(b.chart for b in tiling.blocks if isinstance(b.chart, Strip))


def test_positions_in_a_strip_are_found_again():
    chart = strip()
    share = np.random.default_rng(3).uniform(0, 1, (200, 2))
    at = share * chart.size
    np.testing.assert_allclose(chart.inverse(chart.points(at)), at, atol=1e-12)
    assert np.all(np.any(np.abs(chart.inverse(np.array([[9.0, 9.0]]))) > chart.size, axis=1))


def test_derivatives_of_a_strip():
    chart = strip()
    at = np.array([[0.3, 0.2], [0.7, 0.9]]) * chart.size
    taylor, step = chart.taylor(at), 1e-5
    for axis, order in enumerate([(1, 0), (0, 1)]):
        along = np.eye(2)[axis] * step
        slope = (chart.points(at + along) - chart.points(at - along)) / (2 * step)
        np.testing.assert_allclose(taylor[order], slope, atol=1e-8)
        higher = (order[0] + 1, order[1])
        right, left = (chart.taylor(at + np.array([d, 0.0]))[order] for d in (step, -step))
        change = (right - left) / (2 * step)
        np.testing.assert_allclose(taylor[higher], change, atol=1e-7)


def test_a_solution_on_strips_is_saved_and_loaded(tmp_path):
    solution = sf.solve(reaction(sf.Disk((0, 0), 1), 1e-3), tol=1e-3)
    basis = solution.approximation.bases["u"]
    assert isinstance(basis, PatchworkBasis)
    assert any(isinstance(patch.chart, Strip) for patch in basis.patches)
    solution.save(tmp_path / "rim.npz")
    again = sf.load(tmp_path / "rim.npz")
    x, y = graded(solution.domain, 1e-3)
    np.testing.assert_allclose(again(x, y), solution(x, y), atol=1e-12)
    np.testing.assert_allclose(again.d("x")(x, y), solution.d("x")(x, y), atol=1e-8)


@pytest.mark.parametrize(("lobes", "depth", "scale"), [(5, 0.1, 1.0), (4, 0.12, 1e-3)])
def test_no_layers_where_only_the_boundary_bends(lobes, depth, scale):
    """In a strip's coordinates bends are like convection: notches got strips for it."""

    def level(x, y):
        return np.hypot(x, y) / scale - 0.33 - depth * np.cos(lobes * np.arctan2(y, x))

    problem = sf.Problem(
        sf.Implicit(level, ((-0.5 * scale, 0.5 * scale),) * 2),
        lambda u, x, y: sf.laplacian(sf.laplacian(u)) - 1,
        boundary=lambda u, x, y: (u, u.dn),
    )
    found = collared(problem, tiling_of(problem.domain), PatchSettings(), 5e-5)
    assert len(found.blocks) == 1
