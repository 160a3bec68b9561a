import functools

import numpy as np
import pytest
from scipy.spatial import cKDTree

from sharpfront.adapt.spread import place
from sharpfront.errors import DomainError
from sharpfront.geometry import Ball, Box
from sharpfront.pieces.embedding import Embedding, Front

SQUARE = Box((0, 1), (0, 1))


def line(width, dimension=2):
    """A straight oblique front through the middle."""
    normal = np.ones(dimension) / np.sqrt(dimension)
    return Embedding(
        (
            Front(
                means=np.full((1, dimension), 0.5),
                offsets=np.zeros(1),
                slopes=normal[None] / width,
                curvatures=np.zeros((1, dimension, dimension)),
                lengths=np.ones(1),
                shares=np.ones(1),
                amplitude=0.4,
            ),
        )
    )


@functools.cache
def spread(count=600, seed=0):
    return place(line(0.02), SQUARE, count, seed)


def gaps(embedding, points):
    lifted = embedding(points)
    return cKDTree(lifted).query(lifted, k=2)[0][:, 1]


def test_as_many_nodes_as_asked_for_with_those_inside_first():
    here = spread()
    inside = SQUARE.contains(here.nodes)
    assert len(here.nodes) == 600
    assert inside[: here.kernels].all() and not inside[here.kernels :].any()
    assert 0.6 < here.kernels / 600 < 0.95


def test_nodes_are_evenly_spread_on_the_surface():
    here = spread()
    distance = gaps(line(0.02), here.nodes) / here.spacing
    assert distance.min() > 0.4
    assert distance.max() < 1.5


def test_nodes_crowd_at_the_front():
    middle = np.abs((spread().nodes - 0.5).sum(axis=1)) / np.sqrt(2)
    near = np.mean(middle < 0.04)
    # A twentieth of the square lies there.
    assert near > 0.25


def test_no_point_of_the_domain_is_far_from_a_node():
    here = spread()
    embedding = line(0.02)
    everywhere = np.random.default_rng(0).random((20_000, 2))
    distance = cKDTree(embedding(here.nodes)).query(embedding(everywhere))[0]
    assert distance.max() < 1.2 * here.spacing


def test_ghosts_stay_within_the_margin():
    here = spread()
    ghosts = here.nodes[here.kernels :]
    beyond = np.maximum(-ghosts, ghosts - 1).max(axis=1)
    assert 1.2 * here.spacing < beyond.max() < 2.6 * here.spacing


def test_rows_lie_in_the_domain_and_outnumber_the_kernels():
    here = spread()
    assert SQUARE.contains(here.rows).all()
    assert 1.9 < len(here.rows) / here.kernels < 2.5


def test_edges_are_on_the_boundary_from_corner_to_corner_and_dense_at_the_front():
    here = spread()
    assert set(here.edges) == {"left", "right", "bottom", "top"}
    left = here.edges["left"].points
    assert np.all(left[:, 0] == 0)
    assert here.edges["left"].normals == pytest.approx(np.tile([-1.0, 0.0], (len(left), 1)))
    y = np.sort(left[:, 1])
    assert y[0] < 0.002 and y[-1] > 0.998
    # The front leaves the square in its upper left corner.
    assert np.diff(y)[-5:].max() < np.diff(y)[:5].min() / 3


def test_edge_rows_are_evenly_spread_on_the_surface():
    here = spread()
    left = here.edges["left"].points
    order = np.argsort(left[:, 1])
    steps = np.linalg.norm(np.diff(line(0.02)(left[order]), axis=0), axis=1)
    assert steps.max() < 1.3 * steps.mean()


def test_the_same_seed_gives_the_same_places_and_another_others():
    again = place(line(0.02), SQUARE, 600, 0)
    assert np.array_equal(again.nodes, spread().nodes)
    assert np.array_equal(again.rows, spread().rows)
    assert not np.array_equal(spread(seed=1).nodes, again.nodes)


def test_a_round_domain_has_nodes_and_ghosts():
    disk = Ball((0.5, 0.5), 0.5)
    here = place(line(0.02), disk, 400)
    radius = np.linalg.norm(here.nodes - 0.5, axis=1)
    assert np.all(radius[: here.kernels] <= 0.5)
    assert 0.5 < radius[here.kernels :].max() < 0.5 + 2.6 * here.spacing
    assert disk.contains(here.rows).all()


def test_three_dimensions():
    cube = Box((0, 1), (0, 1), (0, 1))
    here = place(line(0.05, 3), cube, 500)
    assert here.nodes.shape == (500, 3)
    assert cube.contains(here.rows).all()
    distance = gaps(line(0.05, 3), here.nodes) / here.spacing
    assert distance.min() > 0.3


def test_a_thin_front_does_not_slip_through_the_first_boxes():
    here = place(line(1e-5), SQUARE, 600)
    across = np.abs((here.nodes - 0.5).sum(axis=1)) / np.sqrt(2)
    assert np.mean(across < 1e-4) > 0.15


def test_no_nodes_are_refused():
    with pytest.raises(DomainError, match="Cannot spread 0 nodes"):
        place(line(0.02), SQUARE, 0)


def test_ghosts_beside_a_front_along_the_boundary_are_as_close_as_the_front_is_thin():
    width = 0.005
    front = line(width).fronts[0]
    upright = Front(
        np.array([[1.0, 0.5]]),
        front.offsets,
        np.array([[1.0, 0.0]]) / width,
        front.curvatures,
        front.lengths,
        front.shares,
        front.amplitude,
    )
    here = place(Embedding((upright,)), SQUARE, 600)
    ghosts = here.nodes[here.kernels :]
    right = ghosts[(ghosts[:, 0] > 1) & (ghosts[:, 1] > 0) & (ghosts[:, 1] < 1)]
    left = ghosts[(ghosts[:, 0] < 0) & (ghosts[:, 1] > 0) & (ghosts[:, 1] < 1)]
    assert len(right) and right[:, 0].max() - 1 < 0.25 * -left[:, 0].min()
