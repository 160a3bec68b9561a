"""Ties of patches to traces on a device: all faces inside one chart at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import Array, FloatArray
from sharpfront.bases.patch import Patch
from sharpfront.leastsquares.device import Device
from sharpfront.leastsquares.dissection import Ints
from sharpfront.maps import AxisMap
from sharpfront.rows.batched_equations import felt_units
from sharpfront.rows.faces import Face
from sharpfront.rows.measure import Measure
from sharpfront.rows.norm import THIN, stretched
from sharpfront.rows.sides import STEPS, moment_matrix, moments_of
from sharpfront.rows.ties import FEWER_MOMENTS, TraceTies
from sharpfront.rows.values import form_at


@dataclass(frozen=True, eq=False)
class _AlikeSides:
    """Sides of faces whose ties have one shape, T of them."""

    patch: Ints  # of each, (T,)
    end: Ints  # which end of its patch's axis, (T,)
    face: Ints  # its number among those here, (T,)
    axis: int  # across the faces
    along: Sequence[tuple[Array, Ints]]  # for each axis moments (u, q, n) on the device, and whose
    across: tuple[Array, Ints]  # derivatives at both ends (u, k, 2, n) on the device, and whose
    chosen: Ints  # which products of moments are taken


class TieBatch:
    """The ties of patches to faces where nothing jumps, inside one chart.

    Parameters
    ----------
    device
        Where.
    ties
        What makes them one by one.
    patches
        All of them.
    faces, numbers
        Those faces, and their numbers among all.
    """

    def __init__(
        self,
        device: Device,
        ties: TraceTies,
        patches: Sequence[Patch],
        faces: Sequence[Face],
        numbers: Ints,
    ) -> None:
        self.device, self.ties, self.patches, self.numbers = device, ties, patches, numbers
        both = [(f.below.patch, f.above.patch) for f in faces]
        self._both = np.array(both, dtype=np.int64).reshape(-1, 2)
        self._axis = np.array([f.below.axis for f in faces], dtype=np.int64)
        self._low = np.array([f.below.low for f in faces]).reshape(len(faces), -1)
        self._high = np.array([f.below.high for f in faces]).reshape(len(faces), -1)
        known: dict[AxisMap, int] = {}
        self._maps = np.array(
            [[known.setdefault(m, len(known)) for m in p.maps] for p in patches], dtype=np.int64
        )
        self._functions = np.array([p.functions for p in patches], dtype=np.int64)
        self.depth, self.least, self.vote = self._sizes()
        self._classes = list(self._alike())
        # Which classes a patch has a part in.
        self._of: list[list[int]] = [[] for _ in patches]
        for i, alike in enumerate(self._classes):
            for patch in np.unique(alike.patch).tolist():
                self._of[patch].append(i)

    def _sizes(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the lengths data are measured in, and votes, of each face, as `TraceTies` has."""
        patches, measure, own = self.patches, self.ties.measure, self._both
        sides = np.stack([p.sides for p in patches])
        depths = np.repeat(sides[:, :, None], 2, axis=2)
        for i, patch in enumerate(patches):
            for a, m in enumerate(patch.maps):
                if m.strength:
                    depths[i, a] = 2.0 / m.slopes(np.array([-1.0, 1.0]), 1)[0]
        # The upper end of the one meets the lower end of the other.
        axis, ends = self._axis[:, None], np.array([1, 0])
        depth = depths[own, axis, ends].min(axis=1)
        reach = reaches(measure, patches, sides)[own, axis]
        depth = np.maximum(depth[:, None], reach).min(axis=1)
        least = np.minimum(depth, sides.min(axis=1)[own].min(axis=1))
        longest = sides.max(axis=1)[own].min(axis=1)
        return depth, least, np.array([measure.vote(x) for x in longest.tolist()])

    def _alike(self) -> Iterator[_AlikeSides]:
        d = self._functions.shape[1]
        rest = np.array([[a for a in range(d) if a != axis] for axis in range(d)], dtype=np.int64)
        along = rest[self._axis]
        each = self._functions[self._both[:, :, None], along[:, None, :]]
        counts = np.maximum(1, each.max(axis=1) - FEWER_MOMENTS)
        patch, face = self._both.T.ravel(), np.tile(np.arange(len(counts)), 2)
        end = np.repeat([1, 0], len(counts))
        charted = np.array([p.chart is not None for p in self.patches], dtype=np.int64)
        keys = np.concatenate(
            [
                self._axis[face][:, None],
                counts[face],
                self._functions[patch],
                charted[patch][:, None],
            ],
            axis=1,
        )
        kinds, kind = np.unique(keys, axis=0, return_inverse=True)
        order = np.argsort(kind.ravel(), kind="stable")
        members = np.split(order, np.cumsum(np.bincount(kind.ravel()))[:-1])
        for key, at in zip(kinds.tolist(), members, strict=False):
            own = patch[at], end[at], face[at]
            q = tuple(key[1:d])
            tables = [
                self._moments(own, j, int(a), n)
                for j, (a, n) in enumerate(zip(rest[key[0]].tolist(), q, strict=True))
            ]
            across = self._ends(own[0], key[0])
            yield _AlikeSides(*own, key[0], tables, across, moments_of(q, d))

    def _moments(
        self, own: tuple[Ints, Ints, Ints], j: int, axis: int, count: int
    ) -> tuple[Array, Ints]:
        """Return the moments along one axis of faces, each of a kind once."""
        patch, _, face = own
        low, high = self._low[face, j], self._high[face, j]
        starts = np.array([self.patches[i].maps[axis].low for i in patch.tolist()])
        lengths = np.array([self.patches[i].maps[axis].length for i in patch.tolist()])
        uneven = np.array([self.patches[i].maps[axis].strength != 0.0 for i in patch.tolist()])
        places = [np.round((x - starts) / lengths * STEPS) / STEPS for x in (low, high)]
        which = np.where(uneven, self._maps[patch, axis], -1)
        _, first, kind = np.unique(
            np.stack([*places, which], axis=1), axis=0, return_index=True, return_inverse=True
        )
        chosen = self.patches[int(patch[0])].products[axis]
        tables = [
            moment_matrix(self.patches[int(patch[i])], axis, float(low[i]), float(high[i]), count)
            for i in first.tolist()
        ]
        return self.device.put(np.stack(tables)[:, :, chosen]), kind.ravel()

    def _ends(self, patch: Ints, axis: int) -> tuple[Array, Ints]:
        """Return derivatives of the functions across faces at both ends, each map once."""
        orders = self.ties.data_of(self.patches[int(patch[0])], axis)
        most = max(max(orders.values()) - 1, 0)
        _, first, kind = np.unique(self._maps[patch, axis], return_index=True, return_inverse=True)
        owners = [self.patches[i] for i in patch[first].tolist()]
        chosen = owners[0].products[axis]
        tables = np.stack([p.end_tables(axis, most)[:, :, chosen] for p in owners])
        return self.device.put(tables), kind.ravel()

    def write(self, rows: Array, place: Ints, starts: Ints) -> None:
        """Write ties into rows of some patches.

        Parameters
        ----------
        rows
            (b, m, n), zero so far.
        place
            Where each patch is in the batch; -1 where it is not.
        starts
            The row at which the ties to each face start: in the patch below it, in the one above.
        """
        flat = rows.reshape(-1, rows.shape[2])
        for i in sorted(
            {i for patch in np.flatnonzero(place >= 0).tolist() for i in self._of[patch]}
        ):
            alike = self._classes[i]
            here = np.flatnonzero(place[alike.patch] >= 0)
            start = place[alike.patch[here]] * rows.shape[1]
            # The one below has the face at its upper end.
            start += starts[self.numbers[alike.face[here]], 1 - alike.end[here]]
            self._write(flat, alike, here, start)

    def _write(self, flat: Array, alike: _AlikeSides, here: Ints, start: Ints) -> None:
        put, face = self.device.put, alike.face[here]
        table, kind = alike.across
        ends = table[put(kind[here]), :, put(alike.end[here])]
        many, columns, d = len(here), table.shape[3], len(alike.along) + 1
        moments = None
        for j, (own, which) in enumerate(alike.along):
            shape = [own.shape[1] if i == j else 1 for i in range(d - 1)]
            part = own[put(which[here])].reshape(many, *shape, columns)
            moments = part if moments is None else moments * part
        assert moments is not None
        moments = moments.reshape(many, -1, columns)
        if len(alike.chosen) < moments.shape[1]:
            moments = moments[:, put(alike.chosen)]
        orders = self.ties.data_of(self.patches[int(alike.patch[0])], alike.axis)
        rough, count = self.ties.measure.rough, moments.shape[1]
        index = put(start)[:, None] + put(np.arange(count))
        for j, unknown in enumerate(self.ties.measure.unknowns):
            for k in range(orders[unknown]):
                scale = self.vote[face] * self.depth[face] ** k * self.least[face] ** rough[unknown]
                block = (ends[:, k] * put(scale)[:, None])[:, None, :] * moments
                flat[index, j * columns : (j + 1) * columns] = block
                index = index + count


