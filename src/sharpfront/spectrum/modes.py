"""Modes found with two sets of functions, compared: what they differ by is their error.

Eigenvalues of (P_0 + lam P_1 + lam^2 P_2) v = 0 near a number, with left vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as sl
import scipy.sparse as ss
import scipy.sparse.linalg as ssl

from sharpfront.arrays import FloatArray
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.problem import Problem
from sharpfront.rounding import EPS
from sharpfront.solution.approximation import Approximation
from sharpfront.spectrum.result import IMAG, REAL
from sharpfront.spectrum.settings import MODES
from sharpfront.spectrum.statement import Complex


def nearest(matrices: Sequence[Any], shift: complex, count: int) -> list[Candidate]:
    """Return the eigenvalues nearest to a shift, nearest first; all of them in small systems.

    Matrices are P_0, P_1 and where there is one P_2, sparse; the shift is no eigenvalue itself.
    There are `count` at least, where there are as many.
    """
    left, right = matrices[:2]
    if len(matrices) == 3:
        # Of (v, lam v), which a polynomial of degree two is linear in.
        unit = ss.eye_array(left.shape[0])
        left = ss.csc_array(ss.block_array([[left, right], [None, unit]]))
        right = ss.csc_array(ss.block_array([[None, matrices[2]], [-unit, None]]))
    a, b = left + shift * right, -right
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


def polished(matrices: Sequence[Any], found: Candidate) -> Candidate:
    """Return an eigenvalue after a step of Newton's method, and what rounding leaves of it.

    With a left vector y the error is y (P v) / y (P' v), and rounding of the matrices' entries
    makes it as large as |y| (|P_0| + |lam| |P_1| + ...) |v| over the same.
    """
    value, right = found.value, found.weights
    at: Any = sum(value**j * m for j, m in enumerate(matrices))
    slope: Any = sum(j * value ** (j - 1) * m for j, m in enumerate(matrices) if j)
    left = np.cos(np.arange(len(right)) * 1.3) + 0.2 + 0j
    try:
        lu: Any = ssl.splu(ss.csc_matrix(at.astype(complex)))
        for _ in range(2):
            right, left = lu.solve(np.ascontiguousarray(slope @ right)), lu.solve(left, "H")
            right, left = right / np.linalg.norm(right), left / np.linalg.norm(left)
    except RuntimeError:
        # Singular to the last bit: the value could not be better.
        return Candidate(value, found.weights, EPS * abs(value))
    if not (np.isfinite(right).all() and np.isfinite(left).all()):
        return found
    below = np.vdot(left, slope @ right)
    size = sum(abs(value) ** j * (abs(m) @ np.abs(right)) for j, m in enumerate(matrices))
    rounding = 2.0 * EPS * float(np.abs(left) @ size) / max(abs(below), 1e-300)
    return Candidate(complex(value - np.vdot(left, at @ right) / below), right, rounding)


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
class Level:
    """Modes on one set of functions: bases by unknown, and candidates, the nearest first."""

    bases: Mapping[str, PatchworkBasis]
    candidates: Sequence[Candidate]  # their weights by unknown

    def values(self, candidate: Candidate, sampled: Sampled) -> Complex:
        """Return a mode where the bases are sampled, all unknowns one after another."""
        parts = [(self.bases[name], w) for name, w in candidate.weights.items()]
        return np.concatenate([sampled(b, w.real) + 1j * sampled(b, w.imag) for b, w in parts])


# Values of a weighted sum at the same places for all bases that are compared.
Sampled = Callable[[PatchworkBasis, FloatArray], FloatArray]


def along(count: int) -> Sampled:
    """Return what samples at so many even positions of every patch, ends included."""
    z = tuple(np.linspace(-1.0, 1.0, count).tolist())
    return lambda basis, weights: basis.on_patches(weights, z)


def compared(
    problem: Problem,
    levels: tuple[Level, Level],
    others: Sequence[complex] | None,
    sampled: Sampled,
    k: int,
    near: complex,
) -> Modes:
    """Return the nearest modes on the richer of two levels, in order.

    Others are values in another norm.
    """
    poorer, richer = levels
    rough = [(c, poorer.values(c, sampled)) for c in poorer.candidates]
    free, far, out = list(poorer.candidates), list(others or []), []
    for own in richer.candidates[:k]:
        match = min(free, key=lambda c: abs(c.value - own.value), default=None)
        apart = np.inf if match is None else abs(match.value - own.value)
        free = [c for c in free if c is not match]
        if others is not None:
            nearest = min(far, key=lambda value: abs(value - own.value), default=np.inf)
            apart = max(apart, abs(nearest - own.value))
            far = [value for value in far if value is not nearest]
        shape = richer.values(own, sampled)
        scale = complex(shape[int(np.argmax(np.abs(shape)))])
        close = max(ALIKE * abs(own.value), 4.0 * apart)
        same = [s for c, s in rough if abs(c.value - own.value) <= close]
        error, missed = float(max(apart, own.rounding)), _distance(shape / scale, same)
        # A part that is no larger than its error is none.
        parts = (own.value.real, own.value.imag)
        value = complex(*(0.0 if abs(part) <= error else part for part in parts))
        whole = _scaled(problem, richer.bases, own, scale, 10.0 * max(missed, 1e-10))
        out.append(Mode(value, error, missed, whole))
    ordered = tuple(sorted(out, key=lambda m: (m.value.real, m.value.imag)))
    return _counted(ordered, levels, near)


def _counted(found: tuple[Mode, ...], levels: tuple[Level, Level], near: complex) -> Modes:
    """Return modes with how many others are as near, and words if levels differ in that."""
    if not found:
        return Modes((), "No eigenvalue was found.")
    reach = max(abs(m.value - near) for m in found)
    room = reach * (1.0 + 1e-9) + 2.0 * max(m.error for m in found)
    before, there = (sum(abs(c.value - near) <= room for c in f.candidates) for f in levels)
    doubt = (
        f"Within {reach:.6g} of {near:.6g} there are {before} eigenvalues on one set of "
        f"functions and {there} on a richer one."
    ) * (before != there)
    return Modes(found, doubt, more=max(0, there - len(found)))


def _scaled(
    problem: Problem,
    bases: Mapping[str, PatchworkBasis],
    found: Candidate,
    scale: complex,
    least: float,
) -> Approximation:
    """Return a mode over its largest value; a complex one as two functions an unknown.

    Imaginary parts below the least are none.
    """
    scaled = {name: own / scale for name, own in found.weights.items()}
    real = all(np.abs(w.imag).max() <= least for w in scaled.values())
    named, weights = {}, {}
    for name, own in scaled.items():
        parts = {name: own.real} if real else {name + REAL: own.real, name + IMAG: own.imag}
        for called, part in parts.items():
            named[called], weights[called] = bases[name], np.ascontiguousarray(part)
    return Approximation(problem.coordinates, named, weights)


def _distance(shape: Complex, same: Sequence[Complex]) -> float:
    """Return how far a mode is from what others of its eigenvalue span."""
    if not same:
        return 1.0
    columns = np.stack(same, axis=1)
    columns = columns / np.abs(columns).max(axis=0)
    fitted = columns @ np.linalg.lstsq(columns, shape, rcond=None)[0]
    return float(np.abs(shape - fitted).max())
