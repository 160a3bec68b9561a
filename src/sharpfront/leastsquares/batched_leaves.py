"""Leaves eliminated on a device, those of equal shape together, by matrix products.

The rows A of a leaf are made orthonormal by the Cholesky factor of their Gram matrix, twice: what
the first time is lost to the squared condition the second brings back, and where it does not, a
third time. With A = Q R the traces g see the rows N g - e, N and e what Q leaves of the ties and of
the right-hand sides. These are orthogonal to Q to rounding, as the triangles of `leaves` are, so
that refinement finds with them what it finds there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import Array, FloatArray, namespace
from sharpfront.device import Device
from sharpfront.leastsquares.dissection import Ints
from sharpfront.leastsquares.leaves import Group, LeafRows, grouped
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
    """Leaves of equal shape after elimination: c = start - response g, and rows over the traces.

    Parameters
    ----------
    numbers
        Of the leaves: those with the same matrices in one row, (b, count).
    moments
        Of each leaf's traces, (b, count, g).
    rows, rhs
        N and e, (b, m, g) and (b, m, count k).
    start, response
        (b, n, count k) and (b, n, g).
    gram
        N^T N, until it is merged.
    rest
        The sum of squares that no columns can make smaller.
    extremes
        The smallest and largest diagonal entry of the triangles.
    """

    numbers: Ints
    moments: Ints
    rows: Array
    rhs: Array
    start: Array
    response: Array
    gram: Array
    rest: float
    extremes: tuple[float, float]

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
    """The rows of leaves of equal shape.

    Parameters
    ----------
    numbers, moments, rest
        As those of `LeafBatch`.
    rows, rhs
        (b, m, n) and (b, m, count k); those of the ties come last.
    """

    numbers: Ints
    moments: Ints
    rest: float
    rows: Array
    rhs: Array


def stacked(
    device: Device,
    leaves: Sequence[LeafRows],
    numbers: Sequence[int],
    elimination: TreeElimination,
) -> Iterator[Stack]:
    """Yield the rows of leaves on a device.

    Parameters
    ----------
    device
        Where.
    leaves, numbers
        Their rows, and how they are numbered.
    elimination
        In which order traces are eliminated.
    """
    shapes: dict[tuple[int, ...], list[Group]] = {}
    for group in grouped(leaves, elimination.order):
        leaf = group[0][1]
        ties = sum(len(tie.matrix) for tie in leaf.ties)
        rows = sum(map(len, leaf.matrices))
        shapes.setdefault((rows, leaf.own.rhs.shape[0], ties, len(group)), []).append(group)
    for (m, n, g, _), groups in shapes.items():
        most = max(1, int(SHARE * device.free / (8 * COPIES * m * (n + g))))
        for start in range(0, len(groups), most):
            some = groups[start : start + most]
            own = np.array([[numbers[i] for i, _ in group] for group in some], dtype=np.int64)
            each = [[_moments(elimination, leaf) for _, leaf in group] for group in some]
            rest = sum(leaf.weight**2 * leaf.own.rest for group in some for _, leaf in group)
            rows, rhs = (device.put(a) for a in _rows_of(some, m, n))
            yield Stack(own, np.array(each), rest, rows, rhs)


def _moments(elimination: TreeElimination, leaf: LeafRows) -> Ints:
    ties = leaf.ties
    return elimination.moments_of([t.trace for t in ties], [len(t.matrix) for t in ties])


def _rows_of(groups: Sequence[Group], m: int, n: int) -> tuple[FloatArray, FloatArray]:
    """Return rows (b, m, n) and right-hand sides (b, m, count k)."""
    rows = np.empty((len(groups), m, n))
    for out, group in zip(rows, groups, strict=True):
        leaf = group[0][1]
        np.concatenate(leaf.matrices, out=out)
        if leaf.weight != 1.0:
            out[:n] *= leaf.weight
    rhs = [np.concatenate([leaf.right_sides for _, leaf in group], axis=1) for group in groups]
    return rows, np.stack(rhs)


def eliminated(device: Device, stack: Stack) -> LeafBatch | None:
    """Return leaves after elimination; None where the columns of one are dependent."""
    found = orthonormal(device, stack.rows)
    if found is None:
        return None
    q, upper, norms = found
    rhs, (_, m, _), g = stack.rhs, q.shape, stack.moments.shape[2]
    xp, k = namespace(q), stack.rhs.shape[2]
    tied = q[:, m - g :, :]
    left = q @ tied.mT
    left[:, m - g :, :] -= device.put(np.eye(g))
    first = q.mT @ rhs
    beyond = rhs - q @ first
    both = device.solved(upper.mT, xp.concat([first, -tied.mT], axis=2), transposed=True)
    both = both / norms[:, :, None]
    diagonal = xp.abs(xp.linalg.diagonal(upper)) * norms
    return LeafBatch(
        stack.numbers,
        stack.moments,
        left,
        beyond,
        both[:, :, :k],
        both[:, :, k:],
        left.mT @ left,
        stack.rest,
        (float(diagonal.min()), float(diagonal.max())),
    )


def orthonormal(device: Device, rows: Array) -> tuple[Array, Array, Array] | None:
    """Return Q, R and the norms d of columns with rows = Q R d; None where that fails.

    Parameters
    ----------
    device
        Where.
    rows
        (b, m, n).
    """
    xp, n = namespace(rows), rows.shape[2]
    norms = xp.sqrt(xp.sum(rows * rows, axis=1))
    norms = xp.where(norms > 0, norms, xp.ones_like(norms))
    q, upper = rows / norms[:, None, :], None
    identity = device.put(np.eye(n))
    for count in range(FACTORS):
        gram = q.mT @ q
        gap = float(xp.max(xp.abs(gram - identity))) if count else 1.0
        # What rounding may have made of the squares, so that a first factor exists.
        lower, good = device.cholesky(gram if count else gram + n * n * ROUNDING * identity)
        if not bool(xp.all(good)):
            return None
        q = device.solved(lower, q.mT).mT
        upper = lower.mT if upper is None else lower.mT @ upper
        if gap < NEARLY:
            return q, upper, norms
    return None
