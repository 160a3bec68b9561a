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
        for equation, boundary, words in (
            (lambda u, lam, x, y: sf.laplacian(u) + lam**2 * u, lambda u, x, y: u, "powers of lam"),
            (lambda u, lam, x, y: sf.laplacian(u) + 1j * lam * u, lambda u, x, y: u, "complex"),
            (lambda u, x, y: sf.laplacian(u), lambda u, lam, x, y: u.dn - lam * u, "a condition"),
        ):
            with pytest.raises(ProblemError, match=words):
                sf.eigs(sf.Problem(box, equation, boundary=boundary))
