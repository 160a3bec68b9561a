"""Domains as the calls that make them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.geometry import (
    Box,
    Cloud,
    Domain,
    Implicit,
    Interval,
    Polygon,
    Solid,
)
from sharpfront.geometry.combine import Combination
from sharpfront.geometry.parts import Marked, Named
from sharpfront.geometry.stated import StatedShape
from sharpfront.show.statement.code import Code
from sharpfront.show.statement.recorded import number

_OPERATORS = {"union": "|", "difference": "-", "intersection": "&"}
# At so many points a function is compared with what was recorded of it.
_COMPARED = 200


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
    return _given(domain, code)


def _given(domain: Domain, code: Code) -> str:
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
        f = code.function(domain.f, domain.coordinates, _spread(domain.frame), "the level function")
        return f"sf.Implicit({f}, ({', '.join(map(_numbers, domain.frame.T))}))"
    if isinstance(domain, Named):
        return f"{domain_code(domain.shape, code)}.named({domain.name!r})"
    if isinstance(domain, Marked):
        where = code.function(
            domain.where, domain.coordinates, _along(domain), f"where the part {domain.name} is"
        )
        return f"{domain_code(domain.shape, code)}.part({domain.name!r}, {where})"
    return code.supplied(type(domain).__name__, (), "the domain") + "()"


def _spread(frame: FloatArray) -> FloatArray:
    low, high = frame
    shares = np.random.default_rng(0).uniform(size=(_COMPARED, len(low)))
    return np.asarray(low + shares * (high - low))


def _along(domain: Marked) -> FloatArray:
    """Return points of the boundary, where the function is asked, or of space for a half-space."""
    if not np.all(np.isfinite(domain.bounds)):
        return _spread(np.array([[-2.0] * domain.dimension, [2.0] * domain.dimension]))
    parts = [domain.shape.boundary(part, _COMPARED).points for part in domain.shape.parts]
    return np.concatenate([*parts, _spread(domain.bounds)])


def _numbers(values: Iterable[float]) -> str:
    return f"({', '.join(number(float(value)) for value in values)})"
