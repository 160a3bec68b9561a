"""Looks at the data of many boxes at once are those at one after the other."""

import itertools

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.bases.patch import Patch
from sharpfront.maps import AxisMap
from sharpfront.place.patches.batched_probes import probe_together
from sharpfront.place.patches.data_probes import DataProbes, watched

SQUARE = sf.Box((0, 1), (0, 1))


def stated(equation):
    return sf.Problem(SQUARE, equation, boundary=lambda u, x, y: u)


PROBLEMS = {
    "spike": stated(lambda u, x, y: -sf.laplacian(u) - np.exp(-1e4 * ((x - 0.31) ** 2 + y**2))),
    "coefficients": stated(
        lambda u, x, y: -1e-3 * sf.laplacian(u) + np.tanh(50 * (x - 0.4)) * u.dx + y * u - 1
    ),
    "cube": sf.Problem(
        sf.Box((0, 1), (0, 1), (0, 1)),
        lambda u, x, y, z: -sf.laplacian(u) + (1 + x * z) * u - np.cos(9 * x * y),
        boundary=lambda u, x, y, z: u,
    ),
}


def boxes_of(dimension):
    """Boxes with thin ones among them, and two kinds of functions."""
    sides = [AxisMap(a, b) for a, b in itertools.pairwise([0.0, 0.02, 0.5, 1.0])]
    every = itertools.product(sides, repeat=dimension)
    return [Patch(maps, (5 + i % 2,) * dimension) for i, maps in enumerate(every)]


@pytest.mark.parametrize("name", PROBLEMS)
def test_looks_at_many_boxes_are_those_at_each(name):
    problem = PROBLEMS[name]
    patches = boxes_of(problem.domain.dimension)
    pole = (0.0,) * problem.domain.dimension
    together, alone = DataProbes(problem, [pole], 1e-6), DataProbes(problem, [pole], 1e-6)
    probe_together(together, patches)
    # At the pole one looks alone.
    assert len(together.taken) == len(patches) - 1
    assert any(look.seen for look in together.taken.values())
    for patch in patches:
        found, wanted = together(patch), alone(patch)
        np.testing.assert_array_equal(found.places, wanted.places)
        assert found.told == wanted.told
        assert len(found.seen) == len(wanted.seen)
        for one, other in zip(found.seen, wanted.seen, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)
        for one, other in zip(found.gaps, wanted.gaps, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-5 + 1e-9 * other.max())


@pytest.mark.parametrize(("width", "held"), [(0.5, True), (0.02, False)])
def test_parts_of_a_box_that_holds_all_data_are_not_looked_at(width, held):
    middle = 0.31  # none of the points of the whole box
    bump = sf.function(lambda x: np.exp(-(((x - middle) / width) ** 2)))
    problem = stated(lambda u, x, y: sf.laplacian(u) + 1e4 * u - 1e6 * bump(x))
    looks, whole = DataProbes(problem, (), 1e-6), Patch((AxisMap(0.0, 1.0),) * 2, (24, 24))
    looks.hold([whole])
    sides = AxisMap(0.0, 1.0).cut([0.25, 0.5, 0.75])
    parts = [Patch(maps, (24, 24)) for maps in itertools.product(sides, repeat=2)]
    poorer = [Patch(maps, (4, 4)) for maps in itertools.product(sides, repeat=2)]
    probe_together(looks, parts + poorer)
    assert [not looks(part).seen for part in parts] == [held] * 16
    assert all(looks(part).seen for part in poorer)


def test_places_in_tiny_boxes_are_inside():
    """At the corner (0.3, 0.4) of patches a source was asked for that is infinite there."""
    high = np.array([[0.3, 0.4]])
    low = high - np.array([[2.8e-10, 3.7e-10]])
    places = watched(low, high)[0]
    assert np.all((places > low) & (places < high))
