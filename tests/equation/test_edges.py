"""Where functions jump or bend, read from their graphs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharpfront.equation import function
from sharpfront.equation.edges import edges_along, switches, tells_all
from sharpfront.equation.expression import Coordinate, Derivative

NAMES = ("x", "y", "t")
x, y, t = (Coordinate(name, NAMES) for name in NAMES)
u = Derivative("u", NAMES, (0, 0, 0))
HELD = {"y": 0.5, "t": 0.25}
OPAQUE = function(lambda at: np.sin(3 * at))


def along(expression, low=0.0, high=1.0):
    return np.array([e.above for e in edges_along(expression, "x", low, high, HELD)])


BANDS = {
    "a distance": lambda c, w: abs(x - c) < w / 2,
    "two comparisons": lambda c, w: (x > c - w / 2) & (x < c + w / 2),
    "outside of it": lambda c, w: ~((x <= c - w / 2) | (x >= c + w / 2)),
    "a square": lambda c, w: (x - c) ** 2 < w**2 / 4,
    "a product": lambda c, w: (x - c + w / 2) * (x - c - w / 2) < 0,
    "scaled": lambda c, w: abs((3 * c - 3 * x) / w) <= 1.5,
    "level of a bump": lambda c, w: np.exp(-(((x - c) / w) ** 2)) > np.exp(-0.25),
    "larger of two": lambda c, w: np.maximum(x - c, c - x) < w / 2,
}


@pytest.mark.parametrize("band", BANDS)
@settings(max_examples=15, deadline=None, derandomize=True, database=None)
@given(st.floats(-9, -1), st.floats(0.01, 0.99), st.sampled_from([(0.0, 1.0), (-3e3, 1e3)]))
def test_both_edges_of_a_band_of_any_width(band, digits, place, ends):
    low, high = ends
    c, w = low + place * (high - low), 10.0**digits * (high - low) * 0.02
    found = along(np.where(BANDS[band](c, w), 1 / w, 0), low, high)
    assert len(found) == 2
    rounding = 1e-15 * (abs(low) + abs(high))
    np.testing.assert_allclose(found, [c - w / 2, c + w / 2], rtol=0, atol=rounding + 1e-7 * w)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (np.where(np.sin(40 * np.pi * x) > 0, 1, 0), np.arange(1, 40) / 40),
        (np.floor(5 * x) + x, [0.2, 0.4, 0.6, 0.8]),
        (np.rint(3 * x), [1 / 6, 0.5, 5 / 6]),
        ((3 * x) % 1, [1 / 3, 2 / 3]),
        (np.heaviside(x - t, 0.5), [0.25]),
        (np.where(x**2 + (y - 0.4) ** 2 < 0.05, 1, 0), [0.2]),
        (np.where(abs(x - t) < 1e-3, u, 0), [0.249, 0.251]),
        (np.where(x**3 - x / 5 + 0.01 > 0, 1, 0), [0.050649680971566, 0.419732411296]),
        (np.where(abs(x - 0.3) * (1 + x) < 1e-9, 1, 0), [0.3 - 7.7e-10, 0.3 + 7.7e-10]),
        (
            np.where(abs(OPAQUE(x) - 0.5) < 1e-9, 1, 0),
            np.array([1, 1, 5, 5]) * np.pi / 18 + np.array([-1, 1, -1, 1]) * 3.8e-10,
        ),
        (np.where(np.where(x < 0.5, x, 1 - x) > 0.25, 1, 0), [0.25, 0.5, 0.75]),
        (np.sign(x - 0.2) * np.maximum(x, 0.5), [0.2, 0.5]),
    ],
)
def test_edges_of_all_kinds(expression, expected):
    np.testing.assert_allclose(along(expression), expected, rtol=0, atol=1e-11)


def test_what_is_no_edge():
    for smooth in (
        np.exp(-((x - 0.3) ** 2)),
        np.where(x + 2 > 0, 1, 0),
        np.where(y < x * 0 + 1, 1, 2),
        np.where(u > x - 0.5, 1, 0),
        np.sqrt(x**2 + 1e-4),
        np.where(np.equal(x, 0.5), 1, x),
        OPAQUE(x),
    ):
        assert len(along(smooth)) == 0


def test_a_bend_inside_a_comparison_is_none_outside_it_is():
    (bend,) = edges_along(abs(x - 0.37) + x, "x", 0, 1)
    assert not bend.jumps
    assert bend.below <= 0.37 <= bend.above
    jumps = edges_along(np.where(abs(x - 0.37) < 0.1, 1, 0), "x", 0, 1)
    assert [e.jumps for e in jumps] == [True, True]
    assert len(along(np.sqrt((x - 0.3) ** 2))) == 1


def test_the_two_floats_of_an_edge_lie_on_its_two_sides():
    def step(at):
        return np.where(abs(at - 0.1) < 1e-5, 1.0, 0.0)

    for edge in edges_along(step(x), "x", 0, 1):
        assert step(edge.below) != step(np.nextafter(edge.above, 1.0 if edge.above > 0.1 else 0.2))
        assert edge.above - edge.below <= 2 * np.spacing(edge.above)


def test_switches_on_unknowns_are_listed_and_passed_over():
    assert len(switches(np.where(u > 0.5, x, 0))) == 1
    assert len(along(np.where(u > 0.5, x, 0))) == 0


def test_what_is_opaque_may_have_more_edges():
    assert tells_all(np.where(x < 0.3, np.exp(x), abs(y)))
    assert not tells_all(1 + OPAQUE(x) * y)
    assert not tells_all(np.arctan2(y, x))
