"""Inverse iteration on patches: one step is a least-squares solve with many right-hand sides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sharpfront.adapt.patchwork.system import patch_system
from sharpfront.arrays import FloatArray, Ints
from sharpfront.bases.legendre import gauss, projection
from sharpfront.bases.patch import Patch
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.leastsquares.leaf_rows import LeafRows, Reduced
from sharpfront.leastsquares.leaves import factor_leaves
from sharpfront.leastsquares.traces import TraceSystem, Tree
from sharpfront.leastsquares.tree import TreeElimination
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.rows.pencil_rows import PencilRows
from sharpfront.spectrum.settings import MODES
from sharpfront.spectrum.statement import Complex


@dataclass(frozen=True, eq=False)
class PlanePencil:
    """A step of inverse iteration on patches, of vectors u or, for lam^2, (u, z)."""

    # The rows of the problem at the shift, and its domain.
    rows: PencilRows
    tiling: Tiling
    patches: tuple[Patch, ...]  # boxes that tile it
    weight: float = 1.0  # factor on the rows of the equation: another norm
    scale: float = 1.0  # what z is in units of

    @cached_property
    def _system(self) -> TraceSystem:
        return patch_system(self.rows, self.tiling, self.patches)

    @cached_property
    def _leaves(self) -> list[LeafRows]:
        found = self._system.rows(range(len(self.patches)))
        return [replace(leaf, weight=self.weight) for leaf in found]

    @cached_property
    def _elimination(self) -> TreeElimination:
        return Tree().elimination(self._system)

    @cached_property
    def basis(self) -> PatchworkBasis:
        """The functions of each unknown."""
        return PatchworkBasis(self.patches)

    @cached_property
    def starts(self) -> Ints:
        """The first weight of each patch, and their number."""
        count = len(self.rows.unknowns)
        return np.concatenate([[0], np.cumsum([count * p.size for p in self.patches])])

    @cached_property
    def roots(self) -> FloatArray:
        """The root of each patch's area for each of its weights, (n, 1)."""
        areas = [
            p.cut.measure if p.cut is not None else float(np.prod(p.sides)) for p in self.patches
        ]
        return np.asarray(np.sqrt(np.repeat(areas, np.diff(self.starts)))[:, None])

    def halves(self, vectors: FloatArray) -> list[FloatArray]:
        """Return the weights times roots of areas of u, and of z where there is one, (n, k)."""
        return np.split(vectors, self.rows.count)

    def applied(self, vectors: FloatArray) -> FloatArray:
        """Return the operator on vectors, which are weights times roots of areas."""
        halves = self.halves(vectors)
        weights = [half / self.roots for half in halves]
        leaves = []
        for i, leaf in enumerate(self._leaves):
            own = np.concatenate([w[self.starts[i] : self.starts[i + 1]] for w in weights])
            right = Reduced(leaf.own.triangle, leaf.own.rhs @ own)
            more = None if leaf.rhs is None else leaf.rhs @ own
            leaves.append(replace(leaf, own=right, rhs=more))
        elimination = self._elimination
        found = elimination.solve(factor_leaves(leaves, elimination.order))
        new = np.concatenate(found.columns) * self.roots
        return new if len(halves) == 1 else np.concatenate([new, halves[0] / self.scale])

    def weights(self, vector: FloatArray) -> dict[str, FloatArray]:
        """Return the weights of each unknown from its half of a vector, (n,)."""
        names = self.rows.unknowns
        blocks = np.split(vector / self.roots[:, 0], self.starts[1:-1])
        own = [block.reshape(len(names), -1) for block in blocks]
        return {name: np.concatenate([o[u] for o in own]) for u, name in enumerate(names)}

    def taken(self, vectors: FloatArray, other: PlanePencil) -> FloatArray:
        """Return vectors (m, k) of another set of patches, with its operator, on these, (n, k)."""
        rules = [
            p.inner_points() if p.cut is not None else p.gauss_points(p.functions)[0]
            for p in self.patches
        ]
        points, ends = np.concatenate(rules), np.cumsum([len(x) for x in rules])[:-1]
        zero = (0,) * self.patches[0].dimension

        def moved(vector: FloatArray) -> FloatArray:
            weights = other.weights(vector)
            parts: list[list[FloatArray]] = []
            for name in self.rows.unknowns:
                values = np.split(other.basis.values(weights[name], points, zero), ends)
                parts.append([_fitted(p, v) for p, v in zip(self.patches, values, strict=True)])
            return np.concatenate([np.concatenate(own) for own in zip(*parts, strict=True)])

        halves = [np.stack([moved(v) for v in half.T], axis=1) for half in other.halves(vectors)]
        return np.concatenate([half * self.roots for half in halves])


