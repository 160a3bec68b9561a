"""Errors that are known against everyone who says how large one is; a new one joins by a line.

Known are errors of solutions of a few functions or a loose tolerance, by the exact solution, and
what is planted: a solution made larger by a known share, its estimate asked again. In time it is
the strict run that is disturbed, in some of its steps.
"""

import functools
import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pytest
from tests.evolve.test_stepper_conformity import WAYS

import sharpfront as sf
from sharpfront.adapt import OnePatch
from sharpfront.adapt.adaptive_step import adaptive_step
from sharpfront.bases.radau import STAGES, stage_nodes
from sharpfront.estimate import assess
from sharpfront.evolve import line_steps
from sharpfront.evolve.evolution import evolved
from sharpfront.evolve.patchwork.newton import StageSolver
from sharpfront.evolve.plane import product_steps
from sharpfront.evolve.rothe.steps import RotheRun
from sharpfront.evolve.run_log import PASSES
from sharpfront.kernels.basis import isotropic
from sharpfront.measure import max_error
from sharpfront.newton.adaptor import NewtonAround
from sharpfront.place.line.kernel_plan import even_plan
from sharpfront.solution.approximation import Approximation

# Where something narrow is hidden, how high it is, and the tolerance it is looked for with.
PLACE, HEIGHT, TOL = 0.371234, 0.5, 1e-3


class Told(NamedTuple):
    """The error there is, what is said of it, and whether that is said to be no answer."""

    error: float
    estimate: float
    doubted: bool


@dataclass(frozen=True)
class Oracle:
    """Who is asked, and what is held against him.

    Parameters
    ----------
    looked
        What is said of a solution of a level, with a share of it planted as an error.
    levels
        Three, from coarse to fine.
    planted
        A level and a size that is far above what the level leaves.
    hidden
        What is said where something narrow stands between the points.
    exact
        What is said of a solution that is exact up to rounding.
    below, above
        An error is at most so many estimates, and an estimate so many planted errors.
    most
        An estimate is at most so many errors of the solution's own.
    rounding
        The most that is said of an exact solution.
    """

    looked: Callable[[Any, float], Told]
    levels: tuple[Any, ...]
    planted: tuple[Any, float]
    hidden: Callable[[], Told]
    exact: Callable[[], Told]
    below: float = 1.1
    above: float = 2.0
    most: float = 10.0
    rounding: float = 1e-11


# --- without time ---


def wave(x, y=0.0):
    return np.sin(3 * x + 1) * np.exp(y)


def front(x, y=0.0):
    return np.tanh((x - 0.4) / 0.1) * np.exp(y)


def stated(exact, dimension, cube=0.0):
    """-lap u + cube u^3 = f, of which the solution is known."""

    def left(u):
        return -sf.laplacian(u) + cube * u**3

    if dimension == 1:
        return sf.Problem(
            sf.Interval(0, 1),
            lambda u, x: left(u) - left(exact(x)),
            boundary=lambda u, x: u - exact(x),
        )
    return sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: left(u) - left(exact(x, y)),
        boundary=lambda u, x, y: u - exact(x, y),
    )


def spike(width, rate=0):
    """A spike, or its second derivative."""

    def values(x, *_):
        s = (x - PLACE) / width
        return HEIGHT * np.exp(-(s**2)) * ((4 * s * s - 2) / width**2 if rate else 1.0)

    return values


def with_spike(width, dimension, cube=0.0):
    """Return a problem with a spike that only values tell of, and its solution."""
    exact = sf.function(lambda *x: np.sin(3 * x[0]) + spike(width)(*x))
    source = sf.function(lambda *x: 9 * np.sin(3 * x[0]) - spike(width, 2)(*x))
    if dimension == 1:
        problem = sf.Problem(
            sf.Interval(0, 1),
            lambda u, x: -u.dxx - source(x) + cube * (u**3 - exact(x) ** 3),
            boundary=lambda u, x: u - exact(x),
        )
    else:
        problem = sf.Problem(
            sf.Box((0, 1), (0, 1)),
            lambda u, x, y: -sf.laplacian(u) - source(x, y) + cube * (u**3 - exact(x, y) ** 3),
            boundary=lambda u, x, y: u - exact(x, y),
        )
    return problem, lambda *x: np.sin(3 * x[0]) + spike(width)(*x)


