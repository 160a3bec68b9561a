"""Functions that the tracer does not look into: interpolants, tables, compiled code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sharpfront.checks import ASKED, each_alone, explained, listed, numbers_in
from sharpfront.equation.expression import Expression, Function, apply_function
from sharpfront.errors import EquationError


@dataclass(frozen=True, eq=False)
class OpaqueFunction(Function):
    """A vectorised callable as one node of the graph.

    Called with symbols it records itself; called with arrays it computes.
    """

    derivatives: tuple[OpaqueFunction, ...] = ()  # along each argument, where known
    breaks: tuple[tuple[float, ...], ...] = ()  # values of each argument at which it jumps or bends

    def __call__(self, *arguments: Any) -> Any:
        """Record the call if an argument is a symbol, compute otherwise."""
        if not arguments:
            raise EquationError(f"sf.function({self.name}) needs an argument: write f(x).")
        if any(isinstance(a, Expression) for a in arguments):
            return apply_function(self, *arguments)
        return self.evaluate(*arguments)


@explained("sf.function(lambda x: np.interp(x, xs, ys))(x)")
def function(
    f: Callable[..., Any],
    derivative: Callable[..., Any] | tuple[Callable[..., Any], ...] = (),
    breaks: Sequence[float] | Sequence[Sequence[float]] = (),
) -> OpaqueFunction:
    """Make any vectorised function usable in a residual: ``sf.function(f)(x)``.

    Parameters
    ----------
    f
        Takes arrays of one shape, returns an array of that shape (or a number).
    derivative
        Its derivative, or one for each argument; needed only where the equation
        differentiates it, as in ``(k(x) * u.dx).dx`` or ``f(u)``. It may itself be an
        ``sf.function`` with a derivative, for higher orders.
    breaks
        Values of its argument at which it jumps or bends, for several arguments a sequence for
        each. Kernels end there; where it stands in a flux, ``(k(x) * u.dx).dx``, the flux goes on.

    Examples
    --------
    >>> import numpy as np
    >>> import sharpfront as sf
    >>> k = sf.function(lambda x: np.interp(x, [0, 1], [1, 3]))
    >>> float(k(0.5))
    2.0
    """
    given = derivative if isinstance(derivative, tuple) else (derivative,)
    for each in (f, *given):
        if not callable(each):
            raise EquationError(f"sf.function expects a callable, got {each!r}.")
    name = getattr(f, "__name__", type(f).__name__)
    expected = "numbers, or for several arguments a sequence of numbers for each"
    parts = listed(breaks)
    if not any(isinstance(part, tuple | list | np.ndarray) for part in parts):
        parts = (parts,)
    places = tuple(
        tuple(sorted(numbers_in(part, "breaks of sf.function", expected, "breaks=(0.5,)")))
        if len(part)
        else ()
        for part in map(listed, parts)
    )
    # A derivative is a function of its own, and breaks where the function does.
    inner = tuple(
        (d if any(d.breaks) else replace(d, breaks=places))
        if isinstance(d, OpaqueFunction)
        else OpaqueFunction(f"{name}'", _Checked(d, name), breaks=places)
        for d in given
    )
    return OpaqueFunction(name, _Checked(f, name), inner, places)


@dataclass(frozen=True, eq=False)
class _Checked:
    """A user's function whose values are checked; as a class, so that problems can be pickled."""

    f: Callable[..., Any]
    name: str
    # Calls that were asked whether values depend on the points beside them.
    asked: list[int] = field(default_factory=list, repr=False)

    def __call__(self, *arguments: Any) -> Any:
        arrays = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in arguments))
        result = self._values(*arrays)
        if len(self.asked) < ASKED and arrays[0].size > 1:
            self.asked.append(arrays[0].size)
            each_alone(f"sf.function({self.name})", self._values, arrays, result, EquationError)
        return result

    def _values(self, *arrays: Any) -> Any:
        # Copies: a function that writes into its argument must not change the points.
        try:
            result = np.asarray(self.f(*(np.array(a) for a in arrays)))
        except (TypeError, ValueError) as error:
            raise EquationError(
                f"sf.function({self.name}) failed on arrays of shape {arrays[0].shape}: {error} "
                "If it takes one point at a time, wrap it in np.vectorize first."
            ) from error
        if result.shape not in ((), arrays[0].shape) or result.dtype.kind not in "buif":
            raise EquationError(
                f"sf.function({self.name}) was called with arrays of shape {arrays[0].shape} and "
                f"returned shape {result.shape} of type {result.dtype}; it must return one real "
                "value per point. If it takes one point at a time, wrap it in np.vectorize first."
            )
        return result.astype(float)
