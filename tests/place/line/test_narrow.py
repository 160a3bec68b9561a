"""Data with something narrow in them: edges are read, spikes are found, and nothing is missed."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import erf

import sharpfront as sf
from sharpfront.measure import max_error
from sharpfront.place.line.breakpoints import survey
from sharpfront.place.line.settings import LINE
from sharpfront.problem.line_problem import ordinary

SETTINGS = settings(max_examples=8, deadline=None, derandomize=True, database=None)
UNIT = sf.Interval(0, 1)
WIDTHS = st.floats(-8, -2)
PLACES = st.one_of(st.floats(0.05, 0.95), st.sampled_from([1e-6, 1 - 1e-6]))


def points(c, w):
    x = np.concatenate([np.linspace(0, 1, 401), c + w * np.linspace(-4, 4, 401)])
    return np.unique(np.clip(x, 0, 1))


def honest(solution, exact, c, w, tol=1e-8, known=1e-10):
    """No error above what is said of it, but for rounding; return whether it converged."""
    x = points(c, w)
    found = solution(x)
    # Estimates are relative to what was found, which is huge where rounding decides: of order four,
    # with all conditions on one side, for bands of 1e-8.
    error = float(np.abs(found - exact(x)).max()) / max(1.0, float(np.abs(found).max()))
    # Rounding of a position moves it by that share of the width.
    assert error <= 3 * solution.error_estimate + known + 1e-16 / w
    assert not solution.converged or error <= 3 * tol
    return solution.converged


def ramp(c, w, order):
    """The order-fold integral of a source 1 / w on a band, zero at the left end."""

    def u(x):
        past, beyond = np.maximum(x - c + w / 2, 0), np.maximum(x - c - w / 2, 0)
        gap = np.where(x > c + w / 2, w, past) / w
        sums = sum(past**i * beyond ** (order - 1 - i) for i in range(order))
        return gap * sums / math.factorial(order)

    return u


BANDS = {
    "a distance": lambda x, c, w: np.where(abs(x - c) < w / 2, 1 / w, 0.0),
    "two comparisons": lambda x, c, w: ((c - w / 2 < x) & (x < c + w / 2)) * (1 / w),
    "two signs": lambda x, c, w: (np.sign(x - c + w / 2) - np.sign(x - c - w / 2)) / (2 * w),
}


@pytest.mark.parametrize(
    ("order", "band"),
    [*((order, band) for order in (1, 2) for band in BANDS), (3, "two signs"), (4, "a distance")],
)
@settings(SETTINGS, max_examples=3)
@given(WIDTHS, PLACES)
@example(-5.0, 0.3)
def test_a_band_of_source_is_never_missed(order, band, digits, place):
    w = 10.0**digits
    c = place if 0.01 < place < 0.99 else abs(round(place) - 2 * w)
    problem = sf.Problem(
        UNIT,
        lambda u, x: u.d("x", order) - BANDS[band](x, c, w),
        left=lambda u, x: tuple(u.d("x", j) for j in range(order)),
    )
    assert len(survey(ordinary(problem)).cuts) == 2
    converged = honest(sf.solve(problem), ramp(c, w, order), c, w)
    assert converged or order > 2 or w < 1e-7


def windowed(eps, c, w, level):
    """-eps u'' + u = 1 in a window and a level outside, u = 0 at both ends: exponentials."""
    k, a, b = 1 / np.sqrt(eps), c - w / 2, c + w / 2

    def free(x):
        outside = -0.5 * np.exp(-k * np.maximum(a - x, x - b)) * np.expm1(-k * w)
        inside = -0.5 * sum(np.expm1(-k * np.maximum(gap, 0)) for gap in (x - a, b - x))
        return level + (1 - level) * np.where((x < a) | (x > b), outside, inside)

    near = np.linalg.solve([[1, np.exp(-k)], [np.exp(-k), 1]], [free(0.0), free(1.0)])
    return lambda x: free(x) - near[0] * np.exp(-k * x) - near[1] * np.exp(-k * (1 - x))


@pytest.mark.parametrize("level", [0.0, 0.5])
@pytest.mark.parametrize("w", [1e-3, 1e-5, 1e-7])
@pytest.mark.parametrize("eps", [1e-1, 1e-3, 1e-5, 1e-8])
def test_a_window_beside_layers_takes_few_solves(eps, w, level):
    problem = sf.Problem(
        UNIT,
        lambda u, x: -eps * u.dxx + u - np.where(abs(x - 0.37) < w / 2, 1.0, level),
        boundary=lambda u, x: u,
    )
    solution = sf.solve(problem, tol=1e-8)
    assert honest(solution, windowed(eps, 0.37, w, level), 0.37, w)
    assert len(solution.history) <= 4


def tent(c, w):
    """-u'' = a normalised spike of width w at c, u = 0 at both ends."""

    def moment(x):
        z = (x - c) / w
        return -0.5 * (x - c) * erf(z) - w / (2 * np.sqrt(np.pi)) * np.exp(-z * z)

    return lambda x: moment(x) - moment(0.0) * (1 - x) - moment(1.0) * x


SPIKES = {
    "a Gaussian": lambda x, c, w: np.exp(-(((x - c) / w) ** 2)) / (w * np.sqrt(np.pi)),
    "by its square": lambda x, c, w: np.exp(-(x**2 - 2 * c * x + c**2) / w**2) / (w * np.pi**0.5),
    "turned over": lambda x, c, w: 1 / (np.exp(((c - x) / w) ** 2) * (w * np.sqrt(np.pi))),
}


@pytest.mark.parametrize("spike", SPIKES)
@SETTINGS
@given(st.floats(-7, -2), st.floats(0.05, 0.95))
@example(-6.0, 0.3)
def test_a_smooth_spike_of_source_is_resolved(spike, digits, c):
    # Written out, the square of a small distance is known to the rounding of its terms.
    w = 10.0 ** (max(digits, -4) if spike == "by its square" else digits)
    problem = sf.Problem(
        UNIT, lambda u, x: -u.dxx - SPIKES[spike](x, c, w), boundary=lambda u, x: u
    )
    solution = sf.solve(problem, tol=1e-6)
    known = 1e-16 / w**2 if spike == "by its square" else 0.0
    assert honest(solution, tent(c, w), c, w, 1e-6, 1e-10 + known)


@SETTINGS
@given(st.floats(-7, -3), st.floats(0.1, 0.45), st.floats(0.55, 0.9))
def test_several_spikes_are_all_found(digits, first, second):
    w = 10.0**digits

    def source(x):
        return sum(SPIKES["a Gaussian"](x, c, w * k) for c, k in ((first, 1), (second, 3)))

    problem = sf.Problem(UNIT, lambda u, x: -u.dxx - source(x), boundary=lambda u, x: u)
    solution = sf.solve(problem, tol=1e-6)
    assert solution.converged
    exact = [tent(first, w), tent(second, 3 * w)]
    x = points(first, w)
    assert np.abs(solution(x) - exact[0](x) - exact[1](x)).max() < 1e-6


@SETTINGS
@given(st.floats(-7, -3), st.floats(0.1, 0.9), st.booleans())
def test_a_coefficient_with_a_spike_or_a_band(digits, c, smooth):
    """u' + k u = 0 falls by exp(-1) across k, and is all that k does."""
    w = 10.0**digits
    data = SPIKES["a Gaussian"] if smooth else BANDS["a distance"]
    problem = sf.Problem(UNIT, lambda u, x: u.dx + data(x, c, w) * u, left=lambda u, x: u - 1)
    solution = sf.solve(problem, tol=1e-6)

    def exact(x):
        passed = 0.5 * (1 + erf((x - c) / w)) if smooth else np.clip((x - c) / w + 0.5, 0, 1)
        return np.exp(-passed)

    assert honest(solution, exact, c, w, 1e-6)


