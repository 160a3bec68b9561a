"""Functions along an axis across a layer: what they hold, and that they are the same everywhere."""

import numpy as np
import pytest

from sharpfront.bases.axis_functions import (
    functions_at,
    functions_at_ends,
    functions_at_gauss,
    means_of,
    points_for,
)
from sharpfront.bases.legendre import gauss
from sharpfront.maps import AxisMap

ACROSS = AxisMap(0.0, 0.2, decays=20.0)


def held(side, count, values):
    """Return how much of a function of the place is left by the best sum of so many functions."""
    z, w = gauss(60)
    table = functions_at(side, z, count)[0]
    wanted = values(side.points(z))
    return np.abs(wanted - table @ (table.T @ (w * wanted))).max()


def test_a_layer_takes_a_few_functions_whatever_its_width():
    def layer(d):
        return np.exp(-d / 0.01) * np.cos(3 * d) + np.sin(2 * d)

    assert held(ACROSS, 10, layer) < 1e-7
    assert held(AxisMap(0.0, 0.2), 10, layer) > 1e-3


@pytest.mark.parametrize("decays", [0.0, 7.5, 25.0])
def test_functions_are_orthonormal_in_the_mean_and_those_of_fewer_come_first(decays):
    side = AxisMap(-1.0, 1.0, decays=decays)
    table = functions_at_gauss(side, 60, 11, 0)[0]
    np.testing.assert_allclose((table.T * gauss(60)[1]) @ table, np.eye(11), atol=1e-12)
    np.testing.assert_allclose(functions_at_gauss(side, 60, 6, 0)[0], table[:, :6], atol=1e-11)
    points = points_for(11, decays)
    own = means_of(points, 11, decays) @ functions_at_gauss(side, points, 11, 0)[0]
    np.testing.assert_allclose(own, np.eye(11), atol=1e-9)


def test_derivatives_are_those_of_the_functions():
    z, h = np.linspace(-0.9, 0.9, 7), 1e-4
    table = functions_at(ACROSS, z, 9, 2)
    ends = functions_at_ends(ACROSS, 9, 2)
    for k in (1, 2):
        above, below = (functions_at(ACROSS, z + s * h, 9, 1)[k - 1] for s in (1, -1))
        size = np.abs(table[k]).max()
        np.testing.assert_allclose((above - below) / (2 * h), table[k], atol=1e-4 * size)
    np.testing.assert_allclose(functions_at(ACROSS, np.array([-1.0, 1.0]), 9, 2), ends, atol=1e-8)
