"""The weaker run that goes along with the strict one: what they differ by is the error."""

import numpy as np
import pytest
from tests.evolve.line_runs import shock

import sharpfront as sf
from sharpfront.budget import DEFAULT
from sharpfront.evolve import line_steps
from sharpfront.evolve.embedded_run import _with_last, _without_last
from sharpfront.evolve.initial_state import first_state
from sharpfront.evolve.line import course_of
from sharpfront.evolve.line_steps import LineSteps
from sharpfront.evolve.march import steps
from sharpfront.evolve.run_start import begun
from sharpfront.evolve.time_system import time_system
from sharpfront.pieces.elements import reference
from sharpfront.pieces.frame import Frame


def standing(x, t):
    """Return a wave that stands."""
    return np.sin(np.pi * x) * np.cos(np.pi * t)


def swinging():
    """Return the problem of a wave that stands for long: what is left out adds up."""
    return sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dtt - u.dxx,
        boundary=lambda u, x, t: u,
        initial={"u": lambda x: np.sin(np.pi * x), "u_t": 0.0},
        time=(0, 30),
    )


@pytest.mark.parametrize("ring", [False, True])
@pytest.mark.parametrize("order", [2, 4])
def test_functions_of_one_degree_less_are_among_the_others(order, ring):
    rng = np.random.default_rng(order)
    nodes = np.cumsum(rng.uniform(0.1, 1.0, 8))
    strict, weak = (
        Frame(reference(order, points), nodes, 0 * nodes, ring) for points in (order + 4, order + 3)
    )
    values = rng.normal(size=(3, weak.size, 2))
    more = _with_last(strict, values)
    assert np.array_equal(_without_last(strict, more), values)
    x = rng.uniform(nodes[0], nodes[-1], 50)
    for one, other in zip(more, values, strict=True):
        assert np.allclose(strict.evaluate(one, x), weak.evaluate(other, x), rtol=0, atol=1e-12)


def test_what_adds_up_on_the_way_is_part_of_the_estimate(monkeypatch):
    x = np.linspace(0, 1, 301)
    found = sf.solve(swinging(), tol=1e-3)
    times = np.linspace(0.1, 30, 50)
    error = max(np.abs(found(x, t) - standing(x, t)).max() for t in times)
    assert found.converged and error < found.error_estimate < 100 * error
    # A weaker run that begins anew in every step tells only of that.
    monkeypatch.setattr(line_steps, "_followed", anew(line_steps._followed))
    assert sf.solve(swinging(), tol=1e-3).error_estimate < 0.5 * found.error_estimate


def anew(followed):
    """Return the same with a weaker run that is where the strict one is after each step."""

    def changed(run, state, tried):
        _, error = followed(run, state, tried)
        return tried.after.values, error

    return changed


def test_a_step_that_the_weaker_run_does_not_solve_is_made_shorter(monkeypatch):
    course = course_of(time_system(shock()), 1e-4, DEFAULT)
    run, (start, _) = course.run(1.0), first_state(course.system, 1e-4)
    state = begun(run, start, start.values, 0.0, 0.0)
    plain = next(steps(LineSteps(run, 3), state))
    answers = iter([None])
    found = line_steps.followed

    def failing(*given):
        return next(answers, found(*given))

    monkeypatch.setattr(line_steps, "followed", failing)
    again = next(steps(LineSteps(run, 3), state))
    assert again.stop == pytest.approx(0.5 * plain.stop, rel=1e-12)
