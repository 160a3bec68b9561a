"""Unknowns whose names are taken are refused where the problem is stated."""

import dataclasses
import subprocess
import sys

import pytest

import sharpfront as sf
from sharpfront.errors import EquationError
from sharpfront.problem_file import StatementError
from sharpfront.problem_file.statement import read_text

LINE = sf.Interval(0, 1)
TAKEN = sorted(
    {n for n in dir(sf.Solution) if not n.startswith("_")}
    | {f.name for f in dataclasses.fields(sf.Solution)}
)
READ_AS_SOMETHING_ELSE = ("dx", "dxx", "dn", "_u", "__class__")


def stated(name):
    """Return a problem for an unknown of that name, as a function."""
    return sf.Problem(
        LINE,
        eval(f"lambda {name}, x: {name}.dxx + 1"),  # a name in the source of a function
        boundary=eval(f"lambda {name}, x: {name}"),
    )


def test_they_are_refused_before_anything_else_is_loaded():
    """Solutions named them when they were loaded, which was after the first problem was stated."""
    stated = 'sf.Problem(sf.Interval(0, 1), "d_xx = 1", boundary="d = 0")'
    run = [sys.executable, "-c", f"import sharpfront as sf; {stated}"]
    assert "cannot be called 'd'" in subprocess.run(run, capture_output=True, text=True).stderr


def test_there_are_names_to_be_taken():
    assert {"d", "plot", "save", "converged", "tol", "history", "outcome"} <= set(TAKEN)


@pytest.mark.parametrize("name", [*TAKEN, *READ_AS_SOMETHING_ELSE])
class TestTakenNames:
    def test_in_a_function(self, name):
        with pytest.raises(EquationError, match=f"cannot be called '{name}'.*another name"):
            stated(name)

    def test_in_a_text(self, name):
        with pytest.raises(EquationError, match=f"cannot be called '{name}'"):
            sf.Problem(LINE, f"{name}_xx = 1", boundary=f"{name} = 0")

    def test_in_a_file(self, name):
        source = (
            f'equation = "{name}_xx = 1"\n[domain]\ninterval = [0, 1]\n'
            f'[conditions]\nboundary = "{name} = 0"\n'
        )
        with pytest.raises(StatementError, match=f"equation: .*cannot be called '{name}'"):
            read_text(source)


@pytest.mark.parametrize("name", ["u", "v", "p", "n", "T", "h2", "q_x", "phi", "density", "e", "ü"])
def test_other_names_are_reached(name):
    found = sf.solve(stated(name), tol=1e-4)
    assert getattr(found, name)(0.5) == found(0.5)


def test_the_normal_is_no_unknown():
    with pytest.raises(EquationError, match="'normal': normal_x is a component"):
        stated("normal")


def test_two_unknowns_of_which_one_reads_as_a_derivative_of_the_other():
    with pytest.raises(EquationError, match="'u_x': it reads as a derivative of u"):
        sf.Problem(LINE, lambda u, u_x, x: (u.dx - u_x, u_x.dx + 1), boundary=lambda u, x: u)