def _fitted(patch: Patch, values: FloatArray) -> FloatArray:
    """Return the weights of a patch's functions that come closest to values at its points."""
    if patch.frame is not None:
        (block,) = patch.frame.fitted(values[None])
        return np.asarray(block[tuple(patch.frame.products)])
    first, second = (projection(p, p) * np.sqrt(gauss(p)[1]) for p in patch.functions)
    return np.asarray(first @ values.reshape(patch.functions) @ second.T).ravel()


@dataclass(frozen=True, eq=False)
class Ritz:
    """Values of an operator with vectors, the largest first, and how well they satisfy it."""

    values: Complex
    vectors: Complex
    misses: FloatArray


def ritz(pencil: PlanePencil, start: FloatArray, wanted: int, miss: float) -> Ritz:
    """Return the largest values of an operator, by block Krylov spaces from vectors (n, k).

    So many as are wanted miss by no more than `miss`, relative to themselves.
    """
    block = start
    for _ in range(MODES.restarts):
        found = _projected(pencil, np.linalg.qr(block)[0])
        if np.all(found.misses[:wanted] <= miss):
            break
        kept = found.vectors[:, : start.shape[1]]
        both = np.abs(kept.imag).max(initial=0.0) > 1e-8
        block = np.linalg.qr(np.hstack([kept.real, kept.imag]))[0] if both else kept.real
        block = block[:, : start.shape[1]]
    return found


def _projected(pencil: PlanePencil, first: FloatArray) -> Ritz:
    basis, s = [first], first.shape[1]
    h = np.zeros(((MODES.steps + 1) * s, MODES.steps * s))
    for j in range(MODES.steps):
        new = pencil.applied(basis[j])
        for _ in range(2):
            for i, old in enumerate(basis):
                part = old.T @ new
                new = new - old @ part
                h[i * s : (i + 1) * s, j * s : (j + 1) * s] += part
        q, r = np.linalg.qr(new)
        h[(j + 1) * s : (j + 2) * s, j * s : (j + 1) * s] = r
        basis.append(q)
    values, inner = np.linalg.eig(h[: MODES.steps * s])
    order = np.argsort(-np.abs(values), kind="stable")[: 2 * s]
    values, inner = values[order], inner[:, order]
    left = h[MODES.steps * s :, :] @ inner
    misses = np.linalg.norm(left, axis=0) / np.maximum(np.abs(values), 1e-300)
    return Ritz(values, np.hstack(basis[: MODES.steps]) @ inner, misses)


def smooth_start(pencil: PlanePencil, count: int, seed: int) -> FloatArray:
    """Return vectors that are smooth on every patch, (n, count)."""
    rng = np.random.default_rng(seed)
    out = np.zeros((int(pencil.starts[-1]), count))
    unknowns = len(pencil.rows.unknowns)
    for i, patch in enumerate(pencil.patches):
        degrees = patch.products.sum(axis=0)
        sizes = np.tile(2.0 ** -(degrees.astype(float) * 1.5), unknowns)
        noise = rng.standard_normal((len(sizes), count))
        out[pencil.starts[i] : pencil.starts[i + 1]] = sizes[:, None] * noise
    return np.concatenate([out * pencil.roots] * pencil.rows.count)
