"""Modes found with two sets of functions, compared: what they differ by is their error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sharpfront.kernels.basis import Basis
from sharpfront.problem import Problem
from sharpfront.solution.approximation import Approximation
from sharpfront.spectrum.result import IMAG, REAL
from sharpfront.spectrum.statement import Complex

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
