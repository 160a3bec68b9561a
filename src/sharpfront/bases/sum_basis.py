"""Several bases as one: sums of solutions that have kernels of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sharpfront.arrays import Array, FloatArray, to_host
from sharpfront.kernels.basis import Basis


class Saved(Protocol):
    """What can be made again from words and arrays."""

    def state(self) -> dict[str, Any]:
        """Return them."""


@dataclass(frozen=True, eq=False)
class JoinedBasis:
    """The functions of several bases, one after the other.

    Parameters
    ----------
    parts
        The bases.
    """

    parts: tuple[Basis, ...]

    @property
    def size(self) -> int:
        """The number of functions."""
        return sum(part.size for part in self.parts)

    @property
    def kernels(self) -> int:
        """The number of kernels of all parts."""
        return sum(part.kernels for part in self.parts)

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return self.parts[0].dimension

    def matrix(self, points: Array, orders: Sequence[int]) -> FloatArray:
        """Return d^orders of each function at each point, (m, size)."""
        tables = [to_host(part.matrix(points, tuple(orders))) for part in self.parts]
        return np.concatenate(tables, axis=1)

    def values(self, weights: Array, points: Array, orders: Sequence[int]) -> FloatArray:
        """Return d^orders of the weighted sum at each point, (m,)."""
        ends = np.cumsum([part.size for part in self.parts])[:-1]
        shares = np.split(to_host(weights), ends)
        pairs = zip(self.parts, shares, strict=True)
        return np.asarray(sum(to_host(p.values(w, points, tuple(orders))) for p, w in pairs))

    def state(self) -> dict[str, Any]:
        """Return arrays and words from which the basis is made again."""
        return {"type": "joined", **packed_parts(self.parts)}


def packed_parts(parts: Sequence[Saved]) -> dict[str, Any]:
    """Return the states of several bases as one, which `states_of_parts` takes apart."""
    words: dict[str, Any] = {"parts": []}
    for i, part in enumerate(parts):
        state = part.state()
        arrays = {k: v for k, v in state.items() if isinstance(v, np.ndarray)}
        words["parts"].append({k: v for k, v in state.items() if k not in arrays})
        words |= {f"{i}.{k}": v for k, v in arrays.items()}
    return words


def states_of_parts(state: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the states of the parts from that of the whole."""
    return [
        words | {k.removeprefix(f"{i}."): v for k, v in state.items() if k.startswith(f"{i}.")}
        for i, words in enumerate(state["parts"])
    ]
