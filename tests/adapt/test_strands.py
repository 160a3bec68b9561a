import numpy as np
import pytest

from sharpfront.adapt.levels import _columns, level_front, unevenness
from sharpfront.adapt.strands import Samples, joined, strands
from sharpfront.pieces.embedding import Front


def band(middle, angle, length=0.3, thin=0.01, count=400, seed=0):
    """Samples of a straight front through a point, with its normal."""
    rng = np.random.default_rng(seed)
    normal = np.array([np.cos(angle), np.sin(angle)])
    along = np.array([-normal[1], normal[0]])
    points = middle + np.outer(rng.uniform(-length, length, count), along)
    points = points + np.outer(thin * rng.normal(size=count), normal)
    return points, np.tile(normal, (count, 1))


def together(*bands, blur=0.0):
    """All samples, and shares that give each to its own band but for a part `blur`."""
    points, normals = (np.concatenate(parts) for parts in zip(*bands, strict=True))
    own = np.repeat(np.eye(len(bands)), [len(b[0]) for b in bands], axis=0)
    shares = (1 - blur) * own + blur / len(bands)
    count = len(points)
    return Samples(points, normals, np.ones(count), np.full(count, 1e-3)), shares


def test_strands_in_one_line_are_one_front():
    samples, shares = together(band([0.3, 0.5], np.pi / 2), band([0.7, 0.5], np.pi / 2), blur=0.1)
    group, shares = strands(samples, shares)
    labels, signs, broken = joined(group, samples, shares)
    assert labels.tolist() == [0, 0] and signs.tolist() == [1, 1] and broken == 0


def test_a_front_whose_jump_changes_sign_is_still_one():
    samples, shares = together(band([0.3, 0.5], np.pi / 2), band([0.7, 0.5], -np.pi / 2), blur=0.1)
    group, shares = strands(samples, shares)
    labels, signs, _ = joined(group, samples, shares)
    assert labels.tolist() == [0, 0]
    assert signs[0] == -signs[1]


def test_strands_that_cross_are_two_fronts():
    samples, shares = together(band([0.5, 0.5], 0.0), band([0.5, 0.5], 1.0), blur=0.02)
    labels, _, broken = joined(*_grouped(samples, shares))
    assert labels.tolist() == [0, 1]
    assert broken == 0


def test_opposite_strands_side_by_side_are_two_fronts():
    samples, shares = together(
        band([0.5, 0.48], np.pi / 2), band([0.5, 0.52], -np.pi / 2), blur=0.02
    )
    assert joined(*_grouped(samples, shares)).labels.tolist() == [0, 1]


def test_strands_that_should_continue_each_other_and_do_not_are_broken():
    samples, shares = together(band([0.3, 0.5], np.pi / 2), band([0.7, 0.6], np.pi / 2), blur=0.1)
    labels, _, broken = joined(*_grouped(samples, shares))
    assert labels.tolist() == [0, 1]
    assert broken == pytest.approx(1)


def _grouped(samples, shares):
    group, shares = strands(samples, shares)
    return group, samples, shares


def test_a_strand_whose_normals_point_both_ways_has_one_normal():
    points, normals = band([0.5, 0.5], np.pi / 2)
    normals[::2] *= -1
    samples = Samples(points, normals, np.ones(len(points)), np.full(len(points), 1e-3))
    group, shares = strands(samples, np.ones((len(points), 1)))
    assert np.abs(group.normals[0]) == pytest.approx([0, 1], abs=1e-2)
    front = level_front(group, np.ones(1), samples, shares, 0.4)
    # The width to resolve is 2.2 standard deviations.
    above = front.level(np.array([[0.5, 0.522]])) - front.level(np.array([[0.5, 0.5]]))
    assert np.abs(above) == pytest.approx(1, rel=0.1)


def test_a_component_with_few_samples_is_no_strand():
    samples, shares = together(band([0.3, 0.5], 0.3), band([0.7, 0.5], 0.3, count=5))
    group, kept = strands(samples, shares)
    assert len(group.thin) == 1 and kept.shape[1] == 1
    assert strands(samples, shares[:, 1:])[0] is None


def test_a_level_beside_its_samples_is_uneven():
    samples, shares = together(band([0.5, 0.5], np.pi / 2))
    group, shares = strands(samples, shares)
    front = level_front(group, np.ones(1), samples, shares, 0.4)
    assert unevenness(front, group, samples, shares) < 0.05
    beside = Front(
        front.means + np.array([0, 0.02]),
        front.offsets,
        front.slopes,
        front.curvatures,
        front.lengths,
        front.shares,
        front.amplitude,
    )
    assert unevenness(beside, group, samples, shares) > 0.5


def test_columns_of_the_fit_have_the_gradients_that_differences_show():
    rng = np.random.default_rng(4)
    front = Front(
        rng.random((3, 2)),
        np.zeros(3),
        np.ones((3, 2)),
        np.zeros((3, 2, 2)),
        0.3 + rng.random(3),
        0.5 + rng.random(3),
        1.0,
    )
    points, step = rng.random((6, 2)), 1e-6
    slopes = _columns(front, points)[1]
    for axis in range(2):
        move = step * np.eye(2)[axis]
        high, low = _columns(front, points + move)[0], _columns(front, points - move)[0]
        assert slopes[:, :, axis] == pytest.approx((high - low) / (2 * step), abs=1e-6)
