"""Functions of layers along closed surfaces: derivatives, where they end, files."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.bases.layer_functions import LayerFunctions, SurfaceCollar, restored_layer
from sharpfront.bases.star_charts import shell_of
from sharpfront.bases.surface_harmonics import SurfaceHarmonics
from sharpfront.geometry.star_surface import squares_of
from sharpfront.place.tiling.tiling import tiling_of

WIDTH, DEPTH = 0.05, 0.3


@pytest.fixture(scope="module")
def egg():
    """Return functions of a layer along an ellipsoid."""
    solid = sf.Implicit(
        lambda x, y, z: x**2 + (y / 0.8) ** 2 + (z / 0.9) ** 2 - 1, ((-1.2, 1.2),) * 3
    )
    (surface,) = tiling_of(solid).blocks[0].region.surfaces
    return LayerFunctions(
        SurfaceCollar([shell_of(square, DEPTH) for square in squares_of(surface)]), WIDTH, (4, 2, 1)
    )


def test_harmonics_are_orthonormal_and_their_second_derivatives_are_those_of_their_slopes():
    at = np.random.default_rng(0).standard_normal((6, 3))
    own = SurfaceHarmonics(at, 7)
    for a in range(3):
        step = 1e-5 * np.eye(3)[a]
        either = SurfaceHarmonics(at + step, 7), SurfaceHarmonics(at - step, 7)
        slope = (either[0].values - either[1].values) / 2e-5
        np.testing.assert_allclose(own.slopes[a], slope, atol=1e-6)
        for b in range(3):
            bend = (either[0].slopes[b] - either[1].slopes[b]) / 2e-5
            np.testing.assert_allclose(own.bend(a, b), bend, atol=1e-5)
    z, w = np.polynomial.legendre.leggauss(8)
    turn = 2 * np.pi * np.arange(16) / 16
    s = np.sqrt(1 - z**2)
    on = np.stack([np.outer(s, np.cos(turn)), np.outer(s, np.sin(turn)), np.outer(z, turn**0)], -1)
    table = SurfaceHarmonics(on.reshape(-1, 3), 7).values
    shares = np.repeat(w, 16) / 32
    np.testing.assert_allclose((table.T * shares) @ table, np.eye(64), atol=1e-12)


def test_derivatives_are_those_of_the_values(egg):
    near = egg.sample(1, 3)
    points = near[egg.beside.near(near).distance > 1e-3]
    scale = np.abs(egg.values(points, (2, 0, 0))).max()
    for a in range(3):
        step = 1e-5 * np.eye(3)[a]
        for lower in ((0, 0, 0), (0, 1, 0)):
            orders = tuple(int(k == a) + lower[k] for k in range(3))
            slope = (egg.values(points + step, lower) - egg.values(points - step, lower)) / 2e-5
            np.testing.assert_allclose(egg.values(points, orders), slope, atol=1e-6 * scale)


def test_the_first_decays_with_the_distance_and_ends_with_the_shells(egg):
    tip = np.array([[1.0, 0.0, 0.0]])
    depths = np.array([0.0, 0.05, 0.2, 0.31])
    values = egg.values(tip - depths[:, None] * tip, (0, 0, 0))[:, 0]
    np.testing.assert_allclose(values[:3], np.exp(-depths[:3] / WIDTH), atol=1e-12)
    assert values[3] == 0.0


def test_they_come_back_from_files(egg):
    again = restored_layer(egg.state())
    points = egg.sample(2, 3)
    np.testing.assert_array_equal(again.values(points, (1, 0, 1)), egg.values(points, (1, 0, 1)))
    assert again.degrees == egg.degrees
