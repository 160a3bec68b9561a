"""What a problem must be stated by, and what to say where it is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sharpfront.checks import did_you_mean, finite, numbers_in, refusal
from sharpfront.equation.expression import Expression, Normal
from sharpfront.equation.graph import ordered
from sharpfront.equation.trace import Symbols
from sharpfront.equation.weak import is_singular
from sharpfront.errors import EquationError, ProblemError
from sharpfront.geometry import Domain
from sharpfront.problem.initial import Initial

_OF_A_DOMAIN = ("coordinates", "parts", "boundary")
_OPTIONS = ("boundary", "conditions", "parameters", "initial", "time")
_SYNONYMS = {
    **dict.fromkeys(("bc", "bcs"), "boundary"),
    **dict.fromkeys(("ic", "ics", "start", "u0"), "initial"),
    **dict.fromkeys(("t", "span", "interval", "t_span"), "time"),
}


def require_domain(domain: object) -> None:
    """Refuse a first argument that is no domain."""
    # Attributes of the class are not computed to see that they are there.
    kind = type(domain)
    if not all(hasattr(kind, n) or hasattr(domain, n) for n in _OF_A_DOMAIN):
        raise ProblemError(
            f"The first argument is the domain, for example sf.Interval(0, 1); got {domain!r}."
        )


def require_parts(domain: Domain, parts: Mapping[str, object]) -> None:
    """Refuse names that are neither options nor parts of the boundary."""
    for name in parts:
        if name not in domain.parts:
            hint = did_you_mean(name, (*_OPTIONS, *domain.parts), _SYNONYMS)
            raise ProblemError(
                f"{name!r} is neither an option nor a part of the boundary; its parts are "
                f"{', '.join(domain.parts) or 'none'}.{hint}"
            )


def checked_parameters(parameters: object) -> dict[str, float]:
    """Return the values of names used in texts."""
    if parameters is None:
        return {}
    attempt = 'parameters={"nu": 1e-3}'
    if not isinstance(parameters, Mapping) or not all(isinstance(k, str) for k in parameters):
        raise refusal("parameters", "a mapping from names to numbers", parameters, attempt)
    return {k: finite(v, f"The parameter {k!r}", attempt=attempt) for k, v in parameters.items()}


def time_span(
    time: tuple[float, float] | None, initial: Initial | None
) -> tuple[float, float] | None:
    """Return the span of time, or None for a stationary problem."""
    if time is None:
        if initial is not None:
            raise ProblemError("initial= was given without a span of time; add time=(t0, t1).")
        return None
    expected = "a pair of finite numbers (t0, t1) with t0 < t1"
    numbers = numbers_in(time, "time", expected, "time=(0, 1)")
    if len(numbers) != 2 or not numbers[0] < numbers[1]:
        raise refusal("time", expected, time, "time=(0, 1)")
    return numbers[0], numbers[1]


def wrong_count(count: int, symbols: Symbols) -> str:
    """Say that there are not as many residuals as unknowns."""
    names = ", ".join(symbols.unknowns)
    return (
        f"The equation returned {count} residual(s) for {len(symbols.unknowns)} unknown(s) "
        f"({names}); it must return one for each. Parameters that are not called "
        f"{', '.join(symbols.coordinates)} are unknowns: capture constants from outside, or give "
        "them a default, lambda u, x, nu=nu: ..."
    )


def value_for_residual(value: object, what: str, symbols: Symbols) -> EquationError:
    """Return the error of a number that stands where a residual should."""
    u, names = symbols.unknowns[0], ", ".join((*symbols.unknowns, *symbols.coordinates))
    return EquationError(
        f"The {what} is the number {value!r}; it must say of what. Write {u + ' = ' + str(value)!r}"
        f" for {u} = {value}, or as a function lambda {names}: {u} - {value}."
    )


def refuse_normals(equations: Sequence[Expression]) -> None:
    """Refuse an outward normal in an equation, which holds inside."""
    if any(isinstance(node, Normal) for equation in equations for node in ordered(equation)):
        raise EquationError(
            "The equation has `.dn`, the derivative along the outward normal, which has a meaning "
            "on a boundary only. Write derivatives along coordinates, u.dx."
        )


def refuse_loads(residuals: Sequence[Expression], what: str) -> None:
    """Refuse what has a meaning in an equation only."""
    if any(map(is_singular, residuals)):
        raise EquationError(
            f"The {what} has sf.delta, or the derivative of an unknown times a coefficient that "
            "jumps; these stand in equations only."
        )
