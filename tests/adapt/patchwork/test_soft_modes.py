"""Slender structures whose loads are small beside their moduli, clamped at corners."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt import Patches
from sharpfront.adapt.patchwork.soft_modes import soft_mode
from sharpfront.solution.approximation import Approximation, split_weights

NU = 0.3


def clamped(length, modulus, load):
    """Plane stress in a strip of depth one, clamped on the left, sheared evenly on the right."""
    first, shear = modulus * NU / (1 - NU**2), modulus / 2 / (1 + NU)

    def stresses(u, v):
        trace = first * (u.dx + v.dy)
        return trace + 2 * shear * u.dx, trace + 2 * shear * v.dy, shear * (u.dy + v.dx)

    def equations(u, v, x, y):
        along, across, sheared = stresses(u, v)
        return along.dx + sheared.dy, sheared.dx + across.dy

    def free(u, v, x, y):
        return stresses(u, v)[2], stresses(u, v)[1]

    return sf.Problem(
        sf.Box((0, length), (-0.5, 0.5)),
        equations,
        left=lambda u, v, x, y: (u, v),
        right=lambda u, v, x, y: (stresses(u, v)[0], stresses(u, v)[2] - load),
        top=free,
        bottom=free,
    )


def deflection(length, modulus, load):
    """Timoshenko's: bending and shear; clamped corners take half a depth off at most."""
    return 4 * load / modulus * (length**3 + 0.6 * (1 + NU) * length)


def test_beams_bend_as_far_as_they_should():
    """Fits traded the load for the clamped corners, and bent by a thirtieth of it."""
    length, modulus = 10.0, 2.1e11
    load = modulus / (4 * length**3)
    solution = sf.solve(clamped(length, modulus, load), tol=2e-2)
    assert solution.converged, solution.outcome
    wanted = deflection(length, modulus, load)
    assert float(solution.v(length, 0.0)) == pytest.approx(wanted, rel=0.6 / length)


def assessed(problem, tol, times=1.0):
    """Return the softest mode on the first patches; None if none is soft.

    The solution on them is taken so many times.
    """
    adaptor = Patches()
    state = adaptor.start(problem, tol, 0)
    proposal = adaptor.propose(state)
    system, found = adaptor.leastsquares.factor(proposal.system)
    weights = split_weights(times * system.arranged(found.columns)[:, 0], proposal.bases)
    own = Approximation(problem.coordinates, proposal.bases, weights)
    return soft_mode(state, own, False, adaptor.leastsquares)


@pytest.mark.parametrize("load", [1e-6, 1.0])
def test_a_mode_is_the_same_whatever_the_load(load):
    mode = assessed(clamped(10.0, 70.0, load), 1e-4)
    other = assessed(clamped(10.0, 1.0, 1e-3), 1e-4)
    assert mode is not None and other is not None
    assert mode.size == pytest.approx(other.size / 70, rel=1e-6)
    np.testing.assert_allclose(mode.tails.tail, other.tails.tail, rtol=1e-4)


def test_nothing_is_soft_where_all_is_held():
    held = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, v, x, y: (sf.laplacian(u) - v - 1, sf.laplacian(v) + u.dx),
        boundary=lambda u, v, x, y: (u, v),
    )
    assert assessed(held, 1e-4) is None


def test_weights_of_a_mode_are_asked_for_in_units_of_the_solution():
    """A beam that bends by 1e-5, to 1e-9, used up its functions for a mode to the root of 1e-9."""
    problem = clamped(4.0, 1.0, 1e-4)
    mode, larger = assessed(problem, 1e-6), assessed(problem, 1e-6, times=10.0)
    assert mode is not None and larger is not None
    assert larger.aim == pytest.approx(mode.aim / np.sqrt(10.0), rel=1e-6)
