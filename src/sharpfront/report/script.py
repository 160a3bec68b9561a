"""The Python lines that state and solve a problem again."""

from __future__ import annotations

import contextlib
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from sharpfront.equation import to_text
from sharpfront.equation.expression import Expression
from sharpfront.problem import IntegralCondition, Problem
from sharpfront.report.domains import domain_code
from sharpfront.report.statement import initial_expressions

_PACKAGES = ("sharpfront", "numpy", "scipy", "scikit-learn")
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


def script(solution: Any, settings: Mapping[str, Any]) -> str:
    """Return Python code that solves the problem of a solution again."""
    given = {"tol": solution.tol} | dict(settings)
    words = ", ".join(f"{name}={_literal(given[name])}" for name in _ARGUMENTS if name in given)
    head = "import sharpfront as sf\n\n"
    if solution.problem is None:
        return f"{head}problem = ...  # a solution read from a file does not know it\n" + (
            f"solution = sf.solve(problem, {words})\n"
        )
    lines = "".join(f"    {line},\n" for line in _lines(solution.problem))
    return f"{head}problem = sf.Problem(\n{lines})\nsolution = sf.solve(problem, {words})\n"


def _literal(value: Any) -> str:
    """Return a value as code; a number that was written as a text is a number again."""
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            float(value)
            return value
    return repr(value)


def _lines(problem: Problem) -> list[str]:
    equations = [_equation(e) for e in problem.equations]
    lines = [domain_code(problem.domain), _one_or_more(equations)]
    for condition in problem.conditions:
        texts = [_equation(r) for r in condition.residuals]
        lines.append(f"{condition.part}={_one_or_more(texts)}")
    further = [
        f"sf.integral({to_text(r)!r}, equals={c.equals!r})"
        if isinstance(c, IntegralCondition)
        else f"sf.at({c.point!r}, {_equation(r)})"
        for c in problem.further
        for r in c.residuals
    ]
    if further:
        lines.append(f"conditions=({', '.join(further)},)")
    if problem.time is not None:
        states = {n: ... if e is None else to_text(e) for n, e in initial_expressions(problem)}
        words = ", ".join(f"{n!r}: {'...' if s is ... else repr(s)}" for n, s in states.items())
        lines += [f"initial={{{words}}}", f"time={problem.time!r}"]
    return lines


def _equation(residual: Expression) -> str:
    return repr(f"{to_text(residual)} = 0")


def _one_or_more(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
