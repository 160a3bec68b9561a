"""Solutions of linear equations beside an end at which they lose their order, as series.

With s the distance from the end, equations of regular singularity are s z' = A(s) z for
z = (u, s u', s^2 u'', ...) of all unknowns, and solutions go as s^r (a_0 + a_1 s + ...), r an
eigenvalue of A(0), with logarithms where eigenvalues differ by whole numbers and vectors lack
(Frobenius' method).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import matrix_balance

from sharpfront.arrays import FloatArray
from sharpfront.rounding import EPS, SLIGHT

# By how much A may differ beside the end from what a fit of powers says:
# other functions are left alone.
POWERLIKE = 1e-3
# Eigenvalues, weights and vectors are known to this; double eigenvalues come out apart by its root.
KNOWN = 1e-4

Complex = NDArray[np.complex128]
# Coefficients at distances (n,) in units of the interval, (n, equations, unknowns, orders + 1).
Coefficients = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Series:
    """s^power (a_0 + b_0 log s + ...), of all unknowns."""

    power: complex
    plain: Complex  # a, (terms, unknowns)
    logs: Complex  # b
    units: FloatArray  # of the unknowns

    def told(self, rows: FloatArray) -> FloatArray | None:
        """Return what rows, (rows, unknowns, orders), make of it at s = 0; None if infinite."""
        rows = rows * self.units[:, None]
        rows = rows / np.maximum(np.abs(rows).max(axis=(1, 2), keepdims=True), 1e-300)
        found = np.zeros(len(rows), dtype=complex)
        for n, (a, b) in enumerate(zip(self.plain, self.logs, strict=True)):
            rho = self.power + n
            for j in range(rows.shape[2]):
                factor, slope = _falling_factorial(rho, j)
                own, log = rows[:, :, j] @ (a * factor + b * slope), rows[:, :, j] @ (b * factor)
                left = rho.real - j
                here = abs(left) < KNOWN
                if (left < 0 and _any(own)) or ((here or left < 0) and _any(log)):
                    return None
                found += own * (here and abs(rho.imag) < KNOWN)
        return np.asarray(found.real)


def _any(values: Complex) -> bool:
    return bool(np.abs(values).max(initial=0.0) > KNOWN)


def _falling_factorial(rho: complex, j: int) -> tuple[complex, complex]:
    """Return rho (rho - 1) ... (rho - j + 1) and its derivative by rho."""
    polynomial = np.atleast_1d(np.poly(np.arange(j)))
    return complex(np.polyval(polynomial, rho)), complex(np.polyval(np.polyder(polynomial), rho))


def local_series(
    coefficients: Coefficients, orders: Sequence[int], highest: int
) -> list[Series] | None:
    """Return the solutions beside an end, up to terms that derivatives of that order see.

    None where the end is an ordinary one, and where equations have no such solutions.
    """
    beside = _matrices(coefficients, np.array([SLIGHT, 10.0 * SLIGHT]), orders)
    if beside is None or np.abs(beside[0] - _ordinary(orders)).max() < POWERLIKE:
        return None
    if np.abs(np.diff(beside, axis=0)).max() > POWERLIKE * np.abs(beside[0]).max():
        return None
    step = EPS ** (1.0 / (highest + 2))
    at = step * np.arange(1, highest + 4)
    matrices = _matrices(coefficients, at, orders)
    if matrices is None:
        return None
    units = _units(beside[0], orders)
    scales = np.repeat(units, orders)
    beside, matrices = (m * scales / scales[:, None] for m in (beside, matrices))
    fitted = np.linalg.solve(np.vander(at, increasing=True), matrices.reshape(len(at), -1))
    powers: FloatArray = fitted.reshape(matrices.shape).astype(np.float64)
    if np.abs(powers[0] - beside[0]).max() > POWERLIKE * np.abs(beside[0]).max():
        return None
    firsts = np.cumsum([0, *orders[:-1]])
    out = []
    for r, first, log in _starts(powers[0]):
        a, b = _series(powers, r, first, log, highest)
        out.append(Series(r, a[:, firsts], b[:, firsts], units))
    return out


def _units(matrix: FloatArray, orders: Sequence[int]) -> FloatArray:
    """Return units of the unknowns in which they act on each other alike."""
    _, (scales, _) = matrix_balance(matrix, permute=False, separate=True)
    parts = np.split(np.log(scales), np.cumsum(orders)[:-1])
    return np.exp([np.mean(part) for part in parts])


def _matrices(
    coefficients: Coefficients, s: FloatArray, orders: Sequence[int]
) -> FloatArray | None:
    """Return A at distances, (n, order, order); None where highest derivatives are not given."""
    values = coefficients(s)
    scaled = values / s[:, None, None, None] ** np.arange(values.shape[3])
    scaled /= np.maximum(np.abs(scaled).max(axis=(2, 3), keepdims=True), 1e-300)
    leading = np.stack([scaled[:, :, k, m] for k, m in enumerate(orders)], axis=2)
    if min(orders) == 0 or not np.linalg.cond(leading).max() < 1.0 / EPS**0.5:
        return None
    lower = np.concatenate([scaled[:, :, k, :m] for k, m in enumerate(orders)], axis=2)
    out = np.repeat(_ordinary(orders)[None], len(s), axis=0)
    out[:, np.cumsum(orders) - 1] -= np.linalg.solve(leading, lower)
    return out


def _ordinary(orders: Sequence[int]) -> FloatArray:
    """Return A where nothing is lost: s (s^j u^(j))' = j s^j u^(j) + s^(j+1) u^(j+1)."""
    within = np.concatenate([np.arange(m) for m in orders])
    return np.diag(within.astype(float)) + np.diag((within[1:] > 0).astype(float), 1)


