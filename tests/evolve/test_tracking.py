"""Component speeds from the equation, and the coordinate's shape."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharpfront.evolve.tracking import (
    FLAT,
    Profile,
    Shape,
    all_shapes,
    as_components,
    searched,
    speeds,
    trial_error,
)
from sharpfront.mixture import Mixture
from sharpfront.pieces.motion import Components, Motion

PROPERTY = settings(max_examples=30, deadline=None, derandomize=True, database=None)


def profile(x, *fields, length=None, periodic=False):
    values, slopes, rates = (np.stack(rows) for rows in zip(*fields, strict=True))
    return Profile(x, values, slopes, rates, length or x[-1] - x[0], periodic)


def bell(x, at, width, speed=0.0, widening=0.0, height=1.0):
    """Return u, u_x and u_t of a Gaussian that moves and widens."""
    z = (x - at) / width
    u = height * np.exp(-0.5 * z * z)
    return u, -z / width * u, (z / width * speed + z * z * widening) * u


def mixture(weights, means, deviations):
    return Mixture(np.array(weights), np.array(means), np.array(deviations) ** 2)


@PROPERTY
@given(st.floats(-5, 5), st.floats(1e-3, 0.03), st.floats(0.5, 3.0))
def test_speed_of_a_pulse_is_the_components(speed, width, ratio):
    x = 0.5 + width * np.linspace(-12, 12, 2001)
    v, s = speeds(profile(x, bell(x, 0.5, width, speed)), mixture([1.0], [0.5], [ratio * width]))
    assert np.allclose(v, speed, rtol=1e-6, atol=1e-9)
    assert abs(s[0]) < 1e-6 * (abs(speed) + 1e-3) / width


@PROPERTY
@given(st.floats(0.1, 5), st.booleans())
def test_widening_of_a_pulse(rate, narrowing):
    rate = -rate if narrowing else rate
    x = np.linspace(0, 1, 4001)
    found = speeds(profile(x, bell(x, 0.5, 0.02, 0.0, rate)), mixture([1.0], [0.5], [0.02]))
    assert np.isclose(found[1][0], rate, rtol=1e-4) and abs(found[0][0]) < 1e-6


def test_fronts_keep_their_own_speeds():
    x = np.linspace(0, 1, 20_001)
    one, two = bell(x, 0.3, 0.01, 2.0), bell(x, 0.7, 0.02, -1.0, height=0.2)
    total = tuple(a + b for a, b in zip(one, two, strict=True))
    v, _ = speeds(profile(x, total), mixture([0.5, 0.5], [0.3, 0.7], [0.01, 0.02]))
    assert np.allclose(v, [2.0, -1.0], rtol=1e-3)


def test_what_grows_in_place_does_not_move():
    x = np.linspace(0, 1, 4001)
    u, slope, _ = bell(x, 0.5, 0.02)
    v, _ = speeds(profile(x, (u, slope, 3 * u)), mixture([1.0], [0.51], [0.02]))
    # All of u_t explained by a motion would be of the order of the width times the rate.
    assert abs(v[0]) < 0.2 * 0.02 * 3


def test_still_and_flat_states_do_not_move():
    x = np.linspace(0, 1, 401)
    still = mixture([1.0], [0.5], [0.1])
    for fields in (bell(x, 0.5, 0.1), (0 * x + 1, 0 * x, 0 * x), (0 * x + 1, 0 * x, 0 * x + 2)):
        v, s = speeds(profile(x, fields), still)
        assert v[0] == 0.0 and s[0] == 0.0


def test_a_flat_unknown_is_not_followed():
    x = np.linspace(0, 1, 4001)
    front = bell(x, 0.5, 0.02, 1.0)
    noise = bell(x, 0.5, 0.02, -40.0, height=0.1 * FLAT)
    v, _ = speeds(profile(x, front, noise), mixture([1.0], [0.5], [0.02]))
    assert np.isclose(v[0], 1.0, rtol=1e-6)
    masses = profile(x, front, bell(x, 0.9, 0.02, height=0.1 * FLAT)).masses()
    assert np.allclose(masses, profile(x, front).masses(), rtol=1e-9)
    both = profile(x, front, bell(x, 0.9, 0.02, height=0.1)).masses()
    assert both[3600] > 10 * masses[3600]


def test_small_unknowns_count_as_much_as_large_ones():
    """Each unknown is followed in units of its own range."""
    x = np.linspace(0, 1, 8001)
    still, moving = bell(x, 0.3, 0.01, height=100.0), bell(x, 0.7, 0.01, 2.0, height=0.01)
    v, _ = speeds(profile(x, still, moving), mixture([0.5, 0.5], [0.3, 0.7], [0.01, 0.01]))
    assert np.allclose(v, [0.0, 2.0], atol=1e-3)
    # At one place, half of what is seen moves.
    one = bell(x, 0.3, 0.01, 2.0, height=0.01)
    v, _ = speeds(profile(x, still, one), mixture([1.0], [0.3], [0.01]))
    assert 0.2 < v[0] < 1.5


@pytest.mark.parametrize("at", [0.001, 0.5, 0.9])
def test_circles_are_cut_where_nothing_is(at):
    x = np.linspace(0, 1, 2001)

    def turned(y):
        return (y - at + 0.5) % 1.0 - 0.5

    z = turned(x) / 0.02
    u = np.exp(-0.5 * z * z)
    field = (u, -z / 0.02 * u, 3.0 * z / 0.02 * u)
    whole = profile(x, field, length=1.0, periodic=True)
    cut = whole.opened()
    assert np.isclose(cut.x[-1] - cut.x[0], 1.0) and np.all(np.diff(cut.x) > 0)
    assert np.abs(turned(cut.x[0])) > 0.2
    assert np.allclose(cut.values[0], np.exp(-0.5 * (turned(cut.x) / 0.02) ** 2))
    found = whole.fresh(4)
    near = int(np.argmax(found.weights))
    assert abs(turned(found.means[near, 0])) < 0.03
    v, _ = speeds(whole, found)
    assert np.allclose(v[near], 3.0, rtol=1e-6)


def test_fresh_mixture_sits_on_the_fronts():
    x = np.linspace(0, 1, 20_001)
    z = [(x - 0.3) / 1e-3, (x - 0.8) / 2e-3]
    u = np.tanh(z[0]) + np.tanh(z[1])
    slope = sum(
        s / np.cosh(np.minimum(np.abs(a), 300)) ** 2 for s, a in zip((1e3, 5e2), z, strict=True)
    )
    found = profile(x, (u, slope, 0 * u)).fresh(8)
    means, deviations = found.means[:, 0], np.sqrt(found.covariances[:, 0, 0])
    assert np.min(np.abs(means - 0.3)) < 1e-3 and np.min(np.abs(means - 0.8)) < 2e-3
    at = int(np.argmin(np.abs(means - 0.3)))
    assert 1e-4 < deviations[at] < 5e-3
    assert np.isclose(found.weights.sum(), 1.0)


def test_monitor_does_not_see_units():
    x = np.linspace(0, 1, 2001)
    small, large = (profile(x, bell(x, 0.4, 0.05, height=h)) for h in (1e-3, 1e3))
    assert np.allclose(small.masses(), large.masses(), rtol=1e-9)


def test_shapes_near_are_one_step_away_and_allowed():
    shape = Shape(3.0, 0.5, 0.2)
    assert len(shape.near()) == 6 and all(s.allowed for s in shape.near())
    corner = Shape(0.5, 1.0, 0.05)
    assert all(s.allowed for s in corner.near()) and len(corner.near()) == 3
    assert not Shape(0.1, 0.5, 0.2).allowed
    assert all(s.allowed for s in all_shapes())
    half = Shape(1.0, 0.4, 0.1).towards(Shape(4.0, 0.8, 0.4), 0.5)
    assert np.allclose([half.radius, half.evenness, half.even], [2.0, 0.6, 0.2])


def test_search_walks_to_the_best_shape():
    def miss(shape):
        return np.exp(2 * abs(np.log(shape.radius / 8.0)) + 5 * abs(shape.evenness - 0.8))

    found = searched(Shape(2.0, 0.5, 0.1), miss)
    assert 6.0 < found.radius < 11.0 and abs(found.evenness - 0.8) < 1e-9
    assert searched(Shape(2.0, 0.5, 0.1), lambda s: 1.0) == Shape(2.0, 0.5, 0.1)


def test_components_of_the_coordinate():
    found = as_components(mixture([0.8, 0.2], [0.3, 0.6], [1e-3, 2.0]), Shape(4.0, 0.5, 0.15), 1.0)
    assert np.allclose(found.means, [0.3, 0.6]) and found.even == 0.15
    assert np.allclose(np.exp(found.logs), [4e-3, 1.0])
    assert np.allclose(found.shares, np.sqrt([0.8, 0.2]) / np.sqrt([0.8, 0.2]).sum())


def test_trial_fits_tell_a_good_coordinate():
    def still(at):
        here = Components(np.array([at]), np.log([0.01]), np.ones(1), 0.2)
        return Motion(0.0, 1.0, (0.0, 1.0), here, here)

    def values(x):
        return np.tanh((x - 0.3) / 0.005)[None]

    good, bad = (trial_error(still(at), values, 60) for at in (0.3, 0.6))
    assert good < 1e-4 < 0.05 < bad
