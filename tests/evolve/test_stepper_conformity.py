"""One problem against every way to hold a state in time; a new one joins by a line in WAYS."""

import functools
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from tests.evolve.line_runs import stopping

import sharpfront as sf
from sharpfront.budget import DEFAULT
from sharpfront.errors import ProblemError
from sharpfront.evolve.evolution import evolved
from sharpfront.evolve.line import course_of, evolve_line
from sharpfront.evolve.line_steps import LineSteps
from sharpfront.evolve.patchwork.evolve import course_on_patches, evolve_patches
from sharpfront.evolve.patchwork.patch_steps import PatchSteps
from sharpfront.evolve.patchwork.run_start import begun_on_patches
from sharpfront.evolve.patchwork.system import PlaneSystem
from sharpfront.evolve.plane.evolve import evolve_plane, product_course
from sharpfront.evolve.plane.product_steps import ProductSteps
from sharpfront.evolve.rothe.evolve import rothe_course
from sharpfront.evolve.rothe.steps import RotheSteps, rothe_begun
from sharpfront.evolve.time_system import time_system

TOL = 1e-3
# The source stops here.
STOP, END, RATE = 0.3, 0.5, 2.0


def by_resolve(problem, tol, guess):
    return sf.solve(problem, tol=tol, guess=guess, adaptor=sf.Resolve())


def on_patches(course):
    run = course.run(1.0)
    return PatchSteps(run), begun_on_patches(run)


def around_resolve(course):
    run = course.run(1.0, 1.0)
    return RotheSteps(run), rothe_begun(run)


# Dimension, the course of a problem and a tolerance, the steps and the first state of a run of it,
# and who goes on from what a solution keeps, if anyone.
WAYS = {
    "elements": (
        1,
        lambda problem, tol: course_of(time_system(problem), tol, DEFAULT),
        lambda course: (LineSteps(course.run(1.0), course.components), course.begun(1.0, 1).state),
        evolve_line,
    ),
    "patches": (
        2,
        lambda problem, tol: course_on_patches(PlaneSystem(problem), tol, DEFAULT),
        on_patches,
        evolve_patches,
    ),
    "products": (
        2,
        lambda problem, tol: product_course(PlaneSystem(problem), tol, DEFAULT),
        lambda course: (ProductSteps(course.aim), course.begun(1.0, 1).state),
        evolve_plane,
    ),
    "Rothe": (
        1,
        lambda problem, tol: rothe_course(PlaneSystem(problem), tol, by_resolve),
        around_resolve,
        None,
    ),
}
every_way = pytest.mark.parametrize("name", WAYS)


def shape(*x):
    return np.prod([np.sin(np.pi * s) for s in x], axis=0)


def exact(*at):
    """A shape that is heated until a moment, and fades at once with it."""
    *x, t = at
    heated = 1.0 - 0.5 * np.exp(-RATE * np.minimum(t, STOP))
    return shape(*x) * heated * np.exp(-RATE * np.maximum(t - STOP, 0.0))


def sine(x):
    return np.sin(np.pi * x)


def problem(dimension):
    """u_t = D lap u + source, with a source that stops."""
    diffusivity = RATE / (dimension * np.pi**2)
    if dimension == 1:
        return sf.Problem(
            sf.Interval(0, 1),
            lambda u, x, t: u.dt - diffusivity * u.dxx - np.where(t < STOP, RATE, 0.0) * sine(x),
            boundary=lambda u, x, t: u,
            initial=lambda x: 0.5 * sine(x),
            time=(0, END),
        )
    return sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y, t: (
            u.dt - diffusivity * sf.laplacian(u) - np.where(t < STOP, RATE, 0.0) * sine(x) * sine(y)
        ),
        boundary=lambda u, x, y, t: u,
        initial=lambda x, y: 0.5 * sine(x) * sine(y),
        time=(0, END),
    )


