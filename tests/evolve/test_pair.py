"""Two runs side by side: when they are compared."""

import numpy as np

from sharpfront.evolve.pair import _moments
from sharpfront.pieces.slabs import Slab


def test_runs_are_not_compared_after_a_step_has_ended():
    """A start and a length add up to more than the end by a rounding."""
    starts, stops = np.sort(10.0 ** np.random.default_rng(4).uniform(-9, 0, (2, 400)), axis=0)
    beyond = starts + (stops - starts) > stops
    assert beyond.any()
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        slab = Slab(start, stop, frame=None)
        for first in (False, True):
            moments = _moments(slab, [0.5 * (start + stop), stop], first)
            assert start < moments[0] and moments[-1] <= stop
