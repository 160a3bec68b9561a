"""The Python lines that state and solve a problem again."""

from __future__ import annotations

import contextlib
import platform
import re
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from sharpfront.geometry import Combination
from sharpfront.problem import IntegralCondition, JumpCondition, Problem
from sharpfront.show.statement.code import Code
from sharpfront.show.statement.domains import domain_code
from sharpfront.show.statement.recorded import number

_PACKAGES = ("sharpfront", "numpy", "scipy", "scikit-learn")
_IMPORTS = {
    "base64": "import base64",
    "zlib": "import zlib",
    "np": "import numpy as np",
    "scipy": "import scipy.special",
    "sf": "import sharpfront as sf",
}
# At so many points the state at the start is compared with what was recorded of it.
_STATES_COMPARED = 200
# What `solve` takes; other settings are shown beside the script.
_ARGUMENTS = ("tol", "seed", "max_kernels", "components", "continuation")


def versions() -> dict[str, str]:
    """Return the versions of what the numbers depend on."""
    found = {"Python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found | {"system": f"{platform.system()} {platform.machine()}"}


def script(solution: Any, settings: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Return Python code that solves the problem of a solution again, and what it cannot hold."""
    given = {"tol": solution.tol} | dict(settings)
    words = ", ".join(f"{name}={_literal(given[name])}" for name in _ARGUMENTS if name in given)
    solve = f"solution = sf.solve(problem, {words})\n"
    if solution.problem is None:
        start = "import sharpfront as sf\n\nproblem = ...  # supply it\n"
        return start + solve, ["problem, which a solution read from a file does not know"]
    code = Code([*_IMPORTS, *solution.problem.unknowns, *solution.problem.coordinates])
    lines = "".join(f"    {line},\n" for line in _lines(solution.problem, code))
    body = f"problem = sf.Problem(\n{lines})\n{solve}"
    before = "\n".join(f"\n{each}" if each.startswith("def ") else each for each in code.setup)
    text = f"{before}\n\n{body}" if before else body
    return f"{_imports(text)}\n{text}", code.missing


def _imports(text: str) -> str:
    lines = [line for word, line in _IMPORTS.items() if re.search(rf"\b{word}\.", text)]
    first = [line for line in lines if line in ("import base64", "import zlib")]
    between = "\n" if first else ""
    return (
        "".join(f"{line}\n" for line in first)
        + between
        + "".join(f"{line}\n" for line in lines if line not in first)
    )


def _literal(value: Any) -> str:
    """Return a value as code; a number that was written as a text is a number again."""
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            float(value)
            return value
    return repr(value)


def _lines(problem: Problem, code: Code) -> list[str]:
    unknowns = problem.unknowns
    domain = domain_code(problem.domain, code)
    # Around a whole argument parentheses say nothing.
    domain = domain[1:-1] if isinstance(problem.domain, Combination) else domain
    lines = [domain, code.residuals(problem.equations, unknowns)]
    parts = {c.part: code.residuals(c.residuals, unknowns) for c in problem.conditions}
    if len(parts) > 1 and len(parts) == len(problem.domain.parts) and len({*parts.values()}) == 1:
        parts = {"boundary": next(iter(parts.values()))}
    lines += [f"{part}={residual}" for part, residual in parts.items()]
    further = [
        f"sf.integral({code.residuals(c.residuals, unknowns)}, equals={number(c.equals)})"
        if isinstance(c, IntegralCondition)
        else f"sf.at({c.point!r}, {code.residuals(c.residuals, unknowns)})"
        for c in problem.further
    ]
    further += [_jump(j, unknowns, code) for j in problem.jumps]
    if further:
        lines.append(f"conditions=({', '.join(further)},)")
    if problem.time is not None:
        states = ", ".join(f"{n!r}: {s}" for n, s in _states(problem, code).items())
        lines += [f"initial={{{states}}}", f"time={problem.time!r}"]
    return lines


def _jump(stated: JumpCondition, unknowns: Sequence[str], code: Code) -> str:
    """Return a stated jump as code."""
    quantities, steps = (code.residuals(e, unknowns) for e in (stated.residuals, stated.equals))
    return f"sf.jump({quantities}, equals={steps}, {stated.coordinate}={number(stated.place)})"


def _states(problem: Problem, code: Code) -> dict[str, str]:
    """Return the state at the start as code, by name."""
    assert problem.initial is not None
    names, points = problem.initial.coordinates, problem.domain.sample(_STATES_COMPARED)
    return {
        name: code.function(state, names, points, f"{name} at the start")
        for name, state in problem.initial.states.items()
    }
