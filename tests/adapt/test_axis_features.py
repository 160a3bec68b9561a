"""Layers along the axes are found before the first kernel, and nothing else is."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt import axis_features as module
from sharpfront.adapt.axis_features import discover
from sharpfront.errors import LinearSystemError
from sharpfront.estimate.weak import UnsuitableError
from sharpfront.geometry import Box

SQUARE = Box((0, 1), (0, 1))
FLOWS = {"right": (1, 0), "left": (-1, 0), "top": (0, 1), "bottom": (0, -1)}


def zero(u, x, y):
    return u


def blown(eps, side, domain=SQUARE):
    """A flow against one side, where a layer of width eps stands."""
    bx, by = FLOWS[side]
    return sf.Problem(
        domain,
        lambda u, x, y: -eps * sf.laplacian(u) + bx * u.dx + by * u.dy - 1,
        boundary=zero,
    )


def mass_near(mixture, place, reach):
    """The mixture's mass within `reach` of a place."""
    low, high = place - reach, place + reach
    return float(mixture.mass(low, high))


def narrowest(mixture):
    """Mean and deviation of the heaviest component."""
    k = int(np.argmax(mixture.weights))
    return float(mixture.means[k, 0]), float(np.sqrt(mixture.covariances[k, 0, 0]))


@pytest.mark.parametrize(
    ("eps", "side"),
    [*((1e-4, side) for side in FLOWS), (1e-2, "bottom"), (1e-3, "left"), (1e-6, "right")],
)
def test_a_layer_along_a_side_is_found_within_its_width(eps, side):
    found = discover(blown(eps, side), 4)
    axis = 0 if side in ("left", "right") else 1
    place = 1.0 if side in ("right", "top") else 0.0
    mean, deviation = narrowest(found.mixtures[axis])
    assert abs(mean - place) < eps
    assert 0.2 * eps < deviation < 1.5 * eps
    assert mass_near(found.mixtures[axis], place, 20 * eps) > 0.4
    assert found.jump < 1.1 * module.JUMP[2]


def test_layers_along_two_opposite_sides():
    """-eps u'' + u = 1 with u = 0: width 1e-3 at all four sides."""
    problem = sf.Problem(SQUARE, lambda u, x, y: -1e-6 * sf.laplacian(u) + u - 1, boundary=zero)
    for mixture in discover(problem, 4).mixtures:
        for place in (0.0, 1.0):
            # Half of a component at an end lies outside.
            assert mass_near(mixture, place, 2e-2) > 0.3


@pytest.mark.parametrize("width", [1e-2, 1e-3, 1e-4])
def test_a_front_inside_is_found_where_the_flow_meets(width):
    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: -(width**2) * sf.laplacian(u) - (x - 0.3) * u.dx,
        left=lambda u, x, y: u + 1 + 0.1 * y,
        right=lambda u, x, y: u - 1 - 0.1 * y,
        bottom=lambda u, x, y: u.dn,
        top=lambda u, x, y: u.dn,
    )
    mean, deviation = narrowest(discover(problem, 4).mixtures[0])
    assert abs(mean - 0.3) < width
    assert 0.5 * width < deviation < 2 * width


def test_a_peak_of_the_source_is_found_along_both_axes():
    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: (
            -sf.laplacian(u) - 1e4 * np.exp(-(((x - 0.37) / 0.01) ** 2) - ((y - 0.6) / 0.02) ** 2)
        ),
        boundary=zero,
    )
    found = discover(problem, 4)
    for mixture, place, width in zip(found.mixtures, (0.37, 0.6), (0.01, 0.02), strict=True):
        mean, deviation = narrowest(mixture)
        assert abs(mean - place) < width
        assert 0.3 * width < deviation < 2 * width


def test_a_steep_coefficient_is_followed():
    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: -sf.laplacian(u) + 50 * (1 + np.tanh((y - 0.8) / 5e-3)) * u - 1,
        boundary=zero,
    )
    found = discover(problem, 4)
    mean, _ = narrowest(found.mixtures[1])
    assert abs(mean - 0.8) < 5e-3
    assert found.mixtures[0] is None


def test_the_box_may_have_any_place_and_size():
    domain = Box((-3, 5), (100, 100.5))
    found = discover(blown(1e-3, "right", domain), 4)
    mean, deviation = narrowest(found.mixtures[0])
    assert abs(mean - 5) < 1e-3
    assert deviation < 2e-3


SMOOTH = {
    "poisson": (lambda u, x, y: -sf.laplacian(u) - np.sin(3 * x) * y, lambda u, x, y: u - x * y),
    "mild flow": (lambda u, x, y: -sf.laplacian(u) + u.dx + 5 * u - 1, zero),
    "constant": (lambda u, x, y: -sf.laplacian(u), lambda u, x, y: u - 3),
    "zero": (lambda u, x, y: -sf.laplacian(u), zero),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_nothing_is_found_where_nothing_is_narrow(name):
    equation, condition = SMOOTH[name]
    found = discover(sf.Problem(SQUARE, equation, boundary=condition), 4)
    assert found.mixtures == (None, None)
    if name not in ("constant", "zero"):
        assert found.jump < 0.1


def test_an_axis_along_which_nothing_varies_stays_even():
    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: -1e-4 * sf.laplacian(u) - (x - 0.3) * u.dx,
        left=lambda u, x, y: u + 1,
        right=lambda u, x, y: u - 1,
        bottom=lambda u, x, y: u.dn,
        top=lambda u, x, y: u.dn,
    )
    found = discover(problem, 4)
    assert found.mixtures[0] is not None
    assert found.mixtures[1] is None


