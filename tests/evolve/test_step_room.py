"""Steps on meshes of equal size share arrays, and nothing else."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.evolve.discretisation import Discrete
from sharpfront.evolve.radau_step import Step
from sharpfront.evolve.stages import solved_stages
from sharpfront.evolve.time_system import time_system
from sharpfront.pieces.elements import reference
from sharpfront.pieces.frame import Frame

EQUATIONS = {
    "plain": lambda u, x, t: u.dt + u * u.dx - 0.1 * u.dxx,
    "placed": lambda u, x, t: u.dt + u * u.dx - (0.1 + x**2) * u.dxx - t,
}
ENDS = {
    "held": {"boundary": lambda u, x, t: u - t},
    "slopes": {"boundary": lambda u, x, t: u.dx - t},
    "curved": {"left": lambda u, x, t: u.dx + u**3 - t, "right": lambda u, x, t: u},
}


@pytest.mark.parametrize("equation", EQUATIONS)
@pytest.mark.parametrize("ends", ENDS)
def test_a_step_does_not_depend_on_those_before(equation, ends):
    problem = sf.Problem(
        sf.Interval(0, 1), EQUATIONS[equation], initial=0.0, time=(0, 1), **ENDS[ends]
    )
    tables, system, rng = reference(2, 5), time_system(problem), np.random.default_rng(1)
    shared = Discrete(system, tables)
    even, wave = np.linspace(0, 1, 6), np.sin(np.pi * np.linspace(0, 1, 6))
    rest = Frame(tables, even, 0 * even)
    frames = [Frame(tables, even, 0.1 * wave), rest, rest, Frame(tables, even**1.2, 0 * even)]
    frames += [Frame(tables, even, -0.2 * wave)]
    for i, frame in enumerate(frames):
        start = 0.1 * rng.standard_normal((frame.size, 1))
        found = []
        for discrete in (shared, Discrete(system, tables)):
            step = Step(discrete, frame, 0.1 * i, 0.02 + 0.01 * i, np.stack([start] * 6))
            solved = solved_stages(step, np.ones(1), np.ones((6, 1)), 1e-10)
            assert solved.factors is not None
            found.append((step.values, solved.start.copy(), solved.left))
        for one, other in zip(*found, strict=True):
            assert np.array_equal(one, other)
