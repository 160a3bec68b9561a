"""Patches for the next step."""

from types import SimpleNamespace

import numpy as np

from sharpfront.bases.radau import STAGES, stage_nodes
from sharpfront.evolve.patchwork.factors import with_rates
from sharpfront.evolve.patchwork.remeshing import mean_rates


def test_what_stages_are_off_by_is_not_followed():
    dt, start = 1e-2, np.zeros((2, 1, 50))
    drawn = np.random.default_rng(3).standard_normal((STAGES, 1, 50))
    true = 2.0 * np.ones((1, 50))
    stages = dt * stage_nodes()[:, None, None] * true + 1e-4 * drawn
    rates = with_rates(start, stages, dt)[1][-1]
    values = np.concatenate([start[:1], stages])
    state = SimpleNamespace(values=np.stack([stages[-1], rates]), before=(values, dt))
    off = np.abs(mean_rates(state) - true).max()
    assert off < 1.1e-4 / dt * np.abs(drawn[-1]).max()
    # Rates at the end of the step count it several times.
    assert off < 0.2 * np.abs(rates - true).max()
    at_start = SimpleNamespace(values=state.values, before=None)
    np.testing.assert_array_equal(mean_rates(at_start), rates)
