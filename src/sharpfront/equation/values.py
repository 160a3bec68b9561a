"""Values of expressions at arrays of points."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from sharpfront.equation.expression import Constant, Expression, Key, Values, evaluate
from sharpfront.equation.linearise import LinearForm
from sharpfront.errors import EquationError


def environment(
    coordinates: Sequence[str], points: Values, normals: Values | None = None
) -> dict[Key, Values]:
    """Return the leaves' values at points (m, d), with normals (m, d) on a boundary."""
    result: dict[Key, Values] = {
        ("coordinate", name): points[:, i] for i, name in enumerate(coordinates)
    }
    if normals is not None:
        space = [name for name in coordinates if name != "t"]
        result |= {("normal", name): normals[:, i] for i, name in enumerate(space)}
    return result


def at_points(
    expression: Expression, leaves: Mapping[Key, Values], count: int, what: str
) -> Values:
    """Return the expression at `count` points, refusing values that are not finite."""
    if isinstance(expression, Constant) and math.isfinite(expression.value):
        return np.full(count, expression.value)
    with np.errstate(all="ignore"):
        values = np.broadcast_to(np.asarray(evaluate(expression, leaves), dtype=float), (count,))
    finite = np.isfinite(values)
    if not finite.all():
        i = int(np.argmin(finite))
        where = ", ".join(f"{k[1]} = {v[i]:.6g}" for k, v in leaves.items() if k[0] == "coordinate")
        raise EquationError(
            f"The {what} is {values[i]} at {where}. Coefficients and sources must be finite in the "
            "whole closed domain; multiply the equation by what vanishes there, or cut the "
            "domain short of the point."
        )
    return values


def form_values(
    form: LinearForm, leaves: Mapping[Key, Values], count: int, what: str = "equation"
) -> tuple[tuple[Values, ...], Values]:
    """Return the coefficients of a form's terms and its source at `count` points, (count,) each."""
    coefficients = tuple(
        at_points(term.coefficient, leaves, count, f"coefficient in the {what}")
        for term in form.terms
    )
    return coefficients, at_points(form.source, leaves, count, f"source of the {what}")