def places(dimension, width=1.0):
    """Return points all over the domain, and beside the spike."""
    x = np.concatenate([np.linspace(0, 1, 201), PLACE + width * np.linspace(-2, 2, 21)])
    x = np.clip(x, 0, 1)[:, None]
    aside = np.random.default_rng(0).uniform(0, 1, (len(x), dimension - 1))
    return np.hstack([x, aside])


def unseen(adaptor, dimension, width, cube=0.0):
    problem, exact = with_spike(width, dimension, cube)
    solution = sf.solve(problem, tol=TOL, adaptor=getattr(adaptor, "inner", adaptor))
    error = max_error(solution, exact, places(dimension, width))
    return Told(error, solution.error_estimate, not solution.converged)


def last_step(problem, strategy, state):
    """Return the state before the last solve, and the solution."""
    for number in range(30):
        before = state
        step, state = adaptive_step(problem, strategy, state, number)
        if state.finished is not None:
            break
    return before, step.assessment.approximation


@functools.cache
def to_tolerance(strategy, exact, dimension, cube, tol):
    problem = stated(exact, dimension, cube)
    return last_step(problem, strategy, strategy.start(problem, tol, 42))


@functools.cache
def on_even_kernels(exact, count):
    """Kernels placed without a look at the problem: what finds features is not asked."""
    strategy, problem = sf.Resolve(), stated(exact, 1)
    state = replace(strategy.start(problem, 1e-8, 42), plan=even_plan((0.0, 1.0), 2, count))
    return state, adaptive_step(problem, strategy, state, 0)[0].assessment.approximation


def larger(approximation, size):
    weights = {name: (1 + size) * w for name, w in approximation.weights.items()}
    return replace(approximation, weights=weights)


def told(strategy, state, approximation, exact, size):
    off = larger(approximation, size)
    points = places(len(off.coordinates))
    values = off.values("u", points, (0,) * points.shape[1])
    doubted, estimate = strategy.assess(state, off).rank
    return Told(max_error(values, exact, points), estimate, doubted)


def by_tolerance(strategy, exact, dimension, cube=0.0, width=1e-3, **held):
    """Return a strategy's oracle, its levels being tolerances."""

    def looked(tol, size):
        state, found = to_tolerance(strategy, exact, dimension, cube, tol)
        return told(strategy, state, found, exact, size)

    hidden = functools.partial(unseen, strategy, dimension, width, cube)
    exactly = functools.partial(looked, 1e-11, 0.0)
    return Oracle(looked, (1e-2, 1e-5, 1e-8), (1e-8, 1e-4), hidden, exactly, **held)


def by_cells():
    def looked(count, size):
        return told(sf.Resolve(), *on_even_kernels(front, count), front, size)

    hidden = functools.partial(unseen, sf.Resolve(), 1, 1e-4)
    exact = functools.partial(looked, 150, 0.0)
    return Oracle(looked, (10, 20, 40), (40, 1e-2), hidden, exact, below=0.7)


def rising(x):
    return 2 + np.tanh((x - 0.4) / 0.1)


def bell(x, centre=0.4, width=0.3):
    return np.exp(-(((x - centre) / width) ** 2) / 2)


def of_first_order(exact):
    """u' = f: what is left adds up to the error where it has one sign."""
    return sf.Problem(
        sf.Interval(0, 1), lambda u, x: u.dx - exact(x).dx, left=lambda u, x: u - exact(x)
    )


def by_residual():
    @functools.cache
    def solved(count):
        strategy, problem = sf.Uniform(count, overlap=5.0, collocation=300), of_first_order(rising)
        return strategy, *last_step(problem, strategy, strategy.start(problem, TOL, 42))

    def of_bells(more):
        """A kernel that is the solution, and some that stand between rows and are not."""
        crowd = PLACE + 1e-6 * np.arange(9)
        basis = isotropic(np.array([0.4, *crowd])[:, None], np.array([0.3, *[2e-6] * 9]))
        found = Approximation(("x",), {"u": basis}, {"u": np.array([1.0, *[more] * 9])})
        said = assess(of_first_order(bell), found).estimate.value
        return Told(max_error(found.values("u", crowd[:, None], (0,)), bell, crowd), said, False)

    def looked(count, size):
        return told(*solved(count), rising, size)

    hidden, exact = (functools.partial(of_bells, more) for more in (1e-2, 0.0))
    return Oracle(looked, (10, 20, 40), (40, 1e-2), hidden, exact, most=100.0)


