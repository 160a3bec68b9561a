"""Pieces side by side as one basis of the line."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.errors import BasisError
from sharpfront.mixture import Mixture
from sharpfront.pieces import tables
from sharpfront.pieces.coordinate import Coordinate
from sharpfront.pieces.piece import Piece, derivative_rows, end_rows, evaluate

# Derivatives of u beyond this are not held by any field.
HIGHEST_DERIVATIVE = 4
_COMPONENT_ARRAYS = ("anchor", "offset", "scale", "log_share", "bell_share")


@dataclass(frozen=True, eq=False)
class PiecewiseBasis:
    """Kernels in the mixture's coordinate, piece by piece, in one dimension."""

    pieces: tuple[Piece, ...]  # from left to right, each beginning where the last one ends
    # The mixture that the coordinates came from; None where nothing had to be resolved.
    mixture: Mixture | None = None

    @property
    def dimension(self) -> int:
        """One."""
        return 1

    @property
    def size(self) -> int:
        """The number of columns of all pieces."""
        return sum(piece.size for piece in self.pieces)

    @property
    def kernels(self) -> int:
        """The number of kernels inside the interval."""
        return sum(piece.kernels for piece in self.pieces)

    @cached_property
    def edges(self) -> tuple[int, ...]:
        """The columns at which pieces begin, and the total."""
        return tuple(itertools.accumulate((piece.size for piece in self.pieces), initial=0))

    @cached_property
    def ties(self) -> list[FloatArray]:
        """How far u, ..., u^(m-1) go down where pieces meet, on the columns of both, (m, sizes)."""
        pieces = self.pieces
        if len(pieces) == 1:
            return []
        ends = [[end_rows(p, j) for j in range(p.order)] for p in pieces]
        return [
            np.array([np.append(a[1], -b[0]) for a, b in zip(left, right, strict=True)])
            for left, right in itertools.pairwise(ends)
        ]

    @property
    def centres(self) -> FloatArray:
        """The positions of the kernels inside the interval, (kernels, 1)."""
        parts = [
            p.coordinate.invert((np.arange(p.kernels) + 0.5) / p.kernels).x for p in self.pieces
        ]
        return np.concatenate(parts)[:, None]

    @property
    def covariances(self) -> FloatArray:
        """Even kernels in the coordinate, so many spacings wide: their squares, (kernels, 1, 1)."""
        places = self.centres[:, 0]
        order = np.argsort(places)
        widths = np.ones(len(places))
        if len(places) > 1:
            widths[order] = tables.WIDTH * np.abs(np.gradient(places[order]))
        return np.asarray(widths[:, None, None] ** 2)

    def matrix(self, points: FloatArray, orders: tuple[int, ...]) -> FloatArray:
        """Return d^orders of each function at each point, (m, size)."""
        out = np.zeros((len(points), self.size))
        edges = self.edges
        for i, piece, here in self._homes(points[:, 0]):
            at = piece.coordinate.nearest(points[here, 0])
            xi = piece.coordinate.xi(at)
            table = tables.even_kernels(piece.kernels).table(xi, HIGHEST_DERIVATIVE)
            rows = derivative_rows(piece, table, at, self._checked(piece, orders[0]))
            out[here, edges[i] : edges[i + 1]] = rows
        return out

    def values(
        self, weights: FloatArray, points: FloatArray, orders: tuple[int, ...]
    ) -> FloatArray:
        """Return d^orders of the weighted sum at points (m, 1), without the matrix."""
        out = np.empty(len(points))
        edges = self.edges
        for i, piece, here in self._homes(points[:, 0]):
            own = weights[edges[i] : edges[i + 1]]
            out[here] = evaluate(piece, own, points[here, 0], self._checked(piece, orders[0]))
        return out

    def state(self) -> dict[str, Any]:
        """Return arrays and words from which `restore_pieces` makes the basis again."""
        pieces = self.pieces
        words: dict[str, Any] = {
            "type": "pieces",
            "order": pieces[0].order,
            "kernels": [p.kernels for p in pieces],
            "components": [p.coordinate.components for p in pieces],
            "stretches": np.array(
                [
                    (p.coordinate.low, p.coordinate.high, *p.inside, p.coordinate.uniform)
                    for p in pieces
                ]
            ),
        }
        for name in _COMPONENT_ARRAYS:
            words[name] = np.concatenate([getattr(p.coordinate, name) for p in pieces])
        return words

    def _homes(self, x: FloatArray) -> Iterator[tuple[int, Piece, NDArray[np.bool_]]]:
        """Yield each piece that holds some of the positions, with a mask of them."""
        starts = np.array([piece.coordinate.low for piece in self.pieces[1:]])
        which = np.searchsorted(starts, x, side="right")
        for i in np.unique(which):
            yield int(i), self.pieces[i], which == i

    @staticmethod
    def _checked(piece: Piece, order: int) -> int:
        highest = HIGHEST_DERIVATIVE if piece.fields == 1 else piece.order
        if order > highest:
            raise BasisError(
                f"The solution of an equation of order {piece.order} carries derivatives up to "
                f"{highest}, asked for {order}. Differentiate the equation instead."
            )
        return order


def restore_pieces(state: dict[str, Any]) -> PiecewiseBasis:
    """Return the basis that `PiecewiseBasis.state` was taken from."""
    cuts = np.cumsum(state["components"])[:-1]
    arrays = [np.split(np.asarray(state[name], dtype=float), cuts) for name in _COMPONENT_ARRAYS]
    pieces = []
    for i, (kernels, row) in enumerate(zip(state["kernels"], state["stretches"], strict=True)):
        low, high, first, last, uniform = (float(v) for v in row)
        own = {name: array[i] for name, array in zip(_COMPONENT_ARRAYS, arrays, strict=True)}
        coordinate = Coordinate(low=low, high=high, uniform=uniform, **own)
        pieces.append(Piece(coordinate, int(kernels), (first, last), int(state["order"])))
    return PiecewiseBasis(tuple(pieces))
