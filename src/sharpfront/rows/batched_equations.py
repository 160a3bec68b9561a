"""The equation's rows of many patches of one shape on a device.

Coefficients and sources are evaluated by the processor, all points at once, and travel; the rows,
which are products of tables of each axis with them, are made where they are used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from sharpfront.arrays import Array, FloatArray, namespace, to_host
from sharpfront.bases.joint import Ints, is_joint, products
from sharpfront.bases.legendre import gauss, product_weights
from sharpfront.bases.patch import Patch
from sharpfront.leastsquares.device import Device
from sharpfront.maps import AxisMap
from sharpfront.rows.equation_rows import with_means
from sharpfront.rows.measure import TINY, Measure, lightest
from sharpfront.rows.moments import means
from sharpfront.rows.norm import stretched, units
from sharpfront.rows.sources import ROUGH
from sharpfront.rows.values import FormValues, form_at, taylor_of_all


@dataclass(frozen=True, eq=False)
class Axis:
    """The maps along one axis of patches."""

    owners: Sequence[Patch]  # one with each of the maps
    which: Ints  # the map of each patch, (b,)

    @classmethod
    def of(cls, patches: Sequence[Patch], axis: int) -> Axis:
        """Return the maps of patches along an axis."""
        known: dict[AxisMap, int] = {}
        which = [known.setdefault(patch.maps[axis], len(known)) for patch in patches]
        firsts = np.unique(which, return_index=True)[1]
        return cls([patches[i] for i in firsts.tolist()], np.array(which, dtype=np.int64))


class EquationBatch:
    """Rows of the equation on patches with the same numbers of functions, even or not, none cut.

    They are all boxes of space or all in charts.
    """

    def __init__(self, device: Device, measure: Measure, patches: Sequence[Patch]) -> None:
        self.device, self.measure, self.patches = device, measure, patches
        self.counts = tuple(p + 1 for p in patches[0].functions)
        d = len(self.counts)
        self.joint, self.count = is_joint(d), len(patches)
        self.axes = [Axis.of(patches, a) for a in range(d)]
        tables = [
            np.stack([p.gauss_tables(self.counts, measure.order)[a] for p in axis.owners])
            for a, axis in enumerate(self.axes)
        ]
        if self.joint:
            chosen = patches[0].products
            tables = [table[..., own] for table, own in zip(tables, chosen, strict=True)]
            every = [
                means(n)[own]
                for n, own in zip(self.counts, products(self.counts, True), strict=True)
            ]
            self._moments = device.put(
                reduce(lambda a, b: (a[:, :, None] * b[:, None, :]).reshape(len(a), -1), every)
            )
        # (b, order + 1, n, functions) of each axis.
        self._tables = [
            device.put(table)[device.put(axis.which)]
            for table, axis in zip(tables, self.axes, strict=True)
        ]

    def rows(self, weight: float) -> tuple[Array, Array]:
        """Return rows (b, m, n) and right-hand sides (b, m, k), both times a weight."""
        forms = self._forms()
        scales = [self._scale(form) * weight for form in forms]
        xp = namespace(*scales)
        blocks = [self._matrix(form, scale) for form, scale in zip(forms, scales, strict=True)]
        values = [form.rhs * scale for form, scale in zip(forms, scales, strict=True)]
        rhs = [xp.concat([self._weighed(v) for v in values], axis=1)]
        m = rhs[0].shape[1]
        places = self._points.reshape(self.count, -1, len(self.counts)).mean(axis=1)
        rhs.append(self.device.put(self.measure.noise(places, m)) * weight)
        if self.measure.loaded:
            load = self.device.put(self.measure.load(self._points)).reshape(
                len(forms), self.count, -1
            )
            own = [self._weighed(a * s) for a, s in zip(load, scales, strict=True)]
            rhs.append(xp.concat(own, axis=1))
        return xp.concat(blocks, axis=1), xp.stack(rhs, axis=2)

    @property
    def _nodes(self) -> list[FloatArray]:
        return [gauss(n)[0] for n in self.counts]

    def _spread(self, each: Sequence[FloatArray]) -> FloatArray:
        """Return all combinations of what axes have for each of their maps, (b, m, d)."""
        d = len(each)
        out = np.empty((self.count, *self.counts, d))
        for a, (values, axis) in enumerate(zip(each, self.axes, strict=True)):
            shape = [-1 if b == a else 1 for b in range(d)]
            out[..., a] = values[axis.which].reshape(self.count, *shape)
        return out.reshape(self.count, -1, d)

    def _forms(self) -> list[FormValues]:
        """Return the equations at all points on the device, (b, m) each."""
        places = [
            np.stack([p.maps[a].points(z) for p in axis.owners])
            for a, (axis, z) in enumerate(zip(self.axes, self._nodes, strict=True))
        ]
        at, patches = self._spread(places), self.patches
        taylor = None
        if patches[0].chart is not None:
            taylor = taylor_of_all(patches, list(at))
            at = np.stack([p.in_space(x) for p, x in zip(patches, at, strict=True)])
        self._points = at.reshape(-1, at.shape[2])
        problem, shape = self.measure.problem, at.shape[:2]
        out = []
        for form in problem.forms:
            found = form_at(form, problem.coordinates, self._points).in_chart(taylor)
            values = [self.device.put(c.reshape(shape)) for c in found.coefficients]
            rhs = found.rhs.reshape(shape)
            stated = form.stated is not None
            # Which of them are rough is told on the device, of what is not about an iterate.
            rough = list(range(len(rhs))) if stated else self._rough(self.device.put(rhs))
            if rough:
                own = [patches[i] for i in rough]
                rhs[rough] = np.stack(with_means(form, problem.coordinates, own, list(rhs[rough])))
            out.append(FormValues(found.terms, values, self.device.put(rhs)))
        return out

    def _rough(self, values: Array) -> list[int]:
        """Return the patches on which a source is not told by its points."""
        if any(m.strength for m in self.patches[0].maps):
            return []
        block, xp = values.reshape(self.count, *self.counts), namespace(values)
        block = xp.abs(self._along_axes(block))
        ends = [
            xp.max(xp.reshape(xp.moveaxis(block, a + 1, 1)[:, -2:], (self.count, -1)), axis=1)
            for a in range(len(self.counts))
        ]
        largest = xp.max(xp.reshape(block, (self.count, -1)), axis=1)
        rough = xp.max(xp.stack(ends), axis=0) > ROUGH * largest
        return [int(i) for i in np.flatnonzero(to_host(rough))]

    def _along_axes(self, block: Array) -> Array:
        """Return means with all products of polynomials of values, (b, n_0, n_1, ...)."""
        xp = namespace(block)
        for axis, n in enumerate(self.counts):
            moved = xp.moveaxis(block, axis + 1, -1)
            block = xp.moveaxis(moved @ self.device.put(means(n).T), -1, axis + 1)
        return block

    def _scale(self, form: FormValues) -> Array:
        """Return what the rows of an equation are multiplied by, (b, m)."""
        measure, patches = self.measure, self.patches
        xp = namespace(form.rhs)
        factor = lightest(patches[:1], measure.order)
        votes = self.device.put(np.array([factor * measure.vote(p.longest) for p in patches]))
        sizes = xp.abs(xp.stack(list(form.coefficients), axis=2)) if form.terms else None
        if sizes is None:
            return votes[:, None] / TINY * xp.ones_like(form.rhs)
        if any(m.strength for m in patches[0].maps):
            local = self._spread(
                [
                    np.stack([2.0 / p.maps[a].slopes(z, 1)[0] for p in axis.owners])
                    for a, (axis, z) in enumerate(zip(self.axes, self._nodes, strict=True))
                ]
            )
            own = units(form, local.reshape(-1, local.shape[2]), measure.rough)
            size = xp.sum(sizes * self.device.put(own.T.reshape(sizes.shape)), axis=2)
        else:
            size = xp.min(sizes @ self.device.put(felt_units(form, patches, measure)), axis=2)
        return votes[:, None] / xp.clip(size, min=TINY)

    def _weighed(self, values: Array) -> Array:
        """Return values at points in the rows they belong to, (b, m)."""
        if self.joint:
            return values @ self._moments.mT
        return values * self.device.put(np.sqrt(product_weights(self.counts)))

    def _matrix(self, form: FormValues, scale: Array) -> Array:
        """Return a form applied to the functions of all unknowns, (b, m, n)."""
        xp = namespace(scale)
        if not self.joint:
            scale = scale * self.device.put(np.sqrt(product_weights(self.counts)))
        parts = []
        for unknown in self.measure.unknowns:
            own: dict[tuple[int, ...], Array] = {}
            for term, c in zip(form.terms, form.coefficients, strict=True):
                if term.unknown == unknown:
                    own[term.orders] = scale * c + own.get(term.orders, 0.0)
            parts.append(self._of_some(own) if self.joint else self._of_all(own))
        return parts[0] if len(parts) == 1 else xp.concat(parts, axis=2)

    def _of_all(self, level: dict[tuple[int, ...], Array]) -> Array:
        """Return terms applied to all products of functions.

        Axis by axis from the last, sums over the terms that differ along it alone.
        """
        counts, b = self.counts, self.count
        for axis in range(len(counts) - 1, -1, -1):
            shape = b, math.prod(counts[:axis]), counts[axis], math.prod(counts[axis + 1 :])
            found: dict[tuple[int, ...], Array] = {}
            for orders, values in level.items():
                table = self._tables[axis][:, orders[axis]]
                part = table[:, None, :, None, :, None] * values.reshape(*shape, 1, -1)
                rest = orders[:axis]
                if rest in found:
                    found[rest] += part
                else:
                    found[rest] = part
            level = found
        columns = math.prod(self.patches[0].functions)
        if not level:
            return self.device.zeros((b, math.prod(counts), columns))
        return level[()].reshape(b, -1, columns)

    def _of_some(self, level: dict[tuple[int, ...], Array]) -> Array:
        """Return the moments of terms applied to products up to a joint degree."""
        b, columns, d = self.count, self.patches[0].size, len(self.counts)
        out = self.device.zeros((b, *self.counts, columns))
        for orders, values in level.items():
            part = values.reshape(b, *self.counts, 1)
            for a, (table, k) in enumerate(zip(self._tables, orders, strict=True)):
                shape = [self.counts[a] if i == a else 1 for i in range(d)]
                part = part * table[:, k].reshape(b, *shape, columns)
            out += part
        return self._moments @ out.reshape(b, -1, columns)


def felt_units(form: FormValues, patches: Sequence[Patch], measure: Measure) -> FloatArray:
    """Return what makes terms sizes at each length that patches' effects are felt at, (b, t, k)."""
    sides = np.stack([patch.sides for patch in patches])
    wider, factors = stretched(sides, measure.extent)
    own = units(form, wider.reshape(-1, sides.shape[1]), measure.rough)
    return np.asarray((own.reshape(-1, *factors.shape) * factors).transpose(1, 0, 2))
