"""Changes of sign between two places are closed in on."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sharpfront.arrays import FloatArray
from sharpfront.trust.unseen_boundary_data import PARTS_AT_ONCE, closed_in


@pytest.mark.parametrize("count", [1, 7, PARTS_AT_ONCE // 2, PARTS_AT_ONCE + 1])
def test_a_change_of_sign_is_found_to_rounding_for_few_brackets_and_for_many(count: int) -> None:
    zeros = np.linspace(0.1, 0.9, count) ** 2
    start, end = np.zeros(count), np.ones(count)

    def signs(x: FloatArray) -> FloatArray:
        return np.sign(x - np.resize(zeros, len(x)))

    low, high = closed_in(signs, start, end, 50)
    assert np.all((low <= zeros) & (zeros <= high))
    assert np.max(high - low) < 3e-15


def test_the_end_of_a_bracket_may_be_where_the_sign_changes() -> None:
    low, high = closed_in(lambda x: np.where(x < 1.0, -1.0, 1.0), np.zeros(2), np.ones(2), 40)
    assert np.all(high == 1.0)
    assert np.all(low < 1.0)
    assert np.all(low > 1.0 - 1e-11)


def test_few_brackets_take_few_evaluations() -> None:
    asked: list[int] = []

    def signs(x: FloatArray) -> FloatArray:
        asked.append(len(x))
        return np.sign(x - 0.3)

    closed_in(signs, np.zeros(3), np.ones(3), 48)
    assert len(asked) == 1 + math.ceil(48 / int(np.log2(PARTS_AT_ONCE / 3)))


def test_places_in_space_are_closed_in_on_along_their_lines() -> None:
    start, end = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[1.0, 2.0], [0.0, 0.0]])
    low, high = closed_in(lambda x: np.sign(x[:, 0] - 0.25), start, end, 50)
    np.testing.assert_allclose(0.5 * (low + high), [[0.25, 0.5], [0.25, 0.0]], atol=1e-14)
