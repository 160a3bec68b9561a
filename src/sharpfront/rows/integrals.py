"""Conditions on integrals over all patches: sums that are handed on from patch to patch.

The integral over the patches so far, s, is a trace between two patches that follow each other in a
chain. Each patch has s as columns of its own, ties them to the patch before, and ties s plus its
own integral to the patch after; the last one has the condition as rows. So every row stays in one
patch, and every trace between two.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.legendre import gauss
from sharpfront.bases.patch import Patch
from sharpfront.equation.linearise import LinearForm
from sharpfront.leastsquares.leaf_rows import LeafRows, Matrix, Tie
from sharpfront.problem import IntegralCondition, Problem
from sharpfront.rows.form_values import form_at, taylor_of
from sharpfront.rows.row_norm import size_of_terms
from sharpfront.rows.row_scaling import Measure
from sharpfront.rows.side_quadrature import form_matrix, scattered_matrix


@dataclass(frozen=True)
class Link:
    """The place of a patch in the chain: the traces before and after it, None at the ends."""

    before: int | None
    after: int | None


class Integrals:
    """The integral conditions of a problem, measured by a measure."""

    def __init__(self, measure: Measure) -> None:
        self.measure, self.problem = measure, measure.problem
        stated = self.stated(self.problem)
        self.forms: tuple[LinearForm, ...] = tuple(f for c in stated for f in c.forms)
        self.equals = np.array([c.equals for c in stated for _ in c.forms])
        self._padded: dict[int, tuple[Matrix, FloatArray]] = {}
        if self.forms:
            self.scales = self._scales()

    @staticmethod
    def stated(problem: Problem) -> list[IntegralCondition]:
        """Return the integral conditions of a problem."""
        return [c for c in problem.further if isinstance(c, IntegralCondition)]

    def _scales(self) -> FloatArray:
        """Return one over the size of each integral if unknowns were one."""
        domain = self.problem.domain
        extent = np.ptp(domain.bounds, axis=0)
        points = domain.sample(400, "grid")
        sizes = []
        for form in self.forms:
            found = form_at(form, self.problem.coordinates, points)
            sizes.append(np.mean(size_of_terms(found, extent, self.measure.rough)))
        size = np.maximum(np.array(sizes) * float(np.prod(extent)), 1e-300)
        return np.asarray(self.measure.vote(float(extent.max())) / size)

    def attached(self, leaf: LeafRows, patch: Patch, link: Link) -> LeafRows:
        """Return the rows of a patch with those of its place in the chain."""
        own, constant = self._over(patch)
        count, columns = own.shape
        if link.before is not None:
            leaf = self._with_columns(leaf, count)
            own = np.hstack([own, np.eye(count)])
        ties = list(leaf.ties)
        if link.before is not None:
            start = np.hstack([np.zeros((count, columns)), np.eye(count)])
            ties.append(Tie(link.before, start))
        if link.after is not None:
            ties.append(Tie(link.after, own, -constant))
            return replace(leaf, ties=tuple(ties))
        # The probe's right-hand side is zero: the condition's share in all of its noise is small.
        rhs = np.zeros((count, leaf.own.rhs.shape[1]))
        rhs[:, 0] = self.scales * self.equals - constant
        both = rhs if leaf.rhs is None else np.concatenate([leaf.rhs, rhs])
        return replace(leaf, ties=tuple(ties), further=(*leaf.further, own), rhs=both)

    def _over(self, patch: Patch) -> tuple[FloatArray, FloatArray]:
        """Return the integrals over a patch as rows over its columns, and what holds no unknown."""
        counts = tuple(p + 1 for p in patch.functions)
        at = patch.positions([gauss(n)[0] for n in counts])
        if patch.cut is not None:
            points, weights = patch.cut.quadrature
        else:
            points, weights = patch.gauss_points(counts)
            weights = weights * float(np.prod(patch.sides)) * patch.densities(at)
        rows, constants, names = [], [], self.problem.unknowns
        for form, scale in zip(self.forms, self.scales, strict=True):
            found = form_at(form, self.problem.coordinates, points, what="integral condition")
            if patch.cut is not None:
                matrix = scattered_matrix(found, 1.0, patch, points, names)
            else:
                tables = patch.gauss_tables(counts, form.order)
                matrix = form_matrix(found.in_chart(taylor_of(patch, at)), 1.0, tables, names)
            rows.append(scale * (weights @ matrix))
            constants.append(-scale * float(weights @ found.rhs))
        return np.stack(rows), np.array(constants)

    def _with_columns(self, leaf: LeafRows, count: int) -> LeafRows:
        """Return a leaf's rows with further columns of zeros."""
        own = leaf.own.triangle
        every = [*leaf.further, *(t.matrix for t in leaf.ties)]
        padded = {id(m): self._wider(m, count, 0) for m in every}
        return leaf.wider(count, {**padded, id(own): self._wider(own, count, count)})

    def _wider(self, matrix: Matrix, columns: int, rows: int) -> FloatArray:
        # Leaves that share their matrices are factored together: they share these too.
        known = self._padded.get(id(matrix))
        if known is None or known[0] is not matrix:
            wider = np.pad(matrix, ((0, rows), (0, columns)))
            self._padded[id(matrix)] = known = (matrix, wider)
        return known[1]
