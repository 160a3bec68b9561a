"""The problem as formulas, and the lines that solve it again."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from tests.show.solutions import SQUARE, burgers, layer, line_in_time, loaded, shock

import sharpfront as sf
from sharpfront.show.statement.script import script, versions
from sharpfront.show.statement.typeset import problem_markup


def lines(problem):
    root = ET.fromstring(problem_markup(problem).replace("<wbr>", "<wbr/>"))
    return ["".join(item.itertext()).replace("\u2061", "").strip() for item in root]


def test_a_layer_reads_as_in_a_book():
    assert lines(layer().problem) == ["−νuxx+ux=0", "0<x<1", "u=0 at x=0", "u=1 at x=1", "ν=0.01"]


def test_parameters_that_could_be_any_number_stay_numbers():
    problem = sf.Problem(
        sf.Interval(0, 1),
        "-a*u_xx + b*u_x + c*u = 0",
        left="u = 0",
        right="u = 2",
        parameters={"a": 2.0, "b": 0.3, "c": 0.3},
    )
    assert lines(problem)[0] == "−2uxx+0.3ux+0.3u=0"


def test_conditions_that_agree_are_said_once():
    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: sf.laplacian(u),
        boundary=lambda u, x, y: u,
        right=lambda u, x, y: u.dn,
    )
    assert lines(problem)[2:] == ["u=0 on left, bottom and top", "∂u∂n=0 on right"]
    everywhere = sf.Problem(SQUARE, lambda u, x, y: sf.laplacian(u), boundary=lambda u, x, y: u)
    assert lines(everywhere)[2:] == ["u=0 on the whole boundary"]


def test_time_and_start():
    found = lines(line_in_time().problem)
    assert found[1:] == ["0<x<1", "0<t≤1", "u=tanh(x−0.20.02) at t=0"]


def test_a_start_may_be_a_text():
    problem = sf.Problem(
        sf.Interval(0, 1), "u_t - u_xx = 0", boundary="u = 0", initial="sin(pi*x)", time=(0, 1)
    )
    assert lines(problem)[-1] == "u=sin(πx) at t=0"


def test_a_start_that_is_no_formula_is_named_as_such():
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt - u.dxx,
        boundary=lambda u, x, t: u,
        initial=lambda x: np.interp(x, [0, 0.5, 1], [0, 1, 0]),
        time=(0, 1),
    )
    assert lines(problem)[-1] == "u at t=0 as given by a function"


def test_further_conditions_and_periods():
    problem = sf.Problem(
        sf.Interval(-1, 1, periodic=True),
        lambda u, x: u.dxx - np.cos(np.pi * x),
        conditions=[sf.integral(lambda u, x: u, equals=0.5), sf.at(0.3, lambda u, x: u - 1)],
    )
    found = lines(problem)
    assert found[1] == "−1<x<1 periodic in x"
    assert found[2:] == ["∫u=0.5 over the domain", "u=1 at x=0.3"]


@pytest.mark.parametrize("make", [layer, shock])
def test_the_script_gives_the_same_solution(make):
    solution = make()
    names = {}
    exec(script(solution, {"seed": 42})[0], names)
    x = np.linspace(0, 1, 101)
    assert np.max(np.abs(names["solution"](x) - solution(x))) < 1e-10
    assert names["solution"].tol == solution.tol


def test_the_script_knows_time_and_settings():
    text, _ = script(line_in_time(), {"tol": "1e-06", "seed": 7, "file": "front.toml"})
    assert "initial={'u': lambda x: np.tanh((x - 0.2) / 0.02)}" in text
    assert "time=(0.0, 1.0)" in text
    assert text.endswith("sf.solve(problem, tol=1e-06, seed=7)\n")


def test_the_script_of_a_problem_in_time_gives_the_same_solution():
    solution = burgers()
    names = {}
    exec(script(solution, {})[0], names)
    x = np.linspace(-1, 1, 51)
    assert np.max(np.abs(names["solution"](x, 0.5) - solution(x, 0.5))) < 1e-8


def test_a_loaded_solution_has_no_script():
    code, missing = script(loaded(), {})
    assert "problem = ..." in code
    assert missing == ["problem, which a solution read from a file does not know"]


def test_versions_are_real():
    found = versions()
    assert found["sharpfront"] == sf.__version__
    assert re.fullmatch(r"\d+\.\d+.*", found["numpy"])
