"""Radau's nodes and the polynomials on them."""

import numpy as np
import pytest

from sharpfront.bases.radau import (
    STAGES,
    all_nodes,
    diagonal,
    differentiation,
    extrapolated,
    interpolation,
    interpolation_rate,
    left_out,
    left_out_of_stages,
    legendre,
    off_at_start,
    stage_nodes,
    stage_rates,
    stage_weights,
    through_modes,
)

COUNTS = [1, 2, 3, 5]


def butcher(stages):
    """Return A of the method: the inverse of the differentiation between the stages."""
    return np.linalg.inv(differentiation(stages)[1:, 1:])


@pytest.mark.parametrize("stages", COUNTS)
def test_nodes_end_with_one_and_integrate_to_twice_their_number(stages):
    nodes = stage_nodes(stages)
    assert nodes[-1] == 1.0 and nodes[0] > 0 and np.all(np.diff(nodes) > 0)
    assert len(nodes) == stages and all_nodes(stages)[0] == 0.0
    weights = butcher(stages)[-1]
    for power in range(2 * stages - 1):
        assert np.isclose(weights @ nodes**power, 1 / (power + 1), rtol=1e-12)
    assert not np.isclose(weights @ nodes ** (2 * stages - 1), 1 / (2 * stages), rtol=1e-9)


def test_three_stages_are_those_of_the_books():
    root = np.sqrt(6)
    assert np.allclose(stage_nodes(3), [(4 - root) / 10, (4 + root) / 10, 1])
    assert np.allclose(butcher(3)[-1], [(16 - root) / 36, (16 + root) / 36, 1 / 9])


@pytest.mark.parametrize("stages", COUNTS)
def test_polynomials_are_interpolated_and_differentiated_exactly(stages):
    nodes = all_nodes(stages)
    random = np.random.default_rng(stages)
    p = np.polynomial.Polynomial(random.normal(size=stages + 1))
    s = np.linspace(-0.2, 1.7, 23)
    assert np.allclose(interpolation(s, stages) @ p(nodes), p(s), rtol=1e-9, atol=1e-11)
    assert np.allclose(interpolation_rate(s, stages) @ p(nodes), p.deriv()(s), atol=1e-9)
    assert np.allclose(differentiation(stages) @ p(nodes), p.deriv()(nodes), atol=1e-10)
    assert np.allclose(interpolation(nodes, stages), np.eye(stages + 1), atol=1e-12)


def test_legendre_coefficients():
    s = 2 * all_nodes() - 1
    found = legendre() @ np.polynomial.legendre.legval(s, [0.3, -1.0, 0.0, 2.0, 0.0, 0.25])
    assert len(found) == STAGES + 1
    assert np.allclose(found, [0.3, -1.0, 0.0, 2.0, 0.0, 0.25], atol=1e-13)


@pytest.mark.parametrize("length", [0.3, 1.0])
def test_stages_tell_what_is_left_out_whatever_the_beginning(length):
    values = np.exp(-4.0 * length * all_nodes())
    s = np.linspace(0, 1, 101)
    true = np.abs(interpolation(s) @ values - np.exp(-4.0 * length * s)).max()
    for found in (left_out(values), left_out_of_stages(values)):
        assert 0.3 * true < found < 30 * true
    values[0] += 1e-2
    assert left_out(values) > 1e-3
    assert left_out_of_stages(values) < 30 * true


def test_what_a_beginning_is_off_by_is_all_that_it_leaves():
    p = np.polynomial.Polynomial([0.3, -1.0, 0.7, 2.0, -0.4])
    values, s = np.stack([p(all_nodes()), -p(all_nodes())], axis=1), np.linspace(0, 1, 101)
    assert off_at_start(values) < 1e-12
    values[0, 1] += 1e-3
    assert off_at_start(values) == pytest.approx(1e-3)
    worst = np.abs(interpolation(s) @ values - np.stack([p(s), -p(s)], axis=1)).max()
    assert worst == pytest.approx(1e-3)
    # Where hardly anything else changes, coefficients count it several times.
    assert left_out(1e-3 * np.eye(STAGES + 1, 1)) > 4e-3


