"""A small spectral solver as a peer: Olver and Townsend's ultraspherical method, banded.

It takes c_2 u'' + c_1 u' + c_0 u = f on an interval with values at both ends, coefficients
polynomials of degree one, f smooth. No mesh, no estimate, no check but the tail of the series: the
number of coefficients is doubled until that is flat. Run by hand:
``python benchmarks/ultraspherical.py`` races it against ours, with `solve_bvp` as in ``bvp.py``.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from bvp import TARGETS, median_ms, ours, peer
from numpy.polynomial import chebyshev
from scipy.fft import dct
from scipy.linalg.lapack import dgbsv

from sharpfront import catalog, measure
from sharpfront.arrays import FloatArray, blas_threads
from sharpfront.catalog import Entry
from sharpfront.problem.line_problem import Function, ordinary

# A matrix as diagonals by their offset: entry (i, i + k) is bands[k][i], (n,).
Bands = dict[int, FloatArray]
FIRST, MOST = 32, 2**17
RACES = (
    *((catalog.SINGLE_LAYER, nu) for nu in (1e-2, 1e-4, 1e-6, 1e-8)),
    *((e, 1e-4) for e in (catalog.TWIN_LAYER, catalog.REACTION, catalog.TURNING_POINT)),
)


def times(a: Bands, b: Bands) -> Bands:
    """Return the product of two banded matrices."""
    out: Bands = {}
    for i, one in a.items():
        for j, other in b.items():
            moved = np.zeros(len(one))
            rows = slice(max(0, -i), len(one) - max(0, i))
            moved[rows] = one[rows] * other[rows.start + i : rows.stop + i]
            out[i + j] = out.get(i + j, 0.0) + moved
    return out


def plus(a: Bands, b: Bands) -> Bands:
    """Return the sum of two banded matrices."""
    return {k: a.get(k, 0.0) + b.get(k, 0.0) for k in {*a, *b}}


def operator(powers: Sequence[Sequence[float]], length: float, n: int) -> tuple[Bands, Bands]:
    """Return sum_j c_j(t) u^(j), and u itself, in C^(2) of a series in T; c_j by powers of t."""
    k = np.arange(n, dtype=float)
    half = np.where(k > 0, 0.5, 1.0)
    to_first = {0: half, 2: np.full(n, -0.5)}
    to_second = {0: 1.0 / (k + 1.0), 2: -1.0 / (k + 3.0)}
    scale = 2.0 / length
    slope, bend = {1: scale * (k + 1.0)}, {2: scale**2 * 2.0 * (k + 2.0)}
    # t C_k = ((k + 1) C_(k+1) + (k + 3) C_(k-1)) / (2 k + 4) for C^(2).
    along = {-1: k / (2.0 * k + 2.0), 1: (k + 4.0) / (2.0 * k + 6.0)}
    total, same = Bands(), times(to_second, to_first)
    for coefficient, derivative in zip(powers, (same, times(to_second, slope), bend), strict=True):
        if any(coefficient):
            factor = {0: np.full(n, coefficient[-1])}
            for c in coefficient[-2::-1]:
                factor = plus(times(along, factor), {0: np.full(n, c)})
            total = plus(total, times(factor, derivative))
    return total, same


def solved(case: Case, tol: float) -> FloatArray:
    """Return Chebyshev coefficients whose tail is below the tolerance."""
    (low, high), (left, right) = case.interval, case.ends
    n = FIRST
    while True:
        bands, same = operator(case.powers, high - low, n + 4)
        # u = a + b t + sum_k w_k (T_(k+2) - T_k), which keeps its values at both ends.
        linear = np.zeros(n + 4)
        linear[:2] = 0.5 * (left + right), 0.5 * (right - left)
        rhs = applied(same, _series(case.source, low, high, n + 4)) - applied(bands, linear)
        reduced = times(bands, {-2: np.ones(n + 4), 0: -np.ones(n + 4)})
        found = _banded(reduced, rhs[:n], n)
        series = linear[: n + 2].copy()
        series[2:] += found
        series[:-2] -= found
        size = np.abs(series)
        if size[-8:].max() < tol * size.max() or n >= MOST:
            return series
        n *= 2


def applied(bands: Bands, row: FloatArray) -> FloatArray:
    """Return a banded matrix times a vector."""
    return sum(times(bands, {0: row}).values(), np.zeros(len(row)))


def _series(source: Function, low: float, high: float, n: int) -> FloatArray:
    """Return the Chebyshev coefficients of a function by a cosine transform, (n,)."""
    out = np.zeros(n)
    if callable(source):
        t = np.cos(np.pi * np.arange(n) / (n - 1))
        out[:] = dct(source(0.5 * (low + high) + 0.5 * (high - low) * t), type=1) / (n - 1)
        out[[0, -1]] *= 0.5
    else:
        out[0] = source
    return out


def _banded(bands: Bands, rhs: FloatArray, n: int) -> FloatArray:
    lower, upper = max(0, -min(bands)), max(0, *bands)
    matrix = np.zeros((2 * lower + upper + 1, n))
    for k, band in bands.items():
        matrix[lower + upper - k, max(0, k) : n + min(0, k)] = band[max(0, -k) : n - max(0, k)]
    *_, found, _ = dgbsv(lower, upper, matrix, rhs)
    return np.asarray(found)


@dataclass(frozen=True)
class Case:
    """A problem of the catalogue as this method takes it, c_j by powers of t in [-1, 1]."""

    entry: Entry
    parameter: float
    interval: tuple[float, float]
    powers: tuple[tuple[float, ...], ...]
    ends: tuple[float, float]
    source: Function

    def error(self, series: FloatArray) -> float:
        """Return the max error on points graded into the features."""
        domain, exact = self.entry.problem(self.parameter).domain, self.entry.exact(self.parameter)
        low, high = self.interval

        def values(x: FloatArray) -> FloatArray:
            return chebyshev.chebval((2.0 * x - low - high) / (high - low), series)

        points = measure.graded_points(domain, self.entry.features(self.parameter))
        return measure.max_error(values, exact, points)


def read(entry: Entry, parameter: float) -> Case:
    """Return a problem from its statement: coefficients are sampled, and must be of degree one."""
    plain = ordinary(entry.problem(parameter))
    low, high = plain.interval
    data = plain.sample(np.array([low, 0.5 * (low + high), high]))
    powers = tuple((float(row[1]), 0.5 * float(row[2] - row[0])) for row in data[:-1])
    powers = tuple(p if p[1] else p[:1] for p in powers)
    ends = {c.terms[0].x: c.value / c.terms[0].weight for c in plain.conditions}
    return Case(entry, parameter, plain.interval, powers, (ends[low], ends[high]), plain.source)


def fastest(entry: Entry, parameter: float, target: float) -> tuple[float, int]:
    """Return time and coefficients with the loosest decade of tolerances that meets the error."""
    case = read(entry, parameter)
    for tol in target * 10.0 ** -np.arange(0.0, 4.0):
        series = solved(case, tol)
        if case.error(series) <= target:
            return median_ms(lambda t=tol: solved(case, t), 21), len(series)
    return np.inf, 0


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    print("| problem | true error | ours | spectral | coefficients | `solve_bvp` |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    with blas_threads(1):
        for entry, parameter in RACES:
            for target in TARGETS:
                ms, count = fastest(entry, parameter, target)
                found = f"{ms:.2f} | {count}" if count else "not reached |"
                mine = ours(entry, parameter, target)[0]
                # On the narrowest layer it takes minutes.
                theirs = peer(entry, parameter, target)[0] if parameter > 1e-8 else np.nan
                print(
                    f"| {entry.name} {parameter:g} | {target:.0e} | {mine:.2f} | {found} "
                    f"| {theirs:.1f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
