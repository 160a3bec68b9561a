"""Functions that the tracer does not look into: interpolants, tables, compiled code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sharpfront.equation.expression import Expression, Function, apply_function
from sharpfront.errors import EquationError


@dataclass(frozen=True, eq=False)
class OpaqueFunction(Function):
    """A vectorised callable as one node of the graph.

    Called with symbols it records itself; called with arrays it computes.
    """

    derivatives: tuple[Function, ...] = ()

    def __call__(self, *arguments: Any) -> Any:
        """Record the call if an argument is a symbol, compute otherwise."""
        if any(isinstance(a, Expression) for a in arguments):
            return apply_function(self, *arguments)
        return self.evaluate(*arguments)


def function(
    f: Callable[..., Any], derivative: Callable[..., Any] | tuple[Callable[..., Any], ...] = ()
) -> OpaqueFunction:
    """Make any vectorised function usable in a residual: ``sf.function(f)(x)``.

    Parameters
    ----------
    f
        Takes arrays of one shape, returns an array of that shape (or a number).
    derivative
        Its derivative, or one for each argument; needed only where the equation
        differentiates it, as in ``(k(x) * u.dx).dx`` or ``f(u)``.

    Examples
    --------
    >>> import numpy as np
    >>> import sharpfront as sf
    >>> k = sf.function(lambda x: np.interp(x, [0, 1], [1, 3]))
    >>> float(k(0.5))
    2.0
    """
    if not callable(f):
        raise EquationError(f"sf.function expects a callable, got {f!r}.")
    given = derivative if isinstance(derivative, tuple) else (derivative,)
    name = getattr(f, "__name__", type(f).__name__)
    derivatives = tuple(Function(f"{name}'", _checked(d, f"{name}'")) for d in given)
    return OpaqueFunction(name, _checked(f, name), derivatives)


def _checked(f: Callable[..., Any], name: str) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        arrays = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in arguments))
        result = np.asarray(f(*arrays), dtype=float)
        if result.shape not in ((), arrays[0].shape):
            raise EquationError(
                f"sf.function({name}) was called with arrays of shape {arrays[0].shape} and "
                f"returned shape {result.shape}; it must return one value per point. "
                "If it takes one point at a time, wrap it in np.vectorize first."
            )
        return result

    return call
