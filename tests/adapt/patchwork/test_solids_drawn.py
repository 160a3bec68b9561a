"""Drawn solids with exact solutions: smooth ones are solved, and no other is called so."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.measure import max_error

TOL = 1e-4
BOX = sf.Box((0, 1), (0, 1.1), (0, 0.9))


def ball(rng):
    return sf.Ball(tuple(rng.uniform(-0.3, 0.3, 3)), float(rng.uniform(0.5, 1.2)))


def pierced(rng):
    return BOX - sf.Ball(tuple(rng.uniform(0.45, 0.55, 3)), float(rng.uniform(0.2, 0.35)))


def bitten(rng):
    return BOX - sf.Ball((*rng.uniform(0.4, 0.6, 2), 0.0), float(rng.uniform(0.2, 0.35)))


def topped(rng):
    return BOX | sf.Ball((*rng.uniform(0.4, 0.6, 2), 0.9), float(rng.uniform(0.2, 0.35)))


def lens(rng):
    return sf.Ball((0, 0, 0), 1) & sf.Ball(tuple(rng.uniform(0.4, 0.6, 3)), 1)


def cut_off(rng):
    return sf.Ball((0, 0, 0), 1) & sf.HalfSpace((0, 0, 0), tuple(rng.uniform(-1, 1, 3)))


def shell(rng):
    return sf.Ball((0, 0, 0), 1) - sf.Ball(tuple(rng.uniform(-0.2, 0.2, 3)), 0.4)


SOLIDS = [ball, pierced, bitten, topped, lens, cut_off, shell]


class Drawn:
    """A smooth solution: a harmonic exponential, a wave and a polynomial, with its slopes."""

    def __init__(self, rng):
        self.k, self.a, self.b = rng.uniform(0.5, 1.5, 2), rng.normal(size=3), rng.normal()

    def __call__(self, x, y, z):
        k, m = self.k
        grown = np.exp(k * x + m * y) * np.cos(np.hypot(k, m) * z)
        return grown + self.b * np.sin(x + 2 * y - z) + self.a[0] * x * y * z + self.a[1] * z**2

    def slopes(self, x, y, z):
        k, m = self.k
        r = np.hypot(k, m)
        e, wave = np.exp(k * x + m * y), self.b * np.cos(x + 2 * y - z)
        return (
            k * e * np.cos(r * z) + wave + self.a[0] * y * z,
            m * e * np.cos(r * z) + 2 * wave + self.a[0] * x * z,
            -r * e * np.sin(r * z) - wave + self.a[0] * x * y + 2 * self.a[1] * z,
        )

    def laplacian(self, x, y, z):
        return -6 * self.b * np.sin(x + 2 * y - z) + 2 * self.a[1]


def stated(domain, u, robin=None):
    """Values all round; on surfaces whose normal is given, Robin's condition."""

    def equation(v, x, y, z):
        return -sf.laplacian(v) + v.dx + u.laplacian(x, y, z) - u.slopes(x, y, z)[0]

    conditions = dict.fromkeys(domain.parts, lambda v, x, y, z: v - u(x, y, z))
    if robin is not None:
        part, normal = robin

        def cooled(v, x, y, z):
            along = zip(u.slopes(x, y, z), normal(x, y, z), strict=True)
            return v.dn + v - sum(s * n for s, n in along) - u(x, y, z)

        conditions[part] = cooled
    return sf.Problem(domain, equation, **conditions)


def error_of(solution, u):
    domain = solution.domain
    points = [domain.sample(2000), *(domain.boundary(p, 200).points for p in domain.parts)]
    return max_error(solution, u, np.concatenate(points))


@pytest.mark.parametrize("solid", SOLIDS, ids=lambda f: f.__name__)
def test_a_smooth_solution_on_a_drawn_solid(solid):
    rng = np.random.default_rng([31, SOLIDS.index(solid)])
    u = Drawn(rng)
    solution = sf.solve(stated(solid(rng), u), tol=TOL)
    assert isinstance(solution.approximation.bases["v"], PatchworkBasis)
    assert solution.converged, solution.outcome
    error = error_of(solution, u)
    assert error < TOL
    assert 1 / 3 < solution.error_estimate / error < 100


@pytest.mark.parametrize("seed", range(2))
def test_slopes_on_curved_surfaces(seed):
    """Normals of the ball lead away from its centre, those of a hole towards it."""
    rng = np.random.default_rng([32, seed])
    u, centre, radius = Drawn(rng), rng.uniform(0.45, 0.55, 3), float(rng.uniform(0.2, 0.3))
    one = sf.Ball(tuple(centre), radius).named("skin")
    domain, way = [(one, 1.0), (BOX - one, -1.0)][seed]

    def normal(x, y, z):
        return [way * (c - m) / radius for c, m in zip((x, y, z), centre, strict=True)]

    solution = sf.solve(stated(domain, u, ("skin", normal)), tol=TOL)
    assert solution.converged and error_of(solution, u) < TOL


def test_a_level_set():
    rng = np.random.default_rng(33)
    u, (a, b, c) = Drawn(rng), rng.uniform(1, 4, 3)
    domain = sf.Implicit(lambda x, y, z: a * x**2 + b * y**2 + c * z**2 - 1, ((-1.5, 1.5),) * 3)
    solution = sf.solve(stated(domain, u), tol=TOL)
    assert solution.converged and error_of(solution, u) < TOL


def test_two_equations_on_a_ball_and_what_is_saved_of_their_solution(tmp_path):
    rng = np.random.default_rng(34)
    u, v, domain = Drawn(rng), Drawn(rng), sf.Ball(tuple(rng.uniform(-0.3, 0.3, 3)), 0.5)
    problem = sf.Problem(
        domain,
        lambda p, q, x, y, z: (
            -sf.laplacian(p) + q + u.laplacian(x, y, z) - v(x, y, z),
            -sf.laplacian(q) - p + v.laplacian(x, y, z) + u(x, y, z),
        ),
        boundary=lambda p, q, x, y, z: (p - u(x, y, z), q - v(x, y, z)),
    )
    solution = sf.solve(problem, tol=TOL)
    at = domain.sample(1000).T
    assert solution.converged
    assert np.max(np.abs(solution.p(*at) - u(*at))) < 10 * TOL
    assert np.max(np.abs(solution.q(*at) - v(*at))) < 10 * TOL
    again = sf.load(solution.save(tmp_path / "ball.npz"))
    np.testing.assert_allclose(again.q(*at), solution.q(*at), atol=1e-12)


@pytest.mark.parametrize("limit", [400, 900])
def test_a_charge_beside_the_surface_is_not_called_solved_too_soon(limit):
    """Within so few functions it cannot be: the outcome and the estimate say so."""
    rng = np.random.default_rng([35, limit])
    domain, c = sf.Ball((0, 0, 0), 1), rng.normal(size=3)
    c *= 1.15 / np.linalg.norm(c)

    def u(x, y, z):
        return 1 / np.sqrt((x - c[0]) ** 2 + (y - c[1]) ** 2 + (z - c[2]) ** 2)

    problem = sf.Problem(
        domain, lambda v, x, y, z: -sf.laplacian(v), boundary=lambda v, x, y, z: v - u(x, y, z)
    )
    solution = sf.solve(problem, tol=1e-4, max_kernels=limit)
    assert not solution.converged
    assert solution.error_estimate > error_of(solution, u) / 3
