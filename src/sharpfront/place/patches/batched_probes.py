"""Looks at the data of many boxes at once: the same as one by one, in arrays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.boxes import Boxes
from sharpfront.bases.legendre import gauss, legendre_table, product_points
from sharpfront.bases.patch import Patch
from sharpfront.equation.linearise import LinearForm
from sharpfront.place.patches.cuts import Flags
from sharpfront.place.patches.data_probes import (
    DataProbe,
    DataProbes,
    beyond,
    places_known,
    watched,
)
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.rows.form_values import form_at
from sharpfront.rows.moments import means
from sharpfront.rows.row_norm import felt_units

# Points at which data are evaluated at a time: what is made of them fits into caches.
POINTS = 50_000


class _Datum(NamedTuple):
    """A datum on boxes with the same functions, b of them."""

    varies: Flags  # on which it does, (b,)
    values: FloatArray  # in units of what is allowed to be missed, (b, m)
    felt: FloatArray  # by how much more it is felt, (b, m)


def probe_together(looks: DataProbes, patches: Sequence[Patch]) -> None:
    """Take the looks at boxes that were not looked at, those with the same functions together."""
    new = _not_held(
        looks,
        [p for p in dict.fromkeys(patches) if p.is_even and p.cut is None and p not in looks.taken],
    )
    if not new:
        return
    boxes = Boxes.of(new)
    alike: dict[tuple[tuple[int, ...], int, int], list[int]] = defaultdict(list)
    told = [
        places_known(places, boxes.low, boxes.high)
        for places in (looks.told[: -SETTINGS.spread], looks.told[-SETTINGS.spread :])
    ]
    for i in np.flatnonzero(~_near_poles(looks, boxes)).tolist():
        alike[new[i].functions, len(told[0][i]), len(told[1][i])].append(i)
    for (functions, first, second), every in alike.items():
        at_once = max(1, POINTS // int(np.prod([2 * p + 1 for p in functions])))
        for start in range(0, len(every), at_once):
            some = every[start : start + at_once]
            places = np.stack([np.concatenate([told[0][i], told[1][i]]) for i in some])
            found = _looks(looks, boxes.low[some], boxes.high[some], functions, places)
            for i, look in zip(some, found, strict=True):
                looks.taken[new[i]] = DataProbe(look.places, (first, second), look.seen, look.gaps)


def _not_held(looks: DataProbes, patches: list[Patch]) -> list[Patch]:
    """Return boxes without those that are parts of one that holds all data: these are looked at."""
    if not looks.held or not patches:
        return patches
    boxes = Boxes.of(patches)
    held = np.zeros(len(patches), dtype=bool)
    for whole in looks.held:
        within = (whole.low <= boxes.low) & (boxes.high <= whole.high)
        held |= np.all(within & (boxes.functions >= whole.functions), axis=1)
    nothing = DataProbe(np.empty((0, boxes.low.shape[1])), (0, 0), [], [])
    looks.taken |= {patches[i]: nothing for i in np.flatnonzero(held).tolist()}
    return [patches[i] for i in np.flatnonzero(~held).tolist()]


def _near_poles(looks: DataProbes, boxes: Boxes) -> Flags:
    """Tell which boxes may have a pole at a corner: those are looked at alone."""
    out = np.zeros(len(boxes.patches), dtype=bool)
    near = 1e-6 * boxes.sides.max(axis=1, keepdims=True)
    for pole in looks.poles:
        out |= np.all((boxes.low - near <= pole) & (pole <= boxes.high + near), axis=1)
    return out


def _looks(
    looks: DataProbes,
    low: FloatArray,
    high: FloatArray,
    functions: tuple[int, ...],
    told: FloatArray,
) -> list[DataProbe]:
    """Return looks at boxes, (b, d), with the same functions and as many places told of."""
    counts = tuple(2 * p + 1 for p in functions)
    z = product_points([gauss(n)[0] for n in counts])
    own = 0.5 * (low[:, None] * (1.0 - z) + high[:, None] * (1.0 + z))
    places = np.concatenate([told, watched(low, high)], axis=1)
    points, n = np.concatenate([own, places], axis=1), len(z)
    seen: list[list[tuple[FloatArray, FloatArray]]] = [[] for _ in low]
    gaps: list[list[FloatArray]] = [[] for _ in low]
    # Places told of differ from box to box, the others lie alike in all of them.
    one = np.ones((1, len(functions)))
    both = _tables(told, low, high, counts), _tables(watched(-one, one), -one, one, counts)
    for form in looks.problem.forms:
        for datum in _data_of_boxes(looks, form, points, high - low):
            blocks = _projected(datum.values[:, :n], counts)
            fitted = np.concatenate([_at(blocks, tables) for tables in both], axis=1)
            gap = datum.felt[:, n:] * np.abs(datum.values[:, n:] - fitted)
            which = np.flatnonzero(datum.varies).tolist()
            for i, *found in zip(which, *beyond(blocks[which], functions), strict=True):
                seen[i].append((found[0], found[1]))
                gaps[i].append(gap[i])
    return [DataProbe(*each) for each in zip(places, [(0, 0)] * len(low), seen, gaps, strict=True)]


def _data_of_boxes(
    looks: DataProbes, form: LinearForm, points: FloatArray, sides: FloatArray
) -> list[_Datum]:
    """Return a form's data at points of boxes, (b, m, d): as for one box alone."""
    problem, (b, m, d) = looks.problem, points.shape
    found = form_at(form, problem.coordinates, points.reshape(-1, d))
    coefficients = [c.reshape(b, m) for c in found.coefficients]
    rough = dict.fromkeys(problem.unknowns, 0)
    extent = float(np.ptp(problem.domain.bounds, axis=0).max())
    size = np.full((b, m), np.inf)
    for felt in felt_units(found, sides, rough, extent)[1].T:
        own = sum((np.abs(c) * u[:, None] for c, u in zip(coefficients, felt, strict=True)), 0.0)
        size = np.minimum(size, own)
    size = np.maximum(size, 1e-300)
    mean = size.mean(axis=1, keepdims=True)
    source = found.rhs.reshape(b, m) / mean / (SETTINGS.source * looks.tol)
    out = [_Datum(np.ptp(source, axis=1) > 0, source, mean / size)]
    for c in coefficients:
        varies = np.ptp(c, axis=1) > 0
        if varies.any():
            largest = np.where(varies, np.abs(c).max(axis=1), 1.0)[:, None]
            out.append(_Datum(varies, c / largest / SETTINGS.coefficient, np.ones((b, m))))
    return out


