"""Layers along closed surfaces with functions of their own: which have them, and solutions."""

import numpy as np
import pytest
from scipy.special import ive

import sharpfront as sf
from sharpfront.adapt.patchwork.adaptor import Patches
from sharpfront.adapt.patchwork.layer_tails import LayerTails
from sharpfront.maps import Shell
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.strips.shells import layers_along
from sharpfront.place.tiling.tiling import tiling_of

BALL = sf.Ball((0.1, -0.2, 0.3), 0.8)


def reacting(domain, width, reaction=lambda x: 1.0 + 0.0 * x):
    """Return a problem with a layer of a width."""
    return sf.Problem(
        domain,
        lambda u, x, y, z: -(width**2) * sf.laplacian(u) + reaction(x) * u - 1,
        boundary=lambda u, x, y, z: u,
    )


def along(problem, tol=1e-4):
    """Return the functions of a problem's layers."""
    return layers_along(problem, tiling_of(problem.domain), SETTINGS, tol)


def test_thin_layers_that_decay_everywhere_alike_have_functions():
    (layer,) = along(reacting(BALL, 1e-2))
    assert layer.width == pytest.approx(1e-2)


def test_both_layers_of_a_hollow_ball_have_functions_and_more_where_it_bends_more():
    outer, inner = along(reacting(BALL - sf.Ball((0.2, -0.2, 0.3), 0.3), 3e-2))
    assert len(inner.degrees) > len(outer.degrees)


@pytest.mark.parametrize(
    "problem",
    [
        reacting(BALL, 1e-2, lambda x: 1.0 + 0.5 * x),
        reacting(BALL, 0.08),
        reacting(sf.Box((0, 1), (0, 1), (0, 1)), 1e-2),
    ],
    ids=["rates vary", "no room", "no round surface"],
)
def test_others_have_none(problem):
    assert along(problem) == ()


def test_weights_that_do_not_fall_ask_for_shells():
    (layer,) = along(reacting(BALL, 1e-2))
    flat = LayerTails.of(layer, np.ones(layer.size))
    assert flat.grown(1e-4) is None
    degree, across = layer.owners
    falling = LayerTails.of(layer, np.exp(-1.5 * degree - 6.0 * across))
    assert falling.grown(1.0) is layer
    more = falling.grown(1e-8)
    assert more.degrees[0] > layer.degrees[0]
    state = Patches().start(reacting(BALL, 1e-2), 1e-2, 0, layered=False)
    assert any(isinstance(c.patch.chart, Shell) for c in state.cells)
    assert not state.layers


def test_what_is_left_where_functions_end_counts_more_than_once():
    """Of a ball with just room for its layer the error was five times that."""
    (layer,) = along(reacting(BALL, 3e-2), tol=1e-2)
    left = np.exp(-layer.beside.shells[0].depth / layer.width)
    first = np.eye(layer.size)[0]
    assert LayerTails.of(layer, first).cut_off > 5.0 * left > 0.0


def varying(width, robin):
    """Return a problem on a ball whose layer varies along the surface, and its solution."""
    (a, b, c), radius = BALL.centre, BALL.radius
    from_ends = radius * 1e-3 * width

    def radial(r):
        own = ive(2.5, r / width) / np.sqrt(np.maximum(r, 1e-9))
        edge = ive(2.5, radius / width) / np.sqrt(radius)
        return own / edge * np.exp((r - radius) / width)

    slope = (radial(radius + from_ends) - radial(radius - from_ends)) / (2.0 * from_ends)

    def exact(x, y, z):
        r = np.sqrt((x - a) ** 2 + (y - b) ** 2 + (z - c) ** 2)
        return np.exp(x) + radial(r) * (x - a) * (y - b) / np.maximum(r, 1e-9) ** 2

    def condition(u, x, y, z):
        way = (x - a) * (y - b) / radius**2
        if not robin:
            return u - np.exp(x) - way
        return (
            u / width
            + u.dn
            - np.exp(x) * (1 / width + (x - a) / radius)
            - (1 / width + slope) * way
        )

    def equation(u, x, y, z):
        return -(width**2) * sf.laplacian(u) + u - (1 - width**2) * np.exp(x)

    return sf.Problem(BALL, equation, boundary=condition), exact


@pytest.mark.parametrize(("width", "robin"), [(1e-2, False), (1e-3, True)])
def test_a_layer_that_varies_along_a_ball(width, robin, tmp_path):
    problem, exact = varying(width, robin)
    solution = sf.solve(problem, tol=1e-3)
    rng = np.random.default_rng(1)
    ways = rng.standard_normal((400, 3))
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    depths = np.concatenate([np.zeros(50), width * rng.exponential(2, 300), 0.8 * rng.random(50)])
    points = np.array(BALL.centre) + (BALL.radius - np.minimum(depths, 0.8))[:, None] * ways
    error = np.abs(solution(*points.T) - exact(*points.T)).max()
    assert solution.converged
    assert error < 1e-3 * np.exp(0.9)
    assert solution.error_estimate > 0.3 * error / np.exp(0.9)
    assert solution.kernels < 500
    again = sf.load(solution.save(tmp_path / "ball.npz"))
    np.testing.assert_allclose(again(*points.T), solution(*points.T), atol=1e-12)
