"""BACOLI and BACOLRI: B-splines on a moving mesh, as compiled Fortran.

The problem is written as Fortran and compiled together with the library, whose sources are in the
folder that the environment variable SHARPFRONT_BACOLI names: ``bacoli_py/lib`` of the source
distribution of bacoli_py on PyPI. Jacobians are its own differences.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Apply, Constant, Coordinate, Expression, Leaf
from sharpfront.equation.graph import derivatives_in, folded
from sharpfront.errors import SharpfrontError
from sharpfront.problem import Problem
from sharpfront.rivals.contract import Found, Rival, Setting, Subject, tried
from sharpfront.rivals.method_of_lines import unit_rate

SOURCES = "SHARPFRONT_BACOLI"
_FILES = ("d1mach_i1mach.f95", "bacoli.f", "bacoli-aux.f", "bacolri.f", "bacolri-aux.f")
_COMPILE = ("gfortran", "-std=legacy", "-fallow-argument-mismatch", "-O2", "-w", "-fPIC")
# Moments and places at which a timed run gives the solution.
_MOMENTS, _PLACES = 12, 1001
_INFIX = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power": "**"}
_ORDER = {"greater": ">", "greater_equal": ">=", "less": "<", "less_equal": "<="}
_SAME = ("exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "erf", "erfc")
_CALLS = {name: name for name in _SAME} | {
    "absolute": "abs",
    "arctan": "atan",
    "maximum": "max",
    "minimum": "min",
}


# How a whole number below ten is written, which is a better power than a real one.
_WHOLE = re.compile(r"\((-?\d)\.0*d\+00\)$")


class _NoFortranError(Exception):
    """A residual has a function that is not translated."""


def _number(value: float) -> str:
    return f"({value:.17e})".replace("e", "d")


def assigned(to: str, expression: Expression, leaves: dict[Any, str]) -> str:
    """Return Fortran that puts an expression's value there, a statement for each node."""
    lines: list[str] = []

    def leaf(node: Expression) -> str:
        if isinstance(node, Constant):
            return _number(node.value)
        if isinstance(node, Leaf) and node.key in leaves:
            return leaves[node.key]
        raise _NoFortranError(f"{node!r} has no value in Fortran")

    def step(node: Apply, arguments: list[str]) -> str:
        lines.append(f"  v{len(lines)} = {_applied(node.function.name, arguments)}")
        return f"v{len(lines) - 1}"

    last = f"  {to} = {folded(expression, leaf, step)}"
    declared = [f"    double precision :: v{i}" for i in range(len(lines))]
    return "\n".join(["  block", *declared, *lines, last, "  end block"])


def _applied(name: str, arguments: list[str]) -> str:
    whole = _WHOLE.match(arguments[-1])
    if name == "power" and whole:
        return f"{arguments[0]}**({whole[1]})"
    if name in _INFIX:
        return f"{arguments[0]} {_INFIX[name]} {arguments[1]}"
    if name in _ORDER:
        return f"merge(1d0, 0d0, {arguments[0]} {_ORDER[name]} {arguments[1]})"
    if name == "where":
        return f"merge({arguments[1]}, {arguments[2]}, {arguments[0]} /= 0d0)"
    if name == "heaviside":
        first, at_zero = arguments
        return f"merge({at_zero}, merge(1d0, 0d0, {first} > 0d0), {first} == 0d0)"
    if name == "negative":
        return f"-{arguments[0]}"
    if name in _CALLS:
        return f"{_CALLS[name]}({', '.join(arguments)})"
    raise _NoFortranError(f"{name} is no function of Fortran's")


def _leaves(problem: Problem, x: str, normal: str | None = None) -> dict[Any, str]:
    place, moment = problem.coordinates
    found: dict[Any, str] = {("coordinate", place): x, ("coordinate", moment): "t"}
    if normal is not None:
        found["normal", place] = normal
    for i, name in enumerate(problem.unknowns, 1):
        for order, array in enumerate(("u", "ux", "uxx")):
            found["derivative", name, (order, 0)] = f"{array}({i})"
        found["derivative", name, (0, 1)] = "0d0"
    return found


def fortran(problem: Problem) -> str:
    """Return a problem as subroutines of Fortran."""
    low, high = (_number(end) for end in problem.domain.bounds[:, 0])
    assert problem.initial is not None
    place = Coordinate(problem.coordinates[0], problem.coordinates[:1])
    sides = {"left": (low, "(-1d0)"), "right": (high, "1d0")}
    parts: dict[str, list[str]] = {"f": [], "left": [], "right": [], "start": []}
    for i, (name, equation) in enumerate(zip(problem.unknowns, problem.equations, strict=True), 1):
        parts["f"].append(assigned(f"fval({i})", -equation, _leaves(problem, "x")))
        try:
            state = problem.initial.states[name](**{place.name: place})
        except (SharpfrontError, ArithmeticError, AttributeError, TypeError, ValueError) as error:
            raise _NoFortranError("the state at the start is no formula") from error
        state = state if isinstance(state, Expression) else Constant(float(state))
        parts["start"].append(assigned(f"u({i})", state, {place.key: "x"}))
    for condition in problem.conditions:
        at = _leaves(problem, *sides[condition.part])
        for i, residual in enumerate(condition.residuals, 1):
            parts[condition.part].append(assigned(f"bval({i})", residual, at))
    text = {name: "\n".join(blocks) for name, blocks in parts.items()}
    driver = (files("sharpfront.rivals") / "bacoli.f90").read_text(encoding="utf-8")
    return driver.format(npde=len(problem.unknowns), low=low, high=high, **text)


