"""Sources and fluxes through the boundary that do not match, told before a search goes on."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.trust.balance import unbalanced

SQUARE = sf.Box((0, 1), (0, 1))
SHAPES = [
    sf.Disk((0.2, 0), 1),
    sf.Box((-1, 1), (0, 1)) - sf.Disk((0.3, 0.4), 0.2),
    sf.Polygon([(0, 0), (2, 0.3), (1.2, 1), (0.1, 1.4)]),
    sf.Ellipse((0.1, 0.2), (1, 0.4)),
]
SOLIDS = [
    sf.Box((0, 1), (0, 1), (0, 2)) - sf.Ball((0.5, 0.5, 0.7), 0.3),
    sf.Ball((0, 0, 0), 1) & sf.Box((-1, 1), (-1, 1), (-0.3, 1)),
]
NOWHERE = {2: np.empty((0, 2)), 3: np.empty((0, 3))}


def diffusion(domain, conductivity, missing):
    """Return slopes all round whose sources are those of a known function but for a share."""

    def exact(x, y):
        return np.exp(0.7 * x) * np.cos(y) + x * y**2

    def equation(u, x, y, z=None):
        k = conductivity(x, y)
        source = sf.div(k * sf.grad(exact(x, y)))
        return sf.div(k * sf.grad(u)) - source - missing

    if domain.dimension == 2:
        return sf.Problem(
            domain,
            lambda u, x, y: equation(u, x, y),
            boundary=lambda u, x, y: u.dn - exact(x, y).dn,
            conditions=[sf.integral(lambda u, x, y: u)],
        )
    return sf.Problem(
        domain,
        lambda u, x, y, z: sf.laplacian(u) - sf.laplacian(exact(x, y)) - missing,
        boundary=lambda u, x, y, z: u.dn - exact(x, y).dn,
        conditions=[sf.integral(lambda u, x, y, z: u)],
    )


@pytest.mark.parametrize("domain", SHAPES + SOLIDS)
@pytest.mark.parametrize("missing", [0.0, 0.3, -0.15])
def test_sources_and_slopes(domain, missing):
    told = unbalanced(
        diffusion(domain, lambda x, y: 1 + 0.3 * np.sin(x + y), missing), NOWHERE[domain.dimension]
    )
    assert (told is not None) == bool(missing)


def flow(domain, gain, viscosity=1.0, inertia=0.0):
    """Return a flow past all of a boundary, more of it on the right by a factor."""

    def equations(u, v, p, x, y):
        speed = inertia * (x + y)
        return (
            -viscosity * sf.laplacian(u) + speed * u.dx + p.dx,
            -viscosity * sf.laplacian(v) + speed * v.dx + p.dy,
            u.dx + v.dy,
        )

    def along(factor):
        return lambda u, v, p, x, y: (u - factor * y * (1 - y), v)

    return sf.Problem(
        domain,
        equations,
        left=along(1.0),
        right=along(gain),
        boundary=lambda u, v, p, x, y: (u, v),
        conditions=[sf.at((0.5, 0.5), lambda u, v, p, x, y: p)],
    )


@pytest.mark.parametrize(("gain", "inertia"), [(0.0, 2.0), (1.2, 0.0)])
def test_a_box_that_leaks_is_told_with_both_numbers(gain, inertia):
    solution = sf.solve(flow(SQUARE, gain, inertia=inertia), tol=1e-3)
    assert solution.outcome.kind == "ill-posed"
    assert solution.error_estimate == np.inf
    assert f"{(gain - 1) / 6:.4g} outwards" in solution.outcome.detail
    assert "by the equations it is 0" in solution.outcome.detail


def test_a_box_that_does_not_leak_is_solved():
    solution = sf.solve(flow(SQUARE, 1.0), tol=1e-3)
    assert solution.converged
    assert abs(solution.u(0.4, 0.5) - 0.25) < 1e-3


@pytest.mark.parametrize("tol", [1e-7])
@pytest.mark.parametrize("domain", SHAPES[:2])
def test_searches_end_before_they_are_long(domain, tol):
    problem = diffusion(domain, lambda x, y: 1 + x**2, 0.5)
    solution = sf.solve(problem, tol=tol)
    assert solution.outcome.kind == "ill-posed"
    assert "no function satisfies both" in solution.outcome.detail
    assert len(solution.history) <= 6


@pytest.mark.parametrize("width", [1e-2, 1e-4])
def test_narrow_sources_that_sums_do_not_see_are_no_contradiction(width):
    """A bump of area 2 pi w^2 / w^2 that flows out all round."""

    def bump(x, y):
        return np.exp(-((x - 0.37) ** 2 + (y - 0.61) ** 2) / (2 * width**2)) / width**2

    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: -sf.laplacian(u) - bump(x, y),
        boundary=lambda u, x, y: u.dn + np.pi / 2,
        conditions=[sf.integral(lambda u, x, y: u)],
    )
    assert unbalanced(problem, np.array([[0.37, 0.61]])) is None
