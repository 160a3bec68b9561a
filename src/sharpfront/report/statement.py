"""A problem as a reader expects it: equations, where they hold, conditions, the start."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sharpfront.equation import to_text
from sharpfront.equation.expression import Coordinate, Expression, as_expression
from sharpfront.geometry import Box, Domain, Interval
from sharpfront.problem import IntegralCondition, PointCondition, Problem
from sharpfront.report.domains import domain_code
from sharpfront.report.mathml import Names, equation_terms, name_to_mathml, to_mathml


def problem_markup(problem: Problem) -> str:
    """Return the problem as HTML with its formulas in MathML."""
    names = parameter_names(problem)
    rows = [
        *((_equation(e, names), "") for e in problem.equations),
        *_domain_rows(problem),
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


def initial_expressions(problem: Problem) -> Iterator[tuple[str, Expression | None]]:
    """Yield each initial state by name; None for one that cannot be written as a formula."""
    if problem.initial is None:
        return
    names = problem.initial.coordinates
    for name, state in problem.initial.states.items():
        yield name, _traced(state, names)


def _traced(state: Callable[..., Any], names: tuple[str, ...]) -> Expression | None:
    # A user's function of arrays may do anything with a symbol but return a formula.
    try:
        return as_expression(state(**{c: Coordinate(c, names) for c in names}))
    except Exception:
        return None


def _math(inner: str) -> str:
    return f"<math><mrow>{inner}</mrow></math>"


def _parts(terms: Sequence[str]) -> str:
    # One formula for each term, so that a long equation breaks at its signs.
    return "<wbr>".join(map(_math, terms))


def _equation(residual: Expression, names: Names) -> str:
    return _parts(equation_terms(residual, names))


def _named(name: str, value: float) -> str:
    return f"{name_to_mathml(name)}<mo form='infix'>=</mo>{to_mathml(as_expression(value))}"


def _between(name: str, low: float, high: float, last: str = "&lt;") -> str:
    ends = [to_mathml(as_expression(end)) for end in (low, high)]
    first = f"{ends[0]}<mo form='infix'>&lt;</mo>{name_to_mathml(name)}"
    return f"{first}<mo form='infix'>{last}</mo>{ends[1]}"


def _domain_rows(problem: Problem) -> Iterator[tuple[str, str]]:
    domain = problem.domain
    if isinstance(domain, Box):
        spans = zip(domain.coordinates, *domain.bounds, strict=True)
        formulas = [_between(name, low, high) for name, low, high in spans]
        loops = [c for c, p in zip(domain.coordinates, domain.periodic_axes, strict=True) if p]
        yield _listed(formulas), f"periodic in {', '.join(loops)}" if loops else ""
    else:
        words = domain_code(domain)
        words = repr(domain) if "..." in words else words.replace("sf.", "")
        inside = f"in <code>{html.escape(words)}</code>"
        yield _math(_point(domain.coordinates)), inside
    if problem.time is not None:
        yield _math(_between("t", *problem.time, "≤")), ""


def _point(names: Sequence[str]) -> str:
    inner = "<mo>,</mo>".join(map(name_to_mathml, names))
    return inner if len(names) == 1 else f"<mo>(</mo>{inner}<mo>)</mo>"


def _listed(formulas: Sequence[str]) -> str:
    return ", ".join(map(_math, formulas))


def _condition_rows(problem: Problem, names: Names) -> Iterator[tuple[str, str]]:
    """Yield the conditions, those that say the same on several parts once."""
    groups: dict[str, tuple[Expression, list[str]]] = {}
    for condition in problem.conditions:
        for residual in condition.residuals:
            groups.setdefault(to_text(residual), (residual, []))[1].append(condition.part)
    for residual, parts in groups.values():
        yield _equation(residual, names), _place(problem.domain, parts)


def _place(domain: Domain, parts: Sequence[str]) -> str:
    if isinstance(domain, Interval):
        ends = dict(zip(("left", "right"), domain.bounds[:, 0], strict=True))
        places = [_math(_named(domain.coordinates[0], ends[part])) for part in parts]
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
                yield _math(f"{inner}<mo form='infix'>=</mo>{value}"), "over the domain"
            elif isinstance(condition, PointCondition):
                pairs = zip(problem.domain.coordinates, condition.point, strict=True)
                where = _listed([_named(name, value) for name, value in pairs])
                yield _equation(residual, names), f"at {where}"


def _initial_rows(problem: Problem, names: Names) -> Iterator[tuple[str, str]]:
    if problem.time is None:
        return
    start = f"at {_math(_named('t', problem.time[0]))}"
    for name, expression in initial_expressions(problem):
        left = name_to_mathml(name)
        if expression is None:
            yield _math(left), f"{start} as given by a function"
        else:
            right = to_mathml(expression, names)
            yield _math(f"{left}<mo form='infix'>=</mo>{right}"), start
