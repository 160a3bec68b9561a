"""Close-ups: layers are magnified where they are, and nothing else is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lazy import Lazy
from tests.show import time_solutions

import sharpfront as sf
from sharpfront.show.figures.closeup import steep_windows
from sharpfront.show.figures.narrow_axes import label_narrow, round_place

plt = Lazy("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def windows(function, slope, places=()):
    """Return the windows of a function on (0, 1), at points graded towards some places."""
    graded = [p + s * np.geomspace(1e-9, 1, 4000) for p in places for s in (-1, 1)]
    x = np.unique(np.concatenate([np.linspace(0, 1, 2001), *graded]))
    x = x[(x >= 0) & (x <= 1)]
    values = function(x)
    size = np.ptp(values)
    return steep_windows(x, np.abs(slope(x)) / size, np.abs(np.diff(values)) / size)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.floats(-7, -2.2), st.floats(0.05, 0.95))
def test_a_front_fills_its_window_wherever_it_is(power, centre):
    width = 10.0**power
    (found,) = windows(
        lambda x: np.tanh((x - centre) / width),
        lambda x: 1 / (width * np.cosh(np.clip((x - centre) / width, -300, 300)) ** 2),
        [centre],
    )
    (low, high), times = found.ends[0], found.factor
    assert low < centre - 2 * width and high > centre + 2 * width
    assert 6 * width < high - low < 30 * width
    assert np.isclose(times, 1 / (high - low))
    assert abs(float(found.title("x").split("=")[1].split(",")[0]) - centre) < width


@settings(max_examples=30, derandomize=True, deadline=None)
@given(st.floats(-8, -2.2), st.booleans())
def test_a_layer_at_an_end_is_named_by_that_end(power, right):
    width, wall = 10.0**power, float(right)
    (found,) = windows(
        lambda x: np.exp(-np.abs(x - wall) / width),
        lambda x: np.exp(-np.abs(x - wall) / width) / width,
        [wall],
    )
    assert wall in found.ends[0]
    assert 4 * width < np.ptp(found.ends[0]) < 20 * width
    assert found.title("x").startswith(f"near x = {wall:g},")


def test_layers_of_several_widths_are_found_from_left_to_right():
    widths, places = (1e-3, 1e-5, 1e-4), (0.0, 0.4, 1.0)
    found = windows(
        lambda x: sum(np.tanh((x - p) / w) for p, w in zip(places, widths, strict=True)),
        lambda x: sum(
            1 / (w * np.cosh(np.clip((x - p) / w, -300, 300)) ** 2)
            for p, w in zip(places, widths, strict=True)
        ),
        places,
    )
    assert len(found) == 3
    for window, place in zip(found, places, strict=True):
        assert window.ends[0][0] <= place <= window.ends[0][1]


@pytest.mark.parametrize("k", [1, 3, 7])
def test_what_is_seen_on_the_whole_is_not_magnified(k):
    assert windows(lambda x: np.sin(k * x), lambda x: k * np.cos(k * x)) == []
    # Too small to be seen, however steep.
    assert (
        windows(
            lambda x: x + 1e-3 * np.tanh((x - 0.5) / 1e-5),
            lambda x: 1 + 1e2 / np.cosh(np.clip((x - 0.5) / 1e-5, -300, 300)) ** 2,
            [0.5],
        )
        == []
    )


@pytest.mark.parametrize("phase", np.linspace(0, 3, 7))
@pytest.mark.parametrize("k", [30, 50])
def test_a_wave_is_not_magnified_where_the_interval_cuts_it(k, phase):
    assert windows(lambda x: np.cos(k * x + phase), lambda x: k * np.sin(k * x + phase)) == []


def test_nothing_varies():
    assert steep_windows(np.zeros(0), np.zeros(0), np.zeros(0)) == []
    assert steep_windows(np.linspace(0, 1, 9), np.zeros(9), np.zeros(8)) == []


def layer(nu, flip=False):
    sign = -1 if flip else 1
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: -nu * u.dxx + sign * u.dx,
        left=lambda u, x: u - flip,
        right=lambda u, x: u - 1 + flip,
    )
    return sf.solve(problem, tol=1e-4)


@pytest.mark.parametrize(("nu", "flip"), [(1e-3, False), (1e-6, True), (1e-9, False)])
def test_a_layer_is_drawn_beside_the_whole(nu, flip):
    whole, near = layer(nu, flip).plot("close-up").ravel()
    assert whole.get_xlim() == (0, 1) and whole.get_title() == "the whole"
    x, u = near.lines[0].get_data()
    assert np.sum((u > 0.1) & (u < 0.9)) > 10
    shown = np.abs(x[(u > 0.1) & (u < 0.9)] - (0.0 if flip else 1.0))
    assert np.ptp(shown) > 0.1 * np.ptp(near.get_xlim())
    assert f"near x = {0 if flip else 1}, magnified" in near.get_title()


def test_a_smooth_solution_is_drawn_once():
    problem = sf.Problem(
        sf.Interval(0, 1), lambda u, x: -u.dxx - np.sin(3 * x), boundary=lambda u, x: u
    )
    axes = sf.solve(problem, tol=1e-4).plot("close-up")
    assert axes.get_title().startswith("converged")


@pytest.mark.parametrize("end", [0, 1])
def test_a_layer_in_the_plane(end):
    sign = 1 if end else -1
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: -1e-4 * sf.laplacian(u) + sign * u.dx - np.sin(np.pi * y),
        boundary=lambda u, x, y: u,
    )
    solution = sf.solve(problem, tol=1e-2)
    whole, near = solution.plot("close-up", resolution=40).ravel()
    assert np.all(whole.images[0].get_array() > -1e-2)
    left, right, bottom, top = near.images[0].get_extent()
    assert end in (left, right) and 2e-4 < right - left < 5e-3
    assert np.isclose(right - left, top - bottom)
    assert bottom < 0.5 < top
    shown = near.images[0].get_array()
    middle = shown[20]
    assert np.ptp(middle) > 0.9 and np.sum((middle > 0.1) & (middle < 0.8)) > 5
    # The colours' bar and the title do not name the unknown twice.
    assert "magnified" in near.get_title()


def test_a_corner_at_which_slopes_have_no_limit_does_not_hide_its_layer():
    plate = sf.Box((-1, 1), (-1, 1)) - sf.Box((0, 2), (-2, 0))
    problem = sf.Problem(
        plate, lambda u, x, y: -1e-5 * sf.laplacian(u) + u - 1, boundary=lambda u, x, y: u
    )
    _, near = sf.solve(problem, tol=1e-2).plot("close-up", resolution=40).ravel()
    left, right, _, _ = near.images[0].get_extent()
    # Some widths of the layer, 3e-3, and not of what r^(2/3) is within 1e-8.
    assert 3e-3 < right - left < 0.1
    assert np.ptp(near.images[0].get_array().compressed()) > 0.25


def test_a_front_in_time():
    solution = time_solutions.shock()
    whole, near = solution.plot("close-up", resolution=20).ravel()
    assert whole.images and not near.images
    moment = float(near.get_title().split("=")[1].split(";")[0])
    x, u = near.lines[0].get_data()
    assert np.allclose(u, solution(x, moment), atol=1e-12)
    assert u.min() < 0.1 and u.max() > 0.9


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.floats(-1e3, 1e3), st.floats(-9, -1))
def test_round_places_lie_between_their_ends(low, power):
    high = low + 10.0**power
    place = round_place(low, high)
    room = 1e-6 * (high - low) + 1e-12 * abs(low)
    assert low - room <= place <= high + room


@pytest.mark.parametrize(
    ("low", "high", "place"),
    [(0.9995, 1.0, 1.0), (0.3642, 0.3758, 0.37), (-1.0, -0.999, -1.0), (2.0, 2.001, 2.0)],
)
def test_narrow_axes_tell_the_distance_from_a_round_place(low, high, place):
    _, axes = plt.subplots()
    axes.set_xlim(low, high)
    label_narrow(axes.xaxis, "x", low, high)
    sign = "\u2212" if place > 0 else "+"
    far = max(abs(low), abs(high)) > 50 * (high - low)
    assert axes.get_xlabel() == (f"x {sign} {abs(place):g}" if far else "")
    if far:
        # Also where a user sets the ticks.
        for ticks in (axes.get_xticks(), [low, (low + high) / 2, high]):
            axes.set_xticks(ticks)
            words = [t.get_text().replace("\u2212", "-") for t in axes.get_xticklabels()]
            told = [place + float(w) for w in words]
            assert np.allclose(axes.get_xticks(), told, rtol=0, atol=1e-5 * (high - low))
            assert 2 <= len(words) <= 8
