"""The rows of patches: the equation at Gauss points, ties to traces, conditions on the boundary.

Each row group has two right-hand sides: the problem's own, and a probe, white noise of size one in
units of u. What the probe's solution grows to says
how well the problem determines its solution.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence

import numpy as np

from sharpfront.arrays import Host
from sharpfront.bases.legendre import gauss
from sharpfront.bases.patch import Patch, product_matrix
from sharpfront.equation.expression import Constant
from sharpfront.equation.linearise import LinearForm
from sharpfront.leastsquares.tree import LeafRows, Tie
from sharpfront.problem import PointCondition, Problem
from sharpfront.rows.faces import Contact, Face, Side
from sharpfront.rows.integrals import Integrals, Link
from sharpfront.rows.interfaces import FaceSizes, Interfaces
from sharpfront.rows.norm import THIN, felt_size, roughness, size_of_terms
from sharpfront.rows.sides import (
    face_depth,
    face_rule,
    form_matrix,
    local_sides,
    moment_matrix,
    nearest_patch,
    side_normals,
    side_rule,
)
from sharpfront.rows.values import (
    FormValues,
    form_at,
    normal_derivative,
    taylor_of,
    taylor_of_all,
)

# Equation rows weigh this power of the number of functions less than ties and conditions, for
# order two: almost C1 beats a small residual. Any weight from p^-1 on gives the same digits.
LIGHTER = 1.5
# Traces have so many moments fewer along an axis than the richer neighbour has functions; with one
# more the count of rows and unknowns is even, with three fewer rough solutions go unnoticed.
FEWER_MOMENTS = 2
# Numbers that the probe repeats; a prime, so that no pattern of rows meets the same ones.
NOISE = 9973
_TINY = 1e-300
# The equation's rows are kept of so many times the patches at hand: those of a solution are wanted
# again in another norm, hardly later.
KEPT = 4

Rows = tuple[Host, Host]


class PatchRows:
    """Assembles the rows of patches for a linear problem.

    Parameters
    ----------
    problem
        What is to hold.
    seed
        Of the probe.
    """

    def __init__(self, problem: Problem, seed: int = 0) -> None:
        self.problem = problem
        self.unknowns = problem.unknowns
        self.rough = roughness(problem.forms, problem.unknowns)
        self.order = max(form.order for form in problem.forms)
        d = problem.domain.dimension
        self.along = {u: self._orders(u, d) for u in problem.unknowns}
        self.total = {u: self._total(u) for u in problem.unknowns}
        self.constant = all(
            isinstance(t.coefficient, Constant) for f in problem.forms for t in f.terms
        )
        # Equal votes of the rings about a corner: h^(d/2 - m) for order 2m.
        self.vote = 0.5 * d - 0.5 * self.order
        random = np.random.default_rng(seed)
        self._noise = random.standard_normal(NOISE)
        self._shared: dict[tuple[object, ...], Host] = {}
        self._reaches: dict[Patch, Host] = {}
        self._kept: dict[Patch, Rows] = {}
        self.extent = float(np.ptp(problem.domain.bounds, axis=0).max())
        self.interfaces = Interfaces(problem, self.rough)
        self.integrals = Integrals(problem, self.rough, self.vote)

    @property
    def is_simple(self) -> bool:
        """Whether there is one unknown, of order two at most."""
        return len(self.unknowns) == 1 and self.order <= 2

    def _orders(self, unknown: str, dimension: int) -> tuple[int, ...]:
        """Return the highest derivative of an unknown along each axis."""
        own = [t.orders for f in self.problem.forms for t in f.terms if t.unknown == unknown]
        return tuple(max((o[a] for o in own), default=0) for a in range(dimension))

    def _total(self, unknown: str) -> int:
        """Return the highest order of any derivative of an unknown."""
        own = [t.order for f in self.problem.forms for t in f.terms if t.unknown == unknown]
        return max(own, default=0)

    def _data(self, patch: Patch, axis: int) -> dict[str, int]:
        """Return how many Cauchy data each unknown has on a face: its order across it."""
        if patch.chart is not None:
            return self.total
        return {u: self.along[u][axis] for u in self.unknowns}

    def trace_size(self, face: Face, patches: Sequence[Patch]) -> int:
        """Return the number of moments of a face's traces."""
        patch, axis = patches[face.below.patch], face.below.axis
        special = self.interfaces.data(face, float(patch.high[axis]))
        data = len(special) or sum(self._data(patch, axis).values())
        return data * math.prod(self._moments(face, patches))

    def _moments(self, face: Face, patches: Sequence[Patch]) -> tuple[int, ...]:
        a, b = ([patches[c.patch].functions[i] for i in c.rest] for c in face.contacts)
        return tuple(max(1, max(p, q) - FEWER_MOMENTS) for p, q in zip(a, b, strict=True))

    def leaves(
        self,
        patches: Sequence[Patch],
        faces: Sequence[Face],
        sides: Mapping[Side, str],
        heavier: float,
        which: Sequence[int],
        links: Sequence[Link] = (),
    ) -> list[LeafRows]:
        """Return the rows of some patches; traces are numbered like the faces.

        Parameters
        ----------
        patches, faces, sides
            All of them, with the part of the boundary of each side.
        heavier
            Factor on the equation's rows.
        which
            The patches whose rows are wanted.
        links
            The place of each patch in the chain of integral conditions, if there are any.
        """
        ties: dict[int, list[Tie]] = {i: [] for i in which}
        for k, face in enumerate(faces):
            for contact in face.contacts:
                if contact.patch in ties:
                    ties[contact.patch].append(self._tie(k, face, patches, contact))
        further = self._conditions(patches, sides, ties)
        for i, rows in self._points(patches, ties).items():
            further[i] += rows
        out = []
        own = self._equations([patches[i] for i in which], heavier)
        if len(self._kept) > KEPT * len(patches):
            self._kept = {p: self._kept[p] for p in patches if p in self._kept}
        for i, (matrix, rhs) in zip(which, own, strict=True):
            if further[i]:
                matrix = np.concatenate([matrix, *(m for m, _ in further[i])])
                rhs = np.concatenate([rhs, *(r for _, r in further[i])])
            leaf = LeafRows(matrix, rhs, tuple(ties[i]))
            out.append(self.integrals.attached(leaf, patches[i], links[i]) if links else leaf)
        return out

    def _equations(self, patches: Sequence[Patch], heavier: float) -> list[Rows]:
        fresh = [patch for patch in patches if patch not in self._kept]
        self._kept |= zip(fresh, self._assembled(fresh), strict=True)
        return [self._weighed(patch, heavier) for patch in patches]

    def _weighed(self, patch: Patch, heavier: float) -> Rows:
        """Return the rows of the equation on a patch, by a factor heavier; equal ones as one."""
        matrix, rhs = self._kept[patch]
        if heavier == 1.0:
            return matrix, rhs
        if not self.constant:
            return heavier * matrix, heavier * rhs
        key = (*_shape(patch), heavier)
        if key not in self._shared:
            self._shared[key] = heavier * matrix
        return self._shared[key], heavier * rhs

    def _assembled(self, patches: Sequence[Patch]) -> list[Rows]:
        """Return the rows of the equation on patches."""
        if not patches:
            return []
        counts = [tuple(p + 1 for p in patch.functions) for patch in patches]
        rules = [patch.gauss_points(n) for patch, n in zip(patches, counts, strict=True)]
        points = np.concatenate([x for x, _ in rules])
        ends = np.cumsum([len(x) for x, _ in rules])[:-1]
        names = self.problem.coordinates
        nodes = [[gauss(k)[0] for k in n] for n in counts]
        at = [p.positions(z) if p.chart else z[0] for p, z in zip(patches, nodes, strict=True)]
        taylor = taylor_of_all(patches, at)
        values = [
            form_at(form, names, points).in_chart(taylor).split(ends) for form in self.problem.forms
        ]
        return [
            self._equation(patch, counts[i], rules[i][1], [v[i] for v in values])
            for i, patch in enumerate(patches)
        ]

    def _equation(
        self,
        patch: Patch,
        counts: tuple[int, ...],
        weights: Host,
        forms: Sequence[FormValues],
    ) -> Rows:
        local = local_sides(patch, [gauss(n)[0] for n in counts])
        factor = lightest([patch], self.order) * float(patch.sides.max()) ** self.vote
        scales = [
            factor * np.sqrt(weights) / np.maximum(self._felt(f, patch, local), _TINY)
            for f in forms
        ]
        rhs = self._probed([f.rhs * k for f, k in zip(forms, scales, strict=True)])
        key = _shape(patch)
        if self.constant and key in self._shared:
            return self._shared[key], rhs
        tables = patch.gauss_tables(counts, self.order)
        blocks = [
            form_matrix(f, k, tables, self.unknowns) for f, k in zip(forms, scales, strict=True)
        ]
        matrix = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
        if self.constant:
            self._shared[key] = matrix
        return matrix, rhs

    def _probed(self, rhs: Sequence[Host]) -> Host:
        """Return right-hand sides of rows with the probe's beside them, (m, 2)."""
        own = np.concatenate(rhs)
        # The same noise again and again: only that it has a share in everything matters.
        return np.stack([own, np.resize(self._noise, len(own)) / math.sqrt(len(own))], axis=1)

    def _felt(self, form: FormValues, patch: Patch, local: Host) -> Host:
        """Return what the rows of an equation are divided by on a patch."""
        if local.ndim > 1:
            return size_of_terms(form, local, self.rough)
        return felt_size(form, patch.sides, self.rough, self.extent)[0]

    def _reach(self, patch: Patch) -> Host:
        """Return the sides of a patch as far as its effect is felt."""
        longest = self.extent if patch.dimension == 1 else patch.sides.max()
        if longest < THIN * patch.sides.min():
            return patch.sides
        if patch not in self._reaches:
            middle = 0.5 * (patch.low + patch.high)[None]
            forms = [self._at(form, patch, middle) for form in self.problem.forms]
            found = [felt_size(form, patch.sides, self.rough, self.extent)[1] for form in forms]
            self._reaches[patch] = np.max(found, axis=0)
        return self._reaches[patch]

    def _at(
        self, form: LinearForm, patch: Patch, positions: Host, normals: Host | None = None
    ) -> FormValues:
        """Return a form at positions in a patch's chart, in derivatives along the chart."""
        points = patch.in_space(positions)
        found = form_at(form, self.problem.coordinates, points, normals)
        return found.in_chart(taylor_of(patch, positions))

    def _conditions(
        self, patches: Sequence[Patch], sides: Mapping[Side, str], which: Collection[int]
    ) -> dict[int, list[Rows]]:
        out: dict[int, list[Rows]] = {i: [] for i in which}
        stated = {c.part: c for c in self.problem.conditions}
        for side, part in sides.items():
            if part in stated and side.patch in out:
                for form in stated[part].forms:
                    out[side.patch].append(self._condition(patches[side.patch], side, form))
        return out

    def _condition(self, patch: Patch, side: Side, form: LinearForm) -> Rows:
        """Return the rows of a condition on a side of a patch, at Gauss points of the side."""
        z, weights = side_rule(patch, side)
        positions = patch.positions(z)
        found = self._at(form, patch, positions, side_normals(patch, side, positions))
        size = np.maximum(size_of_terms(found, local_sides(patch, z), self.rough), _TINY)
        scale = float(patch.sides.max()) ** self.vote * np.sqrt(weights) / size
        axes = [m.points(s) for m, s in zip(patch.maps, z, strict=True)]
        tables = [patch.axis_table(a, axes[a], form.order) for a in range(patch.dimension)]
        matrix = form_matrix(found, scale, tables, self.unknowns)
        return matrix, self._probed([found.rhs * scale])

    def point_owners(self, patches: Sequence[Patch]) -> dict[int, list[PointCondition]]:
        """Return the conditions at points, each with one patch that has the point."""
        out: dict[int, list[PointCondition]] = {}
        for condition in self.problem.further:
            if isinstance(condition, PointCondition):
                owner = nearest_patch(patches, np.array(condition.point))
                out.setdefault(owner, []).append(condition)
        return out

    def _points(self, patches: Sequence[Patch], which: Collection[int]) -> dict[int, list[Rows]]:
        """Return the rows of conditions at points, each in one patch that has the point."""
        out: dict[int, list[Rows]] = {}
        owned = self.point_owners(patches)
        for owner, condition in ((i, c) for i in owned if i in which for c in owned[i]):
            patch = patches[owner]
            at = patch.in_chart(np.array([condition.point]))
            for form in condition.forms:
                found = self._at(form, patch, at)
                size = np.maximum(size_of_terms(found, patch.sides, self.rough), _TINY)
                scale = float(patch.sides.max()) ** self.vote / size
                tables = [patch.axis_table(a, at[:, a], form.order) for a in range(patch.dimension)]
                rows = form_matrix(found, scale, tables, self.unknowns)
                out.setdefault(owner, []).append((rows, self._probed([found.rhs * scale])))
        return out

    def _tie(self, number: int, face: Face, patches: Sequence[Patch], here: Contact) -> Tie:
        """Return the moments of a face's data as rows of one of its patches."""
        patch = patches[here.patch]
        both = [(patches[c.patch], c) for c in face.contacts]
        depth = min(face_depth(p, c, face.normal) for p, c in both)
        depth = min(max(depth, float(self._reach(p)[c.axis])) for p, c in both)
        vote = min(float(p.sides.max()) for p, _ in both) ** self.vote
        counts = self._moments(face, patches)
        a, b = (p for p, _ in both)
        special = self.interfaces.data(face, float(a.high[face.below.axis]))
        if special:
            lengths = np.minimum(a.sides, b.sides)
            lengths[here.axis] = depth
            sizes = FaceSizes(lengths, vote)
            rows, rhs = self.interfaces.moments(special, face, (a, b), here.end, counts, sizes)
            return Tie(number, rows, rhs)
        least = min(depth, *(float(p.sides.min()) for p, _ in both))
        # Relative to the patch, so that equal patches share the matrix wherever they are.
        start = patch.low[here.rest]
        place = tuple(here.low - start), tuple(here.high - start)
        key = (here.axis, here.end, face.normal, *_shape(patch), counts, depth, least, vote, place)
        if key not in self._shared:
            across = self._across_charts if face.normal else self._in_one_chart
            self._shared[key] = vote * across(patch, here, face.normal, counts, depth, least)
        return Tie(number, self._shared[key])

    def _in_one_chart(
        self,
        patch: Patch,
        here: Contact,
        _: object,
        counts: Sequence[int],
        depth: float,
        least: float,
    ) -> Host:
        """Return u, u_n, ... of every unknown on a face as moments, in units of u."""
        moments = [
            moment_matrix(patch, i, lo, hi, q)
            for i, lo, hi, q in zip(here.rest, here.low, here.high, counts, strict=True)
        ]
        orders = self._data(patch, here.axis)
        ends = patch.end_tables(here.axis, max(max(orders.values()) - 1, 0))[:, here.end]
        rows = [np.zeros((0, len(self.unknowns) * patch.size))]
        for j, unknown in enumerate(self.unknowns):
            for k in range(orders[unknown]):
                scale = depth**k * least ** self.rough[unknown]
                tables = [*moments[: here.axis], scale * ends[k][None], *moments[here.axis :]]
                block = product_matrix(tables)
                full = np.zeros((len(block), len(self.unknowns) * patch.size))
                full[:, j * patch.size : (j + 1) * patch.size] = block
                rows.append(full)
        return np.concatenate(rows)

    def _across_charts(
        self,
        patch: Patch,
        here: Contact,
        normal: tuple[float, float] | None,
        counts: Sequence[int],
        depth: float,
        least: float,
    ) -> Host:
        """Return the same where two charts meet, with derivatives along the normal in space."""
        assert normal is not None
        positions, mean = face_rule(patch, here, counts[0])
        taylor = taylor_of(patch, positions)
        most = max(max(self.total.values()) - 1, 0)
        tables = [patch.axis_table(here.rest[0], positions[:, here.rest[0]], most)]
        tables.insert(here.axis, patch.end_tables(here.axis, most)[:, here.end][:, None])
        rows = [np.zeros((0, len(self.unknowns) * patch.size))]
        for unknown in self.unknowns:
            for k in range(self.total[unknown]):
                form = normal_derivative(unknown, normal, k, len(positions)).in_chart(taylor)
                scale = depth**k * least ** self.rough[unknown]
                rows.append(mean @ form_matrix(form, scale, tables, self.unknowns))
        return np.concatenate(rows)


def lightest(patches: Sequence[Patch], order: int) -> float:
    """Return the smallest weight of equation rows on patches."""
    most = max(math.prod(p.functions) ** (1.0 / p.dimension) for p in patches)
    return float(most ** (-LIGHTER * order / 2))


def _shape(patch: Patch) -> tuple[Hashable, ...]:
    """Return what patches with the same rows for constant coefficients have in common."""
    where = None if patch.chart is None else (patch.chart, patch.low.tobytes())
    return patch.functions, patch.sides.tobytes(), tuple(m.strength for m in patch.maps), where
