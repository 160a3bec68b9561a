"""One patch over the whole domain: four dimensions and more, every kind of condition, honest."""

import math

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt import OnePatch
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.measure import max_error


class Drawn:
    """A product of a wave and an exponential in so many coordinates, with what is needed of it."""

    def __init__(self, rng, dimension):
        self.k, self.m = rng.uniform(-0.7, 0.7, (2, dimension))
        self.phase = rng.uniform(0, 6)

    def __call__(self, *x):
        wave = sum(k * c for k, c in zip(self.k, x, strict=True)) + self.phase
        return np.sin(wave) * np.exp(sum(m * c for m, c in zip(self.m, x, strict=True)))

    def laplacian(self, *x):
        wave = sum(k * c for k, c in zip(self.k, x, strict=True)) + self.phase
        grown = np.exp(sum(m * c for m, c in zip(self.m, x, strict=True)))
        straight = float(self.m @ self.m - self.k @ self.k)
        return grown * (straight * np.sin(wave) + 2 * float(self.k @ self.m) * np.cos(wave))


def error_of(solution, u):
    domain = solution.domain
    rim = [domain.boundary(part, 100).points for part in domain.parts]
    return max_error(solution, u, np.concatenate([domain.sample(1000), *rim]))


EQUATIONS = {
    "linear": lambda v, u, x: -sf.laplacian(v) + v + u.laplacian(*x) - u(*x),
    "cubic": lambda v, u, x: -sf.laplacian(v) + v**3 + u.laplacian(*x) - u(*x) ** 3,
    "exp": lambda v, u, x: -sf.laplacian(v) + np.exp(v) + u.laplacian(*x) - np.exp(u(*x)),
}
DOMAINS = {
    4: sf.Box((0, 1), (0.2, 1), (-0.5, 0.3), (0, 1)),
    5: sf.Box(*[(0, 1)] * 5),
    "ball": sf.Ball((0.1, 0, 0, -0.1), 0.8),
}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("name", "where"),
    [("linear", 4), ("linear", "ball"), ("cubic", 4), ("exp", 4), ("cubic", "ball")],
)
def test_drawn_solutions_are_found_and_their_errors_told(name, where, seed):
    domain, tol = DOMAINS[where], 1e-4
    u = Drawn(np.random.default_rng([seed, len(name)]), domain.dimension)
    problem = sf.Problem(
        domain,
        lambda v, *x: EQUATIONS[name](v, u, x),
        **dict.fromkeys(domain.parts, lambda v, *x: v - u(*x)),
    )
    solution = sf.solve(problem, tol=tol)
    assert isinstance(solution.approximation.bases["v"], PatchworkBasis)
    assert solution.converged, solution.outcome
    assert error_of(solution, u) <= solution.error_estimate <= tol


@pytest.mark.parametrize("digits", [1.5, 3.0])
def test_a_layer_is_not_called_solved(digits):
    width = 10**-digits

    def exact(a, b, c, d):
        return np.exp(-a / width) + b * c * d

    problem = sf.Problem(
        sf.Box(*[(0, 1)] * 4),
        lambda u, *x: -(width**2) * sf.laplacian(u) + u - x[1] * x[2] * x[3],
        boundary=lambda u, *x: u - exact(*x),
    )
    solution = sf.solve(problem, tol=1e-3, max_kernels=500)
    assert not solution.converged
    assert error_of(solution, exact) < 3 * solution.error_estimate


def test_slopes_all_round_with_a_point_or_an_integral():
    box = sf.Box(*[(0, 1)] * 4)

    def exact(a, b, c, d):
        return np.cos(a) * np.exp(0.5 * b) + c * d

    slopes = dict.fromkeys(box.parts, lambda u, *x: u.dn - exact(*x).dn)

    def stated(pin):
        return sf.Problem(
            box,
            lambda u, *x: sf.laplacian(u) + 0.75 * np.cos(x[0]) * np.exp(0.5 * x[1]),
            conditions=pin,
            **slopes,
        )

    whole = math.sin(1) * 2 * (math.exp(0.5) - 1) + 0.25
    for pin in (
        sf.at((0.5,) * 4, lambda u, *x: u - math.cos(0.5) * math.exp(0.25) - 0.25),
        sf.integral(lambda u, *x: u, equals=whole),
    ):
        solution = sf.solve(stated(pin), tol=1e-3)
        assert solution.converged, solution.outcome
        assert error_of(solution, exact) < 1e-3


def test_a_periodic_axis():
    box = sf.Box(*[(0, 1)] * 4, periodic=(sf.Box(*[(0, 1)] * 4).coordinates[0],))

    def exact(a, b, c, d):
        return np.sin(2 * np.pi * a) + b * c * d

    problem = sf.Problem(
        box,
        lambda u, *x: sf.laplacian(u) + 4 * np.pi**2 * np.sin(2 * np.pi * x[0]),
        boundary=lambda u, *x: u - exact(*x),
    )
    solution = sf.solve(problem, tol=1e-2)
    assert solution.converged and error_of(solution, exact) < 1e-2


def test_what_nothing_holds_is_told():
    box = sf.Box(*[(0, 1)] * 4)
    problem = sf.Problem(box, lambda u, *x: sf.laplacian(u), boundary=lambda u, *x: u.dn)
    solution = sf.solve(problem, tol=1e-3)
    assert solution.outcome.kind == "ill-posed"
    assert "any constant may be added" in solution.outcome.detail


@pytest.mark.parametrize("waves", [(1, 1, 1, 1), (1, 2, 1, 1)])
def test_a_resonance_is_told_or_its_error_is(waves):
    strength = math.pi**2 * sum(k * k for k in waves)
    problem = sf.Problem(
        sf.Box(*[(0, 1)] * 4),
        lambda u, *x: sf.laplacian(u) + strength * u - x[0],
        boundary=lambda u, *x: u,
    )
    assert not sf.solve(problem, tol=1e-3, max_kernels=1000).converged


@pytest.mark.parametrize("most", [60, 300])
def test_the_most_functions_are_respected(most):
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: -1e-3 * sf.laplacian(u) + u.dx - 1,
        boundary=lambda u, x, y: u,
    )
    seen = []
    solution = sf.solve(problem, tol=1e-8, adaptor=OnePatch(max_kernels=most), on_step=seen.append)
    assert not solution.converged and solution.error_estimate > 1e-8
    assert 0.5 * most < max(record.kernels for record in seen) <= most


def test_saved_and_loaded(tmp_path):
    u = Drawn(np.random.default_rng(5), 4)
    problem = sf.Problem(
        DOMAINS[4],
        lambda v, *x: sf.laplacian(v) - u.laplacian(*x),
        boundary=lambda v, *x: v - u(*x),
    )
    solution = sf.solve(problem, tol=1e-3)
    again = sf.load(solution.save(tmp_path / "four.npz"))
    at = DOMAINS[4].sample(50).T
    np.testing.assert_array_equal(again(*at), solution(*at))
