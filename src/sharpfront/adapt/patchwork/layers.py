"""How thin layers beside a wall can be, from the equation alone.

Beside a wall solutions behave like e^(lambda n) e^(i k t), n the distance along the normal and t
along the wall, where det P(lambda, i k) = 0 for the equation's symbol P with coefficients frozen
there. A root with a large real part that decays inwards is a layer of width 1/|Re lambda|: of
convection, reaction or bending, in single equations and systems alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from sharpfront.arrays import Host
from sharpfront.equation.linearise import LinearForm
from sharpfront.equation.values import environment, form_values
from sharpfront.problem import Problem

Complex = NDArray[np.complex128]


def decay_rates(
    problem: Problem, points: Host, axis: int, end: int, wave: float = 0.0
) -> list[Host]:
    """Return the rates at which solutions can decay away from a wall, for each point, ascending.

    Parameters
    ----------
    problem
        With linear equations.
    points
        Places on the wall, (m, d).
    axis, end
        Its normal, and whether it is the lower (0) or the upper (1) end.
    wave
        The wave number k along the wall.
    """
    leaves = environment(problem.coordinates, points)
    values = [form_values(form, leaves, len(points))[0] for form in problem.forms]
    out = []
    for i in range(len(points)):
        symbol = _symbol(problem.forms, problem.unknowns, values, i, axis, wave)
        roots = _roots(symbol)
        inward = roots.real if end else -roots.real
        out.append(np.sort(inward[inward > 0]))
    return out


def wave_number(problem: Problem, points: Host, axis: int) -> float:
    """Return the largest wave number with which solutions oscillate along an axis anywhere."""
    leaves = environment(problem.coordinates, points)
    values = [form_values(form, leaves, len(points))[0] for form in problem.forms]
    most = 0.0
    for i in range(len(points)):
        roots = _roots(_symbol(problem.forms, problem.unknowns, values, i, axis, 0.0))
        waves = roots[np.abs(roots.imag) > np.abs(roots.real)]
        most = max(most, float(np.abs(waves.imag).max(initial=0.0)))
    return most


def _symbol(
    forms: Sequence[LinearForm],
    unknowns: Sequence[str],
    values: Sequence[Sequence[Host]],
    point: int,
    axis: int,
    wave: float,
) -> Complex:
    """Return the matrices A_k of P(lambda) = sum_k A_k lambda^k at a point."""
    order = max(form.order for form in forms)
    n = len(unknowns)
    out = np.zeros((order + 1, n, n), dtype=complex)
    for i, (form, coefficients) in enumerate(zip(forms, values, strict=True)):
        for term, c in zip(form.terms, coefficients, strict=True):
            along = sum(term.orders) - term.orders[axis]
            factor = (1j * wave) ** along if along else 1.0
            out[term.orders[axis], i, unknowns.index(term.unknown)] += c[point] * factor
    return out


def _roots(symbol: Complex) -> Complex:
    """Return the finite lambda with det sum_k A_k lambda^k = 0."""
    order, n = len(symbol) - 1, symbol.shape[1]
    if n == 1:
        return np.asarray(np.roots(np.trim_zeros(symbol[::-1, 0, 0], "f")), dtype=complex)
    # Rows and columns of a system may be of any size: roots do not mind scaling.
    size = np.abs(symbol).sum(axis=0)
    rows = size.max(axis=1)
    symbol = symbol / np.where(rows > 0, rows, 1.0)[None, :, None]
    a = np.eye(order * n, dtype=complex)
    b = np.zeros((order * n, order * n), dtype=complex)
    a[-n:, -n:] = symbol[order]
    b[:-n, n:] = np.eye((order - 1) * n)
    for k in range(order):
        b[-n:, k * n : (k + 1) * n] = -symbol[k]
    found = sl.eig(b, a, right=False, homogeneous_eigvals=True)
    top, bottom = found
    finite = np.abs(bottom) > 1e-12 * np.maximum(np.abs(top), 1e-300)
    return np.asarray(top[finite] / bottom[finite])
