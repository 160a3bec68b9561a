"""Coordinates that are not called x, y, z, and their operators."""

import numpy as np
import pytest
from scipy import special

import sharpfront as sf
from sharpfront.errors import DomainError, EquationError
from sharpfront.problem_file import read_text


def radial(equation, radius=1.0, **conditions):
    return sf.Problem(sf.Interval(0, radius, coordinate="r"), equation, **conditions)


class TestRegularAtTheAxis:
    @pytest.mark.parametrize("m", [0, 3])
    def test_waves_around_a_disk(self, m):
        radius, k = 1.7, 4.0
        problem = radial(
            lambda u, r: sf.laplacian(u, "polar") - m**2 * u / r**2 + k**2 * u,
            radius,
            boundary=lambda u, r: u - float(special.jv(m, k * radius)),
        )
        solution = sf.solve(problem, tol=1e-9)
        r = np.linspace(0, radius, 301)
        assert solution.converged
        assert np.abs(solution(r) - special.jv(m, k * r)).max() < 1e-9

    @pytest.mark.parametrize("eps", [1e-2])
    def test_a_layer_in_a_ball(self, eps):
        problem = radial(
            lambda u, r: -(eps**2) * sf.laplacian(u, "spherical") + u, right=lambda u, r: u - 1
        )
        solution = sf.solve(problem, tol=1e-9)
        r = np.concatenate([np.linspace(0.01, 1, 300), 1 - eps * np.geomspace(1e-3, 5, 100)])
        exact = np.exp((r - 1) / eps) * np.expm1(-2 * r / eps) / np.expm1(-2 / eps) / r
        assert solution.converged
        assert np.abs(solution(r) - exact).max() < 1e-9

    def test_a_condition_of_its_own_counts(self):
        # Of 1 and log r only the first is regular: u = 0 at r = 0 contradicts u = 1 at r = 1.
        stated = radial(
            lambda u, r: sf.laplacian(u, "polar"), left=lambda u, r: u.dr, right=lambda u, r: u - 1
        )
        assert sf.solve(stated)(0.5) == pytest.approx(1)

    @pytest.mark.parametrize(
        "force", [lambda w, r: w**3, lambda w, r: sf.function(np.ones_like)(r)]
    )
    def test_plates_are_regular_in_their_middle(self, force):
        """Slope and third derivative are zero there; a load without a derivative is no obstacle."""

        def exact(r):
            return (1 - r**2) ** 2

        def plate(w, r):
            bent = sf.laplacian(sf.laplacian(w, "polar"), "polar") - 64
            return bent + force(w, r) - force(exact(r), r)

        solution = sf.solve(radial(plate, boundary=lambda w, r: (w, w.dn)))
        r = np.linspace(0, 1, 101)
        assert solution.converged, solution.outcome
        assert np.abs(solution(r) - exact(r)).max() < 1e-8

    def test_a_plate_sounds(self):
        plate = radial(
            lambda w, lam, r: sf.laplacian(sf.laplacian(w, "polar"), "polar") - lam * w,
            boundary=lambda w, r: (w, w.dn),
        )
        assert sf.eigs(plate, k=1).values[0] ** 0.25 == pytest.approx(3.1962206, abs=1e-7)

    def test_a_whole_disk(self):
        disk = sf.Box(r=(0, 1), theta=(0, 2 * np.pi), periodic=("theta",))

        def exact(r, theta):
            return r**2 * np.cos(2 * theta)

        solution = sf.solve(
            sf.Problem(
                disk,
                lambda u, r, theta: sf.laplacian(u, "polar"),
                boundary=lambda u, r, theta: u - exact(r, theta),
            ),
            tol=1e-6,
        )
        r, theta = np.meshgrid(np.linspace(0, 1, 21), np.linspace(0, 6, 21))
        assert solution.converged
        assert np.abs(solution(r, theta) - exact(r, theta)).max() < 1e-6


# What is linear in x, y, z has a gradient of length one and no Laplacian.
FIELDS = {
    "polar": lambda r, theta: r * np.sin(theta),
    "cylindrical": lambda r, theta, z: r * np.cos(theta) + 0 * z,
    "spherical": lambda r, theta, phi: r * np.sin(theta) * np.cos(phi),
}


class TestOperators:
    @pytest.mark.parametrize("system", FIELDS)
    def test_a_plane_wave_in_curved_coordinates(self, system):
        from sharpfront.equation.calculus import SYSTEMS
        from sharpfront.equation.trace import Symbols
        from sharpfront.equation.values import at_points, environment

        names = SYSTEMS[system]
        symbols = Symbols(("u",), names)
        stands = [symbols.stand_in(name) for name in names]
        height = FIELDS[system](*stands)
        wave = np.exp(0.7 * height)
        points = np.random.default_rng(3).uniform(0.4, 1.2, (20, len(names)))

        def at(e):
            return at_points(e, environment(names, points), len(points), "test")

        exact = np.exp(0.7 * FIELDS[system](*points.T))
        assert at(sf.laplacian(wave, system)) == pytest.approx(0.49 * exact)
        assert at(sf.div(sf.grad(wave, system), system)) == pytest.approx(0.49 * exact)
        slope = sf.grad(wave, system)
        assert at(slope @ slope) == pytest.approx(0.49 * exact**2)

    @pytest.mark.parametrize("operator", [sf.laplacian, sf.grad, lambda u: sf.div((u,))])
    def test_nothing_is_guessed(self, operator):
        with pytest.raises(EquationError, match=r'sf\.laplacian\(u, "polar"\)'):
            radial(lambda u, r: operator(u), right=lambda u, r: u)

    def test_coordinates_that_do_not_fit(self):
        with pytest.raises(EquationError, match="Polar coordinates are r, theta"):
            sf.Problem(
                sf.Box(r=(0, 1), z=(0, 1)), lambda u, r, z: sf.laplacian(u, "polar"),
                boundary=lambda u, r, z: u,
            )  # fmt: skip


class TestNames:
    def test_files_and_code_know_them(self, tmp_path):
        ring = sf.Box(r=(0.5, 1), theta=(0, 2 * np.pi), periodic=("theta",))
        problem = sf.Problem(
            ring,
            lambda u, r, theta: sf.laplacian(u, "polar") + u - u,
            boundary=lambda u, r, theta: u - r * np.cos(theta),
        )
        solution = sf.solve(problem, tol=1e-3)
        loaded = sf.load(solution.save(tmp_path / "ring"))
        assert repr(loaded.domain) == repr(ring)
        assert loaded(0.7, 1.0) == solution(0.7, 1.0)
        assert loaded.d("theta")(0.7, 1.0) == pytest.approx(-0.7 * np.sin(1.0), abs=1e-3)
        assert "sf.Box(r=(0.5, 1" in solution.report(tmp_path / "ring.html").read_text()
        axes = solution.plot(theta=1.0)
        assert axes.get_xlabel() == "r"

    def test_a_problem_file(self):
        text = """
equation = "laplacian(u, polar) + 4 = 0"
[domain]
interval = [0, 1]
coordinates = ["r"]
[conditions]
right = "u = 0"
"""
        assert read_text(text).solve()(0.5) == pytest.approx(0.75)

    def test_slips(self):
        with pytest.raises(DomainError, match="in order or by name, not both"):
            sf.Box((0, 1), r=(0, 1))
        with pytest.raises(DomainError, match="one of x, y, z, r, theta, phi"):
            sf.Box(t=(0, 1))
        with pytest.raises(DomainError, match="the same coordinates"):
            sf.Box((0, 1), (0, 1)) - sf.Box(r=(0, 0.5), z=(0, 0.5))