NARROW = {
    "a quotient": lambda x, c, w: 1 / (w**2 + (x - c) ** 2),
    "a polynomial below": lambda x, c, w: 1 / (x**2 - 2 * c * x + c**2 + w**2),
    "hyperbolic": lambda x, c, w: 1 / np.cosh((x - c) / w) ** 2,
    "a front": lambda x, c, w: np.tanh((x - c) / w),
    "logistic": lambda x, c, w: 1 / (1 + np.exp((x - c) / w)),
    "of a sine": lambda x, c, w: np.exp(-(((np.sin(2 * x) - np.sin(2 * c)) / w) ** 2)),
    "of a spike": lambda x, c, w: np.tanh((np.exp(-(((x - c) / w) ** 2)) - 0.5) / 1e-2),
    "beside much else": lambda x, c, w: np.cos(9 * x) + 1e-6 * np.exp(-(((x - c) / w) ** 2)),
    "behind the end of a layer": lambda x, c, w: np.exp(-(x - c) * np.sign(x - c) / w),
}


@pytest.mark.parametrize("name", NARROW)
@pytest.mark.parametrize("w", [1e-6, 1e-8])
@pytest.mark.parametrize("c", [0.2, 0.31415926535])
def test_the_survey_sees_what_is_narrow(name, w, c):
    problem = sf.Problem(UNIT, lambda u, x: -u.dxx - NARROW[name](x, c, w), boundary=lambda u, x: u)
    seen = survey(ordinary(problem))
    close = np.abs(seen.x - c) < 10 * w
    values = seen.narrow[-1][close]
    assert close.sum() > 20
    assert np.abs(np.diff(values)).max() < 0.3 * np.ptp(values)


