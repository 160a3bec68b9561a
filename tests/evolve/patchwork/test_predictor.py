"""What a step to come makes of a state on patches."""

import itertools

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.bases.patch import Patch
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.evolve.patchwork.cells import taken_to
from sharpfront.evolve.patchwork.predictor import PredictedState, present, velocity_field
from sharpfront.evolve.patchwork.row_points import PointsDuringStep, inner_places
from sharpfront.maps import AxisMap

ENDS = np.linspace(-1, 1, 6)
SIDES = [AxisMap(a, b) for a, b in itertools.pairwise(ENDS.tolist())]
BASIS = PatchworkBasis(tuple(Patch((x, y), (12, 12)) for x in SIDES for y in SIDES))
SCALE = np.ones(1)


def field_of(box, values):
    now = present(PointsDuringStep(inner_places(BASIS), None, np.zeros(1)), values)
    return velocity_field(now, box, SCALE)


def weights(state, rate):
    found = taken_to(BASIS.patches, lambda p: np.stack([state(*p.T), rate(*p.T)]))
    return found[:, None]


def pulse(x, y):
    return np.exp(-((x - 0.4) ** 2 + y**2) / 0.05)


def turning(x, y):
    """u_t of the pulse that is turned about the origin once in 2 pi."""
    return y * _slope(x, y, 0) - x * _slope(x, y, 1)


def _slope(x, y, axis):
    return -2 * (x - 0.4, y)[axis] / 0.05 * pulse(x, y)


def test_a_pulse_that_turns_is_foreseen():
    box = sf.Box((-1, 1), (-1, 1))
    values = weights(pulse, turning)
    field = field_of(box, values)
    points = 0.9 * box.sample(200)
    found = PredictedState(BASIS, None, 0.0, values, 0.3, field)(points)
    x, y = points.T
    for values, angle in zip(found, (0.0, 0.15, 0.3), strict=True):
        turned = np.cos(angle) * x + np.sin(angle) * y, np.cos(angle) * y - np.sin(angle) * x
        # It goes along tangents.
        np.testing.assert_allclose(values, pulse(*turned), atol=0.02 + 1.2 * angle**2)
    # By its rates alone it would not be there.
    alone = PredictedState(BASIS, None, 0.0, weights(pulse, turning), 0.3, None).later(points)[0]
    assert np.abs(alone - pulse(*turned)).max() > 2 * np.abs(found[2] - pulse(*turned)).max()


def test_what_fades_is_not_carried_along():
    box = sf.Box((-1, 1), (-1, 1))
    assert field_of(box, weights(pulse, lambda x, y: -pulse(x, y))) is None


@pytest.mark.parametrize("seams", [(), ("x",)])
def test_nothing_is_carried_through_sides_but_through_seams(seams):
    def wave(x, y):
        return np.sin(np.pi * x) + 0 * y

    box = sf.Box((-1, 1), (-1, 1), periodic=seams)
    values = weights(wave, lambda x, y: -np.pi * np.cos(np.pi * x) + 0 * y)
    field = field_of(box, values)
    if not seams:
        assert field is None
        return
    points = np.array([[-0.95, 0.2], [0.3, -0.4]])
    later = PredictedState(BASIS, None, 0.0, values, 0.25, field).later(points)[-1]
    np.testing.assert_allclose(later, wave(points[:, 0] - 0.25, 0), atol=1e-4)
