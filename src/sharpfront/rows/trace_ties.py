"""Ties of patches to the traces on their faces: moments of the Cauchy data."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence

import numpy as np

from sharpfront.arrays import Flags, FloatArray, Ints
from sharpfront.bases.legendre import end_table, gauss, legendre_table
from sharpfront.bases.partial_faces import ShellFace
from sharpfront.bases.patch import Patch, product_matrix
from sharpfront.bases.total_degree import is_joint, products
from sharpfront.leastsquares.leaf_rows import Matrix, Scaled, Tie
from sharpfront.maps import normals_across
from sharpfront.rows.face_scaling import (
    FEWER_MOMENTS,
    FaceMeasure,
    decays_along,
    face_measure,
    moments_along,
)
from sharpfront.rows.faces import Contact, Face, Faces, others
from sharpfront.rows.form_values import normal_derivative, taylor_of
from sharpfront.rows.front_traces import Fronts
from sharpfront.rows.interfaces import Datum, Interfaces, OfFunctions
from sharpfront.rows.row_scaling import Measure
from sharpfront.rows.side_quadrature import (
    MAPPED,
    face_rule,
    graded_rule,
    moment_matrix,
    moments_count,
    moments_of,
    scattered_matrix,
    shares_of,
)

# No more numbers than this are held of ties that other patches may share, 160 MB.
MOST_SHARED = 20_000_000
# So many patterns of ties are held: of one number of functions four, more of parts of sides.
MOST_PATTERNS = 256
# A moment stays near its face if its degrees, times how thick patches are there beside the length
# of the face along each axis, add up to so much; of cubes from the third degree on. On 64 equal and
# 64 graded cuboids with 1.5, 2.5 and 3.5 an iteration to 1e-10 took 133, 113 and 83 steps and 116,
# 94 and 82, with 0.5 to 0.7 and 1.2 to 1.7 times the moments that are left to the tree.
NEAR = 2.5
# Moments on the faces of some patches, by what they are taken of.
KeptMoments = dict[Hashable, FloatArray]


class TraceTies:
    """Assembles the ties of patches to traces; on interfaces something jumps."""

    def __init__(self, measure: Measure, interfaces: Interfaces) -> None:
        self.measure, self.interfaces = measure, interfaces
        self.fronts = Fronts(measure.problem, measure.rough)
        d = measure.problem.domain.dimension
        terms = [t for form in measure.problem.forms for t in form.terms]
        own = {u: [t.orders for t in terms if t.unknown == u] for u in measure.unknowns}
        # The highest order of each unknown, of any derivative and along each axis.
        self.total = {u: max(map(sum, each), default=0) for u, each in own.items()}
        self._across = [
            {u: max((orders[a] for orders in each), default=0) for u, each in own.items()}
            for a in range(d)
        ]
        # The last ties, for others with the same operator; None where there are none.
        self._latest: dict[Hashable, dict[int, list[Tie]]] | None = None
        self._shared: dict[Hashable, Matrix] = {}
        self._held = 0
        # Ties inside one chart but for factors of their rows, the same for patches of all sizes.
        self._patterns: dict[Hashable, FloatArray] = {}
        # The last faces, and ties to them that take next to no memory, of both sides.
        self._light: tuple[Faces | None, dict[tuple[int, int], Tie]] = (None, {})
        # Moments along normals but for factors of their rows, where others want the same faces.
        self.kept: KeptMoments | None = None

    def like(self, other: TraceTies) -> None:
        """Share the matrices of another problem with the same operator."""
        if other._latest is None:
            other._latest = {}
        self._shared, self._latest = other._shared, other._latest

    def data_of(self, patch: Patch, axis: int) -> dict[str, int]:
        """Return how many Cauchy data each unknown has on a face: its order across it."""
        return self._across[axis] if patch.chart is None else self.total

    def trace_sizes(self, faces: Faces) -> Ints:
        """Return the numbers of moments of faces' traces."""
        boxes, d = faces.boxes, faces.boxes.maps.shape[1]
        kinds, kind = np.unique(self.counts_along(faces), axis=0, return_inverse=True)
        moments = [moments_count(tuple(counts), d) for counts in kinds.tolist()]
        data = [sum(self._across[axis].values()) for axis in range(d)]
        charted = boxes.charted[faces.pairs[:, 0]]
        each = np.where(charted, sum(self.total.values()), np.array(data)[faces.axis])
        out = each * np.array(moments, dtype=np.int64)[kind.ravel()]
        for k in np.flatnonzero(~self.plain(faces)).tolist():
            out[k] = self._trace_size(faces[k], boxes.patches)
        return np.asarray(out)

    @staticmethod
    def counts_along(faces: Faces) -> Ints:
        """Return how many moments traces have along each axis of faces inside one chart."""
        functions = faces.boxes.functions
        along = others(functions.shape[1])[faces.axis]
        each = functions[faces.pairs[:, :, None], along[:, None, :]]
        return np.asarray(np.maximum(1, each.max(axis=1) - FEWER_MOMENTS))

    def plain(self, faces: Faces) -> Flags:
        """Tell which faces lie inside one chart with nothing that jumps across them."""
        out = faces.plain.copy()
        if self.measure.problem.is_singular:
            for k in np.flatnonzero(out).tolist():
                face, below = faces[k], faces.boxes.patches[int(faces.pairs[k, 0])]
                out[k] = not (self.fronts.data(face, below) or self._special(face, below))
        return out

    def near_moments(self, faces: Faces) -> Flags:
        """Tell which moments of traces stay near their face, those of one face after another, (n,).

        Nothing is said of faces where something jumps, of charts and of boxes that are cut.
        """
        boxes, d = faces.boxes, faces.boxes.maps.shape[1]
        counts, sizes = self.counts_along(faces), self.trace_sizes(faces)
        known = self.plain(faces) & ~(boxes.charted | boxes.cut)[faces.pairs].any(axis=1)
        sides = boxes.sides[faces.pairs]
        depth = np.take_along_axis(sides.min(axis=1), faces.axis[:, None], axis=1)
        lengths = np.take_along_axis(sides.max(axis=1), others(d)[faces.axis], axis=1)
        out, ends = np.zeros(int(sizes.sum()), dtype=bool), np.cumsum(sizes)
        for k in np.flatnonzero(known).tolist():
            degrees = products(tuple(counts[k].tolist()), is_joint(d))
            near = (depth[k] / lengths[k]) @ degrees >= NEAR
            out[ends[k] - sizes[k] : ends[k]] = np.tile(near, int(sizes[k]) // len(near))
        return out

    def _trace_size(self, face: Face, patches: Sequence[Patch]) -> int:
        """Return the number of moments of a face's traces."""
        patch, axis = patches[face.below.patch], face.below.axis
        special = self.fronts.data(face, patch) or len(self._special(face, patch))
        data = special or sum(self.data_of(patch, axis).values())
        counts = moments_along(face, patches)
        if face.part is not None:
            return data * len(face.part.rule(counts, decays_along(face, patches))[1])
        return data * moments_count(counts, patch.dimension)

    def _special(self, face: Face, below: Patch) -> tuple[Datum, ...]:
        """Return what two boxes of space share where something jumps."""
        if below.chart is not None:
            return ()
        return self.interfaces.data(face.below.axis, below.maps[face.below.axis].high)

    def of_patches(
        self, faces: Faces, patches: Sequence[Patch], which: Collection[int]
    ) -> dict[int, list[Tie]]:
        """Return the ties of some patches; traces are numbered like the faces."""
        key = (tuple(patches), tuple(which)) if self._latest is not None else None
        if self._latest and key in self._latest:
            return self._latest[key]
        out: dict[int, list[Tie]] = {i: [] for i in which}
        known = self._light[1] if self._light[0] is faces else {}
        self._light = (faces, known)
        touched = np.isin(faces.pairs, list(out)).any(axis=1)
        self.measure.note_reaches([patches[i] for i in np.unique(faces.pairs[touched]).tolist()])
        for k in np.flatnonzero(touched).tolist():
            own = [(j, i) for j, i in enumerate(faces.pairs[k].tolist()) if i in out]
            fresh = [j for j, _ in own if (k, j) not in known]
            made = self.of_face(k, faces[k], patches, fresh) if fresh else {}
            for j, i in own:
                out[i].append(made[j] if j in made else known[k, j])
            known |= {(k, j): tie for j, tie in made.items() if isinstance(tie.matrix, Scaled)}
        if self._latest is not None and all(t.offset is None for own in out.values() for t in own):
            self._latest.clear()
            self._latest[key] = out
        return out

    def of_face(
        self, number: int, face: Face, patches: Sequence[Patch], which: Sequence[int] = (0, 1)
    ) -> dict[int, Tie]:
        """Return the ties of the patch below a face, 0, the one above, 1, or both."""
        sizes = face_measure(self.measure, face, patches)
        return {j: self._tie(number, face, patches, face.contacts[j], sizes) for j in which}

    def _tie(
        self, number: int, face: Face, patches: Sequence[Patch], here: Contact, sizes: FaceMeasure
    ) -> Tie:
        """Return the moments of a face's data as rows of one of its patches."""
        patch, a, b = (patches[c.patch] for c in (here, *face.contacts))
        if face.strip is not None or face.part is not None:
            return Tie(number, self._along_normals(patch, face, here, sizes))
        functions = self._of_functions(patch, a, b)
        if self.fronts.data(face, a):
            return Tie(number, *self.fronts.moments(face, (a, b), here, sizes, functions))
        special = self._special(face, a)
        if special:
            moments = self.interfaces.moments
            return Tie(number, *moments(special, face, (a, b), here, sizes, functions))
        # Relative to the patch: equal patches share the matrix wherever they are.
        key = (here.axis, here.end, face.normal, patch.shape, sizes, _place(patch, here))
        if key not in self._shared:
            self._shared[key] = (
                self._along_normals(patch, face, here, sizes)
                if face.normal
                else self._in_one_chart(patch, here, sizes)
            )
            self._held += self._shared[key].size
        matrix = self._shared[key]
        if self._held > MOST_SHARED:
            self._shared, self._held = {}, 0
        if functions is None:
            return Tie(number, matrix)
        shared = self._shared_sides(face, here, patch, sizes, functions)
        return Tie(number, matrix, shared=shared)

    def _of_functions(self, patch: Patch, one: Patch, other: Patch) -> OfFunctions | None:
        """Return what forms make of functions that one of two patches has; None without any."""
        differ = self.measure.held_by_one(one, other)
        if differ is None:
            return None
        return lambda form, points, scale: np.asarray(
            self.measure.of_functions(form, points, scale, patch, differ)
        )

    def _shared_sides(
        self, face: Face, here: Contact, patch: Patch, sizes: FaceMeasure, functions: OfFunctions
    ) -> FloatArray:
        """Return moments of u, u_n, ... of functions that the patch beyond a face has not."""
        if is_joint(patch.dimension):
            positions, mean = graded_rule(patch, here, sizes.counts)
        else:
            positions, mean = face_rule(patch, here, sizes.counts[0])
        normal = face.normal or tuple(float(a == here.axis) for a in range(patch.dimension))
        points, rows = patch.in_space(positions), []
        for unknown, orders in self.data_of(patch, here.axis).items():
            for k in range(orders):
                form = normal_derivative(unknown, normal, k, len(points))
                scale = sizes.vote * sizes.depth**k * sizes.least ** self.measure.rough[unknown]
                rows.append(mean @ functions(form, points, scale))
        return np.concatenate(rows)

    def _in_one_chart(self, patch: Patch, here: Contact, sizes: FaceMeasure) -> Matrix:
        """Return u, u_n, ... of every unknown on a face as moments, in units of u."""
        orders, rough = self.data_of(patch, here.axis), self.measure.rough
        # Without maps derivatives are those in the reference cell, times a factor.
        even = not any(m.strength or m.decays for m in patch.maps)
        depth = 2.0 * sizes.depth / patch.maps[here.axis].length if even else sizes.depth
        scales = tuple(
            sizes.vote * (depth**k * sizes.least ** rough[unknown])
            for unknown in self.measure.unknowns
            for k in range(orders[unknown])
        )
        # Of a patch without maps it is made once for patches of all sizes.
        key = (here.axis, here.end, *orders.values(), patch.functions, sizes.counts)
        known = self._patterns.get((*key, _place(patch, here))) if even else None
        pattern = self._pattern(patch, here, sizes.counts) if known is None else known
        if even and known is None:
            if len(self._patterns) >= MOST_PATTERNS:
                self._patterns.clear()
            self._patterns[*key, _place(patch, here)] = pattern
        return Scaled(scales, pattern) if scales else pattern

    def _pattern(self, patch: Patch, here: Contact, counts: tuple[int, ...]) -> FloatArray:
        """Return moments of each datum, of patches without maps in units of half their sides."""
        moments = [
            moment_matrix(patch, i, lo, hi, q)
            for i, lo, hi, q in zip(here.rest, here.low, here.high, counts, strict=True)
        ]
        orders, unknowns = self.data_of(patch, here.axis), self.measure.unknowns
        most = max(max(orders.values()) - 1, 0)
        even = not any(m.strength or m.decays for m in patch.maps)
        functions = patch.functions[here.axis]
        ends = end_table(functions, most) if even else patch.end_tables(here.axis, most)
        rows = [np.zeros((0, len(unknowns) * patch.size))]
        for j, unknown in enumerate(unknowns):
            for end in ends[: orders[unknown], here.end, None]:
                tables = [*moments[: here.axis], end, *moments[here.axis :]]
                block = product_matrix(tables)[moments_of(counts, patch.dimension)]
                full = np.zeros((len(block), len(unknowns) * patch.size))
                full[:, j * patch.size : (j + 1) * patch.size] = block
                rows.append(full)
        # In the order in which LAPACK takes what is made of it.
        return np.asfortranarray(np.concatenate(rows))

    def _along_normals(
        self, patch: Patch, face: Face, here: Contact, sizes: FaceMeasure
    ) -> FloatArray | Scaled:
        """Return the same with derivatives along normals in space.

        Where two charts meet, boxes meet a side of a strip or a shell, or only a part lies inside.
        """
        on_box = face.part is not None and not isinstance(face.part, ShellFace)
        orders = self.data_of(patch, here.axis) if on_box else self.total
        scales = tuple(
            sizes.vote * (sizes.depth**k * sizes.least ** self.measure.rough[unknown])
            for unknown in self.measure.unknowns
            for k in range(orders[unknown])
        )
        if self.kept is None:
            moments = self._moments_along_normals(patch, face, here, sizes, orders)
            return np.asarray(Scaled(scales, moments)) if scales else moments
        key = (*face.contacts, here, sizes.counts, sizes.decays, *orders.values())
        if key not in self.kept:
            self.kept[key] = self._moments_along_normals(patch, face, here, sizes, orders)
        return Scaled(scales, self.kept[key]) if scales else self.kept[key]

    def _moments_along_normals(
        self,
        patch: Patch,
        face: Face,
        here: Contact,
        sizes: FaceMeasure,
        orders: Mapping[str, int],
    ) -> FloatArray:
        """Return these moments of each datum, in units of space."""
        at, mean, normals = self._on_face(patch, face, here, sizes)
        taylor, unknowns = taylor_of(patch, at), self.measure.unknowns
        rows = [np.zeros((0, len(unknowns) * patch.size))]
        for unknown in unknowns:
            for k in range(orders[unknown]):
                form = normal_derivative(unknown, normals.T, k, len(at)).in_chart(taylor)
                rows.append(mean @ scattered_matrix(form, 1.0, patch, at, unknowns))
        return np.concatenate(rows)

    def _on_face(
        self, patch: Patch, face: Face, here: Contact, sizes: FaceMeasure
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return positions on a face in a patch's chart, what takes means there, and normals."""
        part, strip, below = face.part, face.strip, face.below
        if strip is not None:
            z, w = gauss(2 * sizes.counts[0] + MAPPED)
            on_strip = np.full((len(z), 2), strip.place(below.axis, below.end))
            on_strip[:, below.rest[0]] = 0.5 * (below.low[0] * (1 - z) + below.high[0] * (1 + z))
            at = on_strip if patch.chart is strip else strip.points(on_strip)
            mean = (legendre_table(z, sizes.counts[0])[0] * w[:, None]).T
            return at, mean, strip.normals_at(on_strip, below.axis, below.end)
        if isinstance(part, ShellFace):
            on_shell, mean = part.rule(sizes.counts, sizes.decays)
            shell = part.shell
            at = on_shell if patch.chart is shell else patch.in_chart(shell.points(on_shell))
            return at, mean, normals_across(shell.taylor(on_shell, 1), part.axis, part.end)
        if part is not None:
            return *part.rule(sizes.counts), np.eye(patch.dimension)[here.axis]
        return *face_rule(patch, here, sizes.counts[0]), np.array(face.normal)


def _place(patch: Patch, here: Contact) -> tuple[tuple[float, float], ...]:
    """Return where a face lies on a side of a patch, as shares of the side."""
    along = zip(here.rest, here.low, here.high, strict=True)
    return tuple(shares_of(patch.maps[i], low, high) for i, low, high in along)