def test_smooth_data_need_no_more_than_even_places():
    for source in (np.sin, np.exp, lambda x: 1 / (1 + 25 * x**2), lambda x: np.sin(400 * x)):
        plain = ordinary(sf.Problem(UNIT, lambda u, x: u.dx - source(x), left=lambda u, x: u))  # noqa: B023
        assert len(survey(plain).x) == LINE.survey


def test_what_cannot_be_looked_into_is_sampled():
    w = 1e-6
    hidden = sf.function(lambda x: np.tanh((x - 0.3) / w))
    plain = ordinary(sf.Problem(UNIT, lambda u, x: u.dx - hidden(x), left=lambda u, x: u))
    seen = survey(plain)
    # A front is a step between two even places; a spike could lie between them.
    assert (np.abs(seen.x - 0.3) < 3 * w).sum() > 10


@pytest.mark.parametrize("most", [300, 1500])
@pytest.mark.parametrize(("width", "place"), [(1e-5, (0.3, 0.6)), (1e-6, (0.71, 0.2))])
def test_few_functions_do_not_hide_a_spike_of_the_source(width, place, most):
    """Patches are cut towards it only as far as functions go; what they do not see is told."""

    def spike(x, y):
        r2 = (x - place[0]) ** 2 + (y - place[1]) ** 2
        return np.exp(-r2 / (2 * width**2)) / width**2

    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: -sf.laplacian(u) - spike(x, y),
        boundary=lambda u, x, y: u,
    )
    solution = sf.solve(problem, tol=1e-2, max_kernels=most)
    assert not solution.converged
    assert solution.error_estimate >= 1.0
    assert "max_kernels" in str(solution.outcome)


@pytest.mark.parametrize(
    ("width", "place", "turns"),
    [
        pytest.param(1e-4, 0.575, 3.5, marks=pytest.mark.slow),
        (5e-5, 0.5, 2.0),
        pytest.param(3e-5, 0.82, 5.0, marks=pytest.mark.slow),
        (1e-3, 0.5, 2.0),
    ],
)
def test_beams_that_drown_in_rounding_are_not_said_to_be_known(width, place, turns):
    """A solution that is off by more than it should be large has no scale to be measured with."""

    def exact(x):
        s = (x - place) / width
        return (
            np.sin(2 * x)
            - 1.375 * np.exp(-(s**2)) * np.cos(turns * s)
            + np.tanh((x - 0.31) / width)
        )

    def held(u, x):
        return u - exact(x), u.dxx - exact(x).dxx

    problem = sf.Problem(UNIT, lambda u, x: u.d("x", 4) - exact(x).d("x", 4), left=held, right=held)
    solution = sf.solve(problem, tol=1e-8)
    x = points(place, width)
    error = max_error(solution, exact, x)
    assert error <= 3 * solution.error_estimate
    assert solution.error_estimate < 1 or "Loosen tol to the floor" not in str(solution.outcome)
