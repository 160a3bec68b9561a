"""Stages by Newton's method: what it leaves is told, where tries begin, how first steps are cut."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from tests.evolve.line_runs import shock

import sharpfront as sf
from sharpfront.catalog import listing
from sharpfront.evolve import line_steps, remeshing
from sharpfront.evolve.anderson_mixing import Mixer
from sharpfront.evolve.radau_step import Factors
from sharpfront.evolve.remeshing import refined
from sharpfront.evolve.settings import LINE_MARCH
from sharpfront.evolve.stages import guessed, solved_stages


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

    monkeypatch.setattr(line_steps, "solved_stages", solved_on)
    for nu in (1e-2, 3e-3, 1e-3, 1e-4, 1e-5):
        assert sf.solve(shock(nu, end=1.0), tol=1e-6).converged
    assert len(shares) > 20
    assert np.mean(np.array(shares) < 1.0) > 0.9 and max(shares) < 4.0


def test_a_first_step_is_as_long_as_a_front_lasts_not_as_it_takes_to_pass():
    first = sf.solve(shock(1e-4), tol=1e-4).history[0]
    # It passes a place in a thousandth of the span.
    assert first.dt > 0.01 * 0.5


def ignition():
    """A reaction beside a held end: rates jump at the start, and a layer grows there."""
    return sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt - u.dxx - (2 - u) * np.exp(20 - 20 / u) / 4,
        left=lambda u, x, t: u.dx,
        right=lambda u, x, t: u - 1,
        initial=1.0,
        time=(0, 0.28),
    )


def test_first_steps_are_cut_as_layers_let_them(monkeypatch):
    tried = line_steps.LineSteps.tried
    starts = []

    def counted(run, state, dt):
        starts.append(state.before is None)
        return tried(run, state, dt)

    monkeypatch.setattr(line_steps.LineSteps, "tried", counted)
    assert sf.solve(ignition(), tol=1e-4).converged
    # By the order of the method, ten.
    assert 1 < sum(starts) <= 4


def test_a_try_of_a_step_begins_with_the_one_before(monkeypatch):
    def iterations():
        found = [sf.solve(ignition(), tol=tol) for tol in (1e-4, 1e-5, 1e-6)]
        return sum(step.iterations for solution in found for step in solution.history)

    both = [iterations()]
    monkeypatch.setattr(
        line_steps, "guessed", lambda state, *more: guessed(replace(state, ahead=None), *more)
    )
    both.append(iterations())
    assert both[0] < 0.97 * both[1]


def test_meshes_are_made_for_what_elements_will_leave_out(monkeypatch):
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt - 1e-5 * u.dxx + u**3 - u,
        boundary=lambda u, x, t: u.dx,
        initial=lambda x: 0.01 * np.cos(10 * np.pi * x),
        time=(0, 8),
    )
    meshes = []
    monkeypatch.setattr(line_steps, "refined", lambda *a: meshes.append(0) or refined(*a))
    assert sf.solve(problem, tol=1e-5).converged
    foreseen = len(meshes)
    monkeypatch.setattr(remeshing, "LINE_MARCH", replace(LINE_MARCH, most_foreseen=1.0))
    assert sf.solve(problem, tol=1e-5).converged
    assert foreseen < 0.7 * (len(meshes) - foreseen)


def test_how_an_interpolant_settles_is_no_layer():
    """Short first steps followed that: a pulse took 18 steps, with forty times the estimate."""
    solution = sf.solve(listing()["wave-pulse"].problem(0.01), tol=1e-6)
    assert solution.history[0].dt > 0.01 and solution.error_estimate < 1e-7


@pytest.mark.parametrize(
    ("sizes", "solved"),
    [
        ([1e-5, 1e-7, 1e-9, 1e-11], True),
        ([1.5e-5, 2.2e-5, 1.2e-5, 1.2e-6, 1.8e-6, 1e-7, 1e-9, 1e-11], True),
        ([1e-5, 2e-5, 4e-5, 8e-5, 1e-11], False),
    ],
)
def test_newton_fails_by_two_changes_not_by_one(sizes, solved):
    """Changes that are mixed may be followed by a larger one."""
    given, levels = iter(sizes), np.zeros((6, 3, 1))

    class Told:
        values, radau, mixer = levels, SimpleNamespace(reals=1), Mixer((5, 3, 1))
        frame = SimpleNamespace(tables=SimpleNamespace(points=1))

        def residual(self, first):
            return np.zeros((6, 3))

        def factored(self):
            return Factors(None, None)

        def change(self, factors, residual, out, *, first):
            out[:] = next(given)

    found = solved_stages(Told(), np.ones(1), np.ones((3, 1)), 1e-7)
    assert (found.factors is not None) == solved
