"""Homogeneous functions about a vertex: what they are, their derivatives, and what is saved."""

import itertools

import numpy as np
import pytest

from sharpfront.adapt.patchwork.cones import functions_of
from sharpfront.bases.local_functions import HeldFunctions
from sharpfront.bases.serialisation import _restored_in_space
from sharpfront.bases.solid_harmonics import Fan
from sharpfront.bases.vertex_functions import VertexFunctions, restored_vertex

PLACE, UNIT = (0.2, -0.1, 0.3), 1.5
SECOND = ((2, 0, 0), (0, 2, 0), (0, 0, 2))
ONE_OUT = (True,) * 7 + (False,)
ONE_IN = (True,) + (False,) * 7


def functions(octants):
    fans, degrees, weights = functions_of(octants, 24.0, 2.2)
    ends = np.cumsum([len(fan.orders) for fan in fans])[:-1]
    return VertexFunctions(PLACE, UNIT, fans, degrees, tuple(np.split(weights, ends)))


def inside(octants, count=300):
    """Return points about the vertex in the octants."""
    x = np.random.default_rng(1).uniform(-1, 1, (count, 3))
    return PLACE + x[np.array(octants)[(x > 0) @ np.array([4, 2, 1])]]


@pytest.mark.parametrize("quadrants", [1, 3, 4])
def test_slopes_of_solid_harmonics(quadrants):
    fan, step = Fan(1, -1, 2, quadrants, 4.0), 1e-5
    x = np.random.default_rng(0).uniform(0.1, 0.6, (20, 2)) * [1, 1]
    points = (np.column_stack([x, np.ones(20)])) @ fan.frame
    first = {axis: tuple(int(a == axis) for a in range(3)) for axis in range(3)}
    for low, axis in itertools.product(((0, 0, 0), (1, 0, 0), (0, 1, 0)), range(3)):
        way = step * np.eye(3)[axis]
        ends = [next(fan.tables(points + s * way, low, (0.7,)))[0] for s in (1, -1)]
        orders = tuple(a + b for a, b in zip(low, first[axis], strict=True))
        found = next(fan.tables(points, orders, (0.7,)))[0]
        np.testing.assert_allclose(found, (ends[0] - ends[1]) / (2 * step), rtol=1e-6, atol=1e-7)
    ends = [next(fan.tables(points, (0, 1, 0), (0.7 + s * step,)))[0] for s in (1, -1)]
    slope = next(fan.tables(points, (0, 1, 0), (0.7,)))[1]
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / (2 * step), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("octants", [ONE_OUT, ONE_IN])
def test_they_are_harmonic_but_for_the_last_and_vanish_on_faces(octants):
    own, step = functions(octants), 1e-3
    points = inside(octants)
    left = sum(own.values(points, orders) for orders in SECOND)
    np.testing.assert_allclose(left[:, :-1], 0.0, atol=1e-9)
    np.testing.assert_allclose(left[:, -1], -1 / UNIT**2, atol=1e-9)
    np.testing.assert_allclose(left, np.tile(own.laplacians, (len(left), 1)), atol=1e-9)
    # By differences too, which go across from fan to fan.
    away = np.abs(points - PLACE).min(axis=1) > 0.1
    points = points[away]
    middle = own.values(points, (0, 0, 0))
    left = -6.0 * middle
    for way in step * np.concatenate([np.eye(3), -np.eye(3)]):
        left += own.values(points + way, (0, 0, 0))
    np.testing.assert_allclose(left[:, -1] / step**2, -1 / UNIT**2, atol=1e-3)
    np.testing.assert_allclose(left[:, :-1] / step**2, 0.0, atol=3e-2)
    for axis in range(3):
        on = inside(octants)
        on[:, axis] = PLACE[axis]
        x = on - PLACE
        sides = [np.where(x == 0, s * 1e-9, x) > 0 for s in (1, -1)]
        known = [np.array(octants)[side @ np.array([4, 2, 1])] for side in sides]
        face = known[0] != known[1]
        assert face.sum() > 20
        np.testing.assert_allclose(own.values(on[face], (0, 0, 0)), 0.0, atol=1e-12)


def test_degrees_of_a_cube_without_an_octant():
    """The first is known to ten digits; those of an octant are polynomials, and not asked for."""
    found = functions(ONE_OUT).degrees
    np.testing.assert_allclose(found[:3], [0.4541737, 1.2308703, 1.2308703], atol=3e-7)
    assert not len(functions(ONE_IN).degrees)
    flat = tuple(bool(x) for x in (1, 0, 1, 0, 1, 0, 0, 0))
    assert functions(flat).size == 1


def test_what_is_saved():
    own, points = functions(ONE_OUT), inside(ONE_OUT)
    again = restored_vertex(own.state())
    np.testing.assert_array_equal(again.values(points, (1, 0, 1)), own.values(points, (1, 0, 1)))
    assert again.terms == own.terms


def test_functions_of_some_boxes_are_zero_on_others_and_are_saved():
    boxes = np.array([[[-2.0, -2.0, -2.0], PLACE], [PLACE, [2.0, 2.0, 2.0]]])
    own = HeldFunctions(functions(ONE_IN), boxes)
    again = _restored_in_space(own.state())
    at = inside(ONE_IN)
    np.testing.assert_array_equal(own.values(at, (1, 0, 0)), own.functions.values(at, (1, 0, 0)))
    np.testing.assert_array_equal(again.values(at, (1, 0, 0)), own.values(at, (1, 0, 0)))
    # On a side of a box that has them they are looked at from within, or from outside.
    side, within, outside = (np.add(PLACE, [[x, -0.3, -0.2]]) for x in (0.0, -0.1, 0.1))
    assert own.values(side, (1, 0, 0), within).any()
    assert not own.values(side, (1, 0, 0), outside).any()
