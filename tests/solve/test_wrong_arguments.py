"""Plausible wrong arguments of everything public end in an error of this package, never another."""

import math
import warnings

import numpy as np
import pytest
from tests.lazy import Lazy

import sharpfront as sf
from sharpfront.errors import ArgumentError, SharpfrontError

plt = Lazy("matplotlib.pyplot")
WRONG = {
    **{"none": None, "zero": 0, "negative": -1, "fraction": 1.5, "nan": math.nan, "inf": math.inf},
    **{"text": "text", "true": True, "empty": [], "tuple": (1,), "mapping": {}, "bytes": b"x"},
    **{"object": object(), "array": np.zeros((2, 2)), "complex": 1j},
}
LINE, DISK = sf.Interval(0, 1), sf.Disk((0, 0), 1)
PROBLEM = sf.Problem(LINE, "-0.1*u_xx + u_x = 0", left="u = 0", right="u = 1")
IN_TIME = {"boundary": "u = 0", "initial": "sin(pi*x)", "time": (0, 0.05)}


@pytest.fixture(scope="module")
def solved():
    return sf.solve(PROBLEM, tol=1e-4), sf.solve(sf.Problem(LINE, "u_t=u_xx", **IN_TIME), tol=1e-2)


STATED = {
    "Interval": lambda v: sf.Interval(v),
    "Interval end": lambda v: sf.Interval(0, v),
    "Interval periodic": lambda v: sf.Interval(0, 1, periodic=v),
    "Box": lambda v: sf.Box(v, (0, 1)),
    "Box periodic": lambda v: sf.Box((0, 1), (0, 1), periodic=v),
    "Disk": lambda v: sf.Disk(v),
    "Disk centre": lambda v: sf.Disk(v, 1),
    "Disk radius": lambda v: sf.Disk((0, 0), v),
    "Ball": lambda v: sf.Ball(v, 1),
    "HalfSpace": lambda v: sf.HalfSpace((0, 1), v),
    "Polygon": lambda v: sf.Polygon(v),
    "Polygon holes": lambda v: sf.Polygon([(0, 0), (1, 0), (0, 1)], v),
    "Solid": lambda v: sf.Solid(v),
    "Solid triangles": lambda v: sf.Solid.from_triangles(v, v),
    "Implicit": lambda v: sf.Implicit(v, ((-1, 1), (-1, 1))),
    "Implicit bounds": lambda v: sf.Implicit(lambda x, y: x * x + y * y - 0.5, v),
    "Cloud": lambda v: sf.Cloud(v, v),
    "union": lambda v: DISK | v,
    "difference": lambda v: DISK - v,
    "named": lambda v: DISK.named(v),
    "part": lambda v: DISK.part("a", v),
    "sample": lambda v: DISK.sample(v),
    "boundary": lambda v: DISK.boundary(v),
    "domain": lambda v: sf.Problem(v, "u_x = 1"),
    "equation": lambda v: sf.Problem(LINE, v),
    "condition": lambda v: sf.Problem(LINE, "u_xx = 1", left=v),
    "everywhere": lambda v: sf.Problem(LINE, "u_xx = 1", boundary=v),
    "conditions": lambda v: sf.Problem(LINE, "u_xx = 1", conditions=v),
    "parameters": lambda v: sf.Problem(LINE, "u_xx = 1", parameters=v),
    "parameter": lambda v: sf.Problem(LINE, "u_xx = k", parameters={"k": v}),
    "initial": lambda v: sf.Problem(LINE, "u_t = u_xx", **IN_TIME | {"initial": v}),
    "time": lambda v: sf.Problem(LINE, "u_t = u_xx", **IN_TIME | {"time": v}),
    "at": lambda v: sf.Problem(LINE, "u_x = 1", conditions=sf.at(v, "u = 0")),
    "at condition": lambda v: sf.Problem(LINE, "u_x = 1", conditions=sf.at(0.5, v)),
    "integral": lambda v: sf.Problem(LINE, "u_x = 1", conditions=sf.integral(v)),
    "integral equals": lambda v: sf.integral("u", equals=v),
    "function": lambda v: sf.function(v),
    "solve": lambda v: sf.solve(v),
    "solve tol": lambda v: sf.solve(PROBLEM, tol=v),
    "continuation": lambda v: sf.solve(lambda k: PROBLEM, tol=0.1, continuation=v),
    "load": lambda v: sf.load(v),
    "laplacian": lambda v: sf.laplacian(v),
    "grad": lambda v: sf.grad(v),
    "div": lambda v: sf.div(v),
    "from_sympy": lambda v: sf.from_sympy(v, "x"),
    "to_sympy": lambda v: sf.to_sympy(v),
    "export": lambda v: sf.export(v, "a.vtu"),
    "animate": lambda v: sf.animate(v, "a.gif"),
}
ASKED = {
    "call": lambda s, t, v: s(v),
    "call in time": lambda s, t, v: t(0.5, v),
    "too many coordinates": lambda s, t, v: s(0.5, v),
    "d": lambda s, t, v: s.d(v),
    "d times": lambda s, t, v: s.d("x", v),
    "residual": lambda s, t, v: s.residual(v),
    "save": lambda s, t, v: s.save(v),
    "plot": lambda s, t, v: s.plot(v),
    "plot x": lambda s, t, v: s.plot(x=v),
    "plot unknown": lambda s, t, v: s.plot(unknown=v),
    "plot resolution": lambda s, t, v: s.plot(resolution=v),
    "plot axes": lambda s, t, v: s.plot(axes=v),
    "plot t": lambda s, t, v: t.plot(t=v),
    "animate path": lambda s, t, v: t.animate(v, frames=2),
    "animate fps": lambda s, t, v: t.animate("a.nothing", fps=v, frames=2),
    "animate seconds": lambda s, t, v: t.animate("a.nothing", seconds=v),
    "report path": lambda s, t, v: None if isinstance(v, str) else s.report(v),
    "report exact": lambda s, t, v: s.report("a.html", exact=v),
    "report settings": lambda s, t, v: s.report("a.html", settings=v),
    "export path": lambda s, t, v: sf.export(s, v),
    "export resolution": lambda s, t, v: sf.export(s, "a.nothing", resolution=v),
    "to_xarray": lambda s, t, v: s.to_xarray(x=v),
}


