"""Systems of leaves joined by traces, and the method that solves them along a tree."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from sharpfront.arrays import Array, FloatArray, Ints
from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.leastsquares.batched_leaves import Stack, stacked
from sharpfront.leastsquares.batched_tree import solved_on_device
from sharpfront.leastsquares.contract import Facts
from sharpfront.leastsquares.device import Device
from sharpfront.leastsquares.dissection import nested_dissection
from sharpfront.leastsquares.distributed_tree import solved_on_cluster
from sharpfront.leastsquares.leaf_rows import LeafRows, together
from sharpfront.leastsquares.leaves import LeafFactor, factor_leaves
from sharpfront.leastsquares.threads import overlapped
from sharpfront.leastsquares.tree import AT_ONCE, TreeElimination, TreeSolution

# Traces with fewer moments than this are left to the processor. With a limit of 4000 whole solves
# with an H200 took 0.26 to 0.55 of the time they take without it; half of it made that 0.93 to 1.05
# times as long, twice as much 1.0 to 1.36 times.
LARGE = 4000
# On a cluster, where more travels.
FOR_A_CLUSTER = 20_000
# With so many moments leaves do not keep how they answer to traces where their rows are quickly
# made again: of a million unknowns in the plane that is a GB.
FORGETTING = 100_000


@dataclass(frozen=True, eq=False)
class TraceSystem:
    """Leaves with columns of their own that share traces."""

    # Returns what tells the rows of each leaf from another's; leaves with a key that was factored
    # before are not assembled again.
    keyed: Callable[[], Sequence[Hashable]]
    # Returns the rows of the leaves with given numbers.
    rows: Callable[[Sequence[int]], list[LeafRows]]
    pairs: Ints  # the two leaves of each trace, (traces, 2)
    sizes: Ints  # the columns of each trace
    # Numbers by which leaves may be ordered when the tree is cut, (orderings, leaves).
    orderings: FloatArray
    # Puts the leaves' columns into the order of the weights, (columns, right-hand sides).
    arranged: Callable[[Sequence[FloatArray]], FloatArray]
    # Whether leaves may have matrices in common: then they are factored together.
    alike: bool = True
    # Whether rows are quickly made again.
    light: bool = False
    # So many of the last right-hand sides are those of functions that all leaves share.
    shared: int = 0
    # Yields the rows of all leaves made on a device, for a device, the order of elimination and a
    # weight of the rows that come reduced; None where that cannot be.
    stacks: Callable[..., Iterator[Stack]] | None = None
    # Returns systems with the same matrices and other right-hand sides, this one among them; they
    # are solved together, once one of them is asked for.
    siblings: Callable[[], Sequence[TraceSystem]] | None = None

    @property
    def count(self) -> int:
        """The number of leaves."""
        return int(self.orderings.shape[1])

    @cached_property
    def keys(self) -> Sequence[Hashable]:
        """What tells the rows of each leaf from another's."""
        return self.keyed()

    @cached_property
    def traces(self) -> list[list[int]]:
        """The traces of each leaf."""
        out: list[list[int]] = [[] for _ in range(self.count)]
        for k, (one, other) in enumerate(self.pairs.tolist()):
            out[one].append(k)
            out[other].append(k)
        return out

    def reweighed(self, weight: float) -> TraceSystem:
        """Return the system with another weight of the rows that come reduced."""

        def rows(which: Sequence[int]) -> list[LeafRows]:
            return [replace(leaf, weight=weight) for leaf in self.rows(which)]

        def keyed() -> Sequence[Hashable]:
            return [(weight, key) for key in self.keys]

        stacks = self.stacks and partial(self.stacks, weight=weight)
        own = self.siblings
        siblings = own and (lambda: [system.reweighed(weight) for system in own()])
        return replace(self, keyed=keyed, rows=rows, stacks=stacks, siblings=siblings)

    def weights(self, found: TreeSolution) -> FloatArray:
        """Return the weights for each right-hand side, those of shared functions last.

        Probes are answered by the leaves alone.
        """
        own = self.arranged(found.columns)
        strengths = np.zeros((len(found.strengths), own.shape[1]))
        strengths[:, 0] = found.strengths
        return np.concatenate([own, strengths])

    @property
    def rhs(self) -> FloatArray:
        """Nothing: right-hand sides belong to the leaves' rows."""
        return np.zeros(0)


