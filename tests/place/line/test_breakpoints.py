"""Jumps, kinks and cusps are followed to rounding; smooth fronts are left whole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharpfront.place.line.breakpoints import survey
from sharpfront.place.line.settings import LINE
from sharpfront.problem.line_problem import LineProblem

PLACES = st.floats(-1.99, 2.99)


def problem(source=0.0, coefficients=(1.0, 0.0, -1.0), interval=(-2.0, 3.0)):
    return LineProblem(interval, coefficients, source)


def cuts(*args, **options):
    stated = problem(*args, **options)
    return survey(stated).cuts


def test_the_survey_is_even_and_inside():
    seen = survey(problem(np.sin))
    assert seen.x.shape == (LINE.survey,)
    assert seen.x[0] > -2
    assert seen.x[-1] < 3
    assert np.ptp(np.diff(seen.x)) < 1e-12
    assert np.array_equal(seen.rows[-1], np.sin(seen.x))


def test_functions_that_do_not_bend_are_not_followed():
    seen = survey(problem(lambda x: 3 + 0 * x, (lambda x: 2 * x - 1, 0.0, 1.0)))
    assert seen.rows == (None, None, None, None)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(PLACES, st.sampled_from([1e-4, 1.0, 1e6]))
def test_a_jump_is_cut_between_two_floats(place, size):
    (cut,) = cuts(lambda x: np.sin(x) + size * (x >= place))
    assert cut.below < place <= cut.above
    assert cut.above - cut.below <= 1e-15 * 5


@settings(max_examples=25, deadline=None, derandomize=True)
@given(PLACES, st.sampled_from([0.5, 1.0, 1.2]), st.booleans())
def test_kinks_and_cusps_are_cut(place, power, smooth_part):
    (cut,) = cuts(lambda x: np.abs(x - place) ** power + (np.cos(x) if smooth_part else 0.0))
    assert abs(cut.above - place) < 1e-7
    assert cut.below == cut.above


@settings(max_examples=25, deadline=None, derandomize=True)
@given(PLACES, st.floats(-6.5, 0))
def test_smooth_fronts_are_not(place, logarithm):
    width = 10.0**logarithm
    assert cuts(lambda x: np.tanh((x - place) / width)) == ()
    assert cuts(lambda x: np.exp(-(((x - place) / width) ** 2))) == ()


@pytest.mark.parametrize(
    "source",
    [
        np.sin,
        lambda x: np.sin(400 * x),
        lambda x: np.exp(5 * x),
        lambda x: 1 / (x + 2.001),
        lambda x: np.sqrt(x + 2),
        lambda x: np.abs(x - 0.3) ** 2.5,
    ],
)
def test_smooth_functions_are_left_whole(source):
    assert cuts(source) == ()


def test_several_functions_and_kinds_together_in_order():
    found = cuts(
        lambda x: np.abs(x - 2.5) + (x > 0.1),
        (lambda x: np.where(x < -1, 1.0, 2.0), lambda x: np.maximum(x, 1.7), -1.0),
    )
    assert [round(cut.above, 6) for cut in found] == [-1.0, 0.1, 1.7, 2.5]


def test_the_same_place_in_two_functions_is_cut_once():
    step = lambda x: np.where(x < 0.3, 1.0, 2.0)  # noqa: E731
    assert len(cuts(step, (step, 0.0, step))) == 1


def test_a_hundred_jumps():
    found = cuts(lambda x: np.sign(np.sin(20 * np.pi * x + 0.5)))
    assert len(found) == 100
    assert np.ptp(np.diff([cut.above for cut in found])) < 1e-12


@pytest.mark.parametrize("place", [-2.0, 3.0])
def test_nothing_is_cut_at_an_end(place):
    assert cuts(lambda x: np.where(x == place, 5.0, np.sin(x))) == ()
    assert cuts(lambda x: np.abs(x - place)) == ()


def test_a_jump_that_is_rounding_beside_the_rest_is_ignored():
    assert cuts(lambda x: 1e8 * x**2 + (x > 0.3)) == ()
