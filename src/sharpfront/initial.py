"""The state from which a problem in time starts."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfront.equation.expression import Expression, derivatives_in, evaluate
from sharpfront.equation.symbolic import from_expression, is_symbolic
from sharpfront.equation.text import parse
from sharpfront.equation.trace import Symbols
from sharpfront.errors import ProblemError

Values = NDArray[np.float64]
State = Callable[..., Any] | str | float
Initial = State | Sequence[State] | Mapping[str, State]

_SHAPES = (
    "a function of the coordinates (lambda x: np.exp(-x**2)), a text, a number, one of these for "
    "each of several unknowns as a tuple, or a mapping from their names"
)


def time_order(equations: Sequence[Expression], unknown: str, coordinates: Sequence[str]) -> int:
    """Return the highest order of a time derivative of an unknown."""
    i = tuple(coordinates).index("t")
    leaves = [d for e in equations for d in derivatives_in(e) if d.unknown == unknown]
    return max((leaf.orders[i] for leaf in leaves), default=0)


def velocity_name(unknown: str) -> str:
    """Return the name of the rate of change of an unknown whose second one is in the equation."""
    return f"{unknown}_t"


@dataclass(frozen=True, eq=False)
class InitialState:
    """Values at the start of time.

    Parameters
    ----------
    coordinates
        Of space.
    states
        A function of the coordinates for each name: of the unknowns that change in time, and of
        ``u_t`` where the equation has ``u.dtt``.
    """

    coordinates: tuple[str, ...]
    states: Mapping[str, Callable[..., Any]]

    def values(self, name: str, points: Values) -> Values:
        """Return one state at points (m, d), (m,)."""
        columns = dict(zip(self.coordinates, points.T, strict=True))
        try:
            found = self.states[name](**columns)
        except ValueError as error:
            if "truth value" not in str(error):
                raise
            raise ProblemError(
                f"The initial state of {name} is called with arrays, where `if` and `and` have no "
                "meaning; write np.where(x > 0.5, 1.0, 0.0) for a choice."
            ) from error
        if np.iscomplexobj(found):
            raise ProblemError(
                f"The initial state of {name} is complex; unknowns are real. Write the real and "
                "the imaginary part as two unknowns."
            )
        if found is None:
            raise ProblemError(f"The initial state of {name} returned None: is a `return` missing?")
        try:
            values = np.asarray(found, dtype=float)
            values = np.array(np.broadcast_to(values, (len(points),)))
        except (TypeError, ValueError):
            raise ProblemError(
                f"The initial state of {name} gave {_shape(found)} at {len(points)} points; it is "
                "called with arrays and returns one value for each point, like NumPy's functions."
            ) from None
        if not np.isfinite(values).all():
            i = int(np.argmin(np.isfinite(values)))
            where = ", ".join(f"{c} = {v[i]:.6g}" for c, v in columns.items())
            raise ProblemError(f"The initial state of {name} is {values[i]} at {where}.")
        return values


def _shape(found: object) -> str:
    shape = getattr(found, "shape", None)
    return f"an array of shape {shape}" if shape is not None else type(found).__name__


def read_initial(
    initial: Initial | None,
    names: Sequence[str],
    coordinates: tuple[str, ...],
    parameters: Mapping[str, float],
) -> InitialState:
    """Return the initial state of the named quantities, from all the ways of writing one."""
    if initial is None:
        raise ProblemError(
            f"A problem in time needs initial=: {', '.join(names)} at the start. Give {_SHAPES}."
        )
    given = _by_name(initial, names, coordinates)
    states = {
        n: state if isinstance(state, _Part) else _function(state, n, coordinates, parameters)
        for n, state in given.items()
    }
    return InitialState(coordinates, {n: states[n] for n in names})


def _by_name(
    initial: Initial, names: Sequence[str], coordinates: tuple[str, ...]
) -> Mapping[str, Any]:
    if isinstance(initial, Mapping):
        if set(initial) != set(names):
            raise ProblemError(
                f"initial= names {', '.join(map(str, initial))}; expected {', '.join(names)}."
            )
        return initial
    if isinstance(initial, Sequence) and not isinstance(initial, str):
        _require_count(len(initial), names)
        return dict(zip(names, initial, strict=True))
    if len(names) == 1:
        return {names[0]: initial}
    if not callable(initial):
        _require_count(1, names)
    return {n: _part(initial, i, names, coordinates) for i, n in enumerate(names)}


def _require_count(count: int, names: Sequence[str]) -> None:
    if count != len(names):
        rates = [n for n in names if n.endswith("_t")]
        hint = f" ({', '.join(rates)}: the rate of change at the start)" if rates else ""
        raise ProblemError(
            f"initial= gives {count} state(s) for {', '.join(names)}{hint}; one for each is "
            "needed, in this order or as a mapping from these names."
        )


@dataclass(frozen=True, eq=False)
class _Part:
    """One of the states that a single function returns as a tuple."""

    whole: Callable[..., Any]
    index: int
    names: Sequence[str]

    def __call__(self, **columns: Values) -> Any:
        found = self.whole(**columns)
        _require_count(len(found) if isinstance(found, tuple | list) else 1, self.names)
        return found[self.index]


def _part(
    whole: Any, index: int, names: Sequence[str], coordinates: tuple[str, ...]
) -> Callable[..., Any]:
    return _Part(_called_by_name(whole, "initial", coordinates), index, names)


def _function(
    state: Any, name: str, coordinates: tuple[str, ...], parameters: Mapping[str, float]
) -> Callable[..., Any]:
    if isinstance(state, str):
        return _formula(parse(state, Symbols((), coordinates), dict(parameters)))
    if is_symbolic(state):
        return _formula(from_expression(state, Symbols((), coordinates), parameters))
    if callable(state):
        return _called_by_name(state, f"initial state of {name}", coordinates)
    if isinstance(state, int | float | np.number) and math.isfinite(state):
        return lambda **columns: float(state)
    if isinstance(state, np.ndarray):
        raise ProblemError(
            f"The initial state of {name} is an array of shape {state.shape}; expected {_SHAPES}. "
            "For values on a grid write lambda x: np.interp(x, grid, values)."
        )
    raise ProblemError(f"The initial state of {name} is {state!r}; expected {_SHAPES}.")


def _formula(expression: Expression) -> Callable[..., Any]:
    """Return an expression as a function of the coordinates; of symbols it is what it is."""

    def values(**columns: Any) -> Any:
        if any(isinstance(column, Expression) for column in columns.values()):
            return expression
        return evaluate(expression, {("coordinate", c): v for c, v in columns.items()})

    return values


def _called_by_name(
    function: Callable[..., Any], what: str, coordinates: tuple[str, ...]
) -> Callable[..., Any]:
    """Return the function taking the coordinates by name, whatever their order in it."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return lambda **columns: function(*columns.values())
    if any(p.kind is p.POSITIONAL_ONLY for p in parameters):
        return lambda **columns: function(*columns.values())
    needed = [p.name for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return lambda **columns: function(*columns.values())
    foreign = [n for n in needed if n not in coordinates]
    if foreign and len(needed) == len(coordinates):
        # An interpolant calls its argument what it likes.
        return lambda **columns: function(*columns.values())
    if foreign:
        raise ProblemError(
            f"The {what} has the parameter(s) {', '.join(foreign)}; it is a function of "
            f"{', '.join(coordinates)}. Capture a constant from outside, or give it a default."
        )
    return lambda **columns: function(**{n: columns[n] for n in needed})
