"""Sources that a patch's points do not tell: their means with polynomials, by finer quadrature.

Least squares depend on a source through its means with the patch's polynomials alone. At the end of
a patch beside which a source is x^-0.9 its Gauss points miss a third of the mean however small the
patch is, and the flux past it is wrong by as much. Where values at Gauss points are not those of a
polynomial, boxes are halved until they are; what boxes that close in on a singularity leave out
goes on like a geometric series.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.legendre import gauss, gauss_table, legendre_table
from sharpfront.bases.patch import Patch
from sharpfront.errors import EquationError
from sharpfront.maps import AxisMap
from sharpfront.rows.moments import along_axes, projected

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

    Where it is a polynomial already, or has no means, its own values. Patches have one point more
    along each axis than functions.
    """
    out, unclear = list(values), defaultdict(list)
    for i, patch in enumerate(patches):
        counts = tuple(p + 1 for p in patch.functions)
        if not any(m.strength or m.decays for m in patch.maps) and _is_rough(values[i], counts):
            unclear[counts].append(i)
    for counts, which in unclear.items():
        found = _means([patches[i] for i in which], counts, source)
        for i, means in zip(which, found, strict=True):
            if means is not None:
                # The polynomial with these means.
                tables = [gauss_table(n, n, 0)[0] for n in means.shape]
                out[i] = along_axes(means, tables).ravel()
    return out


def _is_rough(values: FloatArray, counts: tuple[int, ...]) -> bool:
    if not np.ptp(values):
        return False
    block = np.abs(projected(values, counts))
    return float(_ends(block[None]).max()) > ROUGH * float(block.max())


def _ends(blocks: FloatArray) -> FloatArray:
    """Return the largest of the last two weights of each block along each axis, (b, d)."""
    d = blocks.ndim - 1
    axes = [tuple(k for k in range(1, d + 1) if k != a + 1) for a in range(d)]
    return np.stack([blocks.max(axis=own)[:, -2:].max(axis=1) for own in axes], axis=1)


def _means(
    patches: Sequence[Patch], counts: tuple[int, ...], source: Source
) -> list[FloatArray | None]:
    """Return the means of a source with polynomials; None if there are none or nobody can tell.

    The boxes of all patches are looked at together.
    """
    told = [_Series(counts) for _ in patches]
    boxes = [_Box(i, patch.maps) for i, patch in enumerate(patches)]
    for _ in range(HALVINGS):
        try:
            found = _of_boxes(patches, boxes, counts, source, [series.largest for series in told])
        except EquationError:
            if len(patches) > 1:
                return [m for patch in patches for m in _means([patch], counts, source)]
            return [None]
        halved = []
        for i, own in itertools.groupby(zip(boxes, found, strict=True), lambda b: b[0].patch):
            halved += _gone_on(told[i], list(own))
        boxes = halved
        if not boxes:
            break
    return [series.sum for series in told]


@dataclass(frozen=True, eq=False)
class _Box:
    """A part of a patch, of which there is the number."""

    patch: int
    maps: tuple[AxisMap, ...]

    def halves(self, axes: tuple[int, ...]) -> list[_Box]:
        """Return the boxes that halving along axes gives."""
        sides = []
        for axis, m in enumerate(self.maps):
            middle = 0.5 * (m.low + m.high)
            halves = (AxisMap(m.low, middle), AxisMap(middle, m.high))
            sides.append(halves if axis in axes else (m,))
        return [_Box(self.patch, maps) for maps in itertools.product(*sides)]


def _gone_on(told: _Series, found: Sequence[tuple[_Box, _Part]]) -> list[_Box]:
    """Count in what the boxes of a patch bring, and return those to look at next."""
    rough = [(box, part) for box, part in found if part.rough]
    told.add([part for _, part in found if not part.rough], [part for _, part in rough])
    short = any(
        m.length < FLOATS * float(np.spacing(max(abs(m.low), abs(m.high))))
        for box, _ in rough
        for m in box.maps
    )
    if told.is_settled or short or len(rough) > MANY:
        return []
    return [half for box, part in rough for half in box.halves(part.rough)]


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
    patches: Sequence[Patch],
    boxes: Sequence[_Box],
    counts: tuple[int, ...],
    source: Source,
    largest: Sequence[float],
) -> list[_Part]:
    """Return what boxes of patches bring to their means, of which the largest so far are as large.

    Twice as many points as a patch has, so that boxes as far from a singularity as they are long
    are resolved; an even number, so that none is in the middle.
    """
    fine = tuple(2 * n for n in counts)
    nodes = [gauss(f)[0] for f in fine]
    inner = (replace(patches[b.patch], maps=b.maps).points(nodes) for b in boxes)
    values = source(np.concatenate(list(inner))).reshape(len(boxes), *fine)
    shares = np.ones(len(boxes))
    own = out = values
    for axis, (n, f, z) in enumerate(zip(counts, fine, nodes, strict=True)):
        sides = [(patches[b.patch].maps[axis], b.maps[axis]) for b in boxes]
        w = gauss(f)[1][:, None]
        at = np.concatenate([whole.inverse(m.points(z)) for whole, m in sides])
        tables = legendre_table(at, n)[0].reshape(len(boxes), f, n) * w
        out = _along(tables, out, axis)
        own = _along((gauss_table(f, f, 0)[0] * w)[None], own, axis)
        shares *= [m.length / whole.length for whole, m in sides]
    weights = np.abs(own)
    most = shares * weights.reshape(len(boxes), -1).max(axis=1)
    sizes = shares * np.linalg.norm(weights.reshape(len(boxes), -1), axis=1)
    ends = shares[:, None] * _ends(weights)
    least = WANTED * np.maximum(most, [largest[b.patch] for b in boxes])
    rough = (ends > 0.1 * ends.max(axis=1)[:, None]) & (ends.max(axis=1) > least)[:, None]
    return [
        _Part(share * means, size, tuple(np.flatnonzero(axes).tolist()))
        for share, means, size, axes in zip(shares, out, sizes.tolist(), rough, strict=True)
    ]


def _along(tables: FloatArray, values: FloatArray, axis: int) -> FloatArray:
    """Return values of boxes, (b, ...), times a matrix for each, (b, f, n), along an axis."""
    moved = np.moveaxis(values, axis + 1, -1)
    shape = moved.shape
    flat = moved.reshape(len(moved), -1, shape[-1]) @ tables
    return np.moveaxis(flat.reshape(*shape[:-1], -1), -1, axis + 1)
