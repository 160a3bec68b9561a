"""One table of maps against what every map of a cell into space has to be.

A new map joins by one line in CHARTS, or IN_SPACE: an example of it. A map has `size`, `points`,
`inverse`, `edge` and `taylor` (see `sharpfront.maps`); the chain rule asks for nothing else. A map
of one axis joins by one in AXES; it has `low`, `high`, `points`, `inverse` and `slopes`.
"""

import functools
import itertools
import math

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.bases.star_charts import shell_of
from sharpfront.geometry.star_surface import squares_of
from sharpfront.geometry.surfaces import surfaces_of
from sharpfront.maps import AxisMap, Quadrilateral, Strip, chain, mixture_axis, pulled_back
from sharpfront.mixture import Mixture

# A circle of radius 0.8 about (0.3, -0.2) over one radian, its points and normals as polynomials.
NODES = np.cos(np.pi * (np.arange(24) + 0.5) / 24)
ARC = np.stack([np.cos(0.5 * NODES), np.sin(0.5 * NODES)], axis=1)


def _weights(values):
    table = np.polynomial.chebyshev.chebvander(NODES, len(NODES) - 1)
    return np.linalg.solve(table, values)


CHARTS = {
    "square": Quadrilateral(((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))),
    "quadrilateral": Quadrilateral(((0.1, 0.0), (1.2, 0.3), (0.9, 1.1), (0.0, 0.8))),
    "strip": Strip(_weights(0.8 * ARC + [0.3, -0.2]), _weights(ARC), 0.8, 0.1),
    "thin strip": Strip(_weights(0.8 * ARC + [0.3, -0.2]), _weights(ARC), 0.8, 1e-6),
}


def _shell():
    ball = sf.Ball((0.2, 0.1, -0.3), 0.7)
    (surface,) = surfaces_of({"surface": ball.smooth_pieces("surface")})
    return shell_of(squares_of(surface)[5], 0.1)


# Made when they are asked for, since surfaces take longer than curves.
IN_SPACE = {"shell": functools.cache(_shell)}
ALL = pytest.mark.parametrize("chart", [*CHARTS, *IN_SPACE], indirect=True)
EVERY = pytest.mark.parametrize("chart", CHARTS, indirect=True)


@pytest.fixture
def chart(request):
    name = request.param
    return IN_SPACE[name]() if name in IN_SPACE else CHARTS[name]


def places(chart, count=60):
    return np.random.default_rng(3).random((count, len(chart.size))) * chart.size


@ALL
def test_positions_come_back_from_their_points(chart):
    at = places(chart)
    back = chart.inverse(chart.points(at))
    # A thin cell is known to the rounding of its place in space.
    np.testing.assert_allclose(back, at, atol=1e-14 + 1e-10 * chart.size.min())


@ALL
def test_points_far_outside_are_outside(chart):
    away = chart.inverse(chart.points(places(chart)) + 10.0)
    assert (np.any((away < 0) | (away > chart.size), axis=1)).all()


@EVERY
def test_edges_are_where_points_are(chart):
    for axis, end in itertools.product((0, 1), (0, 1)):
        ends = np.zeros((2, 2))
        ends[1, 1 - axis] = chart.size[1 - axis]
        ends[:, axis] = end * chart.size[axis]
        np.testing.assert_allclose(chart.points(ends), chart.edge(axis, end), atol=1e-12)


@ALL
def test_derivatives_of_points_are_those_claimed(chart):
    """Points near a place are the Taylor polynomial that `taylor` gives."""
    at = 0.25 * chart.size + 0.5 * places(chart, 20)
    jets = chart.taylor(at)
    step = 0.02 * chart.size * np.random.default_rng(5).uniform(-1, 1, at.shape)
    expected = chart.points(at)
    for orders, value in jets.items():
        factor = math.prod(math.factorial(k) for k in orders)
        expected = expected + value * np.prod(step**orders, axis=1)[:, None] / factor
    found = chart.points(at + step)
    # The next derivatives of these maps, of order five and in space three, times steps of 0.02.
    left_out = 1e-10 if len(chart.size) == 2 else 1e-5
    np.testing.assert_allclose(found, expected, atol=left_out)
    moved = np.abs(found - chart.points(at)).max()
    assert moved > 1e-3, "nothing moved, so nothing was seen"