def reaches(measure: Measure, patches: Sequence[Patch], sides: FloatArray) -> FloatArray:
    """Return `Measure.reach` of all patches, (b, d)."""
    out = sides.copy()
    longest = sides.max(axis=1) if sides.shape[1] > 1 else measure.extent
    thin = np.flatnonzero(longest >= THIN * sides.min(axis=1))
    boxes = np.array([patches[i].chart is None and patches[i].cut is None for i in thin.tolist()])
    for i in thin[~boxes].tolist() if len(thin) else []:
        out[i] = measure.reach(patches[i])
    thin = thin[boxes] if len(thin) else thin
    if not len(thin):
        return out
    own = [patches[i] for i in thin.tolist()]
    middles = np.stack([0.5 * (p.low + p.high) for p in own])
    wider, _ = stretched(sides[thin], measure.extent)
    found = []
    for form in measure.problem.forms:
        at = form_at(form, measure.problem.coordinates, middles)
        sizes = np.abs(np.stack(at.coefficients, axis=1))[:, None] @ felt_units(at, own, measure)
        lowest = np.minimum.accumulate(sizes[:, 0], axis=1)
        # The last that made it smaller.
        lower = sizes[:, 0, 1:] < lowest[:, :-1]
        last = (lower * np.arange(1, wider.shape[1])).max(axis=1, initial=0)
        found.append(wider[np.arange(len(thin)), last])
    out[thin] = np.max(found, axis=0)
    return out
