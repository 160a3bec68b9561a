"""The mixture's coordinate against fifty digits, beside an end above all."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharpfront.maps import chain
from sharpfront.maps.mixture_axis import (
    COMPONENT_ARRAYS,
    LOGARITHMIC,
    RADIUS,
    UNIFORM,
    MixtureAxis,
    Points,
    mixture_axis,
)
from sharpfront.mixture import Mixture

PROPERTY = settings(max_examples=40, deadline=None, derandomize=True, database=None)
EPS = np.finfo(float).eps


def layered(low=0.0, high=1.0, means=(1.0,), widths=(1e-4,), weights=None):
    weights = np.ones(len(means)) / len(means) if weights is None else np.array(weights)
    mixture = Mixture(weights, np.array(means), np.array(widths) ** 2)
    return mixture_axis(low, high, mixture)


CASES = {
    "even": mixture_axis(-1.0, 3.0),
    "wide": layered(0.0, 2.0, (0.7,), (0.3,)),
    "layer at 1": layered(),
    "layer of 1e-10 at 0": layered(widths=(1e-10,), means=(0.0,)),
    "layer of 1e-10 at 1": layered(widths=(1e-10,), means=(1.0,)),
    "a little inside of 1": layered(widths=(1e-10,), means=(1.0 - 2.0**-32,)),
    "a little inside of 1000": layered(999.0, 1000.0, (1000.0 - 2.0**-30,), (1e-9,)),
    "two layers and a front": layered(
        -1.0, 1.0, (-1.0, 1.0, 0.25), (1e-6, 1e-9, 1e-3), (0.5, 0.3, 0.2)
    ),
    "two scales at one place": layered(means=(1.0, 1.0 - 1e-3), widths=(1e-8, 1e-2)),
}
every_case = pytest.mark.parametrize("c", CASES.values(), ids=CASES.keys())


def raw(c, x):
    """The map before it is normalised, from the parameters as they are stored."""
    total = mp.mpf(c.uniform) * (x - mp.mpf(c.low))
    for k in range(c.components):
        z = (x - mp.mpf(c.anchor[k]) - mp.mpf(c.offset[k])) / mp.mpf(c.scale[k])
        total += mp.mpf(c.log_share[k]) * mp.asinh(z) + mp.mpf(c.bell_share[k]) * mp.atan(z)
    return total


def exact(c, anchor, offset):
    """xi at anchor + offset, with the digits that are set."""
    low, high = raw(c, mp.mpf(c.low)), raw(c, mp.mpf(c.high))
    return (raw(c, mp.mpf(float(anchor)) + mp.mpf(float(offset))) - low) / (high - low)


def probes(c):
    """Points of all distances from both ends and about every component."""
    length = c.high - c.low
    near = length * np.geomspace(1e-13, 0.5, 14)
    inner = [c.anchor, c.offset] if c.components else [np.zeros(0)] * 2
    anchors, offsets = [inner[0]], [inner[1]]
    for factor in (-3.0, -0.4, 0.8, 2.5) if c.components else ():
        anchors.append(c.anchor)
        offsets.append(c.offset + factor * c.scale)
    anchor = np.concatenate([np.full(14, c.low), np.full(14, c.high), *anchors])
    offset = np.concatenate([near, -near, *offsets])
    inside = (anchor + offset >= c.low) & (anchor + offset <= c.high)
    inside &= np.where(anchor == c.low, offset >= 0, offset <= 0)
    return Points(anchor[inside], offset[inside])


@every_case
def test_the_ends_are_zero_and_one(c):
    assert c.xi(c.ends).tolist() == [0.0, 1.0]
    ends = c.invert(np.array([0.0, 1.0]))
    assert ends.anchor.tolist() == [c.low, c.high]
    assert ends.offset.tolist() == [0.0, 0.0]


@every_case
def test_values_agree_with_fifty_digits(c):
    points = probes(c)
    with mp.workdps(50):
        expected = [
            float(exact(c, a, o)) for a, o in zip(points.anchor, points.offset, strict=True)
        ]
    np.testing.assert_allclose(c.xi(points), expected, rtol=0, atol=2e-15)


@every_case
def test_derivatives_agree_with_fifty_digits(c):
    """Relative to the largest derivative there could be at this distance from a component."""
    points = probes(c)
    got = c.derivatives(points, 4)
    with mp.workdps(60):
        for i, (a, o) in enumerate(zip(points.anchor, points.offset, strict=True)):
            series = mp.taylor(lambda x: raw(c, x), mp.mpf(float(a)) + mp.mpf(float(o)), 4)
            for j in range(1, 5):
                expected = float(series[j] * mp.factorial(j))
                size = _size(c, a, o, j)
                assert abs(got[j - 1, i] - expected) <= 1e-13 * size, (i, j)


def _size(c, anchor, offset, order):
    """Sum over components of slope / distance^(order - 1)."""
    reach = np.hypot(((anchor - c.anchor) - c.offset) + offset, c.scale)
    return c.uniform + float(np.sum(24.0 * (c.log_share + c.bell_share) / reach**order))


@every_case
def test_fewer_derivatives_are_the_first_ones(c):
    points, full = probes(c), c.derivatives(probes(c), 4)
    for order in (1, 2, 3):
        np.testing.assert_array_equal(c.derivatives(points, order), full[:order])


@every_case
def test_inversion_hits_its_target_with_fifty_digits(c):
    """The offset is right to what one rounding of xi allows: 1e-16 / xi' from the nearer end."""
    inner = np.arange(1, 200) / 200
    xi = np.concatenate([np.geomspace(1e-12, 4e-3, 20), inner, 1.0 - np.geomspace(1e-9, 4e-3, 20)])
    points = c.invert(xi)
    assert np.all(points.anchor + points.offset >= c.low)
    assert np.all(points.anchor + points.offset <= c.high)
    with mp.workdps(50):
        miss = [
            float(exact(c, a, o) - mp.mpf(float(s)))
            for a, o, s in zip(points.anchor, points.offset, xi, strict=True)
        ]
    np.testing.assert_allclose(miss, 0.0, rtol=0, atol=1.5e-15)


