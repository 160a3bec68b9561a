"""Two runs side by side: when they are compared."""

import numpy as np

from sharpfront.evolve.rothe.evolve import moments_compared


def test_runs_are_not_compared_after_a_step_has_ended():
    """A start and a length add up to more than the end by a rounding."""
    starts, stops = np.sort(10.0 ** np.random.default_rng(4).uniform(-9, 0, (2, 400)), axis=0)
    beyond = starts + (stops - starts) > stops
    assert beyond.any()
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        for first in (False, True):
            stops = [0.5 * (start + stop), stop]
            moments = moments_compared(start, stop - start, stop, stops, first)
            assert start < moments[0] and moments[-1] <= stop
