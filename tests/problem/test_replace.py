"""A problem is a value: it does not change, and others are made of it."""

import copy
import pickle

import numpy as np
import pytest

import sharpfront as sf


def layer(nu, **more):
    return sf.Problem(
        sf.Interval(0, 1),
        "-nu*u_xx + u_x = 1",
        parameters={"nu": nu},
        **({"boundary": "u = 0"} | more),
    )


@pytest.mark.parametrize("name", ["time", "domain", "equations", "parameters", "whatever"])
def test_a_problem_does_not_change(name):
    problem = layer(0.1)
    with pytest.raises(AttributeError, match=f"problem.replace\\({name}=...\\)"):
        setattr(problem, name, 1)


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({"parameters": {"nu": 0.02}}, lambda: layer(0.02)),
        ({"right": "u = 2"}, lambda: layer(0.1, right="u = 2")),
        (
            {"domain": sf.Interval(-1, 2)},
            lambda: sf.Problem(
                sf.Interval(-1, 2), lambda u, x: -0.1 * u.dxx + u.dx - 1, boundary=lambda u, x: u
            ),
        ),
        (
            {"boundary": None, "left": "u = 0", "right": "u_x = 0"},
            lambda: layer(0.1, boundary=None, left="u = 0", right="u_x = 0"),
        ),
    ],
)
def test_what_is_replaced_is_as_if_it_had_been_stated(changes, same):
    problem = layer(0.1)
    before = repr(problem)
    found, wanted = problem.replace(**changes), same()
    assert repr(found) == repr(wanted) != before == repr(problem)
    x = np.linspace(*wanted.domain.bounds[:, 0], 9)
    np.testing.assert_array_equal(sf.solve(found)(x), sf.solve(wanted)(x))


def test_functions_and_time_are_replaced():
    heat = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt - u.dxx,
        boundary=lambda u, x, t: u,
        initial=lambda x: np.sin(np.pi * x),
        time=(0, 1),
    )
    short = heat.replace(time=(0, 0.1), initial=lambda x: 2 * np.sin(np.pi * x))
    assert short.time == (0.0, 0.1) and heat.time == (0.0, 1.0)
    assert sf.solve(short)(0.5, 0.1) == pytest.approx(2 * np.exp(-0.1 * np.pi**2), abs=1e-5)


def test_unknown_statements_are_refused_as_in_a_statement():
    with pytest.raises(sf.SharpfrontError, match="top"):
        layer(0.1).replace(top="u = 0")


@pytest.mark.parametrize("again", [copy.copy, lambda p: pickle.loads(pickle.dumps(p))])
def test_what_has_lost_its_functions_says_so(again):
    problem = sf.Problem(sf.Interval(0, 1), lambda u, x: u.dxx + 1, boundary=lambda u, x: u)
    assert repr(again(problem)) == repr(problem)
    with pytest.raises(sf.SharpfrontError, match="residuals alone"):
        again(problem).replace(boundary="u = 1")
