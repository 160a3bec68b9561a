"""The moving coordinate against differences in time and space, on the line and on the circle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharpfront.pieces.coordinate import RADIUS
from sharpfront.pieces.motion import Components, Motion, line_of, unpacked

PROPERTY = settings(max_examples=40, deadline=None, derandomize=True, database=None)


def components(means, logs, shares, even=0.1):
    shares = np.array(shares, dtype=float)
    return Components(np.array(means, float), np.array(logs, float), shares / shares.sum(), even)


def drawn(seed, low, high, count, periodic=False, moving=1.0):
    """Return a motion whose components move, widen and change shares."""
    random = np.random.default_rng(seed)
    length = high - low
    means = low + length * random.uniform(0.05, 0.95, count)
    logs = np.log(length) + random.uniform(-6.0, -1.0, count)
    shares = random.uniform(0.2, 1.0, count)
    start = components(means, logs, shares, random.uniform(0.05, 0.3))
    stop = components(
        np.clip(means + moving * 0.1 * length * random.uniform(-1, 1, count), low, high),
        logs + moving * random.uniform(-0.5, 0.5, count),
        shares + moving * random.uniform(0.0, 0.5, count),
        start.even + 0.1 * moving * random.uniform(),
    )
    zero = low + length * random.uniform()
    zeros = (zero, zero + moving * 0.1 * length)
    return Motion(low, high, (0.3, 0.7), start, stop, periodic, zeros if periodic else (0.0, 0.0))


def slope(f, at, step):
    """Return the derivative of f at a number, by a central difference of sixth order."""
    weights = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / 60.0
    return sum(w * f(at + k * step) for w, k in zip(weights, range(-3, 4), strict=True)) / step


@PROPERTY
@given(st.integers(0, 10_000), st.integers(1, 4), st.booleans())
def test_rate_is_the_time_derivative_of_the_coordinate(seed, count, periodic):
    motion = drawn(seed, -1.0, 2.0, count, periodic)
    x = np.linspace(-1.0, 2.0, 41)
    t = 0.45
    where = motion.at(t)
    found = motion.rate(t, where.nearest(x))

    def xi(moment):
        now = motion.at(moment)
        return now.xi(now.nearest(x))

    expected = slope(xi, t, 1e-4)
    assert np.max(np.abs(expected)) > 1e-2
    assert np.allclose(found, expected, rtol=0, atol=1e-8 * max(1.0, np.abs(expected).max()))
    assert np.array_equal(found, motion.rate(t, where.nearest(x), where))


@pytest.mark.parametrize("periodic", [False, True])
def test_each_parameter_alone_turns_the_coordinate(periodic):
    base = components([0.2, 0.6], [-4.0, -2.0], [0.7, 0.3])
    others = {
        "means": components([0.25, 0.55], [-4.0, -2.0], [0.7, 0.3]),
        "logs": components([0.2, 0.6], [-3.7, -2.2], [0.7, 0.3]),
        "shares": components([0.2, 0.6], [-4.0, -2.0], [0.4, 0.6]),
        "even": components([0.2, 0.6], [-4.0, -2.0], [0.7, 0.3], 0.3),
    }
    x = np.linspace(0.0, 1.0, 23)[1:-1]
    for name, other in others.items():
        motion = Motion(0.0, 1.0, (0.0, 2.0), base, other, periodic, (0.9, 0.9))

        def xi(moment, motion=motion):
            now = motion.at(moment)
            return now.xi(now.nearest(x))

        rate = motion.rate(1.1, motion.at(1.1).nearest(x))
        assert np.max(np.abs(rate)) > 1e-3, name
        assert np.allclose(rate, slope(xi, 1.1, 1e-3), atol=1e-9), name


def test_zero_of_a_circle_moves():
    base = components([0.2], [-3.0], [1.0])
    motion = Motion(0.0, 1.0, (0.0, 2.0), base, base, True, (0.5, 0.7))
    where = motion.at(1.0)
    assert abs(where.xi(where.nearest(np.array([0.6])))[0]) < 1e-14
    rate = motion.rate(1.0, where.nearest(np.array([0.1, 0.6])))
    slopes = where.derivatives(where.nearest(np.array([0.6])), 1)[0]
    assert np.allclose(rate, -0.1 * slopes, rtol=1e-12)


@pytest.mark.parametrize("periodic", [False, True])
def test_a_front_that_moves_with_its_component_stands_still(periodic):
    """At a component's mean, xi changes much less than xi' times its speed."""
    start, stop = components([0.3], [-7.0], [1.0]), components([0.5], [-7.0], [1.0])
    motion = Motion(0.0, 1.0, (0.0, 1.0), start, stop, periodic, (0.8, 1.0))
    where = motion.at(0.5)
    at = where.nearest(np.array([0.4]))
    swept = 0.2 * where.derivatives(at, 1)[0]
    carried = motion.rate(0.5, at) + swept
    assert abs(carried[0]) < 0.02 * swept[0]


def test_ends_of_a_line_stay():
    motion = drawn(3, 0.0, 5.0, 3)
    for t in (0.3, 0.41, 0.7):
        where = motion.at(t)
        ends = where.nearest(np.array([0.0, 5.0]))
        assert np.array_equal(where.xi(ends), [0.0, 1.0])
        assert np.allclose(motion.rate(t, ends), 0.0, atol=1e-12)


@PROPERTY
@given(st.integers(0, 10_000), st.integers(1, 4), st.booleans())
def test_inverse_returns_the_coordinate(seed, count, periodic):
    motion = drawn(seed, -1.0, 2.0, count, periodic)
    xi = np.linspace(-0.7, 1.6, 301) if periodic else np.linspace(0.0, 1.0, 301)
    where = motion.at(0.52)
    points = where.invert(xi)
    assert np.allclose(where.xi(points), xi, rtol=0, atol=1e-13)
    assert np.all(np.diff(points.x) > 0)
    if not periodic:
        assert points.x[0] == -1.0 and points.x[-1] == 2.0


def test_parts_of_a_motion_are_the_motion():
    for periodic in (False, True):
        motion = drawn(11, -1.0, 2.0, 3, periodic)
        part = motion.part(0.4, 0.6)
        assert part.times == (0.4, 0.6) and np.isclose(part.dt, 0.2)
        x = np.linspace(-0.9, 1.9, 17)
        for t in (0.4, 0.47, 0.6):
            here, there = motion.at(t), part.at(t)
            assert np.allclose(here.xi(here.nearest(x)), there.xi(there.nearest(x)), atol=1e-13)
            rates = [m.rate(t, here.nearest(x)) for m in (motion, part)]
            assert np.allclose(*rates, rtol=1e-9, atol=1e-11)


def test_components_move_straight():
    motion = drawn(5, 0.0, 1.0, 3)
    for name in ("means", "logs", "shares", "even"):
        a, b = (getattr(motion.components(t), name) for t in motion.times)
        middle = getattr(motion.components(0.4), name)
        assert np.allclose(middle, 0.75 * a + 0.25 * b, rtol=1e-13)
        assert np.allclose(a, getattr(motion.start, name), rtol=0, atol=0)


def test_rows_of_components_return_them():
    one = components([0.2, 0.6], [-4.0, -2.0], [0.7, 0.3], 0.21)
    again = unpacked(one.packed())
    for name in ("means", "logs", "shares"):
        assert np.array_equal(getattr(one, name), getattr(again, name))
    assert again.even == 0.21 and again.count == 2


def test_mixture_of_components():
    one = components([0.2, 0.6], [-4.0, -2.0], [0.7, 0.3])
    mixture = one.mixture
    assert np.allclose(mixture.means[:, 0], [0.2, 0.6])
    assert np.allclose(np.sqrt(mixture.covariances[:, 0, 0]) * RADIUS, np.exp([-4.0, -2.0]))
    assert np.allclose(mixture.weights, [0.7, 0.3])


def test_kernels_are_dense_where_components_are():
    where = line_of(components([0.3, 0.8], [np.log(1e-3), np.log(1e-2)], [0.6, 0.4]), 0.0, 1.0)
    x = np.array([0.3, 0.55, 0.8])
    dense = where.derivatives(where.nearest(x), 1)[0]
    assert dense[0] > 100 * dense[1] and dense[2] > 10 * dense[1]
    # The share of the kernels near a component is about its own.
    near = np.diff(where.xi(where.nearest(np.array([0.2, 0.4]))))[0]
    assert 0.25 < near < 0.6
