"""A problem as a reader expects it: equations, where they hold, conditions, the start.

Regions are inequalities, and how simple ones are combined.
"""

from __future__ import annotations

import html
import string
from collections.abc import Iterator, Sequence

from sharpfront.arrays import FloatArray
from sharpfront.equation import to_text
from sharpfront.equation.expression import Coordinate, Expression, as_expression
from sharpfront.geometry import Cloud, Domain, Implicit, Polygon, Solid
from sharpfront.geometry.combine import Combination
from sharpfront.geometry.parts import Marked, Named, Relabelled
from sharpfront.geometry.stated_shape import StatedShape
from sharpfront.problem import IntegralCondition, PointCondition, Problem
from sharpfront.show.statement.mathml import Names, equation_terms, name_to_mathml, to_mathml
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
    if domain.is_box:
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


def problem_markup(problem: Problem) -> str:
    """Return the problem as HTML with its formulas in MathML."""
    names = parameter_names(problem)
    rows = [
        *((_equation(e, names), "") for e in problem.equations),
        *domain_rows(problem.domain),
        *([(math(between("t", *problem.time, "≤")), "")] if problem.time else []),
        *_condition_rows(problem, names),
        *_further_rows(problem, names),
        *_initial_rows(problem, names),
        *((_parts([_named(name, value)]), "") for value, name in names.items()),
    ]
    lines = "".join(
        f'<li><span class="formula">{formula}</span> <span class="place">{place}</span></li>'
        for formula, place in rows
    )
    return f'<ul class="statement">{lines}</ul>'


def parameter_names(problem: Problem) -> Names:
    """Return parameters by their value, those that can be told from the other numbers.

    The graph holds numbers only: a whole number, or one that two parameters share, could be
    anything and is shown as the number it is.
    """
    values = [abs(float(v)) for v in problem.parameters.values()]
    return {
        abs(float(value)): name
        for name, value in problem.parameters.items()
        if values.count(abs(float(value))) == 1 and abs(float(value)) % 1 and value > 0
    }


def _parts(terms: Sequence[str]) -> str:
    # One formula for each term, so that a long equation breaks at its signs.
    return "<wbr>".join(map(math, terms))


def _equation(residual: Expression, names: Names) -> str:
    return _parts(equation_terms(residual, names))


def _named(name: str, value: float) -> str:
    return f"{name_to_mathml(name)}<mo form='infix'>=</mo>{to_mathml(as_expression(value))}"


def _condition_rows(problem: Problem, names: Names) -> Iterator[tuple[str, str]]:
    """Yield the conditions, those that say the same on several parts once."""
    groups: dict[str, tuple[Expression, list[str]]] = {}
    for condition in problem.conditions:
        for residual in condition.residuals:
            groups.setdefault(to_text(residual), (residual, []))[1].append(condition.part)
    for residual, parts in groups.values():
        yield _equation(residual, names), _place(problem.domain, parts)


def _place(domain: Domain, parts: Sequence[str]) -> str:
    if domain.dimension == 1:
        ends = dict(zip(("left", "right"), domain.bounds[:, 0], strict=True))
        places = [math(_named(domain.coordinates[0], ends[part])) for part in parts]
        return f"at {' and '.join(places)}"
    if len(parts) == len(domain.parts):
        return "on the whole boundary"
    words = [part.replace("_", " ") for part in parts]
    return html.escape(
        f"on {', '.join(words[:-1])} and {words[-1]}" if words[1:] else f"on {words[0]}"
    )


def _further_rows(problem: Problem, names: Names) -> Iterator[tuple[str, str]]:
    for condition in problem.further:
        for residual in condition.residuals:
            if isinstance(condition, IntegralCondition):
                inner = f"<mo>∫</mo>{to_mathml(residual, names)}"
                value = to_mathml(as_expression(condition.equals))
                yield math(f"{inner}<mo form='infix'>=</mo>{value}"), "over the domain"
            elif isinstance(condition, PointCondition):
                pairs = zip(problem.domain.coordinates, condition.point, strict=True)
                where = ", ".join(math(_named(name, value)) for name, value in pairs)
                yield _equation(residual, names), f"at {where}"
    for jump in problem.jumps:
        where = math(_named(jump.coordinate, jump.place))
        for quantity, step in zip(jump.residuals, jump.equals, strict=True):
            left = f"<mrow><mo>[</mo>{to_mathml(quantity, names)}<mo>]</mo></mrow>"
            right = to_mathml(step, names)
            yield math(f"{left}<mo form='infix'>=</mo>{right}"), f"across {where}"


def _initial_rows(problem: Problem, names: Names) -> Iterator[tuple[str, str]]:
    if problem.time is None or problem.initial is None:
        return
    start = f"at {math(_named('t', problem.time[0]))}"
    for name, state in problem.initial.states.items():
        left, expression = name_to_mathml(name), traced(state, problem.initial.coordinates)
        if expression is None:
            yield math(left), f"{start} as given by a function"
        else:
            right = to_mathml(expression, names)
            yield math(f"{left}<mo form='infix'>=</mo>{right}"), start
