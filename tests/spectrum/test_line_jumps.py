"""Eigenvalues on a line of layered materials, with loads and with stated jumps."""

import numpy as np
import pytest
from scipy.optimize import brentq

import sharpfront as sf
from sharpfront.errors import ProblemError
from sharpfront.spectrum.statement import spectral
from sharpfront.spectrum.sturm import gaps_in


def ends_held(u, x):
    return u


def on_unit(equation, *further, periodic=False):
    ends = {} if periodic else {"boundary": ends_held}
    return sf.Problem(
        sf.Interval(0, 1, periodic=periodic), equation, conditions=list(further), **ends
    )


def roots(function, low, high, count=2001):
    grid = np.linspace(low, high, count)
    values = np.array([function(g) for g in grid])
    change = np.flatnonzero(values[1:] * values[:-1] < 0)
    return [brentq(function, grid[i], grid[i + 1], xtol=1e-14, rtol=1e-14) for i in change]


def assert_trusted(problem, exact, **options):
    found = sf.eigs(problem, k=len(exact), **options)
    assert found.converged
    scale = np.abs(exact).max()
    assert np.abs(found.values - exact).max() <= 2 * found.errors.max() + 1e-12 * scale
    return found


def transferred(lam, layers):
    """Return the matrix that carries u and k u' through layers of (k, length)."""
    out = np.eye(2)
    for k, length in layers:
        q = np.sqrt(lam / k)
        c, s = np.cos(q * length), np.sin(q * length)
        out = np.array([[c, s / (k * q)], [-k * q * s, c]]) @ out
    return out


@pytest.mark.parametrize("contrast", [4.0, 1e6])
def test_layers_of_materials(contrast):
    layers = [(1.0, 0.3), (contrast, 0.7)]
    exact = roots(lambda lam: transferred(lam, layers)[0, 1], 1, 600)[:3]
    rod = on_unit(lambda u, lam, x: (np.where(x < 0.3, 1, contrast) * u.dx).dx + lam * u)
    found = assert_trusted(rod, exact)
    slope = found.modes[0].d("x")
    assert abs(slope(0.3 - 1e-12) / slope(0.3 + 1e-12) / contrast - 1) < 1e-6


def test_layers_that_are_periodic():
    layers = [(1.0, 0.6), (3.0, 0.4)]
    ring = on_unit(lambda u, lam, x: (np.where(x < 0.6, 1, 3) * u.dx).dx + lam * u, periodic=True)
    found = sf.eigs(ring, k=3)
    assert found.converged and abs(found.values[0]) < 1e-10
    for lam in found.values[1:]:
        assert abs(np.trace(transferred(lam, layers)) - 2) < 1e-10


def test_a_complex_material():
    soft = on_unit(lambda u, lam, x: (np.where(x < 0.5, 1, 1 + 1j) * u.dx).dx + lam * u)
    found = sf.eigs(soft, k=2)
    assert found.converged
    for lam in found.values:
        assert abs(transferred(lam + 0j, [(1, 0.5), (1 + 1j, 0.5)])[0, 1]) < 1e-12


@pytest.mark.parametrize("inertia", [False, True])
def test_a_spring_and_a_mass_in_the_middle(inertia):
    def string(u, lam, x):
        load = -2 * lam if inertia else 30
        return -u.dxx - lam * u + load * sf.delta(x - 0.5) * u

    odd = [(2 * np.pi * n) ** 2 for n in (1, 2)]
    even = roots(
        lambda k: 2 * k * np.cos(k / 2) + (-2 * k**2 if inertia else 30) * np.sin(k / 2), 0.1, 14
    )
    assert_trusted(on_unit(string), sorted([*odd, *np.square(even)])[:4])


def test_a_contact_with_a_resistance():
    gap = sf.jump(lambda u, x: u, x=0.5, equals=lambda u, x: 0.5 * u.dx)
    mirrored = [(np.pi * n) ** 2 for n in (1, 3)]
    turned = roots(lambda k: 2 * np.sin(k / 2) + 0.5 * k * np.cos(k / 2), 0.1, 14)
    problem = on_unit(lambda u, lam, x: u.dxx + lam * u, gap)
    assert_trusted(problem, sorted([*mirrored, *np.square(turned)])[:4])


def test_a_beam_of_two_stiffnesses():
    def bent(lam, stiffness, x):
        """Return u, its slope, moment and shear force for the four solutions, (4, 4)."""
        k = (lam / stiffness) ** 0.25
        rates = np.array([k, -k, 1j * k, -1j * k])
        whole = np.exp(rates * x) * rates ** np.arange(4)[:, None]
        return whole * np.array([1, 1, stiffness, stiffness])[:, None]

    def miss(lam):
        matrix = np.zeros((8, 8), dtype=complex)
        matrix[:2, :4], matrix[2:4, 4:] = bent(lam, 1, 0)[:2], bent(lam, 8, 0.6)[:2]
        matrix[4:, :4], matrix[4:, 4:] = bent(lam, 1, 0.4), -bent(lam, 8, 0)
        return np.linalg.det(matrix).real

    beam = sf.Problem(
        sf.Interval(0, 1),
        lambda u, lam, x: (np.where(x < 0.4, 1, 8) * u.dxx).dxx - lam * u,
        boundary=lambda u, x: (u, u.dx),
    )
    assert_trusted(beam, roots(miss, 100, 2e4, 401)[:2])


def test_a_value_left_out_between_layers_is_noticed():
    rod = on_unit(
        lambda u, lam, x: (np.where(x < 0.3, 1, 4) * u.dx).dx + (lam - 20 * sf.delta(x - 0.7)) * u
    )
    found = sf.eigs(rod, k=4).values
    edges = np.array([0, 0.3, 0.7, 1.0])
    assert not gaps_in(spectral(rod), found, edges)
    assert "count 1 more" in gaps_in(spectral(rod), found[[0, 2, 3]], edges)


def test_jumps_that_are_given_are_refused():
    given = sf.jump(lambda u, x: u, x=0.5, equals=1)
    with pytest.raises(ProblemError, match="homogeneous"):
        sf.eigs(on_unit(lambda u, lam, x: u.dxx + lam * u, given), k=1)
