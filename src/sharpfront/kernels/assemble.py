"""Linear forms, bases and points become a linear system of labelled blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sharpfront.arrays import Array, like, namespace, to_host, zeros
from sharpfront.equation.linearise import LinearForm
from sharpfront.equation.values import environment, form_values
from sharpfront.errors import LinearSystemError
from sharpfront.kernels.basis import Basis


@dataclass(frozen=True, eq=False)
class RowSet:
    """Forms that are to vanish at points."""

    label: str  # what the rows are, for diagnostics: ``"equation"``, ``"left"``,
    forms: tuple[LinearForm, ...]  # one block of rows for each
    points: Array  # (m, d), an array of the library in which the system is to be built
    normals: Array | None = None  # (m, d) outward unit normals for conditions that use ``u.dn``
    weight: float = 1.0  # factor on every row


@dataclass(frozen=True, eq=False)
class Block:
    """Labelled rows ``weight * (matrix @ w - rhs)``.

    The matrix covers the columns from `start` on; all others are zero. `points` (rows, d) are where
    rows hold, None for several places.
    """

    label: str
    matrix: Array
    rhs: Array
    weight: float = 1.0
    start: int = 0
    points: Array | None = None

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.matrix.shape[0])

    @property
    def stop(self) -> int:
        """The column after the last one that the matrix covers."""
        return self.start + int(self.matrix.shape[1])

    @property
    def fits(self) -> bool:
        """Whether there is a right-hand side for each row."""
        return tuple(self.rhs.shape) == (self.rows,)

    def entries(self) -> tuple[Array, Array]:
        """Return the matrix and the right-hand side."""
        return self.matrix, self.rhs

    def padded(self, columns: int) -> Array:
        """Return the matrix with zeros in the columns that it does not cover, (rows, columns)."""
        if self.start == 0 and self.stop == columns:
            return self.matrix
        before = zeros((self.rows, self.start), self.matrix)
        after = zeros((self.rows, columns - self.stop), self.matrix)
        return namespace(self.matrix).concat([before, self.matrix, after], axis=1)


@dataclass(frozen=True, eq=False)
class LinearSystem:
    """Blocks of rows over the same columns."""

    blocks: tuple[Block, ...]  # the rows
    # Edges 0, ..., n of groups of columns, where blocks cover some groups only; empty where every
    # block covers all columns.
    partition: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not self.blocks:
            raise LinearSystemError("A linear system needs at least one block of rows.")
        if not self.columns:
            raise LinearSystemError("A linear system needs a column; got a basis of no functions.")
        self._check_columns()
        for block in self.blocks:
            if not block.fits:
                raise LinearSystemError(
                    f"Block {block.label!r} has {block.rows} rows and a right-hand side of shape "
                    f"{tuple(block.rhs.shape)}."
                )

    def _check_columns(self) -> None:
        if not self.partition:
            widths = {int(b.matrix.shape[1]) for b in self.blocks}
            if len(widths) > 1:
                raise LinearSystemError(
                    f"Blocks have different numbers of columns: {sorted(widths)}."
                )
        edges = set(self.partition or (0, self.columns))
        for block in self.blocks:
            if not {block.start, block.stop} <= edges:
                raise LinearSystemError(
                    f"Block {block.label!r} covers columns {block.start} to {block.stop}, which "
                    f"are not edges of the groups of columns {self.partition}."
                )

    @property
    def columns(self) -> int:
        """The number of unknown weights."""
        return self.partition[-1] if self.partition else int(self.blocks[0].matrix.shape[1])

    @property
    def rhs(self) -> Array:
        """All right-hand sides in the order of the blocks, unweighted."""
        return namespace(self.blocks[0].rhs).concat([b.rhs for b in self.blocks])

    def with_unit_rows(self, negligible: float = 0.0) -> LinearSystem:
        """Return the system with every row divided by its norm; rows of zeros stay.

        Rows that are negligible beside the largest of their block are divided by its norm: where
        coefficients vanish but for rounding, what they say is noise.
        """
        return replace(self, blocks=tuple(unit_rows(block, negligible) for block in self.blocks))


def unit_rows(block: Block, negligible: float = 0.0) -> Block:
    """Return rows divided by their norms; see `LinearSystem.with_unit_rows`."""
    xp = namespace(block.matrix)
    norms = xp.sqrt(xp.sum(block.matrix * block.matrix, axis=1))
    if negligible and block.rows:
        largest = xp.max(norms)
        noise = (norms > 0) & (norms < negligible * largest)
        norms = xp.where(noise, xp.ones_like(norms) * largest, norms)
    if not xp.all(norms > 0):
        norms = xp.where(norms > 0, norms, xp.ones_like(norms))
    return replace(block, matrix=block.matrix / norms[:, None], rhs=block.rhs / norms)


def assemble(
    rows: Sequence[RowSet], bases: Mapping[str, Basis], coordinates: Sequence[str]
) -> LinearSystem:
    """Return the system whose solution makes the forms vanish at their points.

    Columns come in the order of the bases; coordinates name the columns of a point array.
    """
    return LinearSystem(
        tuple(_block(form, row, bases, coordinates) for row in rows for form in row.forms)
    )


def _block(
    form: LinearForm, row: RowSet, bases: Mapping[str, Basis], coordinates: Sequence[str]
) -> Block:
    points = to_host(row.points)
    normals = None if row.normals is None else to_host(row.normals)
    leaves = environment(coordinates, points, normals)
    coefficients, source = form_values(form, leaves, points.shape[0], f"{row.label} condition")
    matrix = form_matrix(form, [like(c, row.points) for c in coefficients], row.points, bases)
    right = -like(source, row.points)
    return Block(row.label, matrix, right, row.weight, points=points)


def form_matrix(
    form: LinearForm, coefficients: Sequence[Array], points: Array, bases: Mapping[str, Basis]
) -> Array:
    """Return the form applied to every basis function at every point, (m, total size)."""
    missing = {term.unknown for term in form.terms} - set(bases)
    if missing:
        raise LinearSystemError(
            f"No basis is given for {', '.join(sorted(missing))}; there are bases for "
            f"{', '.join(bases)}."
        )
    parts = []
    for unknown, basis in bases.items():
        own = [
            (term.orders, coefficient)
            for term, coefficient in zip(form.terms, coefficients, strict=True)
            if term.unknown == unknown
        ]
        parts.append(_combined(basis, points, own))
    return parts[0] if len(parts) == 1 else namespace(points).concat(parts, axis=1)


def _combined(basis: Basis, points: Array, terms: list[tuple[tuple[int, ...], Array]]) -> Array:
    """Return sum_t c_t d^orders_t of the basis at points, (m, size)."""
    block = zeros((points.shape[0], basis.size), points)
    for orders, coefficient in terms:
        block = block + coefficient[:, None] * basis.matrix(points, orders)
    return block
