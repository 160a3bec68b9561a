"""Faces of many patches as arrays, against every pair of patches looked at alone."""

import itertools

import numpy as np
import pytest

from sharpfront.bases.boxes import Boxes, distinct
from sharpfront.bases.patch import Patch
from sharpfront.bases.total_degree import products
from sharpfront.maps import AxisMap
from sharpfront.rows.faces import Contact
from sharpfront.rows.neighbours import faces_of
from sharpfront.rows.side_quadrature import graded_rule


def drawn_patches(seed, dimension, splits):
    """Return patches of the unit box, split at random, so that faces hang."""
    rng = np.random.default_rng(seed)
    boxes = [((0.0, 1.0),) * dimension]
    for _ in range(splits):
        box = boxes.pop(int(rng.integers(len(boxes))))
        halves = [
            [(a, (a + b) / 2), ((a + b) / 2, b)] if rng.random() < 0.6 else [(a, b)] for a, b in box
        ]
        boxes += itertools.product(*halves)
    return [
        Patch(tuple(AxisMap(*side) for side in box), tuple(rng.integers(3, 7, dimension).tolist()))
        for box in boxes
    ]


def one_by_one(patches, periods):
    """Return the pairs that meet, axis by axis and in the order of the places where they do."""
    out = []
    for axis, period in enumerate(periods):
        ends = {}
        for i, patch in enumerate(patches):
            ends.setdefault(patch.high[axis], []).append(i)
        met = [(place, place) for place in ends]
        met += [(1.0, 0.0)] if period is not None else []
        for place, begin in met:
            for i, j in itertools.product(ends[place], range(len(patches))):
                rest = [a for a in range(len(periods)) if a != axis]
                low = np.maximum(patches[i].low, patches[j].low)[rest]
                high = np.minimum(patches[i].high, patches[j].high)[rest]
                if patches[j].low[axis] == begin and np.all(high > low):
                    out.append((i, j, axis, tuple(low), tuple(high)))
    return out


@pytest.mark.parametrize("seed", range(12))
def test_faces_of_drawn_patches_are_those_of_all_pairs(seed):
    dimension = 1 + seed % 3
    patches = drawn_patches(seed, dimension, 4 + 3 * seed)
    periods = [1.0 if (seed >> a) % 2 else None for a in range(dimension)]
    faces, sides = faces_of(patches, periods)
    assert [
        (f.below.patch, f.above.patch, f.below.axis, f.below.low, f.below.high) for f in faces
    ] == one_by_one(patches, periods)
    assert list(faces) == [faces[k] for k in range(len(faces))] == faces[:]
    assert all(f.above.axis == f.below.axis and f.above.low == f.below.low for f in faces)
    covered = {(c.patch, c.axis, c.end) for f in faces for c in f.contacts}
    every = itertools.product(range(len(patches)), range(dimension), range(2))
    assert [(s.patch, s.axis, s.end) for s in sides] == [e for e in every if e not in covered]


def test_boxes_say_what_patches_are():
    patches = [*drawn_patches(7, 2, 9), Patch((AxisMap(0.0, 2.0, 3.0), AxisMap(1.0, 2.0)), (4, 5))]
    boxes = Boxes.of(patches)
    for i, patch in enumerate(patches):
        np.testing.assert_array_equal(boxes.low[i], patch.low)
        np.testing.assert_array_equal(boxes.sides[i], patch.sides)
        np.testing.assert_array_equal(boxes.middles[i], patch.points([np.zeros(1)] * 2)[0])
        assert tuple(boxes.functions[i].tolist()) == patch.functions
        assert [boxes.kinds[k] for k in boxes.maps[i]] == [*patch.maps]
    assert boxes.uneven.sum() == 1
    assert boxes.shapes == len({p.shape for p in patches})


def test_distinct_rows_are_those_of_numpy():
    rows = np.random.default_rng(2).integers(0, 3, (200, 3))
    wanted, first, kind = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    found = distinct(rows)
    np.testing.assert_array_equal(rows[found[0]], wanted)
    np.testing.assert_array_equal(found[0], first)
    np.testing.assert_array_equal(found[1], kind.ravel())


def test_moments_of_what_is_singular_at_a_corner_of_a_face():
    """(x y)^(2/3) and its mean with Legendre polynomials, on a face of two by one."""
    patch = Patch((AxisMap(0.0, 2.0), AxisMap(0.0, 1.0), AxisMap(0.0, 1.0)), (9, 9, 9))
    positions, mean = graded_rule(patch, Contact(0, 2, 1, (0.0, 0.0), (2.0, 1.0)), (7, 7))
    assert np.all(positions[:, 2] == 1.0)
    found = mean @ (0.5 * positions[:, 0] * positions[:, 1]) ** (2 / 3)
    t, w = np.polynomial.legendre.leggauss(40)
    x = (0.5 * (1.0 + t)) ** 3
    values = np.polynomial.legendre.legvander(2 * x - 1, 6) * np.sqrt(2 * np.arange(7) + 1)
    along = values.T @ (1.5 * w * (0.5 * (1.0 + t)) ** 2 * x ** (2 / 3))
    i, j = products((7, 7), True)
    np.testing.assert_allclose(found, along[i] * along[j], rtol=0, atol=1e-8)
