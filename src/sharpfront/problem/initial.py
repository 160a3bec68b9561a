"""The state from which a problem in time starts."""

from __future__ import annotations

import inspect
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfront.checks import ASKED, each_alone
from sharpfront.equation.expression import Constant, Expression
from sharpfront.equation.graph import derivatives_in, evaluate
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
    """Values at the start of time."""

    coordinates: tuple[str, ...]  # of space
    # A function of the coordinates for each name: of the unknowns that change in time, and of
    # ``u_t`` where the equation has ``u.dtt``.
    states: Mapping[str, Callable[..., Any]]
    # How often each was asked whether values depend on the points beside them, and what was read.
    asked: Counter[str] = field(default_factory=Counter, repr=False)
    read: dict[str, Expression | None] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Return what pickling keeps: graphs, for lambdas do not pickle."""
        graphs = {name: self.graph(name) for name in self.states}
        kept = {n: _Formula(graph) for n, graph in graphs.items() if graph is not None}
        return {**vars(self), "states": {**self.states, **kept}}

    def graph(self, name: str) -> Expression | None:
        """Return what a state computes as a graph; None for a function that cannot be read."""
        if name not in self.read:
            symbols = Symbols((), self.coordinates)
            try:
                found = self.states[name](**{c: symbols.stand_in(c) for c in self.coordinates})
            except Exception:
                # A table or an interpolant wants numbers. It is called with them too, and says so.
                found = None
            if isinstance(found, int | float | np.number):
                found = Constant(float(found))
            self.read[name] = found if isinstance(found, Expression) else None
        return self.read[name]

    def values(self, name: str, points: Values) -> Values:
        """Return one state at points (m, d), (m,)."""
        found = self._values(name, points)
        # What is read as a formula is one of each point alone, but for random numbers in it.
        often = ASKED if self.graph(name) is None else 1
        if self.asked[name] < often and len(points) > 1:
            self.asked[name] += 1

            def call(*columns: Values) -> Values:
                return self._values(name, np.stack(columns, axis=1))

            each_alone(f"The initial state of {name}", call, list(points.T), found)
        return found

    def _values(self, name: str, points: Values) -> Values:
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
    reader = StateReader("initial", names, coordinates, parameters)
    return InitialState(coordinates, reader.functions(initial))


@dataclass(frozen=True, eq=False)
class StateReader:
    """Reads what is given for quantities over space: an initial state, a guess."""

    option: str  # the argument it is given as: "initial" or "guess"
    names: Sequence[str]  # of the quantities
    # Of space, and what formulas may name besides.
    coordinates: tuple[str, ...]
    parameters: Mapping[str, float]
    # Makes a function of an array of values, where arrays are taken.
    on_grid: Callable[[str, Values], Callable[..., Any]] | None = None

    def functions(self, given: Initial) -> dict[str, Callable[..., Any]]:
        """Return a function of the coordinates, by name, for each quantity."""
        states = self._by_name(given)
        parts = {n: states[n] for n in self.names if isinstance(states[n], _Part)}
        return {n: parts.get(n) or self._function(states[n], n) for n in self.names}

    def _by_name(self, given: Initial) -> Mapping[str, Any]:
        names = self.names
        if isinstance(given, Mapping):
            if set(given) != set(names):
                raise ProblemError(
                    f"{self.option}= names {', '.join(map(str, given))}; expected "
                    f"{', '.join(names)}."
                )
            return given
        # What is listed for a single unknown may be values on a grid.
        is_row = self.on_grid is not None and len(names) == 1
        if isinstance(given, tuple | list) and not (is_row and len(given) > 1):
            if len(given) != len(names):
                raise self.miscounted(len(given))
            return dict(zip(names, given, strict=True))
        if len(names) == 1:
            return {names[0]: given}
        if not callable(given):
            raise self.miscounted(1)
        whole = self._called_by_name(given, self.option)
        return {n: _Part(whole, i, self) for i, n in enumerate(names)}

    def miscounted(self, count: int) -> ProblemError:
        """Return what is wrong with a number of states that is not that of the quantities."""
        rates = [n for n in self.names if n.endswith("_t")]
        hint = f" ({', '.join(rates)}: the rate of change at the start)" if rates else ""
        return ProblemError(
            f"{self.option}= gives {count} state(s) for {', '.join(self.names)}{hint}; one for "
            "each is needed, in this order or as a mapping from these names."
        )

    def _function(self, state: Any, name: str) -> Callable[..., Any]:
        words = f"initial state of {name}" if self.option == "initial" else f"guess for {name}"
        if isinstance(state, str):
            return _Formula(parse(state, Symbols((), self.coordinates), dict(self.parameters)))
        if is_symbolic(state):
            return _Formula(from_expression(state, Symbols((), self.coordinates), self.parameters))
        if callable(state):
            return self._called_by_name(state, words)
        if isinstance(state, int | float | np.number) and math.isfinite(state):
            return _Number(float(state))
        if not isinstance(state, np.ndarray | list | tuple):
            raise ProblemError(f"The {words} is {state!r}; expected {_SHAPES}.")
        if self.on_grid is not None:
            try:
                return self.on_grid(name, np.asarray(state, dtype=float))
            except (TypeError, ValueError) as error:
                if isinstance(error, ProblemError):
                    raise
        raise ProblemError(
            f"The {words} is an array of shape {np.shape(state)}; expected {_SHAPES}. "
            "For values on a grid write lambda x: np.interp(x, grid, values)."
        )

    def _called_by_name(self, function: Callable[..., Any], what: str) -> Callable[..., Any]:
        """Return the function taking the coordinates by name, whatever their order in it."""
        coordinates = self.coordinates
        try:
            parameters = inspect.signature(function).parameters.values()
        except ValueError:
            return _Called(function)
        if any(p.kind in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL) for p in parameters):
            return _Called(function)
        asked = [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
        needed = [p.name for p in asked]
        foreign = [n for n in needed if n not in coordinates]
        if foreign and len(needed) == len(coordinates):
            # An interpolant calls its argument what it likes.
            return _Called(function)
        if foreign:
            raise ProblemError(
                f"The {what} has the parameter(s) {', '.join(foreign)}; it is a function of "
                f"{', '.join(coordinates)}. Capture a constant from outside, or give it a default."
            )
        return _Called(function, tuple(needed))


@dataclass(frozen=True, eq=False)
class _Part:
    """One of the states that a single function returns as a tuple."""

    whole: Callable[..., Any]
    index: int
    reader: StateReader

    def __call__(self, **columns: Values) -> Any:
        found = self.whole(**columns)
        count = len(found) if isinstance(found, tuple | list) else 1
        if count != len(self.reader.names):
            raise self.reader.miscounted(count)
        return found[self.index]


# Classes in the place of closures: problems can be pickled.
@dataclass(frozen=True, eq=False)
class _Number:
    """A state that is the same everywhere."""

    value: float

    def __call__(self, **columns: Any) -> Any:
        return self.value


@dataclass(frozen=True, eq=False)
class _Called:
    """A function called with the coordinates by their names in it; in order if it has none."""

    function: Callable[..., Any]
    needed: tuple[str, ...] | None = None

    def __call__(self, **columns: Any) -> Any:
        if self.needed is None:
            return self.function(*columns.values())
        return self.function(**{n: columns[n] for n in self.needed})


@dataclass(frozen=True, eq=False)
class _Formula:
    """An expression as a function of the coordinates; of symbols it is what it is."""

    expression: Expression

    def __call__(self, **columns: Any) -> Any:
        if any(isinstance(column, Expression) for column in columns.values()):
            return self.expression
        return evaluate(self.expression, {("coordinate", c): v for c, v in columns.items()})
