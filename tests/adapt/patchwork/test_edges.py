"""Functions of straight edges: what they are, where there are any, and what is solved with them."""

import numpy as np
import pytest
from scipy.special import iv

import sharpfront as sf
from sharpfront.adapt.patchwork.corner_enrichment import Wedges
from sharpfront.adapt.patchwork.edges import edge_functions
from sharpfront.bases.corner_functions import CornerFunctions, Term
from sharpfront.bases.edge_functions import EdgeFunctions, restored_edge
from sharpfront.bases.local_functions import HeldFunctions
from sharpfront.place.tiling.tiling import tiling_of

ALONG = 1.3
LOOP = ((2, 0, 0), (0, 2, 0), (0, 0, 2))


def prism(name="inner"):
    """Return an L times an interval; the two faces at its edge have a name."""
    return sf.Box((-1, 1), (-1, 1), (0, 1)) - sf.Box((0, 2), (-2, 0), (-1, 2)).named(name)


def polar(x, y):
    angle = np.arctan2(y, x)
    return np.hypot(x, y), np.where(angle < -1e-14, angle + 2 * np.pi, angle)


def poisson(solid, **conditions):
    return sf.Problem(solid, lambda u, x, y, z: -sf.laplacian(u) - 1, **conditions)


def functions(leading, most=5.0):
    bare = CornerFunctions((0.1, -0.2), (0.5, 0.5j), 5.0, (), np.zeros((0, 0), dtype=complex))
    return EdgeFunctions.of(bare, leading, 4.0, most, (1, -1.0, 2.0, 6))


@pytest.mark.parametrize("term", [Term(2 / 3, 0, False), Term(2.0, 0, True)])
def test_what_a_polynomial_along_the_edge_leaves_is_made_up_for(term):
    own = functions([(term, 1.0 + 0j)], 100.0)
    points = np.array([0.1, 0.5, 0.3]) + np.random.default_rng(0).uniform(-1, 1, (40, 3))
    left = sum(own.values(points, orders) for orders in LOOP)
    size = np.abs(own.values(points, (0, 2, 0))).max()
    assert np.abs(left).max() < 1e-10 * size
    # With no terms that are smoother something is left.
    bare = functions([(term, 1.0 + 0j)], 1.0)
    assert np.abs(sum(bare.values(points, orders) for orders in LOOP)).max() > 0.1 * size


def test_derivatives_and_what_is_saved():
    own = functions([(Term(2 / 3, 0, False), 1.0 + 0j), (Term(4 / 3, 0, False), 1.0j)])
    at, step = np.array([[0.5, 0.3, 0.4], [-0.3, 1.1, 0.2]]), 1e-6
    for axis in range(3):
        way = step * np.eye(3)[axis]
        orders = tuple(int(a == axis) for a in range(3))
        slope = (own.values(at + way, (0, 0, 0)) - own.values(at - way, (0, 0, 0))) / (2 * step)
        np.testing.assert_allclose(own.values(at, orders), slope, rtol=1e-6, atol=1e-8)
    again = restored_edge(own.state())
    np.testing.assert_array_equal(again.values(at, (1, 1, 0)), own.values(at, (1, 1, 0)))


def test_edges_that_end_inside_belong_to_the_boxes_beside_them():
    value = {"boundary": lambda u, x, y, z: u}
    solid = sf.Box((-1, 1), (-1, 1), (-1, 1)) - sf.Box((0, 2), (0, 2), (0, 2))
    found = edge_functions(poisson(solid, **value), tiling_of(solid), 1e-4)
    held = {own.place: own for own in found if isinstance(own, HeldFunctions)}
    # Three inner ones, six around the faces of what was left out, three that this has shortened.
    assert len(found) == 21 and len(held) == 12
    inner = held[0.5, 0.0, 0.0]
    assert inner.terms[0].order < 1 and len(inner.support) == 3
    beside, beyond = np.array([[0.5, -0.1, 0.1], [-0.5, -0.1, 0.1]])
    at = np.array([[0.0, -0.1, 0.1]])
    assert np.abs(inner.values(at, (0, 0, 0), beside[None])).max() > 0.01
    assert not inner.values(at, (0, 0, 0), beyond[None]).any()
    solid = prism()
    found = edge_functions(poisson(solid, **value), tiling_of(solid), 1e-4)
    (inner,) = [own for own in found if own.terms[0].order < 2]
    assert inner.place == (0.0, 0.0, 0.5) and isinstance(inner, EdgeFunctions)


def test_where_no_vertex_points_inwards_others_wait():
    solid, value = prism(), {"boundary": lambda u, x, y, z: u}
    (first,) = Wedges(poisson(solid, **value), tiling_of(solid), 1e-4).at_first
    assert first.place == (0.0, 0.0, 0.5)


def test_without_functions_of_vertices_only_edges_through_the_domain_have_some():
    solid = sf.Box((-1, 1), (-1, 1), (-1, 1)) - sf.Box((0, 2), (0, 2), (0, 2)).named("inner")
    given = {"boundary": lambda u, x, y, z: u, "inner": lambda u, x, y, z: u.dn}
    problem = poisson(solid, **given)
    assert not Wedges(problem, tiling_of(solid), 1e-4).at_first


@pytest.mark.parametrize("kind", ["value", "flux"])
def test_an_edge_that_points_inwards(kind):
    """I_a(k r) sin(a t) cos(k z) is harmonic; with cosines nothing flows through the faces."""
    solid = prism()
    wave = np.sin if kind == "value" else np.cos

    def exact(x, y, z):
        r, t = polar(x, y)
        return iv(2 / 3, ALONG * r) * wave(2 * t / 3) * np.cos(ALONG * z) + x * z

    given = sf.function(exact)
    inner = {
        "value": lambda u, x, y, z: u - x * z,
        "flux": lambda u, x, y, z: u.dn - sf.function(_flux)(x, y, z),
    }
    problem = sf.Problem(
        solid,
        lambda u, x, y, z: sf.laplacian(u),
        boundary=lambda u, x, y, z: u - given(x, y, z),
        inner=inner[kind],
    )
    solution = sf.solve(problem, tol=1e-4)
    assert solution.converged
    away, turn = np.geomspace(1e-6, 0.99, 15), np.linspace(1e-9, 1.5 * np.pi - 1e-9, 12)
    points = np.array(
        [(r * np.cos(t), r * np.sin(t), z) for r in away for t in turn for z in (0, 0.4)]
    )
    error = np.abs(solution(*points.T) - exact(*points.T)).max()
    assert error < 1e-4
    assert solution.error_estimate > 0.3 * error
    assert len(solution.approximation.bases["u"].patches) < 10


def _flux(x, y, z):
    """Return the normal slope of x z: on the face x = 0 outwards is +x, on y = 0 it has none."""
    return np.where(np.abs(x) < 1e-12, z, 0.0)
