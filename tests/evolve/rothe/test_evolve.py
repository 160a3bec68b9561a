"""Two runs side by side: when they are compared."""

import numpy as np

import sharpfront as sf
from sharpfront.equation.interfaces import interface_conditions
from sharpfront.evolve.rothe.evolve import moments_compared
from sharpfront.evolve.rothe.steps import Level, at_moment


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


def test_the_problem_at_a_moment_knows_that_the_domain_is_a_ring():
    problem = sf.Problem(
        sf.Interval(0, 1, periodic=True),
        lambda u, x, t: u.dt - ((1 + 3 * x) * u.dx).dx,
        initial=lambda x: np.sin(2 * np.pi * x),
        time=(0, 1),
    )
    step = at_moment(problem, [Level(0.0, None, problem)], 0.1)
    (condition,) = interface_conditions(step.equations, ("u",), ("x",), "x").fluxes
    assert condition.form.terms[0].orders == (1,)
