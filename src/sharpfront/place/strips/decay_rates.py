"""How thin layers beside a wall can be, from the equation alone.

Beside a wall solutions behave like e^(lambda n) e^(i k t), n the distance along the normal and t
along the wall, where det P(lambda, i k) = 0 for the equation's symbol P with coefficients frozen
there. A root with a large real part that decays inwards is a layer of width 1/|Re lambda|: of
convection, reaction or bending, in single equations and systems alike.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.maps import Chart
from sharpfront.problem import Problem
from sharpfront.rounding import SLIGHT
from sharpfront.rows.form_values import constants_of, form_at

Complex = NDArray[np.complex128]


def decay_rates(
    problem: Problem,
    points: FloatArray,
    axis: int,
    end: int,
    wave: float = 0.0,
    chart: Chart | None = None,
    *,
    bends: bool = True,
) -> list[FloatArray]:
    """Return the rates at which solutions can decay away from a wall, for each point, ascending.

    Points lie on the lower (0) or upper (1) end of an axis, (m, d); `wave` is the wave number along
    the wall. With a chart, places, wall and rates are in its coordinates if it `bends`, else along
    its tangents: where a chart bends, equations in its coordinates have terms like convection, as
    log r about a hole, but no layers for them.
    """
    roots, same = _distinct_roots(_symbols(problem, points, axis, wave, chart, bends))
    inward = [r.real if end else -r.real for r in roots]
    rates = [np.sort(r[r > SLIGHT * np.abs(own)]) for r, own in zip(inward, roots, strict=True)]
    return [rates[i] for i in same] if len(same) > 1 else rates * len(points)


def wave_numbers(
    problem: Problem, points: FloatArray, axis: int, chart: Chart | None = None
) -> FloatArray:
    """Return the largest wave number with which solutions oscillate along an axis, at points, (m,).

    With constant coefficients at one of them.
    """
    roots, same = _distinct_roots(_symbols(problem, points, axis, 0.0, chart))
    waves = [np.abs(r.imag[np.abs(r.imag) > np.abs(r.real)]).max(initial=0.0) for r in roots]
    return np.array(waves)[same]


def _symbols(
    problem: Problem,
    positions: FloatArray,
    axis: int,
    wave: float,
    chart: Chart | None,
    bends: bool = True,
) -> Complex:
    """Return the matrices A_k of P(lambda) = sum_k A_k lambda^k at points, (m, order + 1, n, n).

    Of constant coefficients at one of them.
    """
    known = [] if chart else [constants_of(form) for form in problem.forms]
    same = bool(known) and all(known) and len(positions) > 0
    positions = positions[:1] if same else positions
    points = positions if chart is None else chart.points(positions)
    taylor = None if chart is None else chart.taylor(positions)
    if taylor is not None and not bends:
        taylor = {a: x for a, x in taylor.items() if sum(a) == 1}
    order = max(form.order for form in problem.forms)
    n = len(problem.unknowns)
    out = np.zeros((len(points), order + 1, n, n), dtype=complex)
    for i, form in enumerate(problem.forms):
        constant = known[i] if same else None
        found = constant or form_at(form, problem.coordinates, points).in_chart(taylor)
        for term, c in zip(found.terms, found.coefficients, strict=True):
            along = sum(term.orders) - term.orders[axis]
            factor = (1j * wave) ** along if along else 1.0
            out[:, term.orders[axis], i, problem.unknowns.index(term.unknown)] += c * factor
    return out


def _distinct_roots(symbols: Complex) -> tuple[list[Complex], list[int]]:
    """Return the roots of symbols that differ, and which of these each symbol is."""
    if len(symbols) == 1:
        return [_known_roots(symbols.shape, symbols.tobytes())], [0]
    distinct, same = np.unique(symbols, axis=0, return_inverse=True)
    return _roots(distinct), same.ravel().tolist()


@lru_cache(maxsize=64)
def _known_roots(shape: tuple[int, ...], symbol: bytes) -> Complex:
    """Return the roots of one symbol: with constant coefficients the same along every wall."""
    return _roots(np.frombuffer(symbol, dtype=complex).reshape(shape))[0]


def _roots(symbols: Complex) -> list[Complex]:
    """Return the finite lambda with det sum_k A_k lambda^k = 0, for each of the symbols."""
    if symbols.shape[2] > 1:
        return [_roots_of_system(symbol) for symbol in symbols]
    out = [np.zeros(0, dtype=complex)] * len(symbols)
    weights = symbols[:, :, 0, 0]
    degrees = np.max((weights != 0) * np.arange(weights.shape[1]), axis=1)
    for degree in np.unique(degrees[degrees > 0]):
        here = np.flatnonzero(degrees == degree)
        companion = np.zeros((len(here), degree, degree), dtype=complex)
        companion[:, range(1, degree), range(degree - 1)] = 1.0
        companion[:, :, -1] = -weights[here, :degree] / weights[here, degree, None]
        for i, roots in zip(here.tolist(), np.linalg.eigvals(companion), strict=True):
            out[i] = roots
    return out


def _roots_of_system(symbol: Complex) -> Complex:
    """Return the finite lambda with det sum_k A_k lambda^k = 0."""
    order, n = len(symbol) - 1, symbol.shape[1]
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