def _starts(matrix: FloatArray) -> list[tuple[complex, Complex, Complex]]:
    """Return r, a_0 and b_0 of all solutions: eigenvectors, and where they lack logarithms."""
    left, found = list(np.linalg.eigvals(matrix).astype(complex)), []
    while left:
        same = [r for r in left if abs(r - left[0]) < KNOWN**0.5]
        left = [r for r in left if abs(r - left[0]) >= KNOWN**0.5]
        mean = complex(np.mean(same))
        whole = complex(round(mean.real))
        power = whole if abs(mean - whole) < KNOWN**0.75 else mean
        shifted = matrix - power * np.eye(len(matrix))
        _, _, vectors = np.linalg.svd(np.linalg.matrix_power(shifted, len(same)))
        space = vectors[-len(same) :].conj().T
        _, _, turned = np.linalg.svd(space.conj().T @ shifted @ space)
        for vector in (space @ turned.conj().T).T:
            rest = shifted @ vector
            found.append((power, vector, rest if np.abs(rest).max() > KNOWN**0.5 else 0 * rest))
    return found


def _series(
    powers: FloatArray, r: complex, first: Complex, log: Complex, highest: int
) -> tuple[Complex, Complex]:
    """Return a and b of a solution, as many terms as derivatives of that order see."""
    count = max(0, min(highest, int(np.ceil(highest - r.real)))) + 1
    a, b = [first], [log]
    for n in range(1, count):
        shifted = (r + n) * np.eye(len(first)) - powers[0]
        right_a, right_b = (
            sum(powers[m] @ terms[n - m] for m in range(1, n + 1)) for terms in (a, b)
        )
        left, sizes, vectors = np.linalg.svd(shifted)
        free = sizes < KNOWN**0.5 * max(1.0, sizes[0])
        inverse = (vectors[~free].conj().T / sizes[~free]) @ left[:, ~free].conj().T
        extra = inverse @ right_b
        if free.any():
            # At another eigenvalue a logarithm takes what no power does.
            across, along = left[:, free].conj().T, vectors[free].conj().T
            weights = np.linalg.lstsq(across @ along, across @ (right_a - extra), rcond=None)[0]
            extra = extra + along @ weights
        b.append(extra)
        a.append(inverse @ (right_a - extra))
    return np.array(a), np.array(b)
