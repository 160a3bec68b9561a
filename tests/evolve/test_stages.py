"""Stages by Newton's method: what it leaves is told, and first steps go along with fronts."""

import numpy as np
from tests.evolve.line_runs import shock

import sharpfront as sf
from sharpfront.evolve import march
from sharpfront.evolve.stages import solved_stages


def test_what_newton_leaves_is_told(monkeypatch):
    """Each step is solved on, to far below where it stopped: by how much do stages change?"""
    shares = []

    def solved_on(step, scale, unit, small):
        found = solved_stages(step, scale, unit, small)
        # What the embedded formula leaves is a view.
        found, kept = found._replace(start=found.start.copy()), step.values.copy()
        if found.factors is not None and solved_stages(step, scale, unit, 1e-3 * small).factors:
            nodes = slice(None, None, step.frame.tables.points)
            off = (np.abs(step.values - kept)[1:, nodes] / unit).max()
            shares.append(off / max(found.left, 1e-15))
        step.values[:] = kept
        return found

    monkeypatch.setattr(march, "solved_stages", solved_on)
    for nu in (1e-2, 3e-3, 1e-3, 1e-4, 1e-5):
        assert sf.solve(shock(nu, end=1.0), tol=1e-6).converged
    assert len(shares) > 20
    assert np.mean(np.array(shares) < 1.0) > 0.9 and max(shares) < 4.0


def test_a_first_step_is_as_long_as_a_front_lasts_not_as_it_takes_to_pass():
    first = sf.solve(shock(1e-4), tol=1e-4).history[0]
    # It passes a place in a thousandth of the span.
    assert first.dt > 0.01 * 0.5
