"""Regions as formulas: inequalities of the simple ones, and how they are combined."""

from __future__ import annotations

import html
import string
from collections.abc import Iterator, Sequence

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Coordinate, Expression, as_expression
from sharpfront.geometry import Box, Cloud, Domain, Implicit, Polygon, Solid
from sharpfront.geometry.combine import Combination
from sharpfront.geometry.parts import Marked, Named, Relabelled
from sharpfront.geometry.stated_shape import StatedShape
from sharpfront.show.statement.mathml import name_to_mathml, to_mathml
from sharpfront.show.statement.terms import traced

_SIGNS = {"union": "∪", "difference": "∖", "intersection": "∩"}
# Corners of a polygon that are written down.
_MOST_CORNERS = 12
Row = tuple[str, str]


def math(inner: str) -> str:
    """Return a formula."""
    return f"<math><mrow>{inner}</mrow></math>"


def domain_rows(domain: Domain) -> Iterator[Row]:
    """Yield a domain as formulas, each with words on where or what."""
    leaves = list(_leaves(domain))
    if len(leaves) == 1:
        yield _leaf_row(leaves[0], "")
    else:
        names = [*string.ascii_uppercase, *(f"A{i}" for i in range(1, len(leaves)))]
        letters = {id(leaf): name for leaf, name in zip(leaves, names, strict=False)}
        point = _point(domain.coordinates)
        yield math(f"{point}<mo>∈</mo>{_combined(domain, letters, outer=True)}"), ""
        for leaf in leaves:
            yield _leaf_row(leaf, letters[id(leaf)])
    yield from _marked_rows(domain)


def _leaves(domain: Domain) -> Iterator[Domain]:
    """Yield the regions that are no combinations; names go with the region they are given to."""
    if isinstance(domain, Combination):
        yield from _leaves(domain.first)
        yield from _leaves(domain.second)
    else:
        inner = domain
        while isinstance(inner, Relabelled):
            inner = inner.shape
        yield from _leaves(inner) if isinstance(inner, Combination) else (domain,)


def _combined(domain: Domain, letters: dict[int, str], *, outer: bool = False) -> str:
    if id(domain) in letters:
        return name_to_mathml(letters[id(domain)])
    if isinstance(domain, Relabelled):
        return _combined(domain.shape, letters, outer=outer)
    assert isinstance(domain, Combination)
    first, second = (_combined(each, letters) for each in (domain.first, domain.second))
    whole = f"{first}<mo form='infix'>{_SIGNS[domain.operation]}</mo>{second}"
    return whole if outer else f"<mrow><mo>(</mo>{whole}<mo>)</mo></mrow>"


def _leaf_row(domain: Domain, letter: str) -> Row:
    inner: Domain = domain
    names = []
    while isinstance(inner, Relabelled):
        names += [inner.name] if isinstance(inner, Named) else []
        inner = inner.shape
    formulas, words = _leaf(inner)
    head = f"{name_to_mathml(letter)}<mo form='infix'>:</mo>" if letter else ""
    shown = ", ".join(map(math, formulas))
    shown = f"{math(head)} {shown}" if head else shown
    said = [words, f"its boundary is called {html.escape(names[0])}" if names else ""]
    return shown, "; ".join(filter(None, said))


def _leaf(domain: Domain) -> tuple[list[str], str]:
    """Return a simple region as formulas, and words."""
    names = domain.coordinates
    if isinstance(domain, Box):
        spans = zip(names, *domain.bounds, strict=True)
        pairs = zip(names, domain.periodic_axes, strict=True)
        loops = [name for name, loop in pairs if loop]
        words = f"periodic in {', '.join(loops)}" if loops else ""
        return [between(name, low, high) for name, low, high in spans], words
    if isinstance(domain, StatedShape):
        left, right = domain.inequality([Coordinate(name, names) for name in names])
        return [_inequality(left, as_expression(right))], ""
    return _given(domain)


def _given(domain: Domain) -> tuple[list[str], str]:
    """Return a region that consists of points or of a function."""
    point = _point(domain.coordinates)
    if isinstance(domain, Polygon):
        rings = [_corners(ring) for ring in domain.rings]
        holes = f", without {' and '.join(rings[1:])}" if rings[1:] else ""
        return [point], f"in the polygon with {rings[0]}{holes}"
    if isinstance(domain, Cloud):
        kind = "curve" if domain.dimension == 2 else "surface"
        return [point], f"within the closed {kind} through {len(domain.points)} points"
    if isinstance(domain, Solid):
        return [point], f"within a closed surface of {len(domain.faces)} triangles"
    if isinstance(domain, Implicit):
        level = traced(domain.f, domain.coordinates)
        if level is None:
            return [point], "where a function that was given is negative"
        return [_inequality(level, as_expression(0.0))], ""
    return [point], f"in <code>{html.escape(repr(domain))}</code>"


def _corners(ring: FloatArray) -> str:
    if len(ring) > _MOST_CORNERS:
        return f"{len(ring)} corners"
    corners = [_tuple([_number(c) for c in corner]) for corner in ring]
    return f"the corners {', '.join(map(math, corners))}"


def _marked_rows(domain: Domain) -> Iterator[Row]:
    """Yield the parts of the boundary that a function cuts out, or that a name joins."""
    if isinstance(domain, Combination):
        yield from _marked_rows(domain.first)
        yield from _marked_rows(domain.second)
    elif isinstance(domain, Relabelled):
        yield from _marked_rows(domain.shape)
        name = html.escape(domain.name)
        if isinstance(domain, Marked):
            where = traced(domain.where, domain.coordinates)
            if where is None:
                yield math(f"<mtext>{name}</mtext>"), "where a function that was given is true"
            else:
                yield math(to_mathml(where)), f"is where the boundary is called {name}"


def _inequality(left: Expression, right: Expression) -> str:
    return f"{to_mathml(left)}<mo form='infix'>&lt;</mo>{to_mathml(right)}"


def _number(value: float) -> str:
    return to_mathml(as_expression(float(value)))


def between(name: str, low: float, high: float, last: str = "&lt;") -> str:
    """Return a coordinate between two numbers."""
    first = f"{_number(low)}<mo form='infix'>&lt;</mo>{name_to_mathml(name)}"
    return f"{first}<mo form='infix'>{last}</mo>{_number(high)}"


def _point(names: Sequence[str]) -> str:
    return name_to_mathml(names[0]) if len(names) == 1 else _tuple([*map(name_to_mathml, names)])


def _tuple(parts: Sequence[str]) -> str:
    return f"<mo>(</mo>{'<mo>,</mo>'.join(parts)}<mo>)</mo>"