@EVERY
def test_the_chain_rule_gives_derivatives_in_space(chart):
    """u = (x + 2y)^2 along the chart's coordinates, against its Laplacian and u_xy in space."""
    at = places(chart, 30)
    jets = chart.taylor(at)
    one = np.ones(len(at))
    x = chart.points(at)
    inner = x @ [1.0, 2.0]
    weights = pulled_back(jets, {(2, 0): one, (0, 2): one, (1, 1): 3.0 * one, (1, 0): -one})
    # Derivatives of u along s by the product rule: (w^2)' with w = x + 2y and its jets.
    w = {orders: value @ [1.0, 2.0] for orders, value in jets.items()}
    w[0, 0] = inner
    zero = np.zeros(len(at))
    along = {
        (0, 0): inner**2,
        (1, 0): 2 * inner * w[1, 0],
        (0, 1): 2 * inner * w[0, 1],
        (2, 0): 2 * w[1, 0] ** 2 + 2 * inner * w.get((2, 0), zero),
        (0, 2): 2 * w[0, 1] ** 2 + 2 * inner * w.get((0, 2), zero),
        (1, 1): 2 * w[1, 0] * w[0, 1] + 2 * inner * w.get((1, 1), zero),
    }
    found = sum(weights[orders] * along[orders] for orders in weights)
    # lap u = 10, u_xy = 4, u_x = 2 (x + 2y); terms as large as 1 / depth^2 cancel in thin cells.
    expected = 10.0 + 3 * 4.0 - 2 * inner
    terms = max(np.abs(weights[orders] * along[orders]).max() for orders in weights)
    np.testing.assert_allclose(found, expected, atol=1e-13 * terms + 1e-11)


AXES = {
    "even": AxisMap(-0.5, 2.0),
    "crowded at the low end": AxisMap(-0.5, 2.0, 4.0),
    "crowded at the high end": AxisMap(-0.5, 2.0, -4.0),
    "a mixture's, without components": mixture_axis(-0.5, 2.0),
    "a mixture's, of a front and a layer": mixture_axis(
        -0.5, 2.0, Mixture(np.array([0.4, 0.6]), np.array([0.3, 2.0]), np.array([0.04, 0.01]) ** 2)
    ),
}
ALONG = pytest.mark.parametrize("axis", AXES.values(), ids=AXES)
Z = np.linspace(-0.99, 0.99, 67)


@ALONG
def test_positions_along_an_axis_come_back(axis):
    np.testing.assert_allclose(axis.points(np.array([-1.0, 1.0])), [axis.low, axis.high])
    np.testing.assert_allclose(axis.inverse(np.array([axis.low, axis.high])), [-1.0, 1.0])
    np.testing.assert_allclose(axis.inverse(axis.points(Z)), Z, atol=1e-13)
    assert np.all(np.diff(axis.points(Z)) > 0)
    assert axis.length == 2.5


@ALONG
def test_slopes_of_an_axis_are_those_of_its_positions(axis):
    """Each of them against differences of the one before."""
    x, h = axis.points(Z), 1e-6
    rows = [axis.inverse(x), *axis.slopes(Z, 4)]
    for k in range(4):
        ahead, behind = (
            axis.slopes(axis.inverse(x + s * h), k)[-1] if k else axis.inverse(x + s * h)
            for s in (1, -1)
        )
        scale = np.abs(rows[k + 1]).max() + 1e-9 * np.abs(rows[k]).max() / h
        np.testing.assert_allclose((ahead - behind) / (2 * h), rows[k + 1], atol=1e-6 * scale)


@ALONG
def test_the_chain_rule_along_an_axis(axis):
    """u = z^3 in the cell: u'' + 2 u' along x against differences of u at positions."""
    x, h = axis.points(Z), 1e-3 * (1.0 - np.abs(Z)) / axis.slopes(Z, 1)[0]
    around = [axis.inverse(x + s * h) ** 3 for s in (-1, 0, 1)]
    expected = (around[2] - 2 * around[1] + around[0]) / h**2 + (around[2] - around[0]) / h
    weights = chain(axis.slopes(Z, 2), np.array([0.0, 2.0, 1.0])[:, None] + 0 * Z)
    found = weights[1] * 3 * Z**2 + weights[2] * 6 * Z
    np.testing.assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())
