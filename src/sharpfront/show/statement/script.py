"""The Python lines that state and solve a problem again."""

from __future__ import annotations

import contextlib
import platform
import re
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.geometry import Box, Cloud, Combination, Domain, Implicit, Interval, Polygon, Solid
from sharpfront.geometry.parts import Marked, Named
from sharpfront.geometry.stated_shape import StatedShape
from sharpfront.problem import IntegralCondition, Problem
from sharpfront.show.statement.code import Code
from sharpfront.show.statement.recorded import number

_PACKAGES = ("sharpfront", "numpy", "scipy", "scikit-learn")
_IMPORTS = {
    "base64": "import base64",
    "zlib": "import zlib",
    "np": "import numpy as np",
    "scipy": "import scipy.special",
    "sf": "import sharpfront as sf",
}
# What `solve` takes; other settings are shown beside the script.
_ARGUMENTS = ("tol", "seed", "max_kernels", "components", "continuation")
_OPERATORS = {"union": "|", "difference": "-", "intersection": "&"}
# At so many points a function is compared with what was recorded of it.
_COMPARED = 200


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
    used = [line for word, line in _IMPORTS.items() if re.search(rf"\b{word}\.", text)]
    # Python's own first, then an empty line.
    packed = ["import base64", "import zlib", ""] if "import zlib" in used else []
    used = [*packed, *(line for line in used if line not in packed)]
    return "\n".join([*used, "", text]), code.missing


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
    further = []
    for c in problem.further:
        residual = code.residuals(c.residuals, unknowns)
        if isinstance(c, IntegralCondition):
            further.append(f"sf.integral({residual}, equals={number(c.equals)})")
        else:
            further.append(f"sf.at({c.point!r}, {residual})")
    for j in problem.jumps:
        quantities, steps = (code.residuals(e, unknowns) for e in (j.residuals, j.equals))
        further.append(f"sf.jump({quantities}, equals={steps}, {j.coordinate}={number(j.place)})")
    if further:
        lines.append(f"conditions=({', '.join(further)},)")
    if problem.time is not None:
        assert problem.initial is not None
        names, points = problem.initial.coordinates, problem.domain.sample(_COMPARED)
        states = [
            f"{name!r}: {code.function(state, names, points, f'{name} at the start')}"
            for name, state in problem.initial.states.items()
        ]
        lines += [f"initial={{{', '.join(states)}}}", f"time={problem.time!r}"]
    return lines


def domain_code(domain: Domain, code: Code) -> str:
    """Return the call that makes a domain; what it needs before is put into `code`."""
    if isinstance(domain, Interval):
        loop = ", periodic=True" if domain.periodic else ""
        (name,) = domain.coordinates
        called = f", coordinate={name!r}" if name != "x" else ""
        return f"sf.Interval({number(domain.left)}, {number(domain.right)}{loop}{called})"
    if isinstance(domain, Box):
        pairs = zip(domain.coordinates, domain.periodic_axes, strict=True)
        joined = tuple(name for name, loops in pairs if loops)
        loop = f", periodic={joined!r}" if joined else ""
        sides = [_numbers(side) for side in domain.sides]
        if domain.coordinates != Box(*domain.sides).coordinates:
            sides = [f"{c}={side}" for c, side in zip(domain.coordinates, sides, strict=True)]
        return f"sf.Box({', '.join(sides)}{loop})"
    if isinstance(domain, StatedShape):
        values = [getattr(domain, name) for name in domain.example]
        shown = [_numbers(v) if isinstance(v, tuple) else number(v) for v in values]
        return f"sf.{type(domain).__name__}({', '.join(shown)})"
    if isinstance(domain, Combination):
        first, second = domain_code(domain.first, code), domain_code(domain.second, code)
        return f"({first} {_OPERATORS[domain.operation]} {second})"
    return _given_code(domain, code)


def _given_code(domain: Domain, code: Code) -> str:
    """Return a domain that consists of points, functions or names."""
    if isinstance(domain, Polygon):
        outer, *holes = (code.array(each, "corners") for each in domain.rings)
        inner = f", [{', '.join(holes)}]" if holes else ""
        return f"sf.Polygon({outer}{inner})"
    if isinstance(domain, Cloud):
        points, normals = code.array(domain.points, "points"), code.array(domain.normals, "normals")
        return f"sf.Cloud({points}, {normals})"
    if isinstance(domain, Solid):
        vertices, faces = code.array(domain.vertices, "vertices"), code.array(domain.faces, "faces")
        return f"sf.Solid.from_triangles({vertices}, {faces})"
    if isinstance(domain, Implicit):
        f = code.function(domain.f, domain.coordinates, _random(domain.frame), "the level function")
        return f"sf.Implicit({f}, ({', '.join(map(_numbers, domain.frame.T))}))"
    if isinstance(domain, Named):
        return f"{domain_code(domain.shape, code)}.named({domain.name!r})"
    if isinstance(domain, Marked):
        what = f"where the part {domain.name} is"
        where = code.function(domain.where, domain.coordinates, _on_rim(domain), what)
        return f"{domain_code(domain.shape, code)}.part({domain.name!r}, {where})"
    return code.supplied(type(domain).__name__, (), "the domain") + "()"


def _random(frame: FloatArray) -> FloatArray:
    low, high = frame
    shares = np.random.default_rng(0).uniform(size=(_COMPARED, len(low)))
    return np.asarray(low + shares * (high - low))


def _on_rim(domain: Marked) -> FloatArray:
    """Return points of the boundary, where the function is asked, or of space for a half-space."""
    if not np.all(np.isfinite(domain.bounds)):
        return _random(np.array([[-2.0] * domain.dimension, [2.0] * domain.dimension]))
    parts = [domain.shape.boundary(part, _COMPARED).points for part in domain.shape.parts]
    return np.concatenate([*parts, _random(domain.bounds)])


def _numbers(values: Iterable[float]) -> str:
    return f"({', '.join(number(float(value)) for value in values)})"
