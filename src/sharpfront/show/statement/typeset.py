"""A problem as a reader expects it: equations, where they hold, conditions, the start."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence

from sharpfront.equation import to_text
from sharpfront.equation.expression import Expression, as_expression
from sharpfront.geometry import Domain, Interval
from sharpfront.problem import IntegralCondition, PointCondition, Problem
from sharpfront.show.statement.mathml import Names, equation_terms, name_to_mathml, to_mathml
from sharpfront.show.statement.regions import between, domain_rows, math
from sharpfront.show.statement.terms import traced


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
    if isinstance(domain, Interval):
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
