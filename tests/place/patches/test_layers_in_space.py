"""Layers beside the sides of a box in space: one strip each, with points denser at the wall."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt.patchwork.adaptor import Patches

WIDTH = 1e-2
CUBE = sf.Box((0, 1), (0, 1), (0, 1))


def layers(x, y, z):
    """Return e^-distance of all six sides, in units of the width."""
    every = [np.exp(-a / WIDTH) + np.exp(-(1 - a) / WIDTH) for a in (x, y, z)]
    return every[0] + every[1] + every[2]


def problem():
    return sf.Problem(
        CUBE,
        lambda u, x, y, z: -(WIDTH**2) * sf.laplacian(u) + u - 1,
        boundary=lambda u, x, y, z: u - 1 - layers(x, y, z),
    )


def test_a_layer_takes_one_strip_whose_points_are_denser_at_the_wall():
    cells = Patches().start(problem(), 1e-3, 0).cells
    assert len(cells) == 27
    for m in (m for cell in cells for m in cell.patch.maps):
        middle = float(m.points(np.zeros(1))[0])
        if m.low == 0.0:
            assert middle < 0.4 * m.high
        elif m.high == 1.0:
            assert 1.0 - middle < 0.4 * (1.0 - m.low)
        else:
            assert middle == pytest.approx(0.5)


@pytest.mark.slow
def test_layers_along_all_sides_of_a_cube():
    solution = sf.solve(problem(), tol=1e-3)
    assert solution.converged
    away = np.concatenate([[0.0], np.geomspace(1e-2 * WIDTH, 0.5, 9)])
    x, y, z = (a.ravel() for a in np.meshgrid(*[np.unique([*away, *(1 - away)])] * 3))
    exact = 1 + layers(x, y, z)
    assert np.abs(solution(x, y, z) - exact).max() < 1e-3 * exact.max()
