"""Sources that a patch's points do not tell: their means with polynomials, by finer quadrature.

Least squares depend on a source through its means with the patch's polynomials alone. At the end of
a patch beside which a source is x^-0.9 its Gauss points miss a third of the mean however small the
patch is, and the flux past it is wrong by as much. Where values at Gauss points are not those of a
polynomial, boxes are halved until they are; what boxes that close in on a singularity leave out
goes on like a geometric series.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.legendre import gauss, gauss_table, legendre_table
from sharpfront.bases.patch import Patch
from sharpfront.errors import EquationError
from sharpfront.maps import AxisMap
from sharpfront.rows.moments import projected

Source = Callable[[FloatArray], FloatArray]

# A source is not a polynomial if its last two degrees have more than this share of it.
ROUGH = 1e-3
# Means are wanted to this share of the source.
WANTED = 1e-9
# Boxes are halved so often, while there are no more of them than that: a jump along a curve across
# the patch takes twice as many each time.
HALVINGS, MANY = 60, 8
# Parts that fall by less with each of so many halvings have no finite sum.
FALLING, RISING = 0.98, 4
# A box that is less than so many floats long tells nothing.
FLOATS = 4096.0


def resolved_sources(
    patches: Sequence[Patch], values: Sequence[FloatArray], source: Source
) -> list[FloatArray]:
    """Return a source at patches' Gauss points, those of polynomials with its means instead.

    Where it is a polynomial already, or has no means, its own values.

    Parameters
    ----------
    patches
        Which have one point more along each axis than functions.
    values
        At these points.
    source
        Its values at points of space.
    """
    out = []
    for patch, own in zip(patches, values, strict=True):
        counts = tuple(p + 1 for p in patch.functions)
        even = not any(m.strength for m in patch.maps)
        means = _means(patch, counts, source) if even and _is_rough(own, counts) else None
        out.append(own if means is None else _at_gauss_points(means))
    return out


def _is_rough(values: FloatArray, counts: tuple[int, ...]) -> bool:
    if not np.ptp(values):
        return False
    block = np.abs(projected(values, counts))
    return max(_ends(block)) > ROUGH * float(block.max())


def _ends(block: FloatArray) -> list[float]:
    """Return the largest of the last two weights along each axis."""
    return [float(np.moveaxis(block, a, 0)[-2:].max()) for a in range(block.ndim)]


def _at_gauss_points(means: FloatArray) -> FloatArray:
    """Return the polynomial with given means at as many Gauss points along each axis."""
    for axis, n in enumerate(means.shape):
        table = gauss_table(n, n, 0)[0]
        means = np.moveaxis(np.tensordot(table, means, axes=(1, axis)), 0, axis)
    return means.ravel()


def _means(patch: Patch, counts: tuple[int, ...], source: Source) -> FloatArray | None:
    """Return the means of a source with polynomials; None if there are none or nobody can tell."""
    boxes, told = [patch.maps], _Series(counts)
    for _ in range(HALVINGS):
        try:
            found = _of_boxes(patch, boxes, counts, source, told.largest)
        except EquationError:
            return None
        told.add([part for part in found if not part.rough], [part for part in found if part.rough])
        rough = [(maps, part.rough) for maps, part in zip(boxes, found, strict=True) if part.rough]
        short = any(_is_short(m) for maps, _ in rough for m in maps)
        if told.is_settled or short or len(rough) > MANY:
            break
        boxes = [half for maps, axes in rough for half in _halves(maps, axes)]
    return told.sum


@dataclass(frozen=True, eq=False)
class _Part:
    """What a box brings to the means, its size, and the axes along which it is too rough."""

    means: FloatArray
    size: float
    rough: tuple[int, ...]


class _Series:
    """What boxes around a singularity bring, half as large ones each time."""

    def __init__(self, counts: tuple[int, ...]) -> None:
        self._whole, self._left = np.zeros(counts), np.zeros(counts)
        self._sizes: list[tuple[float, int]] = []
        self._told: FloatArray | None = None
        self._best: tuple[float, FloatArray] | None = None
        self._rising = 0
        self.is_settled = False

    @property
    def largest(self) -> float:
        """The largest mean so far."""
        return float(np.abs(self._whole + self._left).max())

    def add(self, done: Sequence[_Part], rough: Sequence[_Part]) -> None:
        """Count in boxes of one size that are resolved, and those that are halved again."""
        zero = np.zeros_like(self._whole)
        new = sum((part.means for part in done), zero)
        self._whole, self._left = self._whole + new, sum((part.means for part in rough), zero)
        self._sizes.append((sum(part.size for part in done), len(rough)))
        before, self._told = self._told, None
        if 0.0 < self._ratio < FALLING:
            self._told = self._whole + new * (self._ratio / (1.0 - self._ratio))
            change = np.inf if before is None else float(np.abs(self._told - before).max())
            if self._best is None or change < self._best[0]:
                self._best = change, self._told
        self._rising = self._rising + 1 if self._ratio >= FALLING else 0
        settled = self._best is not None and self._best[0] <= WANTED * self.largest
        self.is_settled = not rough or settled or self._rising >= RISING

    @property
    def _ratio(self) -> float:
        """By how much parts fell with the last halving; nothing if they are no series."""
        (before, many), (last, now) = ((0.0, 0), *self._sizes)[-2:]
        return last / before if before and many == now else 0.0

    @property
    def sum(self) -> FloatArray | None:
        """The means; None where they have no finite sum."""
        if self._sizes[-1][1] and self._best is not None and np.isfinite(self._best[0]):
            return self._best[1]
        return None if self._rising >= RISING else self._whole + self._left


def _of_boxes(
    patch: Patch,
    boxes: Sequence[tuple[AxisMap, ...]],
    counts: tuple[int, ...],
    source: Source,
    largest: float,
) -> list[_Part]:
    """Return what boxes of a patch bring to its means, of which the largest so far is as large.

    Twice as many points as the patch has, so that boxes as far from a singularity as they are long
    are resolved; an even number, so that none is in the middle.
    """
    fine = tuple(2 * n for n in counts)
    inner = [replace(patch, maps=maps, functions=fine) for maps in boxes]
    points = np.concatenate([box.gauss_points(fine)[0] for box in inner])
    values = source(points).reshape(len(boxes), *fine)
    shares = np.ones(len(boxes))
    own = out = values
    for axis, (whole, n, f) in enumerate(zip(patch.maps, counts, fine, strict=True)):
        sides = [maps[axis] for maps in boxes]
        z, w = gauss(f)
        at = whole.inverse(np.concatenate([m.points(z) for m in sides]))
        tables = legendre_table(at, n)[0].reshape(len(boxes), f, n) * w[:, None]
        out = _along(tables, out, axis)
        own = _along((gauss_table(f, f, 0)[0] * w[:, None])[None], own, axis)
        shares *= [m.length / whole.length for m in sides]
    parts = []
    for share, means, weights in zip(shares.tolist(), out, np.abs(own), strict=True):
        ends = _ends(weights)
        least = WANTED * max(largest, share * float(weights.max()))
        most = max(ends) if share * max(ends) > least else np.inf
        rough = tuple(a for a, end in enumerate(ends) if end > 0.1 * most)
        parts.append(_Part(share * means, share * float(np.linalg.norm(weights)), rough))
    return parts


def _along(tables: FloatArray, values: FloatArray, axis: int) -> FloatArray:
    """Return values of boxes, (b, ...), times a matrix for each, (b, f, n), along an axis."""
    moved = np.moveaxis(values, axis + 1, -1)
    shape = moved.shape
    flat = moved.reshape(len(moved), -1, shape[-1]) @ tables
    return np.moveaxis(flat.reshape(*shape[:-1], -1), -1, axis + 1)


def _halves(maps: tuple[AxisMap, ...], axes: tuple[int, ...]) -> list[tuple[AxisMap, ...]]:
    sides = []
    for axis, m in enumerate(maps):
        middle = 0.5 * (m.low + m.high)
        halves = (AxisMap(m.low, middle), AxisMap(middle, m.high))
        sides.append(halves if axis in axes else (m,))
    return list(itertools.product(*sides))


def _is_short(m: AxisMap) -> bool:
    return m.length < FLOATS * float(np.spacing(max(abs(m.low), abs(m.high))))
