"""Eigenvalue problems on a line whose values are known."""

import numpy as np
import pytest
from scipy import special

import sharpfront as sf
from sharpfront.errors import NonlinearError, ProblemError
from sharpfront.spectrum.statement import spectral
from sharpfront.spectrum.sturm import gaps_in

# Estimates may be as small as this many times the error where both are rounding.
ROUNDING = 1e-13


def on(low, high, equation, **conditions):
    return sf.Problem(sf.Interval(low, high), equation, **conditions)


def trusted(spectrum, exact):
    """Return whether values are right and their errors no larger than estimated."""
    exact = np.asarray(exact)
    errors = np.abs(spectrum.values - exact)
    allowed = 2 * spectrum.errors + ROUNDING * np.abs(exact).max()
    return spectrum.converged and bool(np.all(errors <= allowed))


class TestRealValues:
    @pytest.mark.parametrize(("length", "speed"), [(1.0, 1.0), (3.7, 0.2)])
    def test_a_string_and_its_modes(self, length, speed):
        string = on(
            0, length, lambda u, lam, x: speed**2 * u.dxx + lam * u, boundary=lambda u, x: u
        )
        found = sf.eigs(string, k=5)
        j = np.arange(1, 6)
        assert trusted(found, (speed * j * np.pi / length) ** 2)
        x = np.linspace(0, length, 41)
        for n, pair in zip(j, found, strict=True):
            assert np.abs(np.abs(pair(x)) - np.abs(np.sin(n * np.pi * x / length))).max() < 1e-7
            slope = n * np.pi / length
            assert abs(pair.mode.d("x")(0.0)) == pytest.approx(slope, rel=1e-6)

    def test_a_mode_is_a_solution(self, tmp_path):
        string = on(0, 1, "u_xx + lam*u = 0", boundary="u = 0")
        mode = sf.eigs(string, k=2).modes[1]
        loaded = sf.load(mode.save(tmp_path / "mode"))
        assert loaded(0.3) == mode(0.3)
        assert loaded.diagnostics["eigenvalue"] == pytest.approx(4 * np.pi**2)
        assert mode.integral(lambda u, x: u**2) == pytest.approx(0.5, abs=1e-9)

    def test_on_an_eigenvalue_and_between(self):
        free = on(0, 1, lambda u, lam, x: u.dxx + lam * u, boundary=lambda u, x: u.dx)
        assert np.abs(sf.eigs(free, k=3).values - np.pi**2 * np.array([0, 1, 4])).max() < 1e-9
        near = sf.eigs(free, k=2, near=200.0)
        assert trusted(near, np.pi**2 * np.array([16, 25]))

    def test_a_clamped_beam(self):
        beam = on(0, 1, lambda u, lam, x: u.d("x", 4) - lam * u, boundary=lambda u, x: (u, u.dx))
        roots = [4.730040744862704, 7.853204624095838, 10.99560783800167]
        assert trusted(sf.eigs(beam, k=3), np.array(roots) ** 4)

    @pytest.mark.parametrize("q", [6.0])
    def test_mathieu(self, q):
        def equation(u, lam, x):
            return u.dxx + (lam - 2 * q * np.cos(2 * x)) * u

        even = on(0, np.pi / 2, equation, boundary=lambda u, x: u.dx)
        exact = sorted(float(special.mathieu_a(2 * j, q)) for j in range(4))
        found = sf.eigs(even, k=4, near=exact[0])
        assert np.abs(found.values - exact).max() < 1e-10 * max(map(abs, exact))
        ring = sf.Problem(sf.Interval(0, 2 * np.pi, periodic=True), equation)
        pairs = sf.eigs(ring, k=2, near=float(special.mathieu_b(2, q))).values
        assert np.abs(pairs - float(special.mathieu_b(2, q))).min() < 1e-10 * max(1, q)

    @pytest.mark.parametrize(("eps", "middle"), [(5e-3, 0.1)])
    def test_a_narrow_well(self, eps, middle):
        well = on(
            -1,
            1,
            lambda u, lam, x: -(eps**2) * u.dxx + (x - middle) ** 2 * u - lam * u,
            boundary=lambda u, x: u,
        )
        found = sf.eigs(well, k=4)
        assert trusted(found, eps * np.array([1, 3, 5, 7]))
        assert found.modes[0].max().at[0] == pytest.approx(middle, abs=1e-6)

    def test_lam_in_a_condition(self):
        loaded = on(
            0,
            1,
            lambda u, lam, x: u.dxx + lam * u,
            left=lambda u, x: u,
            right=lambda u, lam, x: u.dx - lam * u,
        )
        for value in sf.eigs(loaded, k=3).values:
            k = np.sqrt(value)
            assert k * np.cos(k) - value * np.sin(k) == pytest.approx(0, abs=1e-8 * value)

    def test_a_system(self):
        # u' = v, v' = -lam u.
        string = on(
            0, 1, lambda u, v, lam, x: (u.dx - v, v.dx + lam * u), boundary=lambda u, v, x: u
        )
        found = sf.eigs(string, k=3)
        assert trusted(found, (np.pi * np.arange(1, 4)) ** 2)
        assert abs(found[0].u(0.5)) < abs(found[0].v(0.0))

    def test_a_membrane_that_is_round(self):
        disk = sf.Problem(
            sf.Interval(0, 1, coordinate="r"),
            lambda u, lam, r: sf.laplacian(u, "polar") + lam * u,
            boundary=lambda u, r: u,
        )
        assert trusted(sf.eigs(disk, k=4), special.jn_zeros(0, 4) ** 2)


