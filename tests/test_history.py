"""Records of steps survive being written down."""

import json
from dataclasses import fields, replace

import numpy as np
import pytest

from sharpfront.history import Known, Record, TimeStep, packed_record, unpacked_record
from sharpfront.mixture import Mixture

MIXTURE = Mixture(np.array([0.6, 0.4]), np.array([0.1, 0.7]), np.array([1e-4, 1e-6]))
STEP = TimeStep(
    3, 0.1 + 0.2, 1e-3 / 3, 40, 1.7e-7, 5, 0.25, Known(MIXTURE, np.array([0.5, -1 / 3]))
)
RECORD = Record(2, 31, 1e-5, 2e-6, 1e9, 30, 1, 0.1, MIXTURE)


@pytest.mark.parametrize("record", [STEP, RECORD], ids=["step", "record"])
def test_words_return_the_same_record(record):
    again = unpacked_record(json.loads(json.dumps(packed_record(record))))
    assert type(again) is type(record)
    for field in fields(record):
        if field.name not in ("mixture", "look"):
            value = getattr(record, field.name)
            assert np.array_equal(getattr(again, field.name), value), field.name
    for part in ("weights", "means", "covariances"):
        assert np.array_equal(getattr(again.mixture, part), getattr(record.mixture, part))
    if isinstance(record, TimeStep):
        assert np.array_equal(again.speeds, record.speeds)


@pytest.mark.parametrize(
    "record",
    [replace(STEP, look=Known(None, np.zeros(0))), replace(RECORD, mixture=None)],
    ids=["step", "record"],
)
def test_records_without_a_mixture(record):
    assert unpacked_record(packed_record(record)).mixture is None


def test_speeds_in_the_plane_keep_their_shape():
    step = replace(STEP, look=Known(MIXTURE, np.arange(4.0).reshape(2, 2)))
    assert unpacked_record(packed_record(step)).speeds.shape == (2, 2)


def test_components_are_looked_for_when_they_are_asked_for():
    looks = []

    def look():
        looks.append(1)
        return MIXTURE, np.zeros(2)

    step = replace(STEP, look=look)
    assert not looks
    assert step.mixture is MIXTURE and step.speeds.shape == (2,) and len(looks) == 1
