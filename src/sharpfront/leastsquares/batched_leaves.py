"""Leaves eliminated on a device, those of equal shape together, by matrix products.

The rows A of a leaf are made orthonormal by the Cholesky factor of their Gram matrix, twice: what
the first time is lost to the squared condition the second brings back, and where it does not, a
third time. Leaves of different shapes may be filled up to one with columns and traces that are
none; these are zero, and stand alone in Gram matrices. With A P = Q the traces g see the rows
N g - e, what A leaves of the ties and of the right-hand sides; these and the leaf's answers are
corrected once with A itself, so that refinement finds with them what it finds with the triangles of
`leaves`. Leaves whose rows are alike, as those of equal patches are, share what is made of A.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sharpfront.arrays import Array, Flags, Ints, namespace, to_host
from sharpfront.bases.boxes import distinct
from sharpfront.leastsquares.device import Device, inverse_factors, worst_of
from sharpfront.leastsquares.leaf_rows import LeafRows
from sharpfront.leastsquares.tree import TreeElimination
from sharpfront.rounding import EPS

# Rows whose Gram matrix differs from the identity by less than this are orthonormal to rounding
# after the next factor.
NEARLY = 0.1
FACTORS = 4
# Rows that differ by less than this, in units of their columns, are alike: sides of equal patches
# differ by rounding. Leaves are eliminated by kinds where there are so many of each: a kind takes
# an H200 about 0.2 ms of its own, as long as 30 leaves with 256 columns. On 4096 graded patches
# with 4 of each it took 0.29 s by kinds and 0.13 without.
ALIKE, MANY_ALIKE = 1e-12, 32
# Share of the free memory for the rows at work, of which there are so many copies.
SHARE, COPIES = 0.4, 5


@dataclass(eq=False)
class LeafBatch:
    """Leaves of equal shape after elimination: c = start - response g, and rows over the traces."""

    numbers: Ints  # of the leaves, (b,)
    moments: Ints  # of each leaf's traces, (b, g)
    inside: Flags | None  # which columns are a leaf's own, (b, n); None for all
    rows: Array  # N, (b, m, g), or of each kind
    rhs: Array  # e, (b, m, k)
    start: Array  # (b, n, k)
    response: Array  # (b, n, g), or of each kind
    gram: Array  # N^T N, until it is merged
    rest: float  # the sum of squares that no columns can make smaller
    extremes: Array  # the smallest and largest diagonal entry of the worst triangle, (2,)
    kind: Array | None = None  # of each leaf, (b,); None where each has its own rows

    def each(self, shared: Array) -> Array:
        """Return for each leaf what kinds have."""
        return shared if self.kind is None else shared[self.kind]

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
    inside: Flags | None = None  # which columns are, (b, n); None for all


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
            moments = [
                elimination.moments_of([t.trace for t in ties], [len(t.matrix) for t in ties])
                for ties in (leaf.ties for leaf in some)
            ]
            rest = sum(float(np.sum((leaf.weight * leaf.own.left[0][:, 0]) ** 2)) for leaf in some)
            rows, rhs = np.empty((len(some), m, n)), [leaf.right_sides for leaf in some]
            for out, leaf in zip(rows, some, strict=True):
                np.concatenate(leaf.matrices, out=out)
                if leaf.weight != 1.0:
                    out[:n] *= leaf.weight
            places = np.array(moments).reshape(-1, g)
            yield Stack(own, places, rest, device.put(rows), device.put(np.stack(rhs)))


def eliminated(device: Device, stack: Stack) -> LeafBatch | None:
    """Return leaves after elimination; None where the columns of one are dependent."""
    xp, rows = namespace(stack.rows), stack.rows
    norms = xp.linalg.vector_norm(rows, axis=1)
    norms = xp.where(norms > 0, norms, xp.ones_like(norms))
    rows /= norms[:, None, :]
    vain = None if stack.inside is None else device.put((~stack.inside).astype(float))
    kinds = _kinds(device, rows)
    kind = None
    if kinds is not None:
        first, kind = (device.put(numbers) for numbers in kinds)
        rows, norms = rows[first], norms[first]
        vain = vain if vain is None else vain[first]
    found = orthonormal(device, rows, vain)
    if found is None:
        return None
    q, factors, diagonal = found
    g, m = stack.moments.shape[1], rows.shape[1]
    # What rows are to be: the traces they are tied to, and the right-hand sides.
    ties = device.zeros((len(rows), m, g))
    ties[:, m - g :] = device.put(np.eye(g))
    members = None if kinds is None else [device.put(own) for own in _members(kinds[1])]
    start, rhs, answers, ties = _Fit(rows, q, factors, norms).to_both(stack.rhs, ties, members)
    diagonal = xp.abs(diagonal) * norms
    if vain is not None:
        diagonal = xp.where(vain > 0, diagonal[:, :1], diagonal)
    gram = ties.mT @ ties
    return LeafBatch(
        stack.numbers,
        stack.moments,
        stack.inside,
        # Traces stand on the other side of the rows.
        -ties,
        rhs,
        start,
        -answers,
        gram if kind is None else gram[kind],
        stack.rest,
        worst_of(diagonal),
        kind,
    )


@dataclass(frozen=True, eq=False)
class _Fit:
    """What columns make of right-hand sides, and what they leave of these, corrected once."""

    rows: Array  # with columns of norm one, (b, m, n)
    q: Array
    factors: Sequence[Array]
    norms: Array  # of the columns, (b, n)

    def __call__(self, left: Array) -> tuple[Array, Array]:
        """Return answers (b, n, k) to right-hand sides (b, m, k), which become what is left."""
        answers = None
        for _ in range(2):
            step = self.q.mT @ left
            for factor in reversed(self.factors):
                step = factor.mT @ step
            left -= self.rows @ step
            answers = step if answers is None else answers + step
        return answers / self.norms[:, :, None], left

    def to_both(
        self, rhs: Array, ties: Array, members: Sequence[Array] | None
    ) -> tuple[Array, Array, Array, Array]:
        """Return answers to right-hand sides and what is left, then the same for ties.

        All side by side, or, where rows are those of kinds with `members`, ties once for each kind.
        """
        xp, k = namespace(rhs), rhs.shape[2]
        if members is None:
            answers, left = self(xp.concat([rhs, ties], axis=2))
            start, own = (xp.asarray(a[:, :, :k], copy=True) for a in (answers, left))
            return start, own, answers[:, :, k:], left[:, :, k:]
        answers, ties = self(ties)
        start = xp.zeros_like(rhs[:, :1]) + xp.zeros_like(self.norms[:1, :, None])
        for kind, leaves in enumerate(members):
            start[leaves], rhs[leaves] = self.of_kind(kind, rhs[leaves])
        return start, rhs, answers, ties

    def of_kind(self, kind: int, rhs: Array) -> tuple[Array, Array]:
        """Return the same for leaves of one kind, all their right-hand sides side by side."""
        xp, (b, m, k), one = namespace(rhs), rhs.shape, slice(kind, kind + 1)
        fit = _Fit(self.rows[one], self.q[one], [f[one] for f in self.factors], self.norms[one])
        flat = xp.reshape(xp.permute_dims(rhs, (1, 0, 2)), (1, m, b * k))
        answers, left = (xp.reshape(a[0], (-1, b, k)) for a in fit(xp.asarray(flat, copy=True)))
        return xp.permute_dims(answers, (1, 0, 2)), xp.permute_dims(left, (1, 0, 2))


def _kinds(device: Device, rows: Array) -> tuple[Ints, Ints] | None:
    """Return the first leaf of each kind, and the kind of each; None where few are alike.

    Products with the same noise tell kinds apart, and rows themselves whether they are alike.
    """
    xp, (b, m, n) = namespace(rows), rows.shape
    if b < MANY_ALIKE:
        return None
    noise = np.random.default_rng(0)
    left, right = noise.standard_normal((1, 1, m)), noise.standard_normal((n, 3))
    seen = to_host((device.put(left) @ rows)[:, 0] @ device.put(right))
    first, kind = distinct(np.round(seen, 10))
    if MANY_ALIKE * len(first) > b:
        return None
    gap = xp.max(xp.abs(rows - rows[device.put(first[kind])]))
    return (first, kind) if float(gap) < ALIKE else None


def _members(kind: Ints) -> list[Ints]:
    """Return the leaves of each kind."""
    order = np.argsort(kind, kind="stable")
    return np.split(order, np.cumsum(np.bincount(kind))[:-1])


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
        gram = gram if count else gram + n * n * EPS * identity
        inverse, diagonal, good = inverse_factors(device, gram)
        if not bool(xp.all(good)):
            return None
        q = q @ inverse.mT
        factors.append(inverse)
        whole = diagonal if whole is None else whole * diagonal
        if gap < NEARLY:
            return q, factors, whole
    return None