@pytest.mark.parametrize("name", ["layer of 1e-10 at 0", "layer of 1e-10 at 1"])
def test_round_trip_beside_an_end_keeps_the_digits_of_the_offset(name):
    c = CASES[name]
    distance = np.geomspace(1e-11, 0.4, 60)
    end, sign = (c.low, 1.0) if "at 0" in name else (c.high, -1.0)
    back = c.invert(c.xi(Points(np.full(60, end), sign * distance)))
    assert np.all(back.anchor == end)
    # One rounding of xi moves the offset by eps xi / xi'; nothing else may.
    xi = np.maximum(c.xi(back), 1.0 - c.xi(back))
    allowed = 8 * EPS * xi / c.derivatives(back, 1)[0] + 8 * EPS * distance
    assert np.all(np.abs(back.offset - sign * distance) <= allowed)
    inside = distance > 5e-10
    np.testing.assert_allclose(back.offset[inside], sign * distance[inside], rtol=2e-13)


def test_positions_beside_one_are_finer_than_the_spacing_of_doubles():
    c = CASES["layer of 1e-10 at 1"]
    points = c.invert(1.0 - np.arange(1, 40) * 1e-9)
    # Doubles below one are 1.1e-16 apart; these are closer together and still all different.
    assert -1e-16 < points.offset[0] < 0
    assert np.all(np.diff(points.offset) < 0)
    ratio = points.offset / points.offset[0]
    np.testing.assert_allclose(ratio, np.arange(1, 40), rtol=1e-6)
    assert len(np.unique(points.x)) < 39


@every_case
def test_strictly_increasing(c):
    points = c.invert(np.linspace(0.0, 1.0, 1001))
    steps = np.diff(points.anchor) + np.diff(points.offset)
    assert np.all(steps > 0)
    assert np.all(c.derivatives(points, 1)[0] >= 0.999 * UNIFORM / (c.high - c.low))
    assert np.all(np.diff(c.xi(points)) > 0)


def test_no_mixture_is_linear():
    c = mixture_axis(-1.0, 3.0)
    x = np.linspace(-1, 3, 33)
    np.testing.assert_allclose(c.xi(c.nearest(x)), (x + 1) / 4, atol=EPS)
    np.testing.assert_array_equal(c.derivatives(c.nearest(x), 4)[0], 0.25)
    np.testing.assert_array_equal(c.derivatives(c.nearest(x), 4)[1:], 0.0)
    np.testing.assert_allclose(c.invert((x + 1) / 4).x, x, atol=4 * EPS)
    assert c.components == 0


def test_shares_of_kernels_are_those_of_the_formula():
    """A tenth evenly; the rest by weight, six tenths as asinh and four as atan."""
    c = layered(means=(0.0, 1.0), widths=(1e-6, 1e-4), weights=(0.25, 0.75))
    left = np.arcsinh(1 / (RADIUS * 1e-6))
    assert c.uniform == UNIFORM == 0.1
    assert c.log_share[0] * left == pytest.approx(0.9 * 0.25 * LOGARITHMIC, rel=1e-14)
    assert c.bell_share[1] * np.arctan(1 / 6e-4) == pytest.approx(0.9 * 0.75 * 0.4, rel=1e-14)
    np.testing.assert_allclose(c.scale, [6e-6, 6e-4], rtol=1e-14)
    # Within one radius of the end lie asinh 1 and atan 1 of the component's kernels, and no more.
    at = c.xi(Points(np.array([0.0]), np.array([6e-6])))[0]
    inside = 0.9 * 0.25 * (0.6 * np.arcsinh(1) / left + 0.4 * (np.pi / 4) / np.arctan(1 / 6e-6))
    assert at == pytest.approx(inside, rel=1e-3)