def only_our_errors(call):
    """Make the call; what is wrong must be said in the words of this package."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            call()
        except SharpfrontError as error:
            assert len(str(error)) > 20
    plt.close("all")


@pytest.mark.parametrize("name", STATED)
def test_statements(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for value in WRONG.values():
        only_our_errors(lambda value=value: STATED[name](value))


@pytest.mark.parametrize("name", ASKED)
def test_questions_to_a_solution(name, solved, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for value in WRONG.values():
        only_our_errors(lambda value=value: ASKED[name](*solved, value))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: sf.Interval([0, 1]),
            r"missing a required argument: 'right'.*\(\[0, 1\]\).*\(0, 1\)",
        ),
        (lambda: sf.Interval(0, 1, True), "too many positional"),
        (lambda: sf.Disk((0, 0)), "missing a required argument: 'radius'"),
        (lambda: sf.solve(PROBLEM, tolerance=1e-3), "'tolerance'.*Did you mean 'tol'"),
        (lambda: sf.solve(PROBLEM, 1e-3), "too many positional"),
        (lambda: sf.Problem(LINE), "missing a required argument: 'equation'"),
        (lambda: sf.at(0.3), "missing a required argument: 'residual'"),
    ],
)
def test_calls_that_do_not_fit_show_one_that_does(call, words):
    with pytest.raises(ArgumentError, match=words) as caught:
        call()
    assert "Write for example sf." in str(caught.value)


def test_the_listed_ones():
    with pytest.raises(SharpfrontError, match="tol: expected a number between 0 and 1"):
        sf.solve(PROBLEM, tol="1e-3")
    with pytest.raises(SharpfrontError, match=r"periodic: expected names of coordinates.*got True"):
        sf.Box((0, 1), (0, 1), periodic=True)
    with pytest.raises(SharpfrontError, match="at least one side"):
        sf.Box(periodic=True)


def test_a_type_error_of_the_users_own_stays_what_it_is():
    def broken(u, x):
        return u.dxx + len(5)

    with pytest.raises(TypeError, match="has no len"):
        sf.Problem(LINE, broken)


def test_a_damaged_file_is_refused(tmp_path, solved):
    path = solved[0].save(tmp_path / "good.npz")
    with np.load(path) as file:
        arrays = dict(file)
    for name in [n for n in arrays if n != "meta"]:
        rest = {k: v for k, v in arrays.items() if k != name}
        np.savez(tmp_path / "bad.npz", **rest)
        with pytest.raises(SharpfrontError, match="damaged"):
            sf.load(tmp_path / "bad.npz")


def test_a_residual_in_the_place_of_a_problem_is_told():
    with pytest.raises(SharpfrontError, match="function of u, x, as a residual is"):
        sf.solve(lambda u, x: u.dxx + 1)


@pytest.mark.parametrize(
    "make", [sf.Free, sf.Prior, sf.Patches, sf.Resolve, sf.grad, sf.div, sf.laplacian, sf.delta]
)
def test_names_of_arguments_that_are_not_there_are_told_with_an_example(make):
    with pytest.raises(ArgumentError, match=rf"strange.*Write for example sf\.{make.__name__}"):
        make(strange=1)
