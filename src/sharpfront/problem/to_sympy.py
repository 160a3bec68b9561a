"""Problems as SymPy states them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sharpfront.checks import explained, shown
from sharpfront.equation.expression import Expression
from sharpfront.equation.to_symbolic import sympy_module, to_expression
from sharpfront.errors import EquationError
from sharpfront.problem import At, Integral, IntegralCondition, PointCondition, Problem


@dataclass(frozen=True, eq=False)
class SymbolicProblem:
    """A problem in SymPy: what `Problem` takes, so that it can be stated again.

    ``sf.Problem(domain, stated.equations, conditions=stated.further, **stated.parts)`` is the same
    problem. Initial states are functions of the user's and stay what they are.

    Parameters
    ----------
    equations
        One ``Eq`` for each unknown.
    parts
        The conditions on each part of the boundary, one ``Eq`` or more.
    further
        Conditions at points and on integrals, made by `sf.at` and `sf.integral`.
    """

    equations: tuple[Any, ...]
    parts: dict[str, tuple[Any, ...]]
    further: tuple[At | Integral, ...]


@explained("sf.to_sympy(problem)")
def to_sympy(stated: Problem | Expression) -> Any:
    """Return a problem, or an expression of one, in SymPy; needs the extra ``symbolic``.

    Unknowns become functions of the coordinates, and parameters the numbers they were.

    Parameters
    ----------
    stated
        A `Problem`, or one of ``problem.equations``.

    Returns
    -------
    SymbolicProblem or sympy.Expr
        Of a problem its equations and conditions, of an expression what it is.

    Examples
    --------
    >>> import sharpfront as sf
    >>> problem = sf.Problem(sf.Interval(0, 1), "-u_xx + 2*u = 1", boundary="u = 0")
    >>> sf.to_sympy(problem).equations[0].lhs
    2*u(x) - Derivative(u(x), (x, 2)) - 1
    """
    if isinstance(stated, Expression):
        return to_expression(stated)
    if not isinstance(stated, Problem):
        raise EquationError(
            f"to_sympy expects a Problem or one of its equations, got {shown(stated)}."
        )
    return SymbolicProblem(
        tuple(map(_equation, stated.equations)),
        {c.part: tuple(map(_equation, c.residuals)) for c in stated.conditions},
        tuple(_stated_further(c) for c in stated.further),
    )


def _equation(residual: Expression) -> Any:
    return sympy_module().Eq(to_expression(residual), 0, evaluate=False)


def _stated_further(condition: PointCondition | IntegralCondition) -> At | Integral:
    residuals = tuple(map(to_expression, condition.residuals))
    if isinstance(condition, PointCondition):
        return At(condition.point, residuals)
    return Integral(residuals, condition.equals)
