"""Functions looked at closely, where they jump and where they bend."""

import numpy as np

from sharpfront.place.line.sampling import FIRST_LOOK, sampled


def test_cells_are_halved_for_bends_as_often_as_is_said_and_for_jumps_to_the_end():
    def kink_and_jump(x):
        return np.stack([np.abs(x - 0.3001), np.where(x > 0.7001, 1.0, 0.0)])

    even = 1.0 / (FIRST_LOOK - 1)
    for bends, least, most in ((3, even / 9, even / 7), (40, 0.0, 1e-12)):
        x, _ = sampled(kink_and_jump, 0.0, 1.0, bends=bends)
        at_kink, at_jump = (np.diff(x)[np.abs(x[:-1] - c) < even].min() for c in (0.3001, 0.7001))
        assert least < at_kink < most and at_jump < 1e-12
