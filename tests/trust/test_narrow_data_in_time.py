"""Close looks at data of one moment."""

import numpy as np

import sharpfront as sf
from sharpfront.trust.formula_parts import formula
from sharpfront.trust.narrow_data_in_time import Watch


def test_integrals_are_those_of_the_last_positions():
    # What rises without bound is looked at as closely as is allowed.
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt - u.dxx - np.tan(np.pi * x) ** 2,
        boundary=lambda u, x, t: u,
        initial=0.0,
        time=(0, 1),
    )
    stated = formula(problem.equations[0], problem, np.linspace(0, 1, 9)[:, None], {"u": 0.0})
    look = Watch(stated, np.zeros(0)).look(0.0)
    assert look.upto.shape[1] == len(look.x)
