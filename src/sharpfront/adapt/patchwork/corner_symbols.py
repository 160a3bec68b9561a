"""What an equation or a condition is at a corner: highest terms, and how thin layers are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sharpfront.adapt.patchwork.plate_corners import Principal
from sharpfront.arrays import FloatArray
from sharpfront.equation.graph import evaluate
from sharpfront.equation.linearise import LinearForm
from sharpfront.equation.values import environment
from sharpfront.problem import Problem
from sharpfront.rows.form_values import form_at


def layer_rates(problem: Problem, points: FloatArray) -> tuple[float, float]:
    """Return one over the widths of layers at points: of winds, and of reactions or waves."""
    form = form_at(problem.forms[0], problem.coordinates, points)
    most = problem.forms[0].order
    sizes = np.zeros((most + 1, len(points)))
    for term, c in zip(form.terms, form.coefficients, strict=True):
        order = sum(term.orders)
        sizes[order] = np.maximum(sizes[order], np.abs(c))
    shares = (sizes[:-1] / np.maximum(sizes[-1], 1e-300)).max(axis=1).tolist()
    rates = [share ** (1 / (most - k)) for k, share in enumerate(shares)]
    return rates[-1], max(rates[:-1])


def highest_terms(
    form: LinearForm,
    coordinates: Sequence[str],
    corner: FloatArray,
    normal: FloatArray | None = None,
) -> Principal:
    """Return the terms of a form with the highest derivatives at a corner.

    None where data are infinite: nothing is known of what they add.
    """
    leaves = environment(coordinates, corner[None], None if normal is None else normal[None])
    found: dict[tuple[int, ...], float] = {}
    with np.errstate(all="ignore"):
        graphs = [form.source, *(t.coefficient for t in form.terms)]
        values = [float(np.ravel(evaluate(graph, leaves))[0]) for graph in graphs]
    if not np.isfinite(values).all():
        return {}
    for term, c in zip(form.terms, values[1:], strict=True):
        found[term.orders] = found.get(term.orders, 0.0) + c
    most = max((sum(orders) for orders, c in found.items() if c), default=-1)
    return {orders: c for orders, c in found.items() if c and sum(orders) == most}
