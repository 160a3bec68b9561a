"""The rows of patches: the equation at Gauss points, ties to traces, conditions on the boundary.

Each row group has two right-hand sides: the problem's own, and a probe, white noise of size one in
units of u. What the probe's solution grows to says
how well the problem determines its solution.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import Host
from sharpfront.bases.legendre import gauss
from sharpfront.bases.patch import Patch, product_matrix, product_points
from sharpfront.equation.expression import Constant
from sharpfront.equation.linearise import LinearForm
from sharpfront.equation.values import environment, form_values
from sharpfront.leastsquares.tree import LeafRows, Tie
from sharpfront.problem import PointCondition, Problem
from sharpfront.rows.faces import Face, Side
from sharpfront.rows.integrals import Integrals, Link
from sharpfront.rows.interfaces import FaceSizes, Interfaces
from sharpfront.rows.norm import THIN, felt_size, roughness, size_of_terms
from sharpfront.rows.sides import end_size, form_matrix, local_sides, moment_matrix, side_rule

# Equation rows weigh this power of the number of functions less than ties and conditions, for
# order two: almost C1 beats a small residual. Any weight from p^-1 on gives the same digits.
LIGHTER = 1.5
# Traces have so many moments fewer along an axis than the richer neighbour has functions; with one
# more the count of rows and unknowns is even, with three fewer rough solutions go unnoticed.
FEWER_MOMENTS = 2
# Numbers that the probe repeats; a prime, so that no pattern of rows meets the same ones.
NOISE = 9973
_TINY = 1e-300

Rows = tuple[Host, Host]


@dataclass(frozen=True, eq=False)
class _Values:
    """A form at the points of one patch: coefficients and right-hand side."""

    coefficients: Sequence[Host]
    rhs: Host


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
        self.constant = all(
            isinstance(t.coefficient, Constant) for f in problem.forms for t in f.terms
        )
        # Equal votes of the rings about a corner: h^(d/2 - m) for order 2m.
        self.vote = 0.5 * d - 0.5 * self.order
        random = np.random.default_rng(seed)
        self._noise = random.standard_normal(NOISE)
        self._shared: dict[tuple[object, ...], Host] = {}
        self._reaches: dict[Patch, Host] = {}
        self.extent = float(np.ptp(problem.domain.bounds, axis=0).max())
        self.interfaces = Interfaces(problem, self.rough)
        self.integrals = Integrals(problem, self.rough, self.vote)

    def _orders(self, unknown: str, dimension: int) -> tuple[int, ...]:
        """Return the highest derivative of an unknown along each axis."""
        own = [t.orders for f in self.problem.forms for t in f.terms if t.unknown == unknown]
        return tuple(max((o[a] for o in own), default=0) for a in range(dimension))

    def trace_size(self, face: Face, patches: Sequence[Patch]) -> int:
        """Return the number of moments of a face's traces."""
        special = self.interfaces.data(face, float(patches[face.below].high[face.axis]))
        data = len(special) or sum(self.along[u][face.axis] for u in self.unknowns)
        return data * math.prod(self._moments(face, patches))

    def _moments(self, face: Face, patches: Sequence[Patch]) -> tuple[int, ...]:
        a, b = patches[face.below], patches[face.above]
        rest = [i for i in range(a.dimension) if i != face.axis]
        return tuple(max(1, max(a.functions[i], b.functions[i]) - FEWER_MOMENTS) for i in rest)

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
            for patch, end in ((face.below, 1), (face.above, 0)):
                if patch in ties:
                    ties[patch].append(self._tie(k, face, patches, end))
        further = self._conditions(patches, sides, ties)
        for i, rows in self._points(patches, ties).items():
            further[i] += rows
        out = []
        own = self._equations([patches[i] for i in which], heavier)
        for i, (matrix, rhs) in zip(which, own, strict=True):
            if further[i]:
                matrix = np.concatenate([matrix, *(m for m, _ in further[i])])
                rhs = np.concatenate([rhs, *(r for _, r in further[i])])
            leaf = LeafRows(matrix, rhs, tuple(ties[i]))
            out.append(self.integrals.attached(leaf, patches[i], links[i]) if links else leaf)
        return out

    def _equations(self, patches: Sequence[Patch], heavier: float) -> list[Rows]:
        if not patches:
            return []
        counts = [tuple(p + 1 for p in patch.functions) for patch in patches]
        rules = [patch.gauss_points(n) for patch, n in zip(patches, counts, strict=True)]
        points = np.concatenate([x for x, _ in rules])
        ends = np.cumsum([len(x) for x, _ in rules])[:-1]
        values = [self._values(form, points, None, ends) for form in self.problem.forms]
        return [
            self._equation(patch, counts[i], rules[i][1], [v[i] for v in values], heavier)
            for i, patch in enumerate(patches)
        ]

    def _values(
        self, form: LinearForm, points: Host, normals: Host | None, ends: Host
    ) -> list[_Values]:
        """Return a form at points, cut before the indices `ends`."""
        leaves = environment(self.problem.coordinates, points, normals)
        what = "equation" if normals is None else "condition"
        coefficients, source = form_values(form, leaves, len(points), what)
        rhs = np.split(-source, ends)
        parts = [np.split(c, ends) for c in coefficients]
        return [_Values([p[i] for p in parts], r) for i, r in enumerate(rhs)]

    def _equation(
        self,
        patch: Patch,
        counts: tuple[int, ...],
        weights: Host,
        values: Sequence[_Values],
        heavier: float,
    ) -> Rows:
        local = local_sides(patch, [gauss(n)[0] for n in counts])
        factor = heavier * lightest([patch], self.order)
        factor *= float(patch.sides.max()) ** self.vote
        scales = [
            factor * np.sqrt(weights) / np.maximum(self._felt(f, v, patch, local), _TINY)
            for f, v in zip(self.problem.forms, values, strict=True)
        ]
        rhs = self._probed([v.rhs * k for v, k in zip(values, scales, strict=True)])
        key = (patch.functions, patch.sides.tobytes(), _strengths(patch), heavier)
        if self.constant and key in self._shared:
            return self._shared[key], rhs
        tables = patch.gauss_tables(counts, self.order)
        blocks = [
            form_matrix(f, [k * c for c in v.coefficients], tables, self.unknowns)
            for f, v, k in zip(self.problem.forms, values, scales, strict=True)
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

    def _felt(self, form: LinearForm, values: _Values, patch: Patch, local: Host) -> Host:
        """Return what the rows of an equation are divided by on a patch."""
        if local.ndim > 1:
            return self._size(form, values, local)
        return felt_size(form, values.coefficients, patch.sides, self.rough, self.extent)[0]

    def _reach(self, patch: Patch) -> Host:
        """Return the sides of a patch as far as its effect is felt."""
        longest = self.extent if patch.dimension == 1 else patch.sides.max()
        if longest < THIN * patch.sides.min():
            return patch.sides
        if patch not in self._reaches:
            middle = 0.5 * (patch.low + patch.high)[None]
            found = []
            for form in self.problem.forms:
                (values,) = self._values(form, middle, None, np.zeros(0, dtype=np.int64))
                own = values.coefficients
                found.append(felt_size(form, own, patch.sides, self.rough, self.extent)[1])
            self._reaches[patch] = np.max(found, axis=0)
        return self._reaches[patch]

    def _size(self, form: LinearForm, values: _Values, sides: Host) -> Host:
        return size_of_terms(form, values.coefficients, sides, self.rough)

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
        axes = [m.points(s) for m, s in zip(patch.maps, z, strict=True)]
        points = product_points(axes)
        normals = np.zeros_like(points)
        normals[:, side.axis] = 1.0 if side.end else -1.0
        (values,) = self._values(form, points, normals, np.zeros(0, dtype=np.int64))
        size = np.maximum(self._size(form, values, local_sides(patch, z)), _TINY)
        scale = float(patch.sides.max()) ** self.vote * np.sqrt(weights) / size
        tables = [patch.axis_table(a, axes[a], form.order) for a in range(patch.dimension)]
        matrix = form_matrix(form, [scale * c for c in values.coefficients], tables, self.unknowns)
        return matrix, self._probed([values.rhs * scale])

    def point_owners(self, patches: Sequence[Patch]) -> dict[int, list[PointCondition]]:
        """Return the conditions at points, each with one patch that has the point."""
        out: dict[int, list[PointCondition]] = {}
        for condition in self.problem.further:
            if isinstance(condition, PointCondition):
                point = np.array(condition.point)
                inside = (np.all((p.low <= point) & (point <= p.high)) for p in patches)
                owner = next(i for i, found in enumerate(inside) if found)
                out.setdefault(owner, []).append(condition)
        return out

    def _points(self, patches: Sequence[Patch], which: Collection[int]) -> dict[int, list[Rows]]:
        """Return the rows of conditions at points, each in one patch that has the point."""
        out: dict[int, list[Rows]] = {}
        owned = self.point_owners(patches)
        for owner, condition in ((i, c) for i in owned if i in which for c in owned[i]):
            point = np.array(condition.point)
            patch = patches[owner]
            for form in condition.forms:
                (values,) = self._values(form, point[None], None, np.zeros(0, dtype=np.int64))
                size = np.maximum(self._size(form, values, patch.sides), _TINY)
                scale = float(patch.sides.max()) ** self.vote / size
                tables = [
                    patch.axis_table(a, point[a : a + 1], form.order)
                    for a in range(patch.dimension)
                ]
                rows = form_matrix(
                    form, [scale * c for c in values.coefficients], tables, self.unknowns
                )
                rhs = self._probed([values.rhs * scale])
                out.setdefault(owner, []).append((rows, rhs))
        return out

    def _tie(self, number: int, face: Face, patches: Sequence[Patch], end: int) -> Tie:
        """Return the moments of a face's data as rows of the patch below (1) or above it (0)."""
        a, b = patches[face.below], patches[face.above]
        normal = min(end_size(a, face.axis, 1), end_size(b, face.axis, 0))
        normal = min(
            max(normal, float(self._reach(a)[face.axis])),
            max(normal, float(self._reach(b)[face.axis])),
        )
        vote = min(float(a.sides.max()), float(b.sides.max())) ** self.vote
        counts = self._moments(face, patches)
        special = self.interfaces.data(face, float(a.high[face.axis]))
        if special:
            lengths = np.minimum(a.sides, b.sides)
            lengths[face.axis] = normal
            sizes = FaceSizes(lengths, vote)
            rows, rhs = self.interfaces.moments(special, face, (a, b), end, counts, sizes)
            return Tie(number, rows, rhs)
        patch = a if end else b
        least = min(float(a.sides.min()), float(b.sides.min()), normal)
        rest = [i for i in range(patch.dimension) if i != face.axis]
        # Relative to the patch, so that equal patches share the matrix wherever they are.
        start = patch.low[rest]
        place = tuple(face.low - start), tuple(face.high - start)
        sides = tuple(patch.sides.tolist())
        shape = (patch.functions, sides, _strengths(patch))
        key = (face.axis, end, shape, counts, normal, least, vote, place)
        if key not in self._shared:
            moments = [
                moment_matrix(patch, i, lo, hi, q)
                for i, lo, hi, q in zip(rest, face.low, face.high, counts, strict=True)
            ]
            self._shared[key] = (
                self._cauchy_data(patch, face.axis, end, moments, normal, least) * vote
            )
        return Tie(number, self._shared[key])

    def _cauchy_data(
        self,
        patch: Patch,
        axis: int,
        end: int,
        moments: Sequence[Host],
        normal: float,
        least: float,
    ) -> Host:
        """Return u, u_n, ... of every unknown on a face as moments, in units of u."""
        orders = {u: self.along[u][axis] for u in self.unknowns}
        ends = patch.end_tables(axis, max(max(orders.values()) - 1, 0))[:, end]
        rows = [np.zeros((0, len(self.unknowns) * patch.size))]
        for j, unknown in enumerate(self.unknowns):
            for k in range(orders[unknown]):
                scale = normal**k * least ** self.rough[unknown]
                block = product_matrix([*moments[:axis], scale * ends[k][None], *moments[axis:]])
                full = np.zeros((len(block), len(self.unknowns) * patch.size))
                full[:, j * patch.size : (j + 1) * patch.size] = block
                rows.append(full)
        return np.concatenate(rows)


def lightest(patches: Sequence[Patch], order: int) -> float:
    """Return the smallest weight of equation rows on patches."""
    most = max(math.prod(p.functions) ** (1.0 / p.dimension) for p in patches)
    return float(most ** (-LIGHTER * order / 2))


def _strengths(patch: Patch) -> tuple[float, ...]:
    return tuple(m.strength for m in patch.maps)
