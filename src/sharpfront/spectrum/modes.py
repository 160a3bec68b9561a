"""Modes found with two sets of functions, compared: what they differ by is their error.

Eigenvalues of (P_0 + lam P_1 + lam^2 P_2) v = 0 near a number, with left vectors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as sl
import scipy.sparse as ss
import scipy.sparse.linalg as ssl

from sharpfront.kernels.basis import Basis
from sharpfront.problem import Problem
from sharpfront.solution.approximation import Approximation
from sharpfront.spectrum.result import IMAG, REAL
from sharpfront.spectrum.settings import MODES
from sharpfront.spectrum.statement import Complex

_EPS = float(np.finfo(float).eps)


def nearest(matrices: Sequence[Any], shift: complex, count: int) -> list[Candidate]:
    """Return the eigenvalues nearest to a shift, nearest first; all of them in small systems.

    Matrices are P_0, P_1 and where there is one P_2, sparse; the shift is no eigenvalue itself.
    There are `count` at least, where there are as many.
    """
    linear = _linearised(matrices)
    a, b = linear[0] + shift * linear[1], -linear[1]
    n = a.shape[0]
    if n <= MODES.dense:
        found, vectors = sl.eig(np.linalg.solve(a.toarray(), b.toarray()))
    else:
        lu = ssl.splu(ss.csc_matrix(a))
        kind = np.dtype(complex) if np.iscomplexobj(a.data) else np.dtype(float)
        step = ssl.LinearOperator((n, n), matvec=lambda v: lu.solve(b @ v), dtype=kind)
        # A start that is the same every time.
        first = np.cos(np.arange(n) * 1.7) + 0.3
        wanted = min(count + MODES.spare, n - 3)
        found, vectors = ssl.eigs(step, k=wanted, v0=first.astype(kind), ncv=3 * wanted + 20)
    keep = np.flatnonzero(np.abs(found) > 1e-13 * np.abs(found).max())
    order = keep[np.argsort(-np.abs(found[keep]), kind="stable")][: count + MODES.spare]
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


# Values that are this close, relative to themselves, are one to tell modes apart.
ALIKE = 1e-7


@dataclass(frozen=True, eq=False)
class Mode:
    """An eigenvalue with errors of value and mode, and the mode."""

    value: complex
    error: float
    mode_error: float
    approximation: Approximation


@dataclass(frozen=True, eq=False)
class Modes:
    """What was found."""

    modes: tuple[Mode, ...]  # those that were asked for
    doubt: str  # what speaks against there being no others between them; empty if nothing does
    full: bool = False  # whether more functions were needed than allowed
    # How many others are as near as the farthest of these: of a multiple value, or of two that
    # mirror each other, some may have been asked for only.
    more: int = 0

    @property
    def scale(self) -> float:
        """The size of the largest value."""
        return max(max((abs(m.value) for m in self.modes), default=1.0), 1e-300)

    @property
    def worst(self) -> float:
        """The largest error of a value, relative to the largest value."""
        return max((m.error for m in self.modes), default=np.inf) / self.scale


@dataclass(frozen=True, eq=False)
class Candidate:
    """An eigenvalue on one set of functions: weights of its mode, and what rounding leaves."""

    value: complex
    weights: Any
    rounding: float


@dataclass(frozen=True, eq=False)
class Match:
    """A mode on richer functions, and how far the one on poorer ones was from it.

    `scale` is its value of largest size.
    """

    value: complex
    error: float
    missed: float
    weights: Mapping[str, Complex]
    scale: complex

    def mode(self, problem: Problem, bases: Mapping[str, Basis]) -> Mode:
        """Return it with its largest value one; a complex one as two functions an unknown.

        Imaginary parts below its error are none.
        """
        scaled = {name: own / self.scale for name, own in self.weights.items()}
        least = 10.0 * max(self.missed, 1e-10)
        real = all(np.abs(w.imag).max() <= least for w in scaled.values())
        named, found = {}, {}
        for name, own in scaled.items():
            parts = {name: own.real} if real else {name + REAL: own.real, name + IMAG: own.imag}
            for called, part in parts.items():
                named[called], found[called] = bases[name], np.ascontiguousarray(part)
        whole = Approximation(problem.coordinates, named, found)
        return Mode(self.value, self.error, self.missed, whole)


def compared(
    rough: Sequence[tuple[Candidate, Complex]],
    fine: Sequence[tuple[Candidate, Complex]],
    others: Sequence[complex] | None,
    k: int,
    near: complex,
) -> tuple[list[Match], str, int]:
    """Return the nearest modes on richer functions, in order.

    And words if one may be missing, and how many others are as near as the farthest of them.
    Candidates come with values of their modes at the same places, the nearest first; others are in
    another norm.
    """
    free, far = list(range(len(rough))), list(others or [])
    out = []
    for own, shape in fine[:k]:
        i = min(free, key=lambda j: abs(rough[j][0].value - own.value), default=None)
        apart = np.inf if i is None else abs(rough[i][0].value - own.value)
        if i is not None:
            free.remove(i)
        if others is not None:
            nearest = min(far, key=lambda value: abs(value - own.value), default=np.inf)
            apart = max(apart, abs(nearest - own.value))
            far = [value for value in far if value is not nearest]
        scale = complex(shape[int(np.argmax(np.abs(shape)))])
        close = max(ALIKE * abs(own.value), 4.0 * apart)
        same = [s for c, s in rough if abs(c.value - own.value) <= close]
        error = float(max(apart, own.rounding))
        value = _cleaned(own.value, error)
        missed = _distance(shape / scale, same)
        out.append(Match(value, error, missed, own.weights, scale))
    counts = [_as_near([c.value for c, _ in found], out, near) for found in (rough, fine)]
    doubt = _missing(counts, out, near)
    ordered = sorted(out, key=lambda m: (m.value.real, m.value.imag))
    return ordered, doubt, max(0, counts[1] - len(out))


def _cleaned(value: complex, error: float) -> complex:
    """Return a value without a part that is no larger than its error."""
    real, imaginary = (0.0 if abs(part) <= error else part for part in (value.real, value.imag))
    return complex(real, imaginary)


def _distance(shape: Complex, same: Sequence[Complex]) -> float:
    """Return how far a mode is from what others of its eigenvalue span."""
    if not same:
        return 1.0
    columns = np.stack(same, axis=1)
    columns = columns / np.abs(columns).max(axis=0)
    fitted = columns @ np.linalg.lstsq(columns, shape, rcond=None)[0]
    return float(np.abs(shape - fitted).max())


def _as_near(values: Sequence[complex], found: Sequence[Match], near: complex) -> int:
    """Return how many values are as near as the farthest that was found."""
    reach = max((abs(m.value - near) for m in found), default=0.0)
    room = reach * (1.0 + 1e-9) + 2.0 * max((m.error for m in found), default=0.0)
    return sum(abs(value - near) <= room for value in values)


def _missing(counts: Sequence[int], found: Sequence[Match], near: complex) -> str:
    """Return words if poorer and richer functions differ in how many values are as near."""
    if not found:
        return "No eigenvalue was found."
    if counts[0] == counts[1]:
        return ""
    reach = max(abs(m.value - near) for m in found)
    return (
        f"Within {reach:.6g} of {near:.6g} there are {counts[0]} eigenvalues on one set of "
        f"functions and {counts[1]} on a richer one."
    )
