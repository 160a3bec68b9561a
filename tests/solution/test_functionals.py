"""Integrals, fluxes, extrema and roots of solutions that are known exactly."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.errors import ProblemError


def layer(nu, end=1.0):
    """u = (exp((x - end)/nu) - exp(-end/nu)) / (1 - exp(-end/nu))."""
    problem = sf.Problem(
        sf.Interval(0, end),
        lambda u, x: -nu * u.dxx + u.dx,
        left=lambda u, x: u,
        right=lambda u, x: u - 1,
    )
    return sf.solve(problem)


def wavy(k, end):
    """u = sin(k x)."""
    return sf.solve(
        sf.Problem(
            sf.Interval(0, end),
            lambda u, x: u.dxx + k**2 * np.sin(k * x),
            left=lambda u, x: u,
            right=lambda u, x: u - np.sin(k * end),
        )
    )


class TestOnALine:
    @pytest.mark.parametrize("nu", [1e-3])
    def test_a_layer(self, nu):
        solution = layer(nu, 1.3)
        assert solution.integral() == pytest.approx(nu, abs=1e-9)
        assert solution.integral(lambda u, x: u**2) == pytest.approx(nu / 2, abs=1e-9)
        assert solution.integral("x*u_x") == pytest.approx(1.3 - nu, abs=1e-7)
        assert solution.flux("right", nu) == pytest.approx(1, abs=1e-6)
        assert solution.flux("right", lambda u, x: u - nu * u.dn) == pytest.approx(0, abs=1e-6)
        assert solution.roots(0.25) == pytest.approx([1.3 + nu * np.log(0.25)], rel=1e-12)

    @pytest.mark.parametrize(("k", "end"), [(7.3, 2.0)])
    def test_a_wave(self, k, end):
        solution = wavy(k, end)
        assert solution.integral() == pytest.approx((1 - np.cos(k * end)) / k, abs=1e-9)
        top, (where,) = solution.max()
        assert top == pytest.approx(1, abs=1e-9)
        assert np.sin(k * where) == pytest.approx(1, abs=1e-12)
        assert solution.min().value == pytest.approx(-1, abs=1e-9)
        zeros = np.arange(0, k * end / np.pi) * np.pi / k
        assert solution.roots() == pytest.approx(zeros, abs=1e-8)
        tops = (np.arange(0, k * end / np.pi - 0.5) + 0.5) * np.pi / k
        assert solution.roots(of="u_x") == pytest.approx(tops, abs=1e-6)
        # Touched, not crossed: once each, however rounding has it.
        assert solution.roots(1.0) == pytest.approx(tops[::2], abs=1e-4)
        assert solution.d("x").max().value == pytest.approx(k, rel=1e-7)

    def test_a_system_by_name(self):
        problem = sf.Problem(
            sf.Interval(0, 1),
            lambda u, v, x: (u.dx - v, v.dx - 2),
            left=lambda u, v, x: u,
            right=lambda u, v, x: v - 2,
        )
        solution = sf.solve(problem)
        assert solution.integral() == pytest.approx({"u": 1 / 3, "v": 1})
        assert solution.v.integral() == pytest.approx(1)
        assert solution.integral(lambda u, v, x: u * v) == pytest.approx(1 / 2)
        assert solution.u.max().at == (1.0,)
        assert solution.flux("right") == pytest.approx({"u": 2, "v": 2})

    def test_refusals(self):
        solution = layer(0.5)
        with pytest.raises(ProblemError, match="not one in time"):
            solution.integral(t=0.5)
        with pytest.raises(ProblemError, match="ask for the value at its place"):
            solution.integral(lambda u, x: u * sf.delta(x - 0.4))
        with pytest.raises(sf.SharpfrontError, match="not a part of this boundary"):
            solution.flux("top")


class TestInThePlane:
    def test_a_disk_before_and_after_a_file(self, tmp_path):
        # u = 1 - r^2 about (0.3, -0.2).
        region = sf.Disk((0.3, -0.2), 1.0).named("rim")
        disk = sf.solve(
            sf.Problem(region, lambda u, x, y: -sf.laplacian(u) - 4, boundary=lambda u, x, y: u)
        )
        loaded = sf.load(disk.save(tmp_path / "disk"))
        for solution in (disk, loaded):
            assert solution.integral() == pytest.approx(np.pi / 2, abs=1e-9)
        assert disk.integral(lambda u, x, y: u * x) == pytest.approx(0.15 * np.pi, abs=1e-9)
        assert disk.flux("rim") == pytest.approx(-4 * np.pi, abs=1e-7)
        value, at = disk.max()
        assert value == pytest.approx(1, abs=1e-9)
        assert at == pytest.approx((0.3, -0.2), abs=1e-4)
        # On the boundary, between its points.
        assert disk.max(lambda u, x, y: x).value == pytest.approx(1.3, abs=1e-9)

    def test_a_polygon(self):
        # u = x^3/3 on a triangle whose sides are not parallel to the axes.
        triangle = sf.Polygon([(0, 0), (2, 0.5), (0.5, 1.5)])
        solution = sf.solve(
            sf.Problem(
                triangle,
                lambda u, x, y: -sf.laplacian(u) + 2 * x,
                boundary=lambda u, x, y: u - x**3 / 3,
            )
        )
        # Of a cubic over a triangle: area/60 times sums over the corners' x.
        a, b, c = 0.0, 2.0, 0.5
        powers = sum(a**i * b**j * c ** (3 - i - j) for i in range(4) for j in range(4 - i))
        exact = triangle.measure * powers / 10 / 3
        assert solution.integral() == pytest.approx(exact, abs=1e-9)
        assert sum(solution.flux(p) for p in triangle.parts) == pytest.approx(
            2 * triangle.measure * (a + b + c) / 3, abs=1e-7
        )
        assert solution.max().at == pytest.approx((2, 0.5), abs=1e-7)


class TestInTime:
    def test_heat(self):
        problem = sf.Problem(
            sf.Interval(0, np.pi),
            lambda u, x, t: u.dt - u.dxx,
            boundary=lambda u, x, t: u,
            initial=lambda x: np.sin(x),
            time=(0, 1),
        )
        solution = sf.solve(problem)
        assert solution.integral(t=1) == pytest.approx(2 / np.e, abs=1e-7)
        assert solution.integral() == pytest.approx(2 - 2 / np.e, abs=1e-7)
        assert solution.flux("left") == pytest.approx(1 / np.e - 1, abs=1e-7)
        assert solution.max().at == pytest.approx((np.pi / 2, 0), abs=1e-4)
        assert solution.max(t=1).value == pytest.approx(1 / np.e, abs=1e-7)
        assert solution.roots(0.1, t=1)[0] == pytest.approx(np.arcsin(0.1 * np.e), abs=1e-7)
        with pytest.raises(ProblemError, match="give t="):
            solution.roots()
