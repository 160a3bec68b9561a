"""Systems of leaves joined by traces, and the method that solves them along a tree."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sharpfront.arrays import Array, FloatArray
from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.leastsquares.contract import Facts
from sharpfront.leastsquares.dissection import Ints, nested_dissection
from sharpfront.leastsquares.leaves import LeafFactor, LeafRows, factor_leaves
from sharpfront.leastsquares.tree import TreeElimination, TreeSolution

# Leaves that have no matrices in common are factored so many at a time: with 256 columns each their
# rows take a quarter of a GB.
AT_ONCE = 512


@dataclass(frozen=True, eq=False)
class TraceSystem:
    """Leaves with columns of their own that share traces.

    Parameters
    ----------
    keys
        What tells the rows of one leaf from another's; leaves with a key that was factored before
        are not assembled again.
    rows
        Returns the rows of the leaves with given numbers.
    traces
        The traces of each leaf.
    pairs
        The two leaves of each trace, (traces, 2).
    sizes
        The columns of each trace.
    orderings
        Numbers by which leaves may be ordered when the tree is cut, (orderings, leaves).
    arranged
        Puts the leaves' columns into the order of the weights, (columns, right-hand sides).
    alike
        Whether leaves may have matrices in common: then they are factored together.
    """

    keys: Sequence[Hashable]
    rows: Callable[[Sequence[int]], list[LeafRows]]
    traces: Sequence[Sequence[int]]
    pairs: Ints
    sizes: Ints
    orderings: FloatArray
    arranged: Callable[[Sequence[FloatArray]], FloatArray]
    alike: bool = True

    def reweighed(self, weight: float) -> TraceSystem:
        """Return the system with another weight of the rows that come reduced."""

        def rows(which: Sequence[int]) -> list[LeafRows]:
            return [replace(leaf, weight=weight) for leaf in self.rows(which)]

        return replace(self, keys=[(weight, key) for key in self.keys], rows=rows)

    @property
    def rhs(self) -> FloatArray:
        """Nothing: right-hand sides belong to the leaves' rows."""
        return np.zeros(0)


@dataclass(frozen=True, eq=False)
class Tree:
    """Elimination along a tree by QR, unchanged leaves kept from one system to the next."""

    _known: dict[Hashable, LeafFactor] = field(default_factory=dict, repr=False)

    def factor(self, system: TraceSystem) -> tuple[TraceSystem, TreeSolution]:
        """Eliminate; the right-hand sides go along."""
        weights = system.sizes.astype(float)
        tree = nested_dissection(system.orderings, system.pairs, weights)
        elimination = TreeElimination(tree, system.pairs, system.sizes)
        return system, elimination.solve(self._leaves(system, elimination.order))

    def solve(
        self, state: tuple[TraceSystem, TreeSolution], rhs: Array
    ) -> tuple[FloatArray, Outcome, Facts]:
        """Return the weights for the leaves' own right-hand sides."""
        system, found = state
        weights = system.arranged(found.columns)[:, 0]
        facts = Facts(len(weights), found.condition, 0, found.residual_norm)
        return weights, Outcome(OutcomeKind.CONVERGED), facts

    def _leaves(self, system: TraceSystem, order: dict[int, int]) -> list[LeafFactor]:
        new = [i for i, key in enumerate(system.keys) if key not in self._known]
        fresh: dict[int, LeafFactor] = {}
        at_once = len(new) if system.alike else AT_ONCE
        for start in range(0, len(new), max(1, at_once)):
            some = new[start : start + at_once]
            fresh |= zip(some, factor_leaves(system.rows(some), order), strict=True)
        out: list[LeafFactor] = []
        for i, (key, traces) in enumerate(zip(system.keys, system.traces, strict=True)):
            if i in fresh:
                place = {trace: k for k, trace in enumerate(traces)}
                numbered = tuple(place[t] for t in fresh[i].traces)
                self._known[key] = replace(fresh[i], traces=numbered)
                out.append(fresh[i])
            else:
                known = self._known[key]
                out.append(known.renumbered([traces[k] for k in known.traces], order))
        self._forget(set(system.keys))
        return out

    def _forget(self, current: set[Hashable]) -> None:
        """Drop leaves that are not of the current system once they outnumber it."""
        if len(self._known) > 3 * len(current):
            for key in [k for k in self._known if k not in current]:
                del self._known[key]
