"""Expressions of the coordinates alone, as functions: exact solutions, initial states, guesses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sharpfront.checks import explained, shown
from sharpfront.equation.expression import Coordinate, Expression, as_expression
from sharpfront.equation.graph import evaluate
from sharpfront.equation.linearise import with_leaves
from sharpfront.equation.symbolic import from_expression, is_symbolic, names_of
from sharpfront.equation.trace import Symbols
from sharpfront.errors import EquationError


@dataclass(frozen=True, eq=False)
class Formula:
    """An expression as a vectorised function of the coordinates.

    Called with symbols it gives an expression of them, so that a guess can be differentiated.
    """

    expression: Expression
    coordinates: tuple[str, ...]

    def __call__(self, *coordinates: Any) -> Any:
        """Return values at coordinates, which broadcast like NumPy arrays."""
        if any(isinstance(c, Expression) for c in coordinates):
            return self._of(coordinates)
        arrays = np.broadcast_arrays(*(np.asarray(c, dtype=float) for c in coordinates))
        leaves = {("coordinate", n): a for n, a in zip(self.coordinates, arrays, strict=True)}
        with np.errstate(all="ignore"):
            values = evaluate(self.expression, leaves)
        return np.broadcast_to(np.asarray(values, dtype=float), arrays[0].shape)[()]

    def holds(self, *coordinates: Any) -> Any:
        """Return a comparison as booleans; called with symbols, the expression."""
        if any(isinstance(c, Expression) for c in coordinates):
            return self._of(coordinates)
        return np.asarray(self(*coordinates), dtype=bool)

    def _of(self, given: tuple[Any, ...]) -> Expression:
        """Return the expression of other things than the coordinates: u(x, 0), u(x - 1, t)."""
        put = dict(zip(self.coordinates, map(as_expression, given), strict=True))
        if all(isinstance(e, Coordinate) and e.name == name for name, e in put.items()):
            return self.expression
        return with_leaves(self.expression, {("coordinate", n): e for n, e in put.items()})


@explained('sf.from_sympy(sympy.sin(x), "x")')
def from_sympy(
    expression: Any, coordinates: Any, parameters: Mapping[str, float] | None = None
) -> Formula:
    """Return a SymPy expression as a vectorised function, as an exact solution is one.

    It takes arrays like any function of NumPy, and symbols in a residual. Equations, conditions,
    ``initial=`` and ``guess=`` take SymPy expressions as they are.

    Parameters
    ----------
    expression
        Of the coordinates and of symbols with values.
    coordinates
        In the order of the function's arguments: a text, ``"x t"``, names, or SymPy's symbols.
    parameters
        Values of the other symbols.

    Examples
    --------
    >>> import sympy
    >>> import sharpfront as sf
    >>> x, nu = sympy.symbols("x nu")
    >>> exact = sf.from_sympy(sympy.exp((x - 1) / nu), "x", parameters={"nu": 0.1})
    >>> float(exact(1.0))
    1.0
    """
    if not is_symbolic(expression):
        raise EquationError(
            f"from_sympy expects an expression of SymPy, got {shown(expression)}. "
            "A text stands for itself in a problem, as a function does."
        )
    names = names_of(coordinates)
    return Formula(from_expression(expression, Symbols((), names), parameters), names)
