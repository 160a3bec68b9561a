"""Places of a box that go along."""

import numpy as np
import pytest

from sharpfront.maps import Drift, drift_tables, restored_drift

BOUNDS = np.array([[-1.0, 0.0], [1.0, 2.0]])
LAPSE = 0.3


def drawn(seams):
    return Drift(BOUNDS, seams, 0.1 * np.random.default_rng(7).normal(size=(10, 2)))


def places(count=40):
    inside = np.random.default_rng(1).uniform(0.1, 0.9, size=(count, 2))
    return BOUNDS[0] + inside * (BOUNDS[1] - BOUNDS[0])


every_kind = pytest.mark.parametrize("seams", [(False, False), (True, False), (True, True)])


@every_kind
def test_points_are_found_again(seams):
    drift, s = drawn(seams), places()
    np.testing.assert_allclose(drift.inverse(drift.points(s, LAPSE), LAPSE), s, atol=1e-13)


@every_kind
def test_a_drift_is_a_sum_of_its_polynomials_and_comes_back(seams):
    drift, s = drawn(seams), places()
    tables = drift_tables(s, BOUNDS, seams, 3)
    found = np.stack([t @ w for t, w in zip(tables, drift.weights.T, strict=True)], axis=1)
    np.testing.assert_allclose(drift.velocity(s), found, atol=1e-14)
    np.testing.assert_array_equal(restored_drift(drift.state()).velocity(s), drift.velocity(s))
    assert restored_drift([]) is None


def test_nothing_goes_through_walls_and_seams_fit():
    corner = np.array([[-1.0, 0.0], [1.0, 0.0], [-1.0, 2.0], [1.0, 2.0]])
    np.testing.assert_allclose(drawn((False, False)).velocity(corner), 0.0, atol=1e-14)
    low, high = drawn((True, False)).velocity(np.array([[-1.0, 0.7], [1.0, 0.7]]))
    np.testing.assert_allclose(low, high, atol=1e-14)


@every_kind
@pytest.mark.parametrize(
    "orders", [(1, 0, 0), (0, 2, 0), (1, 1, 0), (0, 0, 1), (0, 0, 2), (1, 0, 1)]
)
def test_the_chain_rule_holds_along_and_by_time(seams, orders):
    """Of exp(a x + b y + c t), whose derivatives along s come from differences."""
    drift, s = drawn(seams), places()
    rates = np.array([0.8, -0.6, 0.5])

    def moved(s, tau):
        x = s + tau * drift.velocity(s)
        return np.exp(np.column_stack([x, np.full(len(s), tau)]) @ rates)

    def differences(s, tau, along):
        if not any(along):
            return moved(s, tau)
        k = next(i for i in range(3) if along[i])
        less = tuple(n - (i == k) for i, n in enumerate(along))
        h = 4e-3
        near = [
            differences(s, tau + j * h, less)
            if k == 2
            else differences(s + j * h * np.eye(2)[k], tau, less)
            for j in (-2, -1, 1, 2)
        ]
        return (8 * (near[2] - near[1]) - (near[3] - near[0])) / (12 * h)

    chain = drift.chain(s, np.full(len(s), LAPSE), orders)
    found = sum(c * differences(s, LAPSE, along) for along, c in chain.items())
    true = np.prod(rates ** np.array(orders)) * moved(s, LAPSE)
    np.testing.assert_allclose(found, true, atol=2e-7)
