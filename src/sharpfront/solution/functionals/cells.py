"""Cells of a domain with rules of quadrature, halved until two rules agree."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.cut import Region
from sharpfront.bases.legendre import gauss, product_points, product_weights
from sharpfront.bases.patch import Patch

Rule = tuple[FloatArray, FloatArray]
# Points along an axis of a box beyond which nothing is known; the finer of two rules has more.
POINTS, MORE = 8, 3
# Rounds of halving, and cells beyond which no round is begun.
ROUNDS, MOST = 40, 20_000


class Cell(Protocol):
    """A part of a domain."""

    def rules(self) -> tuple[Rule, Rule]:
        """Return points with weights of a rough rule and of a finer one."""

    def halves(self) -> Sequence[Cell]:
        """Return the parts that halving along every axis leaves."""


@dataclass(frozen=True, eq=False)
class PatchCell:
    """A part of a patch, from `low` to `high` in its reference cell."""

    patch: Patch
    low: FloatArray
    high: FloatArray

    def rules(self) -> tuple[Rule, Rule]:
        """Return rules that are exact for the patch's own functions, and for some more."""
        counts = [max(p, 3) for p in self.patch.functions]
        return self._rule(counts), self._rule([n + MORE for n in counts])

    def _rule(self, counts: Sequence[int]) -> Rule:
        patch, half = self.patch, 0.5 * (self.high - self.low)
        z = [a + h * (1.0 + gauss(n)[0]) for a, h, n in zip(self.low, half, counts, strict=True)]
        at = patch.positions(z)
        lengths = [2.0 / m.slopes(s, 1)[0] for m, s in zip(patch.maps, z, strict=True)]
        weights = product_weights(tuple(counts)) * np.prod(product_points(lengths), axis=1)
        return patch.in_space(at), weights * float(np.prod(half)) * patch.densities(at)

    def halves(self) -> Sequence[Cell]:
        """Return two to the number of axes."""
        return [PatchCell(self.patch, low, high) for low, high in _halved(self.low, self.high)]


@dataclass(frozen=True, eq=False)
class BoxCell:
    """A box, or what lies in a region of it."""

    low: FloatArray
    high: FloatArray
    region: Region | None = None

    def rules(self) -> tuple[Rule, Rule]:
        """Return two of Gauss's rules; of a box that is cut its own and those of its halves."""
        look = True if self.region is None else self.region.look(self.low, self.high)
        if look is False:
            nothing = np.empty((0, len(self.low))), np.empty(0)
            return nothing, nothing
        if look is True:
            return self._gauss(POINTS), self._gauss(POINTS + MORE)
        finer = [BoxCell(a, b, self.region)._own() for a, b in _halved(self.low, self.high)]
        points, weights = zip(*finer, strict=True)
        return self._own(), (np.concatenate(points), np.concatenate(weights))

    def _own(self) -> Rule:
        look = True if self.region is None else self.region.look(self.low, self.high)
        if isinstance(look, bool):
            return self._gauss(POINTS) if look else (np.empty((0, len(self.low))), np.empty(0))
        return look.quadrature

    def _gauss(self, count: int) -> Rule:
        z = gauss(count)[0]
        axes = [0.5 * (a * (1 - z) + b * (1 + z)) for a, b in zip(self.low, self.high, strict=True)]
        weights = product_weights((count,) * len(axes))
        return product_points(axes), weights * float(np.prod(self.high - self.low))

    def halves(self) -> Sequence[Cell]:
        """Return two to the number of axes."""
        return [BoxCell(low, high, self.region) for low, high in _halved(self.low, self.high)]


def _halved(low: FloatArray, high: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
    middle = 0.5 * (low + high)
    sides = [((a, m), (m, b)) for a, m, b in zip(low, middle, high, strict=True)]
    chosen = (np.array(corner).T for corner in itertools.product(*sides))
    return [(one, two) for one, two in chosen]


def total(function: Callable[[FloatArray], FloatArray], cells: Sequence[Cell], tol: float) -> float:
    """Return the integral of a function over cells.

    Those on which two rules differ by more than `tol` of the whole are halved.
    """
    found, size, left = 0.0, 0.0, list(cells)
    for last in [*[False] * (ROUNDS - 1), True]:
        rough, fine = (
            _sums(function, rules) for rules in zip(*(c.rules() for c in left), strict=True)
        )
        size = max(size, found + float(np.sum(np.abs(fine))))
        wide = np.abs(fine - rough) > tol * size
        if last or not wide.any() or len(left) > MOST:
            return found + float(np.sum(fine))
        found += float(np.sum(fine[~wide]))
        left = [h for cell, open_ in zip(left, wide, strict=True) if open_ for h in cell.halves()]
    return found


def _sums(function: Callable[[FloatArray], FloatArray], rules: Sequence[Rule]) -> FloatArray:
    """Return the integral over each cell by its rule, (cells,)."""
    points, weights = (np.concatenate(each) for each in zip(*rules, strict=True))
    own = np.repeat(np.arange(len(rules)), [len(w) for _, w in rules])
    values = function(points) * weights if len(points) else weights
    return np.asarray(np.bincount(own, values, len(rules)), dtype=float)