class TestComplexValues:
    # Orr and Sommerfeld's equation at Re = 10000 is in docs/how-to/eigenvalues.md, which runs too.
    def test_a_complex_coefficient_turns_the_spectrum(self):
        turned = on(0, 1, lambda u, lam, x: (1 + 2j) * u.dxx + lam * u, boundary=lambda u, x: u)
        found = sf.eigs(turned, k=2)
        assert np.abs(found.values - (1 + 2j) * np.pi**2 * np.array([1, 4])).max() < 1e-10
        assert found.converged and found.modes[0].unknowns == ("u",)

    @pytest.mark.parametrize("drag", [0.5, 2.0])
    def test_a_damped_string(self, drag):
        damped = on(
            0, 1, lambda u, lam, x: u.dxx - (lam**2 + drag * lam) * u, boundary=lambda u, x: u
        )
        found = sf.eigs(damped, k=2)
        exact = -drag / 2 + 1j * np.sqrt(np.pi**2 - drag**2 / 4) * np.array([-1, 1])
        assert np.abs(np.sort_complex(found.values) - exact).max() < 1e-10

    def test_what_rounding_swallows_is_not_believed(self):
        # All values are real, (j pi)^2 / 100 + 25, with a condition of e^50.
        drift = on(0, 1, lambda u, lam, x: -0.01 * u.dxx + u.dx - lam * u, boundary=lambda u, x: u)
        found = sf.eigs(drift, k=2, max_kernels=300)
        exact = 25 + (np.pi * np.array([1, 2])) ** 2 / 100
        assert not found.converged or np.abs(found.values - exact).max() < 1e-6


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        ("equation", "error", "words"),
        [
            (lambda u, x: u.dxx + u, ProblemError, "no spectral parameter"),
            (lambda u, lam, x: u.dxx + lam * u**2, NonlinearError, "linear"),
            (lambda u, lam, x: u.dxx + lam * u - 1, ProblemError, "homogeneous"),
            (lambda u, lam, x: u.dxx + np.exp(lam) * u, ProblemError, "polynomials"),
            (lambda u, lam, x: x * u - lam * u, ProblemError, "no derivative of an unknown"),
        ],
    )
    def test_in_words(self, equation, error, words):
        with pytest.raises(error, match=words):
            sf.eigs(on(0, 1, equation, boundary=lambda u, x: u))

    def test_conditions_too_few(self):
        with pytest.raises(ProblemError, match="2 conditions are needed; 1 were given"):
            sf.eigs(on(0, 1, lambda u, lam, x: u.dxx + lam * u, left=lambda u, x: u))

    def test_solve_points_to_eigs(self):
        with pytest.raises(ProblemError, match=r"sf\.eigs\(problem\)"):
            sf.solve(on(0, 1, lambda u, lam, x: u.dxx + lam * u, boundary=lambda u, x: u))
        with pytest.raises(ProblemError, match="complex coefficients"):
            sf.solve(on(0, 1, lambda u, x: u.dxx + 1j * u, boundary=lambda u, x: u))