def test_no_component_is_wider_than_the_stretch():
    c = layered(2.0, 2.5, (2.1,), (10.0,))
    assert c.scale[0] == 0.5


def test_nearest_measures_from_the_nearer_end_without_rounding():
    c = mixture_axis(0.0, 1.0)
    x = np.array([0.0, 0.1, 0.49, 0.51, 1.0 - 2.0**-53, 1.0])
    points = c.nearest(x)
    assert points.anchor.tolist() == [0, 0, 0, 1, 1, 1]
    np.testing.assert_array_equal(points.x, x)
    assert points.offset[4] == -(2.0**-53)


@PROPERTY
@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.floats(-10, -0.5), st.floats(0.05, 1)),
        min_size=1,
        max_size=8,
    )
)
def test_any_mixture_gives_an_increasing_map_and_its_inverse(drawn):
    means, logs, weights = (np.array(part) for part in zip(*drawn, strict=True))
    c = layered(means=means, widths=10.0**logs, weights=weights / weights.sum())
    xi = np.linspace(0, 1, 101)
    points = c.invert(xi)
    assert np.all(np.diff(points.anchor) + np.diff(points.offset) > 0)
    # A component in mid-interval is known to the rounding of its mean only.
    slope = c.derivatives(points, 1)[0]
    allowed = 1e-14 + 4 * EPS * slope * np.abs(points.offset)
    assert np.all(np.abs(c.xi(points) - xi) <= allowed)


# --- the chain rule ---------------------------------------------------------------------------


def polynomial_derivatives(coefficients, x, order):
    p = np.polynomial.Polynomial(coefficients)
    return np.array([p.deriv(k)(x) if k else p(x) for k in range(order + 1)])


@pytest.mark.parametrize("order", range(5))
def test_chain_on_powers_of_a_polynomial(order):
    """u = v(xi), v = xi^3 - 2 xi + 5, xi = x^2 + 0.3 x: u is a polynomial of degree six."""
    inner, outer = [0.0, 0.3, 1.0], [5.0, -2.0, 0.0, 1.0]
    P = np.polynomial.Polynomial
    whole = sum(c * P(inner) ** k for k, c in enumerate(outer))
    x = np.linspace(-1, 2, 7)
    c = np.array([1.5, -0.4 * x, x**2, 2 + x, np.cos(x)], dtype=object)[: order + 1]
    c = np.array([np.broadcast_to(np.asarray(row, float), x.shape) for row in c])
    xi = polynomial_derivatives(inner, x, 4)
    v = polynomial_derivatives(outer, xi[0], 4)
    u = np.array([whole.deriv(k)(x) if k else whole(x) for k in range(5)])
    got = np.sum(chain(xi[1:], c) * v[: order + 1], axis=0)
    np.testing.assert_allclose(got, np.sum(c * u[: order + 1], axis=0), rtol=1e-13)


def test_chain_on_an_exponential():
    """exp(exp x): derivatives are Touchard polynomials, 1, 1, 2, 5, 15 at x = 0."""
    xi = np.ones((4, 1))
    for order, bell in enumerate([1, 1, 2, 5, 15]):
        unit = np.zeros((order + 1, 1))
        unit[order] = 1.0
        assert np.sum(chain(xi, unit)) == bell


def test_chain_leaves_its_arguments_alone():
    d, c = np.ones((4, 2)), np.ones((5, 2))
    out = chain(d, c)
    out[:] = 7
    assert np.all(c == 1)
    assert np.all(d == 1)


def test_a_coordinate_is_frozen():
    with pytest.raises(AttributeError):
        mixture_axis(0, 1).low = 2
    assert isinstance(mixture_axis(0, 1), MixtureAxis)


@pytest.mark.parametrize("seed", range(20))
def test_an_axis_made_of_another_ones_numbers_is_the_same_to_the_bit(seed):
    """As one from a file is: kernels make 1e-11 of a last digit of the coordinate."""
    rng = np.random.default_rng(seed)
    low, count = rng.uniform(-1, 1), rng.integers(1, 6)
    axis = layered(low, low + 1.3, low + 1.3 * rng.random(count), 10 ** rng.uniform(-8, 0, count))
    again = MixtureAxis(
        axis.low, axis.high, uniform=axis.uniform, **{n: getattr(axis, n) for n in COMPONENT_ARRAYS}
    )
    assert again._span == axis._span
    x = axis.nearest(np.linspace(axis.low, axis.high, 50))
    np.testing.assert_array_equal(again.xi(x), axis.xi(x))
