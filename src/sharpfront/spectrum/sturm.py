"""Zeros of modes of Sturm and Liouville's problems: from one eigenvalue to the next, one more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sharpfront.equation.expression import is_zero
from sharpfront.spectrum.statement import Complex, SpectralProblem

# Of values that are smaller than this share of the largest the sign may be rounding's.
SEEN = 1e-6
# Eigenvalues as close as that, relative to themselves, may share their modes.
TWINS = 1e-9
# Places at which coefficients are looked at.
LOOKED = 401


def zeros_agree(statement: SpectralProblem, modes: Sequence[tuple[complex, Complex]]) -> str:
    """Return words if the zeros of modes show that an eigenvalue between two is missing.

    Parameters
    ----------
    statement
        The problem; if it is none of Sturm and Liouville's nothing is said.
    modes
        Eigenvalues with values of their modes at increasing places.
    """
    if len(modes) < 2 or not _is_regular(statement):
        return ""
    order = np.argsort([value.real for value, _ in modes])
    values = np.array([modes[i][0].real for i in order])
    if np.any(np.diff(values) <= TWINS * np.abs(values).max()):
        return ""
    zeros = [_zeros(modes[i][1].real) for i in order]
    steps = np.diff(zeros)
    wrong = np.flatnonzero(np.abs(steps) != 1)
    if not len(wrong) and len(set(steps.tolist())) <= 1:
        return ""
    i = int(wrong[0]) if len(wrong) else 0
    return (
        f"Between {values[i]:.8g} and {values[i + 1]:.8g} zeros of the modes go from {zeros[i]} to "
        f"{zeros[i + 1]}: of such a problem every mode has one more than the one before."
    )


def _zeros(shape: np.ndarray[Any, Any]) -> int:
    seen = shape[np.abs(shape) > SEEN * np.abs(shape).max()]
    return int(np.sum(np.sign(seen[1:]) != np.sign(seen[:-1])))


def _is_regular(statement: SpectralProblem) -> bool:
    """Tell whether a problem is -(p u')' + q u = lam w u with one condition at either end."""
    problem = statement.problem
    if (
        problem.unknowns[1:]
        or statement.is_complex
        or statement.degree != 1
        or statement.further
        or problem.domain.periodic_axes[0]
    ):
        return False
    (form,) = statement.equations
    every = [t for _, own in statement.conditions for f in own for t in f.terms]
    with_lam = [t for t in (*form.terms, *every) if not is_zero(t.powers[1])]
    if (
        sorted(len(own) for _, own in statement.conditions) != [1, 1]
        or form.highest(problem.unknowns[0]) != 2
        or any(t.order or t in every for t in with_lam)
        or any(t.order > 1 for t in every)
    ):
        return False
    low, high = problem.domain.bounds[:, 0]
    found = form.values(np.linspace(low, high, LOOKED)[:, None])
    top = sum(c[0].real for t, c in zip(form.terms, found, strict=True) if t.order == 2)
    weight = sum(c[1].real for t, c in zip(form.terms, found, strict=True) if t.order == 0)
    return all(np.all(s > 0) or np.all(s < 0) for s in (np.asarray(top), np.asarray(weight)))
