"""Records of steps survive being written down."""

import json

import numpy as np
import pytest

from sharpfront.history import Record, TimeStep, packed_record, unpacked_record
from sharpfront.mixture import Mixture

MIXTURE = Mixture(np.array([0.6, 0.4]), np.array([0.1, 0.7]), np.array([1e-4, 1e-6]))
STEP = TimeStep(3, 0.1 + 0.2, 1e-3 / 3, 40, 1.7e-7, 5, 0.25, MIXTURE, np.array([0.5, -1 / 3]))
RECORD = Record(2, 31, 1e-5, 2e-6, 1e9, 30, 1, 0.1, MIXTURE)


@pytest.mark.parametrize("record", [STEP, RECORD], ids=["step", "record"])
def test_words_return_the_same_record(record):
    again = unpacked_record(json.loads(json.dumps(packed_record(record))))
    assert type(again) is type(record)
    for name, value in vars(record).items():
        if name == "mixture":
            for part in ("weights", "means", "covariances"):
                assert np.array_equal(getattr(again.mixture, part), getattr(value, part))
        else:
            assert np.array_equal(getattr(again, name), value), name


@pytest.mark.parametrize("record", [STEP, RECORD], ids=["step", "record"])
def test_records_without_a_mixture(record):
    bare = type(record)(**vars(record) | {"mixture": None})
    assert unpacked_record(packed_record(bare)).mixture is None


def test_speeds_in_the_plane_keep_their_shape():
    step = TimeStep(**vars(STEP) | {"speeds": np.arange(4.0).reshape(2, 2)})
    assert unpacked_record(packed_record(step)).speeds.shape == (2, 2)