def _projected(values: FloatArray, counts: tuple[int, ...]) -> FloatArray:
    """Return the means of values at product Gauss points with all products, (b, n_0, n_1, ...)."""
    block = values.reshape(len(values), *counts)
    for axis, n in enumerate(counts):
        block = np.moveaxis(np.moveaxis(block, axis + 1, -1) @ means(n).T, -1, axis + 1)
    return block


def _tables(
    places: FloatArray, low: FloatArray, high: FloatArray, counts: tuple[int, ...]
) -> list[FloatArray]:
    """Return polynomials of each axis at places in boxes, (b, m, n)."""
    x, low, high = places, low[:, None], high[:, None]
    at = np.clip(((x - low) - (high - x)) / (high - low), -1.0, 1.0)
    return [
        legendre_table(at[..., a].ravel(), n)[0].reshape(*at.shape[:2], n)
        for a, n in enumerate(counts)
    ]


def _at(blocks: FloatArray, tables: Sequence[FloatArray]) -> FloatArray:
    """Return functions with given weights at places, (b, m)."""
    (_, m, n), b = tables[0].shape, len(blocks)
    if not m:
        return np.zeros((b, 0))
    out = tables[0] @ blocks.reshape(b, n, -1)
    for table in tables[1:]:
        out = np.sum(out.reshape(b, m, table.shape[2], -1) * table[..., None], axis=2)
    return out.reshape(b, m)