@pytest.mark.parametrize("stages", [5, 7])
def test_a_last_coefficient_that_happens_to_vanish_does_not_hide_the_next(stages):
    s, found = np.linspace(0, 1, 101), []
    for middle in np.linspace(0.0, 2.0, 41):

        def bell(s, middle=middle):
            return np.exp(-((0.5 * s - middle) ** 2))

        values = bell(all_nodes(stages))
        true = np.abs(interpolation(s, stages) @ values - bell(s)).max()
        found.append(left_out(values) / true)
    assert min(found) > 0.7 and max(found) < 100


def march(stages, steps, rate=-2.0 + 3.0j):
    """Return the error of u' = rate u over [0, 1] by the method."""
    h = 1.0 / steps
    u = np.ones(1, dtype=complex)
    d = differentiation(stages) / h
    for _ in range(steps):
        level = np.linalg.solve(d[1:, 1:] - rate * np.eye(stages), -d[1:, 0] * u)
        u = level[-1]
    return abs(np.ravel(u)[0] - np.exp(rate))


@pytest.mark.parametrize(("stages", "steps"), [(1, 64), (2, 16), (3, 6), (5, 2)])
def test_order_is_twice_the_stages_less_one(stages, steps):
    order = np.log2(march(stages, steps) / march(stages, 2 * steps))
    assert abs(order - (2 * stages - 1)) < 0.35


@pytest.mark.parametrize("stages", COUNTS)
def test_stiff_parts_die_in_one_step(stages):
    assert march(stages, 1, rate=-1e8) < 1e-6


def test_stages_are_a_rule_of_quadrature():
    for power in range(2 * STAGES - 1):
        np.testing.assert_allclose(stage_weights() @ stage_nodes() ** power, 1 / (power + 1))


def test_rates_of_stages_are_those_of_their_polynomials():
    values = np.random.default_rng(0).standard_normal((STAGES + 1, 2, 3))
    expected = np.tensordot(differentiation()[1:] / 0.3, values, axes=1)
    np.testing.assert_allclose(stage_rates(values[0], values[1:], 0.3), expected, atol=1e-11)


def test_modes_solve_what_the_stages_do_together():
    """u' + K u = data at the stages, from zero: a system of three for each mode, or one of all."""
    draw = np.random.default_rng(1)
    stiffness, data = draw.standard_normal((3, 3)), draw.standard_normal((STAGES, 3))

    def solve(mode, row):
        value = diagonal().values[mode]
        shift = value if mode else value.real
        return np.linalg.solve(shift * np.eye(3) + stiffness, row[0])[None]

    together = np.kron(diagonal().inverse, np.eye(3)) + np.kron(np.eye(STAGES), stiffness)
    expected = np.linalg.solve(together, data.ravel()).reshape(STAGES, 3)
    np.testing.assert_allclose(through_modes(data, solve), expected, atol=1e-11)


@pytest.mark.parametrize("longer", [2.0, 4.0])
def test_noise_is_not_carried_beyond_a_slab(longer):
    stages, rng = 7, np.random.default_rng(2)
    s = 1.0 + longer * stage_nodes(stages)

    def of(t):
        return np.exp(0.1 * t)[:, None] * [1.0, 2.0]

    values = of(all_nodes(stages))
    noisy = values + 1e-8 * rng.standard_normal(values.shape)
    plain = np.abs(interpolation(s, stages) @ noisy - of(s)).max()
    found = np.abs(extrapolated(noisy, s) - of(s)).max()
    assert np.abs(extrapolated(values, s) - of(s)).max() < 1e-6
    assert found < 0.1 * plain


def test_what_grows_is_carried_beyond_a_slab():
    """Nothing is left out of a series that falls."""
    s = 1.0 + stage_nodes()
    values = np.exp(1.0 * all_nodes())[:, None]
    assert np.allclose(extrapolated(values, s), interpolation(s) @ values, rtol=1e-12)
