"""Functions on nodes that move, at any place."""

import numpy as np
import pytest

from sharpfront.evolve.mesh import Mesher
from sharpfront.pieces.elements import reference
from sharpfront.pieces.frame import Frame


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("derivative", [0, 1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_sums_are_those_of_the_functions(order, derivative, seed):
    rng = np.random.default_rng(seed)
    tables = reference(order, order + 2 + seed)
    own = rng.normal(size=(tables.size, 1 + seed, 7))
    e, s = rng.integers(0, 7, 40), rng.random(40)
    found = tables.sums(tables.powers(own, derivative), e, s)
    expected = np.einsum("nl,lkn->kn", tables.table(s, derivative), own[:, :, e])
    assert np.allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("ring", [False, True], ids=["line", "circle"])
@pytest.mark.parametrize("seed", range(4))
def test_places_are_found_at_every_moment(ring, seed):
    rng = np.random.default_rng(seed)
    nodes = np.cumsum(np.append(rng.normal(), rng.uniform(0.01, 1.0, 9)))
    velocities = rng.uniform(-1e-3, 1e-3, 10)
    velocities[-1] = velocities[0] = rng.normal() if ring else 0.0
    frame = Frame(reference(2, 5), nodes, velocities, ring)
    at = nodes + np.array([[0.0], [1.0], [2.5]]) * velocities
    x = rng.uniform(at[:, :1], at[:, -1:], (3, 50))
    x[:, 0] = at[:, 0]
    if not ring:
        x[:, -1] = at[:, -1]
    e, s = frame.located(at, x)
    moment, own = np.divmod(e, frame.elements)
    assert np.array_equal(moment, np.repeat([[0], [1], [2]], 50, axis=1))
    assert s.min() >= 0.0 and s.max() <= 1.0 + 1e-12
    begin, end = (np.take_along_axis(at, own + i, axis=1) for i in (0, 1))
    assert np.allclose(begin + s * (end - begin), x, rtol=0, atol=1e-12)


@pytest.mark.parametrize("ring", [False, True], ids=["line", "circle"])
@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("speeds", [(0.3, -0.2), (0.3, 0.0), (0.0, 0.0)])
def test_functions_are_carried_into_another_frame(ring, order, speeds):
    tables, later = reference(order, order + 4), np.array([-0.3, 0.0, 0.4])

    def frame(elements, bend, speed):
        even = np.linspace(0.0, 2.0, elements + 1)
        wave = np.sin(np.pi * even)
        return Frame(tables, even + bend * wave, speed * wave + 0.2 * ring * bool(speed), ring)

    def of(x, t):
        return np.stack([np.sin(np.pi * (x - t)), np.exp(np.cos(np.pi * (x + t)))], axis=1)

    here, there = frame(40, 0.05, speeds[0]), frame(31, -0.1, speeds[1])
    mesher = Mesher(tables, ring, np.zeros(0), 1000)
    states = [mesher.interpolant(here.at(t).nodes, lambda x, t=t: of(x, t)) for t in later]
    found = here.carried(there, later, np.stack(states))
    x = np.linspace(0.01, 1.99, 200)
    for t, values in zip(later, found, strict=True):
        assert np.abs(there.at(t).evaluate(values, x) - of(x, t)).max() < 1e-6


@pytest.mark.parametrize("ring", [False, True], ids=["line", "circle"])
@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("speed", [0.0, 0.3])
def test_rates_at_rest_are_those_of_places(ring, order, speed):
    tables, even = reference(order, order + 4), np.linspace(0.0, 2.0, 41)
    wave = np.sin(np.pi * even)
    frame = Frame(tables, even + 0.05 * wave, speed * (wave + ring), ring)
    mesher = Mesher(tables, ring, np.zeros(0), 1000)

    def at(t):
        return mesher.interpolant(
            frame.at(t).nodes, lambda x: np.sin(np.pi * (x - t))[:, None] * [1.0, -2.0]
        )

    rates = (at(1e-4) - at(-1e-4)) / 2e-4
    x = np.linspace(0.01, 1.99, 200)
    found = frame.summed(frame.rates_at_rest(at(0.0), rates), x)
    assert np.abs(found + np.pi * np.cos(np.pi * x)[:, None] * [1.0, -2.0]).max() < 1e-5