def test_a_layer_in_space():
    problem = sf.Problem(
        Box((0, 1), (0, 1), (0, 2)),
        lambda u, x, y, z: -1e-2 * sf.laplacian(u) + u.dz,
        bottom=lambda u, x, y, z: u.dn,
        top=lambda u, x, y, z: u.dn,
        left=lambda u, x, y, z: u.dn,
        right=lambda u, x, y, z: u.dn,
        back=zero_in_space,
        front=lambda u, x, y, z: u - 1 - 0.1 * np.cos(x) * np.cos(y),
    )
    mean, deviation = narrowest(discover(problem, 3).mixtures[2])
    assert abs(mean - 2) < 1e-2
    assert deviation < 2e-2


def zero_in_space(u, x, y, z):
    return u


# --- shapes -----------------------------------------------------------------------------------


def test_a_front_across_a_disk():
    problem = sf.Problem(
        sf.Disk((0, 0), 1),
        lambda u, x, y: -sf.laplacian(u) + u / 1e-4 - np.tanh((x - 0.2) / 0.01) / 1e-4,
        boundary=lambda u, x, y: u - np.tanh((x - 0.2) / 0.01),
    )
    mean, deviation = narrowest(discover(problem, 4).mixtures[0])
    assert abs(mean - 0.2) < 0.01
    assert deviation < 0.03


@pytest.mark.parametrize("eps", [1e-3])
def test_a_layer_along_a_side_of_an_l(eps):
    domain = sf.Polygon(((0, 0), (1, 0), (1, 0.5), (0.5, 0.5), (0.5, 1), (0, 1)))
    problem = sf.Problem(
        domain,
        lambda u, x, y: -eps * sf.laplacian(u) - u.dx,
        boundary=lambda u, x, y: u - np.exp(-x / eps),
    )
    found = discover(problem, 4)
    near = [
        (float(m[0]), float(np.sqrt(c[0, 0])))
        for m, c in zip(found.mixtures[0].means, found.mixtures[0].covariances, strict=True)
        if m[0] < 2 * eps
    ]
    assert near
    assert min(deviation for _, deviation in near) < 1.5 * eps
    assert mass_near(found.mixtures[0], 0.0, 20 * eps) > 0.2


def test_nothing_is_found_in_a_smooth_disk():
    problem = sf.Problem(sf.Disk((0, 0), 1), lambda u, x, y: -sf.laplacian(u) - 1, boundary=zero)
    assert discover(problem, 4).mixtures == (None, None)


# --- the rest ---------------------------------------------------------------------------------


def test_no_more_components_than_asked_for():
    found = discover(blown(1e-3, "right"), 2)
    assert all(m is None or len(m.weights) <= 2 for m in found.mixtures)


def test_nodes_and_values_belong_together():
    found = discover(blown(1e-2, "right"), 4)
    points = found.elements.mesh.points
    assert found.values.shape == (len(points),)
    x, y = points.T
    middle = np.abs(y - 0.5) < 0.1
    # Away from the sides u = x - exp((x - 1)/eps) up to the spread of the layers at the sides.
    exact = x - np.exp((x - 1) / 1e-2)
    assert np.abs(found.values - exact)[middle & (x < 0.9)].max() < 0.12


@pytest.mark.parametrize(
    "problem",
    [
        sf.Problem(Box(*[(0, 1)] * 4), lambda u, *x: sf.laplacian(u), boundary=lambda u, *x: u),
        sf.Problem(SQUARE, lambda u, x, y: u.dx + u.dy, left=zero, bottom=zero),
        sf.Problem(
            SQUARE,
            lambda u, x, y: sf.laplacian(sf.laplacian(u)),
            boundary=lambda u, x, y: (u, u.dn),
        ),
        sf.Problem(
            SQUARE,
            lambda u, v, x, y: (sf.laplacian(u) - v, sf.laplacian(v) - u),
            boundary=lambda u, v, x, y: (u, v),
        ),
    ],
    ids=["four dimensions", "first order", "fourth order", "system"],
)
def test_what_elements_cannot_do_is_said(problem):
    with pytest.raises(UnsuitableError):
        discover(problem, 4)


def test_a_singular_problem_is_said():
    problem = sf.Problem(SQUARE, lambda u, x, y: sf.laplacian(u), boundary=lambda u, x, y: u.dn)
    try:
        found = discover(problem, 4)
    except LinearSystemError:
        return
    assert found.elements.singular_measure() < 1e-3


def test_empty_bins_take_what_their_neighbours_have():
    edges = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    got = module._binned(np.array([0.5, 0.6, 3.5]), np.array([1.0, 4.0, 1.0]), edges)
    np.testing.assert_allclose(got, [4.0, 3.0, 2.0, 1.0])


@pytest.mark.parametrize("cells", [10, 72])
def test_nodes_follow_a_monitor_and_leave_some_everywhere(cells):
    nodes = np.linspace(2, 4, 41)
    monitor = np.zeros(40)
    monitor[-1] = 1.0
    out = module._equidistributed(nodes, monitor, cells)
    assert (out[0], out[-1]) == (2.0, 4.0)
    assert np.all(np.diff(out) > 0)
    assert np.diff(out).max() < 2 / (0.25 * cells)
    assert np.mean(out > 3.8) > 0.4
    even = module._equidistributed(nodes, None, cells)
    np.testing.assert_allclose(even, np.linspace(2, 4, cells + 1), atol=0.02)