# --- in time ---

END, FADES = 0.5, 0.1
# An error that is planted has not faded when the next one is: they add up.
DISTURBED = (0.1, 0.3)


def fading(*at):
    *x, t = at
    return np.exp(-2 * t) * math.prod(np.sin(3 * s + 1) for s in x)


def staying(*at):
    """What hardly fades, and with it what is planted, which conditions of sides do not end."""
    *x, t = at
    return np.exp(-t / 2) * math.prod(2 * s * (1 - s) * np.exp(s) for s in x)


def growing(*at):
    """What lines and stages hold exactly."""
    *x, t = at
    return (1 + t) * math.prod(1 + s for s in x)


def pulsing(width):
    def exact(*at):
        *x, t = at
        return spike(width)(t) + math.prod(np.sin(3 * s) for s in x)

    def source(*at):
        *x, t = at
        held = 9 * FADES * len(x) * math.prod(np.sin(3 * s) for s in x)
        return held - 2 * (t - PLACE) / width**2 * spike(width)(t)

    return exact, sf.function(source)


def in_time(exact, dimension, source=None):
    """u_t = D lap u + f, of which the solution is known, or f too."""
    held = exact if source is None else sf.function(exact)

    def left(u):
        return u.dt - FADES * sf.laplacian(u)

    if dimension == 1:
        return sf.Problem(
            sf.Interval(0, 1),
            lambda u, x, t: left(u) - (source(x, t) if source else left(exact(x, t))),
            boundary=lambda u, x, t: u - held(x, t),
            initial=lambda x: exact(x, 0.0),
            time=(0, END),
        )
    return sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y, t: left(u) - (source(x, y, t) if source else left(exact(x, y, t))),
        boundary=lambda u, x, y, t: u - held(x, y, t),
        initial=lambda x, y: exact(x, y, 0.0),
        time=(0, END),
    )


def is_disturbed(start, stop):
    return any(start <= t < stop for t in DISTURBED)


def ramp(t, dt, size, stages=STAGES):
    """Return by what stages are made larger: more and more in the steps that are disturbed."""
    return 1 + size * stage_nodes(stages) * is_disturbed(t, t + dt)


def elements_off(size, own=line_steps.solved_stages):
    def solved(step, *more):
        found = own(step, *more)
        step.values[1:] *= ramp(step.t, step.dt, size, len(step.values) - 1)[:, None, None]
        return found

    return mock.patch.object(line_steps, "solved_stages", solved)


def patches_off(size, own=StageSolver.solved):
    def solved(self, step, guess):
        found = own(self, step, guess)
        if self.stages < STAGES or found.levels is None:
            return found
        grown = ramp(step.t, step.dt, size)[:, None, None]
        return found._replace(levels=found.levels * grown)

    return mock.patch.object(StageSolver, "solved", solved)


def products_off(size, own=product_steps.solve_slab):
    def solved(galerkin, start, guess, factors, close):
        found = own(galerkin, start, guess, factors, close)
        grown = np.append(1.0, ramp(galerkin.start, factors.dt, size))[:, None]
        return found._replace(states=found.states * grown)

    return mock.patch.object(product_steps, "solve_slab", solved)


def levels_off(size, own=RotheRun.level):
    def level(self, before, t):
        found = own(self, before, t)
        # The other run strides.
        if self.stride < 1 or not is_disturbed(before[-1].t, t):
            return found
        off = larger(found.solution.approximation, size)
        return replace(found, solution=replace(found.solution, approximation=off))

    return mock.patch.object(RotheRun, "level", level)