@cache
def _library(folder: str) -> TemporaryDirectory[str]:
    """Return a folder with the library's objects, compiled once."""
    made, sources = TemporaryDirectory(), Path(folder).resolve()
    face = (sources / "bacoli_interface.f95").read_text()
    # What `vals` gives is at places fixed from the start; the state itself must be seen.
    Path(made.name, "face.f95").write_text(face.replace("    private\n", "", 1))
    files = [*(str(sources / name) for name in _FILES), "face.f95"]
    subprocess.run([*_COMPILE, "-c", *files], cwd=made.name, check=True, capture_output=True)
    return made


@cache
def _compiled(text: str, folder: str) -> Any:
    library = Path(_library(folder).name)
    name = f"race{abs(hash(text))}"
    (library / f"{name}.f90").write_text(text)
    objects = sorted(str(path) for path in library.glob("*.o"))
    command = [*_COMPILE, "-ffree-line-length-none", "-shared", f"{name}.f90", *objects]
    subprocess.run([*command, "-o", f"{name}.so"], cwd=library, check=True, capture_output=True)
    return ctypes.CDLL(str(library / f"{name}.so")).run


class Bacoli(Rival):
    """Both ways in time, two degrees, two first meshes, and tolerances."""

    def missing(self) -> str:
        """Return what is not there."""
        if shutil.which("gfortran") is None:
            return "needs gfortran"
        if not Path(os.environ.get(SOURCES, ""), _FILES[1]).is_file():
            return f"needs {_FILES[1]} in the folder that {SOURCES} names: see docs/arena.md"
        return ""

    def applies(self, subject: Subject) -> str:
        """Return why not."""
        problem = subject.problem
        if problem.time is None or problem.domain.dimension > 1:
            return "it is for intervals and time"
        if problem.further or problem.jumps or problem.is_singular or not unit_rate(problem):
            return "it takes u_t = ... with conditions at the two ends"
        highest = max(d.orders[0] for e in problem.equations for d in derivatives_in(e))
        rates = max(d.orders[1] for e in problem.equations for d in derivatives_in(e))
        given = [len(c.residuals) for c in problem.conditions]
        if highest != 2 or rates > 1 or given != [len(problem.unknowns)] * 2:
            return "it is for parabolic equations with a condition at each end for each unknown"
        try:
            fortran(problem)
        except _NoFortranError as error:
            return str(error)
        return ""

    def settings(self, subject: Subject) -> tuple[Setting, ...]:
        """Return tolerances, ways in time, degrees and meshes."""
        return tried(
            "tol {tol:.0e}, {way}, {kcol} points, {elements} elements first",
            tol=(1e-3, 1e-5, 1e-7, 1e-9, 1e-11),
            way=("BACOLRI", "BACOLI"),
            kcol=(4, 6),
            elements=(20, 200),
        )

    def solve(self, subject: Subject, setting: Setting, seed: int, seconds: float) -> Found:
        """Return the solution; asked for it, the library runs again up to the moments asked for."""
        problem = subject.problem
        assert problem.time is not None
        run = partial(_run, problem, _compiled(fortran(problem), os.environ[SOURCES]), setting)
        moments = np.linspace(*problem.time, _MOMENTS + 1)[1:]
        low, high = problem.domain.bounds[:, 0]
        places = np.linspace(low, high, _PLACES)
        run(np.tile(places, _MOMENTS), np.repeat(moments, _PLACES))
        return {n: partial(_at, problem, run, i) for i, n in enumerate(problem.unknowns)}


def _run(problem: Problem, library: Any, setting: Setting, x: FloatArray, t: FloatArray) -> Any:
    """Return all unknowns (m, n) at places, in the order of time and after its start."""
    moments, first = np.unique(t, return_index=True)
    ends = np.append(first, len(t)).astype(np.intc)
    places, found = np.ascontiguousarray(x), np.empty((len(x), len(problem.unknowns)))
    flag, values = ctypes.c_int(), setting.values
    dirichlet = all(form.order == 0 for c in problem.conditions for form in c.forms)
    assert problem.time is not None
    library(
        ctypes.c_double(problem.time[0]),
        len(moments),
        *(array.ctypes.data_as(ctypes.c_void_p) for array in (moments, ends)),
        len(places),
        *(array.ctypes.data_as(ctypes.c_void_p) for array in (places, found)),
        ctypes.c_double(values["tol"]),
        *(values["kcol"], int(values["way"] == "BACOLRI"), int(dirichlet), values["elements"]),
        ctypes.byref(flag),
    )
    if flag.value <= 0:
        raise ArithmeticError(f"it ended with IDID = {flag.value}")
    return found


def _at(problem: Problem, run: Any, index: int, x: Any, t: Any) -> Any:
    """Return an unknown at places and moments."""
    x, t = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(t, dtype=float))
    places, moments, out = x.ravel(), t.ravel(), np.empty(x.size)
    assert problem.time is not None and problem.initial is not None
    late = moments > problem.time[0]
    states, name = problem.initial, problem.unknowns[index]
    out[~late] = states.values(name, places[~late][:, None]) if not late.all() else 0.0
    order = np.flatnonzero(late)[np.argsort(moments[late], kind="stable")]
    if len(order):
        out[order] = run(places[order], moments[order])[:, index]
    return out.reshape(x.shape)


BACOLI = Bacoli(
    "bacoli",
    "BACOLI, BACOLRI",
    "Pew, Li and Muir, BACOLI: B-spline adaptive collocation software, ACM TOMS 42 (2016)",
)
