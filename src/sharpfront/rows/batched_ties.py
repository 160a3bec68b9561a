"""Ties of patches to traces on a device: all faces inside one chart at once."""

from __future__ import annotations

import numpy as np

from sharpfront.arrays import Array, FloatArray, Ints
from sharpfront.bases.boxes import Boxes, distinct
from sharpfront.bases.total_degree import is_joint, products
from sharpfront.leastsquares.device import Device
from sharpfront.rows.faces import Faces, others
from sharpfront.rows.form_values import form_at
from sharpfront.rows.row_norm import THIN
from sharpfront.rows.row_scaling import Measure
from sharpfront.rows.side_quadrature import STEPS, moment_matrix, moments_of
from sharpfront.rows.trace_ties import TraceTies


class TieBatch:
    """The ties of patches to faces where nothing jumps, inside one chart.

    Parameters
    ----------
    device
        Where.
    ties
        What makes them one by one.
    faces, numbers
        All faces, and the numbers of those.
    """

    def __init__(self, device: Device, ties: TraceTies, faces: Faces, numbers: Ints) -> None:
        self.device, self.ties, self.numbers, self.boxes = device, ties, numbers, faces.boxes
        self.patches = faces.boxes.patches
        self._both, self._axis = faces.pairs[numbers], faces.axis[numbers]
        self._low, self._high = faces.low[numbers], faces.high[numbers]
        self._counts = ties.counts_along(faces)[numbers]
        self.depth, self.least, self.vote = self._sizes()
        # The patch, the face and the end of the patch's axis of each side of a face.
        self._patch, self._face = self._both.T.ravel(), np.tile(np.arange(len(numbers)), 2)
        self._end = np.repeat([1, 0], len(numbers))

    def _sizes(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the lengths data are measured in, and votes, of each face, as `TraceTies` has."""
        measure, boxes, own = self.ties.measure, self.boxes, self._both
        sides, ends = boxes.sides, np.array([-1.0, 1.0])
        each = [
            2.0 / m.slopes(ends, 1)[0] if m.strength else np.full(2, m.length) for m in boxes.kinds
        ]
        depths = np.stack(each)[boxes.maps]
        # The upper end of the one meets the lower end of the other.
        axis, met = self._axis[:, None], np.array([1, 0])
        depth = depths[own, axis, met].min(axis=1)
        reach = reaches(measure, boxes)[own, axis]
        depth = np.maximum(depth[:, None], reach).min(axis=1)
        least = np.minimum(depth, sides.min(axis=1)[own].min(axis=1))
        return depth, least, measure.vote(sides.max(axis=1)[own].min(axis=1))

    def write(self, rows: Array, place: Ints, starts: Ints, functions: tuple[int, ...]) -> None:
        """Write ties into rows of some patches, all boxes of space or all in charts.

        Parameters
        ----------
        rows
            (b, m, n), zero so far.
        place
            Where each patch is in the batch; -1 where it is not.
        starts
            The row at which the ties to each face start: in the patch below it, in the one above.
        functions
            How many along each axis there is room for in the columns.
        """
        flat = rows.reshape(-1, rows.shape[2])
        sides = np.flatnonzero(place[self._patch] >= 0)
        keys = self._axis[self._face[sides]][:, None]
        if is_joint(len(functions)):
            # Up to a joint degree moments of different numbers are not the first of one set.
            keys = np.concatenate([keys, self._counts[self._face[sides]]], axis=1)
        _, kind = distinct(keys)
        for k in range(int(kind.max(initial=-1)) + 1):
            own = sides[kind == k]
            start = place[self._patch[own]] * rows.shape[1]
            # The one below has the face at its upper end.
            start += starts[self.numbers[self._face[own]], 1 - self._end[own]]
            self._write(flat, own, start, functions)

    def _write(self, flat: Array, sides: Ints, start: Ints, functions: tuple[int, ...]) -> None:
        """Write ties to faces across one axis, those of each side from a row on."""
        put, face, patch = self.device.put, self._face[sides], self._patch[sides]
        axis, d = int(self._axis[face[0]]), len(functions)
        counts = self._counts[face]
        room, chosen = tuple(counts.max(axis=0).tolist()), products(functions, is_joint(d))
        first = self.patches[int(patch[0])]
        orders = self.ties.data_of(first, axis)
        ends = self._ends(sides, axis, max(max(orders.values()) - 1, 0), functions[axis])
        ends = ends[..., put(chosen[axis])]
        moments = put(np.ones((1, 1, 1)))
        for j, a in enumerate(others(d)[axis].tolist()):
            part = self._moments(sides, j, a, room[j], functions[a])[..., put(chosen[a])]
            moments = (moments[:, :, None] * part[:, None]).reshape(len(sides), -1, part.shape[2])
        picked = moments_of(room, d)
        if len(picked) < moments.shape[1]:
            moments = moments[:, put(picked)]
        # How many moments each side has; where some have fewer, which are left.
        real = np.prod(counts, axis=1) if not is_joint(d) else np.full(len(sides), len(picked))
        turn, left = np.arange(moments.shape[1]), None
        index = put(start)[:, None] + put(turn)
        if np.any(real < len(turn)):
            left = put(np.flatnonzero(turn < real[:, None]))
        columns = flat.shape[1] // len(self.ties.measure.unknowns)
        for j, unknown in enumerate(self.ties.measure.unknowns):
            rough = self.ties.measure.rough[unknown]
            for k in range(orders[unknown]):
                scale = self.vote[face] * self.depth[face] ** k * self.least[face] ** rough
                block = (ends[:, k] * put(scale)[:, None])[:, None, :] * moments
                own, rows = block.reshape(-1, columns), index.reshape(-1)
                if left is not None:
                    own, rows = own[left], rows[left]
                flat[rows, j * columns : (j + 1) * columns] = own
                index = index + put(real)[:, None]

    def _moments(self, sides: Ints, j: int, axis: int, count: int, functions: int) -> Array:
        """Return the moments along one axis of sides' faces, each of a kind once made, (T, q, p).

        Of fewer moments or functions than that the others are zero.
        """
        patch, face = self._patch[sides], self._face[sides]
        low, high, counts = self._low[face, j], self._high[face, j], self._counts[face, j]
        starts, lengths = self.boxes.low[patch, axis], self.boxes.sides[patch, axis]
        places = [np.round((x - starts) / lengths * STEPS) / STEPS for x in (low, high)]
        which = np.where(self.boxes.uneven[patch, axis], self.boxes.maps[patch, axis], -1)
        own = self.boxes.functions[patch, axis]
        first, kind = distinct(np.stack([*places, which, own, counts], axis=1))
        tables = np.zeros((len(first), count, functions))
        for table, i in zip(tables, first.tolist(), strict=True):
            owner, q, p = self.patches[int(patch[i])], int(counts[i]), int(own[i])
            table[:q, :p] = moment_matrix(owner, axis, float(low[i]), float(high[i]), q)
        return self.device.put(tables)[self.device.put(kind)]

    def _ends(self, sides: Ints, axis: int, order: int, functions: int) -> Array:
        """Return derivatives of the functions across faces at sides' ends, (T, order + 1, p)."""
        patch = self._patch[sides]
        own = self.boxes.maps[patch, axis], self.boxes.functions[patch, axis], self._end[sides]
        first, kind = distinct(np.stack(own, axis=1))
        tables = np.zeros((len(first), order + 1, functions))
        for table, i in zip(tables, first.tolist(), strict=True):
            found = self.patches[int(patch[i])].end_tables(axis, order)[:, own[2][i]]
            table[:, : found.shape[1]] = found
        return self.device.put(tables)[self.device.put(kind)]


def reaches(measure: Measure, boxes: Boxes) -> FloatArray:
    """Return `Measure.reach` of all patches, (b, d)."""
    sides = boxes.sides
    out = sides.copy()
    longest = sides.max(axis=1) if sides.shape[1] > 1 else measure.extent
    thin = longest >= THIN * sides.min(axis=1)
    plain = ~(boxes.charted | boxes.cut)
    for i in np.flatnonzero(thin & ~plain).tolist():
        out[i] = measure.reach(boxes.patches[i])
    thin = np.flatnonzero(thin & plain)
    if not len(thin):
        return out
    middles = 0.5 * (boxes.low[thin] + boxes.high[thin])
    problem = measure.problem
    forms = [form_at(form, problem.coordinates, middles) for form in problem.forms]
    out[thin] = measure.felt(forms, sides[thin])
    return out
