"""Plates at corners: the powers of solutions there, and that estimates stay true."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt.patchwork.corner_enrichment import Wedges
from sharpfront.adapt.patchwork.plate_corners import SAME_POWER, _Held
from sharpfront.bases.corner_functions import CornerFunctions, restored
from sharpfront.place.tiling.tiling import tiling_of


def sector(omega, turned=0.0):
    angles = turned + np.linspace(0.0, omega, 5)
    return sf.Polygon([(0.0, 0.0), *((float(np.cos(t)), float(np.sin(t))) for t in angles)])


def clamped(u, x, y):
    return u, u.dn


def hinged(u, x, y):
    return u, sf.laplacian(u)


def plate(domain, held, tension=0.0, spring=0.0, load=100.0):
    def equation(u, x, y):
        bent = sf.laplacian(u)
        return sf.laplacian(bent) - tension * bent + spring * u - load

    return sf.Problem(domain, equation, **dict.fromkeys(domain.parts, held))


def at_the_corner(problem, tol=1e-6):
    corners = Wedges(problem, tiling_of(problem.domain), tol).functions
    return next(c for c in corners if np.allclose(c.place, 0))


def about(omega, turned, radii=(1e-5, 0.9)):
    r, t = np.meshgrid(np.geomspace(*radii, 20), turned + omega * np.linspace(0.02, 0.98, 15))
    return np.stack([(r * np.cos(t)).ravel(), (r * np.sin(t)).ravel()], axis=1)


@pytest.mark.parametrize("seed", range(4))
def test_powers_of_clamped_plates_are_those_of_the_closed_form(seed):
    draw = np.random.default_rng(seed)
    omega, turned = np.pi * draw.uniform(0.4, 1.95), draw.uniform(0, 6)
    found = at_the_corner(plate(sector(omega, turned), clamped))
    powers = np.array([t.power for t in found.terms if not (t.conjugate or t.logarithmic)]) - 1
    left = np.sin(powers * omega) ** 2 - (powers * np.sin(omega)) ** 2
    assert len(powers) and np.abs(left).max() < 1e-9 * np.exp(2 * omega * powers.imag.max())
    # As many as there are up to the largest: along a line of real part a little above, the phase of
    # what is left turns by 2 pi for each, here counted in the right half plane beyond energy.
    low, high = 1e-3, float(powers.real.max()) + 1e-6
    tall = 1.0 + float(np.abs(powers.imag).max()) * 3 + 6 / omega
    side = np.linspace(-1, 1, 40001)
    path = np.concatenate(
        [
            low + (side + 1) / 2 * (high - low) - 1j * tall,
            high + 1j * tall * side,
            high - (side + 1) / 2 * (high - low) + 1j * tall,
            low - 1j * tall * side,
        ]
    )
    values = (np.sin(path * omega) ** 2 - (path * np.sin(omega)) ** 2) / (path**2 * (path**2 - 1))
    turns = np.unwrap(np.angle(values))
    assert round((turns[-1] - turns[0]) / (2 * np.pi)) == len(powers)


@pytest.mark.parametrize("held", [clamped, hinged])
def test_equation_and_conditions_leave_nothing_of_the_functions_of_a_corner(held):
    omega, turned = 1.37 * np.pi, 0.7
    found = at_the_corner(plate(sector(omega, turned), held))
    points = about(omega, turned, (0.1, 0.9))
    terms = [(1, (4, 0)), (2, (2, 2)), (1, (0, 4))]
    sizes = sum(np.abs(found.values(points, o)) for _, o in terms)
    assert np.abs(sum(c * found.values(points, o) for c, o in terms)).max() < 1e-9 * sizes.max()
    # What comes with a logarithm leaves polynomials along the sides, others nothing.
    plain = np.array([t.logarithmic for t in found.terms])
    steady = ~(np.abs(found.factors[:, plain]) > 0).any(axis=1)
    for side in (turned, turned + omega):
        way, r = np.array([np.cos(side), np.sin(side)]), np.geomspace(0.1, 0.9, 7)
        on = r[:, None] * way
        slopes = [found.values(on, o) for o in ((1, 0), (0, 1))]
        second = {
            clamped: -way[1] * slopes[0] + way[0] * slopes[1],
            hinged: found.values(on, (2, 0)) + found.values(on, (0, 2)),
        }[held]
        for left in (found.values(on, (0, 0)), second):
            assert np.abs(left[:, steady]).max() < 1e-9
    copy = restored(found.state())
    np.testing.assert_array_equal(copy.values(points, (1, 2)), found.values(points, (1, 2)))


@pytest.mark.parametrize("seed", range(3))
def test_plates_on_sectors_are_solved_and_estimates_are_true(seed):
    """Also with a tension or springs, of which lower terms of the functions make up."""
    draw = np.random.default_rng(seed)
    omega, turned = np.pi * draw.uniform(1.2, 1.7), draw.uniform(0, 6)
    tension, spring = [(0.0, 0.0), (20.0, 0.0), (0.0, 300.0)][seed]
    problem = plate(sector(omega, turned), (clamped, hinged)[seed % 2], tension, spring)
    found, better = sf.solve(problem, tol=1e-3), sf.solve(problem, tol=3e-5)
    points = about(omega, turned, (1e-5, 0.7))
    error = np.abs(found(*points.T) - better(*points.T)).max()
    assert found.converged and better.converged and found.kernels < 3000
    assert error <= 1e-3 and error <= 3 * found.error_estimate + 3e-5


def test_a_hinged_plate_on_an_l_has_finite_energy():
    """The one that two Poisson problems have in a row bends like r^(2/3)."""
    domain = sf.Box((-1, 1), (-1, 1)) - sf.Box((0, 2), (-2, 0))
    solution = sf.solve(plate(domain, hinged, load=500.0), tol=1e-5)
    # From Poisson problems with the dual singular function added so that r^(2/3) goes.
    known = {(-0.5, 0.5): 4.36962096, (0.5, 0.5): 3.20039863, (-0.1, 0.05): 1.14724737}
    assert solution.converged
    for place, value in known.items():
        assert abs(float(solution(*place)) - value) < 5e-5


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_data_of_any_power_at_a_corner_are_not_claimed_to_be_resolved(seed):
    draw = np.random.default_rng(seed)
    power, phase, tol = draw.uniform(0.4, 1.0), draw.uniform(0, 1), 10 ** -draw.uniform(1.5, 2.2)
    corners = ((-1, -1), (0, -1), (0, 0), (1, 0), (1, 1), (-1, 1))

    def exact(x, y):
        r, angle = np.sqrt(x**2 + y**2), np.arctan2(x + y, y - x)
        return r ** (1 + power) * np.cos((power - 1) * angle + phase)

    problem = sf.Problem(
        sf.Polygon(corners),
        lambda u, x, y: sf.laplacian(sf.laplacian(u)),
        boundary=lambda u, x, y: (u - exact(x, y), u.dn - exact(x, y).dn),
    )
    solution = sf.solve(problem, tol=tol, adaptor=sf.Patches(max_kernels=2500))
    points = about(1.5 * np.pi, 0.0, (1e-4, 0.9))
    error = np.abs(solution(*points.T) - exact(*points.T)).max()
    assert not solution.converged or error < tol
    assert error < 3 * solution.error_estimate


@pytest.mark.parametrize("digits", [1.3, 2.1, 3.7])
def test_plates_with_layers_of_any_width(digits):
    e = 10**-digits
    part = 0.5 * e / (1 - np.exp(-1 / e))

    def decay(s):
        return np.exp(-s / e) + np.exp(-(1 - s) / e)

    def profile(s):
        return s * (1 - s) / 2 - part * (1 + np.exp(-1 / e)) + part * decay(s)

    def bending(s):
        return -1 + part / e**2 * decay(s)

    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: (
            e**2 * sf.laplacian(sf.laplacian(u))
            - sf.laplacian(u)
            - 8 * (profile(x) + profile(y) + 2 * e**2 * bending(x) * bending(y))
        ),
        boundary=clamped,
    )
    solution = sf.solve(problem, tol=1e-4)
    line = np.concatenate([np.geomspace(1e-3 * e, 0.5, 30), 1 - np.geomspace(1e-3 * e, 0.5, 30)])
    x, y = (axis.ravel() for axis in np.meshgrid(line, line))
    error = np.abs(solution(x, y) - 8 * profile(x) * profile(y)).max()
    assert solution.converged and error < 1e-4 and error < 3 * solution.error_estimate + 1e-11


@pytest.mark.parametrize(("power", "phase", "coupling"), [(0.9, 0.8, -1.5), (1.2, 0.1, 0.5)])
def test_two_unknowns_at_a_reentrant_corner(power, phase, coupling):
    def u_exact(x, y):
        r, angle = np.sqrt(x**2 + y**2), np.arctan2(x + y, y - x)
        return r**power * np.cos(power * angle + phase)

    def v_exact(x, y):
        return np.sin(2 * x) * np.cos(y)

    problem = sf.Problem(
        sf.Polygon(((-1, -1), (0, -1), (0, 0), (1, 0), (1, 1), (-1, 1))),
        lambda u, v, x, y: (
            -sf.laplacian(u) + coupling * (v - v_exact(x, y)),
            -sf.laplacian(v) + u - u_exact(x, y) - 5 * v_exact(x, y),
        ),
        boundary=lambda u, v, x, y: (u - u_exact(x, y), v - v_exact(x, y)),
    )
    solution = sf.solve(problem, tol=1e-2)
    points = about(1.5 * np.pi, 0.0, (1e-4, 0.9))
    error = max(
        np.abs(solution.u(*points.T) - u_exact(*points.T)).max(),
        np.abs(solution.v(*points.T) - v_exact(*points.T)).max(),
    )
    assert solution.converged and error < 1e-2 and error < 3 * solution.error_estimate


def test_a_power_of_which_free_sides_leave_nothing_is_known_to_be_one():
    # Whether it is met exactly while powers are looked for is a matter of rounding.
    bending = {(2, 0): 0.3, (0, 2): 1.0}
    force = {(2, 1): 1.7, (0, 3): 1.0}
    corner = CornerFunctions((0.0, 0.0), (1.0, 1j), 3.0, (), np.zeros((0, 0), dtype=complex))
    held = _Held(corner, 2.0, [[bending, force]] * 2)
    assert not held.every(np.array([1.0 + 0j])).any()
    assert np.abs(held._away(np.array([1.0 + 0j]), 0.1)) < SAME_POWER
