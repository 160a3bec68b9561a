"""Domains as the calls that make them."""

from __future__ import annotations

from collections.abc import Iterable

from sharpfront.geometry import Ball, Box, Domain, Interval
from sharpfront.geometry.combine import Combination

_OPERATORS = {"union": "|", "difference": "-", "intersection": "&"}


def domain_code(domain: Domain) -> str:
    """Return the call that makes a domain; three dots for one that a line cannot tell."""
    if isinstance(domain, Interval):
        loop = ", periodic=True" if domain.periodic else ""
        return f"sf.Interval({_number(domain.left)}, {_number(domain.right)}{loop})"
    if isinstance(domain, Box):
        pairs = zip(domain.coordinates, domain.periodic_axes, strict=True)
        joined = tuple(name for name, loops in pairs if loops)
        loop = f", periodic={joined!r}" if joined else ""
        return f"sf.Box({', '.join(map(_numbers, domain.sides))}{loop})"
    if isinstance(domain, Ball):
        return f"sf.{type(domain).__name__}({_numbers(domain.centre)}, {_number(domain.radius)})"
    if isinstance(domain, Combination):
        first, second = domain_code(domain.first), domain_code(domain.second)
        return f"({first} {_OPERATORS[domain.operation]} {second})"
    return f"...  # {domain!r}"


def _number(value: float) -> str:
    return repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def _numbers(values: Iterable[float]) -> str:
    return f"({', '.join(map(_number, values))})"