class TestCounting:
    """Zeros of solutions tell how many eigenvalues lie between two numbers."""

    @pytest.mark.parametrize("free", [False, True])
    @pytest.mark.parametrize("drift", [0.0, 30.0])
    def test_a_gap_is_seen(self, free, drift):
        # u = exp(drift x / 2) sin(n pi x) or its like: values (n pi)^2 + drift^2 / 4.
        ends = (lambda u, x: u.dx - drift / 2 * u) if free else (lambda u, x: u)
        problem = on(0, 1, lambda u, lam, x: u.dxx - drift * u.dx + lam * u, boundary=ends)

        def told(*n):
            return gaps_in(
                spectral(problem),
                [(j * np.pi) ** 2 + drift**2 / 4 + 0j for j in n],
                np.linspace(0, 1, 6),
            )

        assert told(3, 4, 5) == ""
        assert "zeros of solutions count 1 more" in told(3, 4, 6)
        assert "count 1 eigenvalue(s)" in told(3, 4, 4, 5)

    @pytest.mark.parametrize(("eps", "apart"), [(1e-3, 1.7)])
    def test_two_wells_that_hardly_see_each_other(self, eps, apart):
        depth = apart * eps
        wells = on(
            -1,
            1.5,
            lambda u, lam, x: (
                -(eps**2) * u.dxx
                + (np.minimum(4 * (x + 0.4) ** 2, (x - 0.71) ** 2 + depth) - lam) * u
            ),
            boundary=lambda u, x: u,
        )
        exact = np.sort(eps * np.array([2, 6, apart + 1, apart + 3, apart + 5]))[:4]
        found = sf.eigs(wells, k=4)
        assert found.converged
        assert np.abs(found.values - exact).max() < 1e-6 * eps


def test_two_values_of_two_wells_are_told_apart():
    wells = sf.Problem(
        sf.Interval(-4, 4),
        lambda u, lam, x: -0.01 * u.dxx + (x**2 - 1) ** 2 * u - lam * u,
        boundary=lambda u, x: u,
    )
    spectrum = sf.eigs(wells, k=4)
    # 160 Chebyshev points agree with these to all digits given.
    np.testing.assert_allclose(
        spectrum.values, [0.19467300, 0.19467902, 0.55917699, 0.55984185], atol=6e-9
    )
    assert spectrum.converged


class TestOneModeOfADoubleValue:
    """Rounding parts such values by its root, and nothing makes them better."""

    def test_a_mean_of_zero(self):
        string = on(
            0,
            1,
            lambda u, lam, x: u.dxx + lam * u,
            left=lambda u, x: u,
            conditions=[sf.integral(lambda u, x: u)],
        )
        found = sf.eigs(string, k=4, tol=1e-6)
        errors = np.abs(found.values - np.repeat([4, 16], 2) * np.pi**2)
        assert np.all(errors <= found.errors) and np.all(found.errors < 1e-4)
        assert not sf.eigs(string, k=2, tol=1e-9).converged

    def test_critical_damping(self):
        damped = on(
            0,
            1,
            lambda u, lam, x: u.dxx - lam**2 * u - 2 * np.pi * lam * u,
            boundary=lambda u, x: u,
        )
        found = sf.eigs(damped, k=2, near=-3, tol=1e-6)
        assert np.all(np.abs(found.values + np.pi) <= found.errors)
        assert np.all(found.errors > 1e-9)