@dataclass(frozen=True, eq=False)
class Tree:
    """Elimination along a tree by QR, unchanged leaves kept from one system to the next."""

    # Where large systems are eliminated, by Gram matrices; None for the processor alone.
    device: Device | None = None
    large: int | None = None  # systems with so many moments are large
    # A client of dask, whose workers eliminate large systems; None for this machine alone.
    cluster: Any = None
    _known: dict[Hashable, LeafFactor] = field(default_factory=dict, repr=False)
    _last: list[tuple[TraceSystem, TreeSolution]] = field(default_factory=list, repr=False)
    # Solutions of systems that were solved together with others, by their keys.
    _ready: dict[Hashable, TreeSolution] = field(default_factory=dict, repr=False)

    def factor(self, system: TraceSystem) -> tuple[TraceSystem, TreeSolution]:
        """Eliminate; the right-hand sides go along."""
        found = self._eliminated(system)
        self._last[:] = [(system, found)]
        return system, found

    def recalled(self, system: TraceSystem) -> TreeSolution | None:
        """Return the solution of a system if it is the one that was factored last."""
        return next((found for own, found in self._last if own is system), None)

    def _eliminated(self, system: TraceSystem) -> TreeSolution:
        mark = tuple(system.keys) if system.siblings else None
        if mark in self._ready:
            return self._ready[mark]
        elimination = self.elimination(system)
        least = LARGE if self.cluster is None else FOR_A_CLUSTER
        large = elimination.moments >= max(1, least if self.large is None else self.large)
        if self.cluster is not None and large:
            return solved_on_cluster(self.cluster, system, elimination)
        if self.device is not None and large and not system.shared:
            stacks = partial(self.stacks, system, elimination)
            found = solved_on_device(self.device, elimination, stacks)
            if found is not None:
                return found
        if system.siblings is not None:
            self._solve_together(system.siblings(), elimination)
            return self._ready[mark]
        return elimination.solve(self._leaves(system, elimination), system.rows)

    def _solve_together(self, systems: Sequence[TraceSystem], elimination: TreeElimination) -> None:
        """Eliminate once for all right-hand sides of systems with the same matrices."""

        def rows(which: Sequence[int]) -> list[LeafRows]:
            return [together(own) for own in zip(*(s.rows(which) for s in systems), strict=True)]

        keys = [*zip(*(s.keys for s in systems), strict=True)]
        joint = replace(systems[0], keyed=lambda: keys, rows=rows, siblings=None)
        found = elimination.solve_sides(self._leaves(joint, elimination), rows)
        # Those of a solution, of a richer one and of that in another norm are asked for in turn.
        for mark in [*self._ready][: -2 * len(systems)]:
            del self._ready[mark]
        self._ready.update(zip((tuple(s.keys) for s in systems), found, strict=True))

    def elimination(self, system: TraceSystem) -> TreeElimination:
        """Return the order in which a system's traces are eliminated."""
        weights = system.sizes.astype(float)
        tree = nested_dissection(system.orderings, system.pairs, weights)
        return TreeElimination(tree, system.pairs, system.sizes)

    def stacks(self, system: TraceSystem, elimination: TreeElimination) -> Iterator[Stack]:
        """Yield the rows of all leaves, on the device."""
        assert self.device is not None
        if system.stacks is not None:
            yield from system.stacks(self.device, elimination)
            return
        for some in _slices(range(system.count), False, AT_ONCE):
            yield from stacked(self.device, system.rows(some), some, elimination)

    def solve(
        self, state: tuple[TraceSystem, TreeSolution], rhs: Array
    ) -> tuple[FloatArray, Outcome, Facts]:
        """Return the weights for the leaves' own right-hand sides."""
        system, found = state
        weights = system.weights(found)[:, 0]
        facts = Facts(len(weights), found.condition, 0, found.residual_norm)
        return weights, Outcome(OutcomeKind.CONVERGED), facts

    def _leaves(self, system: TraceSystem, elimination: TreeElimination) -> list[LeafFactor]:
        order = elimination.order
        keeping = system.alike or not system.light or elimination.moments < FORGETTING
        new = [i for i, key in enumerate(system.keys) if key not in self._known]
        fresh: dict[int, LeafFactor] = {}
        some = list(_slices(new, system.alike, AT_ONCE))
        factored = overlapped(
            system.rows, lambda rows: factor_leaves(rows, order, answering=keeping), some
        )
        for own, factors in zip(some, factored, strict=True):
            fresh |= zip(own, factors, strict=True)
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


def _slices(numbers: Sequence[int], alike: bool, most: int) -> Iterator[Sequence[int]]:
    """Yield numbers of leaves that are worked on at a time: all where some are alike."""
    at_once = len(numbers) if alike else most
    for start in range(0, len(numbers), max(1, at_once)):
        yield numbers[start : start + at_once]
