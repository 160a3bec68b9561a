"""The equation's rows of many patches of one shape on a device.

Coefficients and sources are evaluated there where their formulas are made of common functions, else
by the processor, all points at once, and travel. Rows are products of tables of axes with them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, cached_property, reduce

import numpy as np

from sharpfront.arrays import Array, FloatArray, Ints, namespace, to_host
from sharpfront.bases.boxes import Boxes, distinct
from sharpfront.bases.legendre import gauss
from sharpfront.bases.patch import Patch
from sharpfront.bases.total_degree import is_joint
from sharpfront.equation.linearise import LinearForm
from sharpfront.equation.on_device import evaluated, is_known
from sharpfront.leastsquares.device import Device
from sharpfront.rounding import TINY
from sharpfront.rows.batched_axes import Axis
from sharpfront.rows.equation_rows import with_means
from sharpfront.rows.form_values import FormValues, form_at, taylor_of_all
from sharpfront.rows.moments import all_means, plain_tests
from sharpfront.rows.row_norm import felt_units, units
from sharpfront.rows.row_scaling import Measure, lighter
from sharpfront.rows.side_quadrature import form_matrix
from sharpfront.rows.sources import ROUGH


class EquationBatch:
    """Rows of the equation on patches with up to some numbers of functions, even or not, none cut.

    They are all boxes of space or all in charts. Where one has fewer functions than that, its rows
    and columns are filled up with zeros.
    """

    def __init__(
        self,
        device: Device,
        measure: Measure,
        boxes: Boxes,
        numbers: Ints,
        functions: tuple[int, ...],
    ) -> None:
        self.device, self.measure, self.boxes, self.numbers = device, measure, boxes, numbers
        self.functions, self.counts = functions, tuple(p + 1 for p in functions)
        d = len(functions)
        self.joint, self.count = is_joint(d), len(numbers)
        self.axes = [Axis.of(boxes, numbers, a, p) for a, p in enumerate(functions)]
        self._which = [device.put(axis.which) for axis in self.axes]
        # (b, order + 1, n, functions) of each axis.
        self._tables = [self._each(a, x.tables(measure.order)) for a, x in enumerate(self.axes)]
        # Roots of the points' weights, (b, m) or the same for all.
        self._roots = reduce(
            lambda a, b: (a[:, :, None] * b[:, None, :]).reshape(len(b), -1),
            [
                self._each(a, axis.filled([np.sqrt(gauss(n)[1]) for n in axis.counts]))
                for a, axis in enumerate(self.axes)
            ],
        )

    def _each(self, axis: int, values: FloatArray) -> Array:
        """Return what the maps of an axis have for each patch, on the device."""
        return self.device.put(values)[self._which[axis]]

    @cached_property
    def patches(self) -> list[Patch]:
        """The patches."""
        return [self.boxes.patches[i] for i in self.numbers.tolist()]

    @property
    def _charted(self) -> bool:
        return bool(self.boxes.charted[self.numbers[0]])

    @property
    def _uneven(self) -> bool:
        return bool(np.any(self.boxes.uneven[self.numbers[0]]))

    @cached_property
    def _kinds(self) -> tuple[list[tuple[int, ...]], Ints]:
        """The different numbers of functions, and which of them each patch has."""
        functions = self.boxes.functions[self.numbers]
        first, which = distinct(functions)
        return [tuple(own) for own in functions[first].tolist()], which

    def rows(self, weight: float) -> tuple[Array, Array]:
        """Return rows (b, m, n) and right-hand sides (b, m, k), both times a weight."""
        forms = self._forms()
        scales = [self._scale(form) * weight for form in forms]
        xp = namespace(*scales)
        blocks = [self._matrix(form, scale) for form, scale in zip(forms, scales, strict=True)]
        values = [form.rhs * scale for form, scale in zip(forms, scales, strict=True)]
        rhs = [xp.concat([self._weighed(v) for v in values], axis=1)]
        rhs.append(self._noise(rhs[0].shape[1]) * weight)
        if self.measure.loaded:
            points = self._points.reshape(-1, len(self.counts))
            load = self.device.put(self.measure.load(points)).reshape(len(forms), self.count, -1)
            own = [self._weighed(a * s) for a, s in zip(load, scales, strict=True)]
            rhs.append(xp.concat(own, axis=1))
        return xp.concat(blocks, axis=1), xp.stack(rhs, axis=2)

    def _noise(self, rows: int) -> Array:
        """Return the probe in all rows, (b, m)."""
        kinds, which = self._kinds
        every, per_form = np.zeros((len(kinds), rows), dtype=np.int64), rows
        sizes = np.full(len(kinds), rows)
        if len(kinds) > 1:
            forms = len(self.measure.problem.forms)
            per_form = rows // forms
            for k, functions in enumerate(kinds):
                inside = within(tuple(p + 1 for p in functions), self.counts)
                sizes[k] = forms * len(inside)
                for form in range(forms):
                    own = np.arange(len(inside)) + form * len(inside)
                    every[k, form * per_form + inside] = own
        else:
            every[0] = np.arange(rows)
        middles = np.stack(
            [
                np.array([x[:n].mean() for x, n in zip(axis.places, axis.counts, strict=True)])[
                    axis.which
                ]
                for axis in self.axes
            ],
            axis=1,
        )
        if self._charted:
            middles = np.stack(
                [
                    p.gauss_points(tuple(k + 1 for k in p.functions))[0].mean(axis=0)
                    for p in self.patches
                ]
            )
        first, noise = (
            self.measure.noise_from(middles),
            self.device.put(self.measure.noise_for(rows)),
        )
        index = self.device.put(first)[:, None] + self.device.put(every)[self.device.put(which)]
        return noise[index] / self.device.put(np.sqrt(sizes)[which])[:, None]

    def _spread(self, each: Sequence[FloatArray]) -> FloatArray:
        """Return all combinations of what axes have for each of their maps, (b, m, d)."""
        d = len(each)
        out = np.empty((self.count, *self.counts, d))
        for a, (values, axis) in enumerate(zip(each, self.axes, strict=True)):
            shape = [-1 if b == a else 1 for b in range(d)]
            out[..., a] = values[axis.which].reshape(self.count, *shape)
        return out.reshape(self.count, -1, d)

    @cached_property
    def _positions(self) -> FloatArray:
        """All points in the charts, (b, m, d)."""
        return self._spread([axis.places for axis in self.axes])

    @cached_property
    def _points(self) -> FloatArray:
        """All points in space, (b, m, d)."""
        if not self._charted:
            return self._positions
        return np.stack([p.in_space(x) for p, x in zip(self.patches, self._positions, strict=True)])

    def _forms(self) -> list[FormValues]:
        """Return the equations at all points on the device, (b, m) each."""
        coordinates = self.measure.problem.coordinates
        out = []
        for form in self.measure.problem.forms:
            found = self._there(form) or self._here(form)
            rhs = found.rhs
            stated = form.stated is not None
            # Which of them are rough is told on the device, of what is not about an iterate.
            rough = list(range(self.count)) if stated else self._rough(rhs)
            if rough:
                own = [self.patches[i] for i in rough]
                values = to_host(rhs[self.device.put(np.array(rough))])
                inside = [within(tuple(k + 1 for k in p.functions), self.counts) for p in own]
                told = [v[at] for v, at in zip(values, inside, strict=True)]
                for v, at, better in zip(
                    values, inside, with_means(form, coordinates, own, told), strict=True
                ):
                    v[at] = better
                rhs[self.device.put(np.array(rough))] = self.device.put(values)
            out.append(FormValues(found.terms, found.coefficients, rhs))
        return out

    def _there(self, form: LinearForm) -> FormValues | None:
        """Return a form evaluated on the device; None where that cannot be, or is not finite."""
        expressions = [*(term.coefficient for term in form.terms), form.source]
        if self._charted or not all(map(is_known, expressions)):
            return None
        d = len(self.counts)
        leaves = {}
        for a, (axis, name) in enumerate(
            zip(self.axes, self.measure.problem.coordinates, strict=True)
        ):
            shape = [-1 if b == a else 1 for b in range(d)]
            leaves["coordinate", name] = self._each(a, axis.places).reshape(self.count, *shape)
        xp = namespace(*leaves.values())
        zero = self.device.zeros((self.count, *self.counts))
        values = [(zero + evaluated(e, leaves)).reshape(self.count, -1) for e in expressions]
        if not bool(xp.all(xp.stack([xp.all(xp.isfinite(v)) for v in values]))):
            return None
        return FormValues(form.terms, values[:-1], -values[-1])

    def _here(self, form: LinearForm) -> FormValues:
        """Return a form evaluated by the processor."""
        taylor = taylor_of_all(self.patches, list(self._positions)) if self._charted else None
        points, shape = self._points, self._points.shape[:2]
        found = form_at(form, self.measure.problem.coordinates, points.reshape(-1, points.shape[2]))
        found = found.in_chart(taylor)
        values = [self.device.put(c.reshape(shape)) for c in found.coefficients]
        return FormValues(found.terms, values, self.device.put(found.rhs.reshape(shape).copy()))

    def _rough(self, values: Array) -> list[int]:
        """Return the patches on which a source is not told by its points."""
        if self._uneven:
            return []
        block, xp = values.reshape(self.count, *self.counts), namespace(values)
        for a, axis in enumerate(self.axes):
            moved = xp.moveaxis(block, a + 1, -1)
            own = xp.reshape(moved, (self.count, -1, axis.count)) @ self._each(a, axis.means).mT
            block = xp.moveaxis(xp.reshape(own, moved.shape), -1, a + 1)
        block = xp.abs(block)
        ends = []
        for a, axis in enumerate(self.axes):
            moved = xp.reshape(xp.moveaxis(block, a + 1, -1), (self.count, -1, axis.count))
            high = moved * self._each(a, axis.highest)[:, None, :]
            ends.append(xp.max(xp.reshape(high, (self.count, -1)), axis=1))
        largest = xp.max(xp.reshape(block, (self.count, -1)), axis=1)
        rough = xp.max(xp.stack(ends), axis=0) > ROUGH * largest
        return [int(i) for i in np.flatnonzero(to_host(rough))]

    def _scale(self, form: FormValues) -> Array:
        """Return what the rows of an equation are multiplied by, (b, m)."""
        measure, xp = self.measure, namespace(form.rhs)
        sides, functions = self.boxes.sides[self.numbers], self.boxes.functions[self.numbers]
        votes = self.device.put(lighter(functions, measure.order) * measure.vote(sides.max(axis=1)))
        sizes = xp.abs(xp.stack(list(form.coefficients), axis=2)) if form.terms else None
        if sizes is None:
            return votes[:, None] / TINY * xp.ones_like(form.rhs)
        if self._uneven:
            local = self._spread([axis.units for axis in self.axes])
            own = units(form, local.reshape(-1, local.shape[2]), measure.rough)
            size = xp.sum(sizes * self.device.put(own.T.reshape(sizes.shape)), axis=2)
        else:
            _, felt = felt_units(form, sides, measure.rough, measure.extent)
            size = xp.min(sizes @ self.device.put(felt), axis=2)
        return votes[:, None] / xp.clip(size, min=TINY)

    @cached_property
    def _moments(self) -> Array:
        return self.device.put(all_means(self.counts, plain_tests(self.counts)))

    def _weighed(self, values: Array) -> Array:
        """Return values at points in the rows they belong to, (b, m)."""
        return values @ self._moments.mT if self.joint else values * self._roots

    def _matrix(self, form: FormValues, scale: Array) -> Array:
        """Return a form applied to the functions of all unknowns, (b, m, n)."""
        if self.joint:
            every = form_matrix(form, scale, self._tables, self.measure.unknowns)
            return self._moments @ every
        return form_matrix(form, scale * self._roots, self._tables, self.measure.unknowns)


@cache
def within(own: tuple[int, ...], room: tuple[int, ...]) -> Ints:
    """Return the places of an array's entries where it is filled up to a larger one."""
    every = np.arange(math.prod(room)).reshape(room)
    return np.asarray(every[tuple(slice(n) for n in own)].ravel())
