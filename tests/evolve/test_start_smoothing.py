"""Breaks of initial data: found where they are, and nowhere else; rounded by their formula."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import erfc, ndtr

import sharpfront as sf
from sharpfront.evolve.end_corrections import EndCorrection
from sharpfront.evolve.settings import LINE_MARCH
from sharpfront.evolve.start_smoothing import ROUNDED_WIDTHS, Rounded, rounded
from sharpfront.evolve.time_system import time_system
from sharpfront.place.line.singularities import Break, breaks_of

PROPERTY = settings(max_examples=25, deadline=None, derandomize=True, database=None)


def jump(at=0.3, low=0.0, high=1.0):
    return lambda x: np.where(x < at, low, high)


def kink(at=0.4, left=-1.0, right=2.0):
    return lambda x: np.where(x < at, left * (x - at), right * (x - at)) + np.cos(x)


@PROPERTY
@given(st.floats(0.01, 0.99), st.floats(-3, 3), st.floats(0.1, 4.0), st.booleans())
def test_a_jump_is_found(at, low, size, smooth):
    def f(x):
        wave = 0.3 * np.sin(5 * x) if smooth else 0.0
        return wave + np.where(x < at, low, low + size)

    (found,) = breaks_of(f, 0.0, 1.0, periodic=False)
    assert abs(found.x - at) < 1e-12
    assert np.isclose(found.jump, size, rtol=1e-6)
    slope = 1.5 * np.cos(5 * at) if smooth else 0.0
    assert np.allclose([found.left[1], found.right[1]], slope, atol=1e-4)
    start = 0.3 * np.sin(5 * at) if smooth else 0.0
    assert np.isclose(found.left[0], low + start, rtol=1e-9, atol=1e-9)


@PROPERTY
@given(st.floats(0.01, 0.99), st.floats(-3, 3), st.floats(0.1, 4.0))
def test_a_bend_is_found(at, left, bend):
    (found,) = breaks_of(kink(at, left, left + bend), 0.0, 1.0, periodic=False)
    assert abs(found.x - at) < 1e-8
    assert abs(found.jump) < 1e-6
    assert np.isclose(found.bend, bend, rtol=1e-3)


def test_several_breaks():
    def f(x):
        return np.maximum(0.0, 1 - np.abs(x - 0.45) / 0.2) + np.where(x > 0.9, 1.0, 0.0)

    found = sorted(breaks_of(f, 0.0, 1.0, periodic=False), key=lambda b: b.x)
    assert np.allclose([b.x for b in found], [0.25, 0.45, 0.65, 0.9], atol=1e-9)
    assert np.allclose([b.bend for b in found[:3]], [5, -10, 5], rtol=1e-3)
    assert np.isclose(found[3].jump, 1.0)


SMOOTH = {
    "constant": lambda x: 2.0 + 0 * x,
    "line": lambda x: 2.0 + 3 * x,
    "sine": lambda x: np.sin(2 * np.pi * x),
    "waves": lambda x: np.cos(40 * np.pi * x),
    "cube": lambda x: np.abs(x - 0.5) ** 3,
    "tanh 1e-2": lambda x: np.tanh((x - 0.3) / 1e-2),
    "tanh 1e-4": lambda x: np.tanh((x - 0.3) / 1e-4),
    "tanh 1e-6": lambda x: np.tanh((x - 0.3) / 1e-6),
    "gauss 1e-2": lambda x: np.exp(-(((x - 0.31) / 1e-2) ** 2)),
    "gauss 1e-3": lambda x: np.exp(-(((x - 0.31) / 1e-3) ** 2)),
    "gauss 2e-4": lambda x: np.exp(-(((x - 0.31) / 2e-4) ** 2)),
    "layer": lambda x: np.exp(-x / 1e-4),
    "log cosh 1e-3": lambda x: 1e-3 * np.logaddexp((x - 0.5) / 1e-3, -(x - 0.5) / 1e-3),
    "runge": lambda x: 1 / (1 + 1e6 * (x - 0.62) ** 2),
}


@pytest.mark.parametrize("f", SMOOTH.values(), ids=SMOOTH.keys())
@pytest.mark.parametrize("offset", [0.0, 1.7e-5])
def test_smooth_functions_have_no_breaks(f, offset):
    assert breaks_of(lambda x: f(x - offset), 0.0, 1.0, periodic=False) == []


@pytest.mark.parametrize("small", 10.0 ** -np.arange(6, 17))
def test_rounding_of_what_hardly_varies_is_no_break(small):
    assert breaks_of(lambda x: 1 + small * np.sin(3 * x), 0.0, 1.0, periodic=False) == []
    assert breaks_of(lambda x: 1 - small * np.exp(9 * x), 0.0, 1.0, periodic=False) == []


@pytest.mark.parametrize("at", [0.0, 0.25, 0.99999])
def test_breaks_of_a_circle_are_found_once(at):
    def f(x):
        return np.abs(np.sin(np.pi * (x - at)))

    (found,) = breaks_of(f, 0.0, 1.0, periodic=True)
    gap = (found.x - at + 0.5) % 1.0 - 0.5
    assert abs(gap) < 1e-8 and np.isclose(found.bend, 2 * np.pi, rtol=1e-3)
    assert breaks_of(lambda x: np.sin(2 * np.pi * x), 0.0, 1.0, periodic=True) == []


def convolved(broken, width, s):
    """Return the two lines smoothed by a Gaussian, by quadrature."""
    y = np.linspace(-12, 12, 240_001)
    at = s[:, None] + width * y
    left, right = (v + slope * at for v, slope in (broken.left, broken.right))
    density = np.exp(-0.5 * y**2) / np.sqrt(2 * np.pi)
    return np.sum(np.where(at < 0, left, right) * density, axis=1) * (y[1] - y[0])


@pytest.mark.parametrize(
    "broken",
    [Break(0.3, (1.0, 0.0), (-1.0, 0.0)), Break(0.3, (1.0, 2.0), (1.0, -3.0))],
    ids=["jump", "bend"],
)
def test_rounding_is_the_lines_smoothed(broken):
    width = 0.01

    def f(x):
        s = x - broken.x
        left, right = (v + slope * s for v, slope in (broken.left, broken.right))
        return np.where(s < 0, left, right)

    smooth = Rounded(f, 0.0, 1.0, False, ((broken, width),))
    s = np.linspace(-4, 4, 17) * width
    near = smooth(broken.x + s)
    assert np.allclose(near, convolved(broken, width, s), atol=1e-4)
    far = broken.x + np.array([-1.01, 1.01]) * ROUNDED_WIDTHS * width
    assert np.array_equal(smooth(far), f(far))
    joint = broken.x + np.array([-1, 1]) * ROUNDED_WIDTHS * width
    steps = smooth(np.nextafter(joint, 0)) - smooth(np.nextafter(joint, 1))
    assert np.abs(steps).max() < 1e-12


@pytest.mark.parametrize(
    ("f", "broken"),
    [
        (lambda x: np.abs(np.sin(20 * (x - 0.4))), Break(0.4, (0.0, -20.0), (0.0, 20.0))),
        (lambda x: np.where(x < 0.4, np.cos(9 * x), 3.0), Break(0.4, (np.cos(3.6), 3.98), (3, 0))),
    ],
    ids=["bend", "jump"],
)
def test_data_that_curve_at_a_break_curve_when_it_is_rounded(f, broken):
    width = 1e-3
    smooth = Rounded(f, 0.0, 1.0, False, ((broken, width),))
    beside = broken.x + np.array([-8, -6, 6, 8]) * width
    assert np.allclose(smooth(beside), f(beside), atol=1e-8)
    x = broken.x + np.linspace(-10, 10, 20_001) * width
    rise = np.abs(np.diff(smooth(x))).max()
    assert rise < 0.002 * max(abs(broken.jump), 20 * width)


def test_what_a_formula_switches_without_a_jump_is_left_alone():
    def hump(x):
        return np.where(np.abs(x - 0.2) < 0.05, np.cos(np.pi * (x - 0.2) / 0.1) ** 4, 0.0)

    (state,), words = rounded(heat(hump, value, value), 1e-5)
    assert state.breaks == () and words == []


def test_bends_are_missed_by_what_the_formula_says():
    broken = Break(0.5, (0.0, -1.0), (0.0, 1.0))
    smooth = Rounded(lambda x: np.abs(x - 0.5), 0.0, 1.0, False, ((broken, 0.01),))
    assert np.isclose(smooth(np.array([0.5]))[0], 2 * 0.01 / np.sqrt(2 * np.pi))


def test_blurred_is_as_far_again():
    broken = Break(0.5, (0.0, 0.0), (1.0, 0.0))
    smooth = Rounded(jump(0.5), 0.0, 1.0, False, breaks=((broken, 0.01),))
    wider = smooth.blurred()
    assert np.isclose(wider.breaks[0][1], 0.01 * np.sqrt(2))
    end = Rounded(
        lambda x: 0 * x, 0.0, 1.0, False, ends=(EndCorrection(0, 0.1, 0.01, 0),)
    ).blurred()
    assert np.isclose(end.ends[0].width, 0.01 * np.sqrt(2))
    # Variances add up: rounded twice by the same width.
    x = np.array([0.495, 0.5, 0.51])
    assert np.allclose(wider(x), ndtr((x - 0.5) / (0.01 * np.sqrt(2))), atol=1e-12)


def test_a_circle_is_rounded_across_its_seam():
    broken = Break(0.0, (0.0, -1.0), (0.0, 1.0))
    smooth = Rounded(lambda x: np.minimum(x, 1 - x), 0.0, 1.0, True, ((broken, 0.01),))
    assert np.allclose(smooth(np.array([0.004, 0.996, 1.004])), smooth(np.array([0.004]))[0])
    assert smooth(np.array([0.0]))[0] > 0.005


def heat(initial, left, right):
    return time_system(
        sf.Problem(
            sf.Interval(0, 1),
            lambda u, x, t: u.dt - u.dxx,
            left=left,
            right=right,
            initial=initial,
            time=(0, 1),
        )
    )


def value(u, x, t):
    return u


def slope(u, x, t):
    return u.dn


def test_states_that_agree_are_left_alone():
    (state,), words = rounded(heat(lambda x: np.sin(np.pi * x), value, value), 1e-6)
    x = np.linspace(0, 1, 11)
    assert words == [] and state.breaks == () and state.ends == ()
    assert np.array_equal(state(x), np.sin(np.pi * x))


def test_a_jump_is_told_and_rounded_narrowly():
    (state,), words = rounded(heat(jump(0.3), slope, slope), 1e-6)
    assert len(words) == 1 and words[0].startswith("u starts with a jump at x = 0.3,")
    assert state.breaks[0][1] == LINE_MARCH.round


def test_a_bend_costs_a_share_of_the_tolerance():
    for tol in (1e-3, 1e-5):
        (state,), words = rounded(heat(kink(0.4), slope, slope), tol)
        # A corner of the flux at the ends is not what is looked at here.
        assert [w for w in words if "bends" in w or "jumps" in w] == []
        (pair,) = state.breaks
        missed = abs(state(np.array([0.4]))[0] - np.cos(0.4))
        assert 0.05 * tol < missed < tol
        assert pair[1] > LINE_MARCH.round


def test_values_off_a_condition_are_drawn_to_it():
    (state,), words = rounded(heat(1.0, value, slope), 1e-6)
    assert len(words) == 1 and "starts 1 off the condition on the left" in words[0]
    assert abs(state(np.array([0.0]))[0]) < 1e-12
    assert abs(state(np.array([20 * LINE_MARCH.round]))[0] - 1) < 1e-12
    (state,), words = rounded(heat(1.0, slope, lambda u, x, t: 2 * u - 3), 1e-6)
    assert np.isclose(state(np.array([1.0]))[0], 1.5) and "on the right" in words[0]


@pytest.mark.parametrize("side", [0, 1])
def test_slopes_off_a_condition_are_drawn_to_it(side):
    conditions = [value, value]
    conditions[side] = lambda u, x, t: u.dn - 0.4

    def start(x):
        return x if side else 1 - x

    (state,), _ = rounded(heat(start, *conditions), 1e-4)
    (found,) = state.ends
    assert found.order == 1
    width = found.width
    end, h = float(side), 1e-3 * width * (1 - 2 * side)
    inward = (state(np.array([end + h])) - state(np.array([end])))[0] / (1e-3 * width)
    # u.dn is minus the inward slope.
    assert np.isclose(-inward, 0.4, atol=5e-3)
    assert abs(state(np.array([end]))[0] - 1.0) < 1e-4
    assert abs(state(np.array([0.5]))[0] - start(0.5)) < 1e-12


@pytest.mark.parametrize(("speed", "size"), [(40.0, 0.2), (7.0, 1.0)])
def test_a_value_that_leaves_a_state_at_rest_makes_a_layer_that_is_seen(speed, size):
    """At first it is thinner than any element; on a long line it is a known integral."""
    diffusion = 0.02
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt - diffusion * u.dxx,
        left=lambda u, x, t: u - size * np.sin(speed * t),
        right=lambda u, x, t: u,
        initial=lambda x: 0 * x,
        time=(0, 0.05),
    )
    solution = sf.solve(problem, tol=1e-4)
    # u = int f'(t - s) erfc(x / (2 sqrt(D s))) ds, in s = r^2, which is smooth.
    nodes, weights = np.polynomial.legendre.leggauss(200)
    worst = 0.0
    for t in np.geomspace(1e-4, 0.05, 12):
        r = 0.5 * np.sqrt(t) * (1 + nodes)
        rate = size * speed * np.cos(speed * (t - r**2)) * r * np.sqrt(t)
        for x in np.sqrt(diffusion * t) * np.array([0.05, 0.3, 1.0, 3.0]):
            exact = (weights * rate * erfc(x / (2 * np.sqrt(diffusion) * r))).sum()
            worst = max(worst, abs(float(solution(x, t)) - exact))
    assert solution.converged
    assert worst < 1e-4
    assert worst < 3 * solution.error_estimate


@pytest.mark.parametrize(
    ("width", "place"), [(1e-3, 0.431), (1e-5, 0.4313337), (1e-6, 0.131), (2e-6, 0.77131)]
)
def test_narrow_windows_of_a_start_are_read_from_its_formula(width, place):
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt - 0.01 * u.dxx,
        boundary=lambda u, x, t: u.dn,
        initial=lambda x: np.where(abs(x - place) < width / 2, 0.01 / width, 0),
        time=(0, 1),
    )
    found = sf.solve(problem, tol=1e-3)
    x, means = np.linspace(0, 1, 2001), []
    for t in (0.3, 1.0):
        means.append(np.mean(found(x, t)))
    # Nothing flows out: what was there stays, to the tolerance beside the largest value so far.
    assert found.converged
    assert np.abs(np.array(means) - 0.01).max() < 1e-3 * max(1.0, 0.01 / width)
    assert min(means) > 0.005


def test_a_start_that_is_a_table_is_not_read():
    table = np.linspace(0, 1, 11)
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt - u.dxx,
        boundary=lambda u, x, t: u.dn,
        initial=lambda x: np.interp(x, table, 1 + table**2),
        time=(0, 0.1),
    )
    assert problem.initial.graph("u") is None
    assert sf.solve(problem, tol=1e-3).converged


@pytest.mark.parametrize("tol", [1e-5, 1e-6])
def test_a_pulse_that_is_not_quite_zero_where_a_ring_is_joined(tol):
    """A jump of 8e-7 there was not found beside the pulse, and its waves took steps of 1e-12."""

    def pulse(wave):
        return lambda x: wave(x) / np.cosh(x)

    solution = sf.solve(
        sf.Problem(
            sf.Interval(-15, 15, periodic=True),
            lambda p, q, x, t: (
                p.dt + q.dxx + 2 * (p * p + q * q) * q,
                q.dt - p.dxx - 2 * (p * p + q * q) * p,
            ),
            initial=(pulse(np.cos), pulse(np.sin)),
            time=(0, 0.5),
        ),
        tol=tol,
    )
    assert solution.converged and len(solution.history) < 100
    x = np.linspace(-8, 8, 201)
    assert np.abs(solution.p(x, 0.5) - np.cos(x) / np.cosh(x - 1)).max() < 5 * tol
