"""Eigenvalues of (P_0 + lam P_1 + lam^2 P_2) v = 0 near a number, with left vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.linalg as sl
import scipy.sparse as ss
import scipy.sparse.linalg as ssl

from sharpfront.spectrum.modes import Candidate
from sharpfront.spectrum.statement import Complex

# Up to so many columns all eigenvalues are found at once, beyond by Arnoldi's method.
DENSE = 500
# Values beside those that are wanted, of Arnoldi's method.
SPARE = 8
_EPS = float(np.finfo(float).eps)


def nearest(matrices: Sequence[Any], shift: complex, count: int) -> list[Candidate]:
    """Return the eigenvalues nearest to a shift, nearest first; all of them in small systems.

    Matrices are P_0, P_1 and where there is one P_2, sparse; the shift is no eigenvalue itself.
    There are `count` at least, where there are as many.
    """
    linear = _linearised(matrices)
    a, b = linear[0] + shift * linear[1], -linear[1]
    n = a.shape[0]
    if n <= DENSE:
        found, vectors = sl.eig(np.linalg.solve(a.toarray(), b.toarray()))
    else:
        lu = ssl.splu(ss.csc_matrix(a))
        kind = np.dtype(complex) if np.iscomplexobj(a.data) else np.dtype(float)
        step = ssl.LinearOperator((n, n), matvec=lambda v: lu.solve(b @ v), dtype=kind)
        # A start that is the same every time.
        first = np.cos(np.arange(n) * 1.7) + 0.3
        wanted = min(count + SPARE, n - 3)
        found, vectors = ssl.eigs(step, k=wanted, v0=first.astype(kind), ncv=3 * wanted + 20)
    keep = np.flatnonzero(np.abs(found) > 1e-13 * np.abs(found).max())
    order = keep[np.argsort(-np.abs(found[keep]), kind="stable")][: count + SPARE]
    size = matrices[0].shape[0]
    return [Candidate(complex(shift + 1.0 / found[i]), vectors[:size, i], np.inf) for i in order]


def _linearised(matrices: Sequence[Any]) -> tuple[Any, Any]:
    """Return A and B of (A + lam B) w = 0, w = (v, lam v) for a polynomial of degree two."""
    if len(matrices) == 2:
        return matrices[0], matrices[1]
    first, second, third = matrices
    unit = ss.eye_array(first.shape[0])
    a = ss.csc_array(ss.block_array([[first, second], [None, unit]]))
    b = ss.csc_array(ss.block_array([[None, third], [-unit, None]]))
    return a, b


def polished(matrices: Sequence[Any], found: Candidate) -> Candidate:
    """Return an eigenvalue after a step of Newton's method, and what rounding leaves of it.

    With a left vector y the error is y (P v) / y (P' v), and rounding of the matrices' entries
    makes it as large as |y| (|P_0| + |lam| |P_1| + ...) |v| over the same.
    """
    at, slope = _at(matrices, found.value), _slope(matrices, found.value)
    try:
        lu = ssl.splu(ss.csc_matrix(at.astype(complex)))
        right, left = found.weights, _left(lu, len(found.weights))
        for _ in range(2):
            right = lu.solve(np.ascontiguousarray(slope @ right))
            right = right / np.linalg.norm(right)
    except RuntimeError:
        # Singular to the last bit: the value could not be better.
        return Candidate(found.value, found.weights, _EPS * abs(found.value))
    if not (np.isfinite(right).all() and np.isfinite(left).all()):
        return found
    below = np.vdot(left, slope @ right)
    step = np.vdot(left, at @ right) / below
    size = sum(abs(found.value) ** j * (abs(m) @ np.abs(right)) for j, m in enumerate(matrices))
    rounding = 2.0 * _EPS * float(np.abs(left) @ size) / max(abs(below), 1e-300)
    return Candidate(complex(found.value - step), right, rounding)


def _left(lu: Any, size: int) -> Complex:
    y = np.cos(np.arange(size) * 1.3) + 0.2 + 0j
    for _ in range(2):
        y = lu.solve(y, "H")
        y = y / np.linalg.norm(y)
    return np.asarray(y)


def _at(matrices: Sequence[Any], value: complex) -> Any:
    return sum((value**j * m for j, m in enumerate(matrices[1:], 1)), start=matrices[0] * (1 + 0j))


def _slope(matrices: Sequence[Any], value: complex) -> Any:
    return sum(
        (j * value ** (j - 1) * m for j, m in enumerate(matrices[2:], 2)),
        start=matrices[1] * (1 + 0j),
    )
