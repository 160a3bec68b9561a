"""Leaves eliminated on a device, those of equal shape together, by matrix products.

The rows A of a leaf are made orthonormal by the Cholesky factor of their Gram matrix, twice: what
the first time is lost to the squared condition the second brings back, and where it does not, a
third time. Leaves of different shapes may be filled up to one with columns and traces that are
none; these are zero, and stand alone in Gram matrices. With A P = Q the traces g see the rows
N g - e, what A leaves of the ties and of the right-hand sides; these and the leaf's answers are
corrected once with A itself, so that refinement finds with them what it finds with the triangles of
`leaves`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import Array, FloatArray, namespace
from sharpfront.leastsquares.batched_factors import inverse_factors, worst_of
from sharpfront.leastsquares.device import Device
from sharpfront.leastsquares.dissection import Ints
from sharpfront.leastsquares.leaves import LeafRows
from sharpfront.leastsquares.refinement import ROUNDING
from sharpfront.leastsquares.tree import TreeElimination

# Rows whose Gram matrix differs from the identity by less than this are orthonormal to rounding
# after the next factor.
NEARLY = 0.1
FACTORS = 4
# Share of the free memory for the rows at work, of which there are so many copies.
SHARE, COPIES = 0.4, 5


@dataclass(eq=False)
class LeafBatch:
    """Leaves of equal shape after elimination: c = start - response g, and rows over the traces."""

    numbers: Ints  # of the leaves, (b,)
    moments: Ints  # of each leaf's traces, (b, g)
    inside: NDArray[np.bool_] | None  # which columns are a leaf's own, (b, n); None for all
    rows: Array  # N, (b, m, g)
    rhs: Array  # e, (b, m, k)
    start: Array  # (b, n, k)
    response: Array  # (b, n, g)
    gram: Array  # N^T N, until it is merged
    rest: float  # the sum of squares that no columns can make smaller
    extremes: Array  # the smallest and largest diagonal entry of the worst triangle, (2,)

    @property
    def size(self) -> int:
        """Bytes that are kept."""
        arrays = (self.rows, self.rhs, self.start, self.response, self.gram)
        return sum(8 * int(np.prod(a.shape)) for a in arrays)

    def move(self, where: Callable[[Array], Array]) -> None:
        """Move what is kept, but for the Gram matrices."""
        for name in ("rows", "rhs", "start", "response"):
            setattr(self, name, where(getattr(self, name)))


@dataclass(frozen=True, eq=False)
class Stack:
    """The rows of leaves of equal shape, or filled up to one; those of the ties come last."""

    numbers: Ints  # of the leaves, (b,)
    # Of each leaf's traces, those that are none last, (b, g): their number is that of all moments.
    moments: Ints
    rest: float  # the sum of squares that no columns can make smaller
    rows: Array  # (b, m, n), overwritten by who takes them
    rhs: Array  # (b, m, k)
    inside: NDArray[np.bool_] | None = None  # which columns are, (b, n); None for all


def at_once(device: Device, rows: int, columns: int) -> int:
    """Return how many leaves with so many rows and columns, traces counted in, fit at a time."""
    return max(1, int(SHARE * device.free / (8 * COPIES * rows * columns)))


def stacked(
    device: Device, leaves: Sequence[LeafRows], numbers: Sequence[int], elimination: TreeElimination
) -> Iterator[Stack]:
    """Yield the rows of leaves on a device, numbered, for an order of elimination."""
    shapes: dict[tuple[int, int, int], list[tuple[int, LeafRows]]] = {}
    for number, leaf in zip(numbers, leaves, strict=True):
        ties = tuple(sorted(leaf.ties, key=lambda tie: elimination.order[tie.trace]))
        key = sum(map(len, leaf.matrices)), len(leaf.own.rhs), sum(len(t.matrix) for t in ties)
        shapes.setdefault(key, []).append((number, replace(leaf, ties=ties)))
    for (m, n, g), every in shapes.items():
        most = at_once(device, m, n + g)
        for start in range(0, len(every), most):
            some = [leaf for _, leaf in every[start : start + most]]
            own = np.array([number for number, _ in every[start : start + most]], dtype=np.int64)
            moments = np.array([_moments(elimination, leaf) for leaf in some]).reshape(-1, g)
            rest = sum(float(np.sum((leaf.weight * leaf.own.left[0][:, 0]) ** 2)) for leaf in some)
            rows, rhs = (device.put(a) for a in _rows_of(some, m, n))
            yield Stack(own, moments, rest, rows, rhs)


def _moments(elimination: TreeElimination, leaf: LeafRows) -> Ints:
    ties = leaf.ties
    return elimination.moments_of([t.trace for t in ties], [len(t.matrix) for t in ties])


def _rows_of(leaves: Sequence[LeafRows], m: int, n: int) -> tuple[FloatArray, FloatArray]:
    """Return rows (b, m, n) and right-hand sides (b, m, k)."""
    rows = np.empty((len(leaves), m, n))
    for out, leaf in zip(rows, leaves, strict=True):
        np.concatenate(leaf.matrices, out=out)
        if leaf.weight != 1.0:
            out[:n] *= leaf.weight
    return rows, np.stack([leaf.right_sides for leaf in leaves])


def eliminated(device: Device, stack: Stack) -> LeafBatch | None:
    """Return leaves after elimination; None where the columns of one are dependent."""
    xp, rows, (b, m, _) = namespace(stack.rows), stack.rows, stack.rows.shape
    norms = xp.linalg.vector_norm(rows, axis=1)
    norms = xp.where(norms > 0, norms, xp.ones_like(norms))
    rows /= norms[:, None, :]
    vain = None if stack.inside is None else device.put((~stack.inside).astype(float))
    found = orthonormal(device, rows, vain)
    if found is None:
        return None
    q, factors, diagonal = found
    g, k = stack.moments.shape[1], stack.rhs.shape[2]
    # What rows are to be: the right-hand sides, and the traces they are tied to.
    left = device.zeros((b, m, k + g))
    left[:, :, :k] = stack.rhs
    left[:, m - g :, k:] = device.put(np.eye(g))
    answers = None
    for _ in range(2):
        step = q.mT @ left
        for factor in reversed(factors):
            step = factor.mT @ step
        left -= rows @ step
        answers = step if answers is None else answers + step
    answers = answers / norms[:, :, None]
    tied, diagonal = left[:, :, k:], xp.abs(diagonal) * norms
    if vain is not None:
        diagonal = xp.where(vain > 0, diagonal[:, :1], diagonal)
    return LeafBatch(
        stack.numbers,
        stack.moments,
        stack.inside,
        # Traces stand on the other side of the rows.
        -tied,
        xp.asarray(left[:, :, :k], copy=True),
        xp.asarray(answers[:, :, :k], copy=True),
        -answers[:, :, k:],
        tied.mT @ tied,
        stack.rest,
        worst_of(diagonal),
    )


def orthonormal(
    device: Device, rows: Array, vain: Array | None = None
) -> tuple[Array, list[Array], Array] | None:
    """Return Q, factors X and the diagonal of R with rows = Q R; None where that fails.

    Q = rows X_1^T X_2^T ..., R is the inverse of that product. Rows are (b, m, n) with columns of
    norm one, but for zeros where columns are in vain, (b, n), ones there.
    """
    xp, n = namespace(rows), rows.shape[2]
    q, factors, whole = rows, [], None
    identity = device.put(np.eye(n))
    for count in range(FACTORS):
        gram = q.mT @ q
        if vain is not None:
            gram += vain[:, :, None] * identity
        gap = float(xp.max(xp.abs(gram - identity))) if count else 1.0
        # What rounding may have made of the squares, so that a first factor exists.
        gram = gram if count else gram + n * n * ROUNDING * identity
        inverse, diagonal, good = inverse_factors(device, gram)
        if not bool(xp.all(good)):
            return None
        q = q @ inverse.mT
        factors.append(inverse)
        whole = diagonal if whole is None else whole * diagonal
        if gap < NEARLY:
            return q, factors, whole
    return None
