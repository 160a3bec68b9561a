"""Eigenvalue problems in the plane whose values are known."""

import numpy as np
import pytest
from scipy import special

import sharpfront as sf
from sharpfront.errors import ProblemError


def membrane(region, **conditions):
    given = conditions or {"boundary": lambda u, x, y: u}
    return sf.Problem(region, lambda u, lam, x, y: sf.laplacian(u) + lam * u, **given)


def trusted(spectrum, exact):
    """Return whether values are right and their errors no larger than estimated."""
    exact = np.asarray(exact)
    errors = np.abs(spectrum.values - exact)
    return spectrum.converged and bool(np.all(errors <= 2 * spectrum.errors + 1e-12 * exact.max()))


def rectangle(a, b, first, count):
    found = [(np.pi * m / a) ** 2 + (np.pi * n / b) ** 2 for m in range(9) for n in range(9)
             if m >= first and n >= first]  # fmt: skip
    return np.sort(found)[:count]


class TestMembranes:
    @pytest.mark.parametrize(("a", "b"), [(1.0, 1.7)])
    def test_a_rectangle_held_and_free(self, a, b):
        box = sf.Box((0, a), (0, b))
        assert trusted(sf.eigs(membrane(box), k=4), rectangle(a, b, 1, 4))
        free = sf.eigs(membrane(box, boundary=lambda u, x, y: u.dn), k=3)
        assert np.abs(free.values - rectangle(a, b, 0, 3)).max() < 1e-6

    def test_a_triple_value(self):
        square = membrane(sf.Box((0, np.pi), (0, np.pi)))
        assert trusted(sf.eigs(square, k=3, near=50.2, tol=1e-5), [50, 50, 50])
        cut = sf.eigs(square, k=1, near=5.01, tol=1e-4)
        assert "there are 1 more" in cut.outcome.detail

    def test_a_disk(self):
        found = sf.eigs(membrane(sf.Disk((0.2, 0.1), 1.5)), k=3, tol=1e-5)
        zeros = np.array([special.jn_zeros(0, 1)[0], *special.jn_zeros(1, 1).repeat(2)])
        assert trusted(found, (zeros / 1.5) ** 2)
        assert found.modes[0].max().at == pytest.approx((0.2, 0.1), abs=1e-2)

    def test_an_l(self):
        region = sf.Box((-1, 1), (-1, 1)) - sf.Box((0, 2), (-2, 0))
        found = sf.eigs(membrane(region), k=1, tol=1e-2)
        assert trusted(found, [9.6397238440219])


def flux(u, x, y, place=0.37, factor=10.0):
    k = np.where(x < place, 1.0, factor)
    return (k * u.dx).dx + (k * u.dy).dy


class TestOthers:
    def test_a_hinged_plate(self):
        plate = sf.Problem(
            sf.Box((0, np.pi), (0, np.pi)),
            lambda u, lam, x, y: sf.laplacian(sf.laplacian(u)) - lam * u,
            boundary=lambda u, x, y: (u, sf.laplacian(u)),
        )
        assert trusted(sf.eigs(plate, k=3), [4, 25, 25])

    def test_drift_and_complex_values(self):
        eps = 0.2
        drift = sf.Problem(
            sf.Box((0, 1), (0, 1)),
            lambda u, lam, x, y: -eps * sf.laplacian(u) + u.dx - lam * u,
            boundary=lambda u, x, y: u,
        )
        exact = 1 / (4 * eps) + eps * rectangle(1, 1, 1, 2)
        assert trusted(sf.eigs(drift, k=2), exact)
        ring = sf.Problem(
            sf.Box((0, 2 * np.pi), (0, np.pi), periodic=("x",)),
            lambda u, lam, x, y: -sf.laplacian(u) + 2 * u.dx - lam * u,
            boundary=lambda u, x, y: u,
        )
        found = sf.eigs(ring, k=3)
        assert np.abs(found.values - np.array([1, 2 - 2j, 2 + 2j])).max() < 1e-6
        x, y = np.linspace(0, 6, 7), np.linspace(0.1, 3, 7)
        turned = found[1](x, y) / (np.exp(-1j * x) * np.sin(y))
        assert np.abs(turned - turned[0]).max() < 1e-5

    def test_what_is_refused(self):
        box = sf.Box((0, 1), (0, 1))
        pinned = {"boundary": lambda u, x, y: u, "conditions": sf.at((0.5, 0.5), lambda u, x, y: u)}
        for equation, conditions, words in (
            (lambda u, lam, x, y: sf.laplacian(u) + lam * u, pinned, "conditions at points"),
            (
                lambda u, lam, x, y: sf.laplacian(u) + lam * np.exp(1j * x) * u,
                {"boundary": lambda u, x, y: u},
                "1j stands in",
            ),
            (
                lambda u, lam, x, y: flux(u, x, y) + 1j * lam * u,
                {"boundary": lambda u, x, y: u},
                "in real problems only",
            ),
            (
                lambda u, lam, x, y: u + lam * flux(u, x, y),
                {"boundary": lambda u, x, y: u},
                "lam multiplies",
            ),
            (
                lambda u, lam, x, y: sf.laplacian(u) + lam * sf.delta(x - 0.4) * u,
                {"boundary": lambda u, x, y: u},
                "lam multiplies",
            ),
        ):
            with pytest.raises(ProblemError, match=words):
                sf.eigs(sf.Problem(box, equation, **conditions))


