"""Places that go along with a straight front, at the same shares of chords across it."""

import numpy as np
import pytest

from sharpfront.maps import Chords, FrontDrift, restored_drift

BOUNDS = np.array([[0.0, -1.0], [2.0, 0.0]])
ANGLES = [0.7, 1.3, 2.3, -2.5]


def drift_across(angle):
    chords = Chords(BOUNDS, np.array([np.cos(angle), np.sin(angle)]))
    low, high = chords.places[0], chords.places[-1]
    zone = 0.4 * high + 0.6 * low, 0.55 * high + 0.45 * low
    return FrontDrift(chords, (low, high), zone, 0.3 * (high - low))


def places(count=400):
    return BOUNDS[0] + (BOUNDS[1] - BOUNDS[0]) * np.random.default_rng(2).random((count, 2))


@pytest.mark.parametrize("angle", ANGLES)
def test_places_are_found_again_and_a_drift_is_read_again(angle):
    x, drift = places(), drift_across(angle)
    lapse = np.random.default_rng(3).uniform(0.0, drift.longest, len(x))
    moved = drift.points(x, lapse)
    np.testing.assert_allclose(drift.inverse(moved, lapse), x, atol=1e-12)
    again = restored_drift(drift.state())
    np.testing.assert_array_equal(again.points(x, lapse), moved)


@pytest.mark.parametrize("angle", ANGLES)
def test_about_a_front_all_places_go_alike_and_at_the_ends_none(angle):
    x, drift = places(), drift_across(angle)
    r = x @ drift.chords.normal
    gone = (drift.points(x, 0.2) - x) @ drift.chords.normal
    about = (r > drift.zone[0]) & (r < drift.zone[1])
    np.testing.assert_allclose(gone[about], 0.2 * drift.speed, atol=1e-13)
    ends = np.array([*drift.chords.ends[0], *drift.chords.ends[-1]])
    np.testing.assert_allclose(drift.points(ends, 0.2), ends, atol=1e-12)


@pytest.mark.parametrize("angle", ANGLES)
def test_places_on_walls_stay_on_them(angle):
    drift = drift_across(angle)
    share = np.linspace(0.01, 0.99, 200)
    for axis in range(2):
        for bound in BOUNDS[:, axis]:
            x = BOUNDS[0] + (BOUNDS[1] - BOUNDS[0]) * np.stack([share, share], axis=1)
            x[:, axis] = bound
            moved = drift.points(x, 0.9 * drift.longest)
            on_a_wall = np.abs(moved[:, None] - BOUNDS).min(axis=(1, 2))
            np.testing.assert_allclose(on_a_wall, 0.0, atol=1e-12)


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("orders", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (2, 0, 0), (1, 1, 0)])
def test_derivatives_are_those_of_a_function_that_is_moved(angle, orders):
    """u(x, t) = U(s(x, t), t) with U = sin(2 a + b) e^t: its derivatives by differences."""
    drift, t, h = drift_across(angle), 0.3, 1e-4
    s = places(300)

    def moved(x, t):
        a, b = drift.inverse(x, t).T
        return np.sin(2 * a + b) * np.exp(t)

    def known(a, b, k):
        phase = (2 * s[:, 0] + s[:, 1]) + 0.5 * np.pi * (a + b)
        return 2.0**a * np.sin(phase) * np.exp(t)

    x = drift.points(s, t)
    chain = drift.chain(s, np.full(len(s), t), orders)
    found = sum(c * known(*own) for own, c in chain.items())
    shifts = [np.array([h, 0, 0]), np.array([0, h, 0]), np.array([0, 0, h])]
    steps = [shifts[k] for k in range(3) for _ in range(orders[k])]
    total = np.zeros(len(s))
    for signs in np.ndindex(*[2] * len(steps)):
        way = sum((1 - 2 * sign) * step for sign, step in zip(signs, steps, strict=True))
        total += (-1) ** sum(signs) * moved(x + way[:2], t + way[2])
    expected = total / (2 * h) ** len(steps)
    # Ways turn at corners, and V bends at once where it begins to fall.
    off = np.abs(found - expected) / np.maximum(1.0, np.abs(expected))
    assert np.quantile(off, 0.9) < 1e-5


def test_chords_turn_at_corners_alone():
    chords = Chords(BOUNDS, np.array([0.6, 0.8]))
    assert len(chords.places) == 4
    assert chords.bend > 0.5
    (a, length), _ = chords.at(chords.places)
    np.testing.assert_allclose(length[[0, -1]], 0.0, atol=1e-12)
    first = np.array([own[0] for own in chords.ends])
    np.testing.assert_allclose(first @ chords.left, a, atol=1e-12)