@functools.cache
def course(name):
    dimension, made, *_ = WAYS[name]
    return made(problem(dimension), TOL)


@functools.cache
def marched(name):
    return evolved(course(name), course(name).begun(1.0, 1), None)


def points(name, t):
    x = np.random.default_rng(0).uniform(0, 1, (WAYS[name][0], 200))
    return (*x, np.full(200, t))


def off(name, solution, t):
    return float(np.abs(solution(*points(name, t)) - exact(*points(name, t))).max())


@every_way
def test_a_step_that_leaves_too_much_is_made_shorter(name):
    dimension, made, begun, _ = WAYS[name]
    stepper, state = begun(made(problem(dimension), 1e-7))
    state = stepper.seeing(state, END)
    trial = stepper.tried(state, END)
    assert trial.late > 1.0, "a step over the whole span holds no source that stops"
    shorter = stepper.shorter(state, trial, None)
    assert 0.0 < shorter.dt < trial.dt
    assert shorter.t == state.t
    # What no solver solves is shortened too.
    failed = stepper.shorter(state, trial._replace(late=np.inf), None)
    assert 0.0 < failed.dt < trial.dt


@every_way
def test_steps_lead_from_the_start_to_the_end_and_stop_where_data_jump(name):
    times = [0.0, *(r.time for r in marched(name).history)]
    assert times[-1] == END and np.min(np.abs(np.array(times) - STOP)) < 1e-12
    assert all(before < after for before, after in pairwise(times))
    assert [r.dt for r in marched(name).history] == np.diff(times).tolist()


@every_way
def test_the_estimate_is_that_of_the_error_at_all_moments(name):
    solution = marched(name)
    moments = [r.time - share * r.dt for r in solution.history for share in (0.0, 0.37, 0.8)]
    error = max(off(name, solution, t) for t in moments)
    assert solution.converged and solution.error_estimate <= TOL
    assert error <= 1.5 * solution.error_estimate
    assert solution.estimate.meaning == course(name).means


@every_way
def test_a_run_is_a_value(name):
    """Steps that are taken again from a log are the same; those before them have not changed."""
    log = course(name).begun(1.0, 1)
    one, other = (next(course(name).steps(log)) for _ in range(2))
    assert (one.start, one.stop, one.error, one.size) == (
        other.start,
        other.stop,
        other.error,
        other.size,
    )


@every_way
def test_where_data_jump_a_run_begins_anew_with_the_same_state(name):
    """What went before tells nothing of the next step; a state that meets its data stays."""
    stepper, state = WAYS[name][2](course(name))
    again, words = stepper.restarted(state)
    assert again.t == state.t and 0.0 < again.dt <= END and words == ()


@every_way
def test_a_run_without_a_step_has_the_start_or_says_why_not(name):
    log, way = course(name).begun(1.0, 1), course(name)
    if WAYS[name][3] is None:
        with pytest.raises(ProblemError, match="no first step"):
            way.found(replace(log, ended=marched(name).outcome))
        return
    bases, weights = way.found(log)
    at = np.column_stack(points(name, 0.0))
    values = bases["u"].values(weights["u"], at, (0,) * at.shape[1])
    np.testing.assert_allclose(values, exact(*at.T), atol=TOL)


@every_way
def test_an_interrupted_run_keeps_what_it_has_and_goes_on(name):
    (dimension, *_, goes_on), way = WAYS[name], course(name)
    cut = evolved(way, way.begun(1.0, 1), stopping(1))
    assert cut.outcome.kind == "interrupted" and len(cut.history) == 2
    assert cut.domain.time == (0.0, cut.history[-1].time)
    assert off(name, cut, cut.history[-1].time) <= TOL
    if goes_on is None:
        return
    again = goes_on(problem(dimension), TOL, resume=cut)
    assert again.converged and len(again.history) > 2
    assert [r.time for r in again.history[:2]] == [r.time for r in cut.history]
    assert off(name, again, END) <= 1.5 * again.error_estimate