def still(u, x, y):
    return u.dn


class TestPolynomialsInLam:
    """Strips whose modes of least size do not vary across: values as on a line."""

    strip = sf.Box((0, 1), (0, 0.2))

    @pytest.mark.parametrize(("drag", "stiff"), [(2.0, 1.0), (0.3, 2.0), (4.0, 0.3)])
    def test_a_damped_membrane(self, drag, stiff):
        damped = sf.Problem(
            self.strip,
            lambda u, lam, x, y: stiff * sf.laplacian(u) - lam**2 * u - drag * lam * u,
            **{
                "left": lambda u, x, y: u,
                "right": lambda u, x, y: u,
                "bottom": still,
                "top": still,
            },
        )
        root = np.emath.sqrt(0.25 * drag**2 - stiff * np.pi**2)
        exact = np.sort_complex([-0.5 * drag - root, -0.5 * drag + root])
        found = sf.eigs(damped, k=2, near=-0.5 * drag)
        assert found.converged
        assert np.abs(found.values - exact).max() < 2 * found.errors.max() + 1e-12

    @pytest.mark.parametrize("radius", [0.7, 1.3])
    def test_lam_in_the_condition_of_a_disk(self, radius):
        sloshing = sf.Problem(
            sf.Disk((0.1, 0.2), radius),
            lambda u, x, y: sf.laplacian(u),
            boundary=lambda u, lam, x, y: u.dn - lam * u,
        )
        found = sf.eigs(sloshing, k=3)
        assert found.converged
        assert np.abs(found.values - np.array([0, 1, 1]) / radius).max() < 1e-8

    def test_resonances_as_on_a_line(self):
        def equation(u, lam, x):
            return u.dxx + lam**2 * (1 + x) * u

        line = sf.Problem(
            sf.Interval(0, 1),
            equation,
            left=lambda u, x: u,
            right=lambda u, lam, x: u.dx - 2j * lam * u,
        )
        plane = sf.Problem(
            self.strip,
            lambda u, lam, x, y: equation(u, lam, x) + u.dyy,
            left=lambda u, x, y: u,
            right=lambda u, lam, x, y: u.dx - 2j * lam * u,
            bottom=still,
            top=still,
        )
        near = 2.5 - 0.7j
        one, other = sf.eigs(line, k=1, near=near)[0], sf.eigs(plane, k=1, near=near)[0]
        assert abs(one.value - other.value) <= 2 * other.error + 1e-12
        x = np.linspace(0.1, 1, 5)
        turned = one(x) / other(x, 0.1 + 0 * x)
        assert np.abs(turned - turned[0]).max() < 1e-5


class TestComplexCoefficients:
    @pytest.mark.parametrize("turn", [1j, 1 - 2j])
    def test_a_factor_turns_all_values(self, turn):
        square = sf.Problem(
            sf.Box((0, np.pi), (0, np.pi)),
            lambda u, lam, x, y: sf.laplacian(u) + turn * lam * u,
            boundary=lambda u, x, y: u,
        )
        exact = np.array([2, 5, 5]) / turn
        found = sf.eigs(square, k=3)
        assert found.converged
        assert np.abs(np.sort_complex(found.values) - np.sort_complex(exact)).max() < 1e-8

    def test_real_values_of_a_complex_problem_come_once(self):
        """-u'' + 2ic u' has the values of -u'' less c^2."""
        drift = sf.Problem(
            sf.Box((0, np.pi), (0, np.pi)),
            lambda u, lam, x, y: -sf.laplacian(u) + 1j * u.dx - lam * u,
            boundary=lambda u, x, y: u,
        )
        found = sf.eigs(drift, k=3)
        assert found.converged and np.abs(found.values - [1.75, 4.75, 4.75]).max() < 1e-8
        x, y = np.linspace(0.3, 2.9, 6), np.linspace(0.2, 2.7, 6)
        turned = found[0](x, y) / (np.exp(0.5j * x) * np.sin(x) * np.sin(y))
        assert np.abs(turned - turned[0]).max() < 1e-5


@pytest.mark.parametrize(("place", "factor"), [(0.37, 10.0), (0.6, 0.05)])
def test_a_flux_across_a_coefficient_that_jumps(place, factor):
    strip = sf.Problem(
        sf.Box((0, 1), (0, 0.2)),
        lambda u, lam, x, y: flux(u, x, y, place, factor) + lam * u,
        left=lambda u, x, y: u,
        right=lambda u, x, y: u,
        bottom=still,
        top=still,
    )
    found = sf.eigs(strip, k=1)[0]
    first, second = np.sqrt(found.value), np.sqrt(found.value / factor)
    a, b = first * place, second * (1 - place)
    missed = first * np.cos(a) * np.sin(b) + factor * second * np.cos(b) * np.sin(a)
    slope = first * factor * second
    assert found.converged and abs(missed) < 1e-7 * abs(slope)