def marched(name, problem, exact, tol, disturbed=None, moments=()):
    """Return the error of a run at all moments and what it says of it."""
    dimension, made, *_ = WAYS[name]
    course = made(problem, tol)
    with disturbed or nullcontext():
        # Of one that is disturbed no stricter run is to follow.
        solution = evolved(course, course.begun(1.0, PASSES if disturbed else 1), None)
    times = [r.time - share * r.dt for r in solution.history for share in (0.0, 0.37, 0.8)]
    times = [t for t in (*times, *moments) if t <= solution.domain.time[1]]
    x = np.random.default_rng(0).uniform(0, 1, (100, dimension))
    points = np.concatenate([np.column_stack([x, np.full(100, t)]) for t in times])
    return Told(max_error(solution, exact, points), solution.error_estimate, not solution.converged)


def by_way(name, off, width=1e-4, tight=1e-6, loose=TOL, **held):
    """Return the oracle of a way to hold a state in time, its levels being tolerances."""
    dimension = WAYS[name][0]

    def looked(tol, size):
        exact, disturbed = (staying, off(size)) if size else (fading, None)
        return marched(name, in_time(exact, dimension), exact, tol, disturbed)

    def hidden():
        exact, source = pulsing(width)
        problem = in_time(exact, dimension, source)
        return marched(name, problem, exact, 1e-2, None, PLACE + width * np.linspace(-2, 2, 9))

    def exactly():
        return marched(name, in_time(growing, dimension), growing, 1e-3)

    return Oracle(looked, (1e-2, 1e-4, tight), (loose, 0.2 * loose), hidden, exactly, **held)


ORACLES = {
    "cells": by_cells(),
    "residual": by_residual(),
    "richer patches": by_tolerance(sf.Patches(), wave, 2),
    "fewer degrees": by_tolerance(OnePatch(600), wave, 2, below=0.6, above=3.0, most=1e3),
    "Newton around cells": by_tolerance(NewtonAround(sf.Resolve()), front, 1, 3.0, 1e-4, below=0.7),
    "Newton around patches": by_tolerance(NewtonAround(sf.Patches()), wave, 2, 3.0),
    "weaker elements": by_way("elements", elements_off, most=300.0, rounding=1e-9),
    "weaker patches": by_way("patches", patches_off, most=300.0),
    "richer products": by_way("products", products_off, tight=1e-8, below=0.7, most=1e3),
    "another run": by_way(
        "Rothe", levels_off, 1e-2, 1e-5, 1e-2, below=1.5, most=50.0, rounding=1e-6
    ),
}
every_oracle = pytest.mark.parametrize("name", ORACLES)


@functools.cache
def of_its_own(name):
    """What is said of the errors that levels leave, the finest last."""
    return [ORACLES[name].looked(level, 0.0) for level in ORACLES[name].levels]


@every_oracle
def test_of_few_functions_it_says_what_they_leave(name):
    own = ORACLES[name]
    for error, estimate, doubted in of_its_own(name):
        assert not doubted
        assert error <= own.below * estimate + 1e-12
        assert estimate <= own.most * error + 1e-12


@every_oracle
def test_it_falls_as_the_solution_becomes_better(name):
    coarse, middle, fine = (said.estimate for said in of_its_own(name))
    assert fine < 0.2 * coarse
    assert fine < 1.5 * middle < 3 * coarse


@every_oracle
def test_a_planted_error_is_found(name):
    own = ORACLES[name]
    error, estimate, doubted = own.looked(*own.planted)
    assert error > 0.2 * own.planted[1]
    assert error <= own.below * estimate or doubted
    assert estimate <= own.above * error


@every_oracle
def test_what_is_hidden_between_its_points_is_found_or_it_says_so(name):
    error, estimate, doubted = ORACLES[name].hidden()
    assert error <= 1.5 * estimate or doubted


@every_oracle
def test_of_an_exact_solution_it_says_what_rounding_leaves(name):
    error, estimate, _ = ORACLES[name].exact()
    assert error <= 10 * ORACLES[name].rounding
    assert estimate <= ORACLES[name].rounding


@every_oracle
def test_asked_twice_it_says_the_same(name):
    own = ORACLES[name]
    assert own.looked(*own.planted) == own.looked(*own.planted)
