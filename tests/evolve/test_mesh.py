"""Nodes that share what elements leave out evenly."""

import numpy as np
import pytest

from sharpfront.evolve.mesh import Mesher
from sharpfront.evolve.node_velocity import velocities
from sharpfront.pieces.elements import reference


@pytest.mark.parametrize("ring", [False, True], ids=["line", "circle"])
@pytest.mark.parametrize("decades", [0.0, 3.0, 12.0])
@pytest.mark.parametrize("seed", range(4))
def test_no_mesh_has_fewer_elements_than_the_fewest(ring, decades, seed):
    # A step goes on with its mesh where none of fewer elements can be had.
    rng = np.random.default_rng(seed)
    nodes = np.cumsum(np.append(0.0, 10.0 ** rng.uniform(-3, 0, 40)))
    rough = 10.0 ** (decades * rng.uniform(-1, 1, 40))
    mesher = Mesher(reference(2, 5), ring, np.zeros(0), 10**6)
    new = mesher.mesh(nodes, rough, 1e-12)
    fewest = mesher.fewest(nodes, rough, 1e-12)
    assert fewest <= len(new) - 1
    if not decades:
        assert fewest > 0.5 * len(new)


def test_nodes_for_which_a_step_is_cut_explain_more():
    """A wave that steepens as it goes: u_t + v u_x is small, but not everywhere."""
    tables = reference(2, 6)
    mesher = Mesher(tables, False, np.zeros(0), 1000)
    nodes = np.linspace(-4.0, 4.0, 41)
    frame = mesher.frame(nodes)
    values = mesher.interpolant(nodes, lambda x: np.exp(-(x**2))[:, None])
    rates = mesher.interpolant(
        nodes, lambda x: (2 * x * np.exp(-(x**2)) * (1 - 0.5 * np.tanh(x)))[:, None]
    )
    rates += 0.35 * values
    at = [velocities(mesher, frame, values, rates, np.ones(1), dt).any() for dt in (0.0, 1.0)]
    assert at == [True, False]
