"""The rows of patches: the equation at Gauss points, ties to traces, conditions on the boundary.

Each row has two right-hand sides: the problem's own, and the probe's (`measure`).

How much more the rows of good conductors count than others.

The height of a good conductor that no condition holds follows from what flows through its edges,
which is next to nothing in units of its own fluxes: rows of one weight for all would rather have
less of the singularities at its corners. So its rows are weighed in units of the flux beside it.
From where values are given the weights grow with the conductivity wherever that climbs across an
edge, and stay where it falls: what conducts badly hangs on others by its values, and its own errors
would be hidden by theirs. Of all ways to a patch the one with the least climb counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from sharpfront.arrays import Flags, FloatArray, Ints
from sharpfront.bases.corner_functions import SharedFunctions
from sharpfront.bases.patch import Patch
from sharpfront.leastsquares.batched_leaves import Stack
from sharpfront.leastsquares.device import Device
from sharpfront.leastsquares.leaf_rows import LeafRows
from sharpfront.leastsquares.traces import TraceSystem
from sharpfront.leastsquares.tree import TreeElimination
from sharpfront.problem import PointCondition, Problem
from sharpfront.problem.conditions import Condition
from sharpfront.rows.batched_rows import BatchedRows
from sharpfront.rows.conditions import ConditionRows, Rows
from sharpfront.rows.equation_rows import EquationRows
from sharpfront.rows.faces import Faces, Side
from sharpfront.rows.form_values import form_at
from sharpfront.rows.integrals import Integrals, Link
from sharpfront.rows.interfaces import Interfaces
from sharpfront.rows.row_scaling import Measure
from sharpfront.rows.side_quadrature import nearest_patch
from sharpfront.rows.trace_ties import TraceTies


def climbs(
    problem: Problem, faces: Faces, torn: Flags, sides: Mapping[Side, str]
) -> dict[Patch, float]:
    """Return the factors of patches' rows, powers of two; none where all are one.

    Something may jump across the faces that are torn; sides are those on parts of the boundary.
    """
    patches = faces.boxes.patches
    held = _held(problem, patches, sides)
    if not torn.any() or not held:
        return {}
    (one, other), across = faces.pairs[~torn].T, faces.pairs[torn]
    joined = coo_matrix((np.ones(len(one)), (one, other)), shape=(len(patches),) * 2)
    count, found_in = connected_components(joined, directed=False)
    region = found_in.astype(np.int64)
    size = np.log2(_conductivity(problem, patches))
    low, high = np.concatenate([across, across[:, ::-1]]).T
    found = _least(count, region[sorted(held)], region[low], region[high], size[high] - size[low])
    factors = np.exp2(np.round(found))[region]
    if np.all(factors == 1.0):
        return {}
    return dict(zip(patches, factors.tolist(), strict=True))


def _least(count: int, held: Ints, low: Ints, high: Ints, rises: FloatArray) -> FloatArray:
    """Return the least sum of rises from regions that are held to all others, (regions,)."""
    out = np.full(count, math.inf)
    out[held] = 0.0
    for _ in range(count):
        before = out.copy()
        np.minimum.at(out, high, before[low] + np.maximum(rises, 0.0))
        if np.array_equal(before, out):
            break
    return np.where(np.isfinite(out), out, 0.0)


def _held(problem: Problem, patches: Sequence[Patch], sides: Mapping[Side, str]) -> set[int]:
    """Return the patches on which a condition tells a value of some unknown."""
    telling = [
        c
        for c in (*problem.conditions, *problem.further)
        if any(not t.order for f in c.forms for t in f.terms)
    ]
    parts = {c.part for c in telling if isinstance(c, Condition)}
    points = [np.array(c.point) for c in telling if isinstance(c, PointCondition)]
    found = {nearest_patch(patches, point) for point in points}
    return found | {side.patch for side, part in sides.items() if part in parts}


def _conductivity(problem: Problem, patches: Sequence[Patch]) -> FloatArray:
    """Return the largest coefficient of highest derivatives in the middle of patches, (n,)."""
    points = np.concatenate([patch.middle for patch in patches])
    most = max(form.order for form in problem.forms)
    found = [form_at(form, problem.coordinates, points) for form in problem.forms]
    every = [pair for form in found for pair in zip(form.terms, form.coefficients, strict=True)]
    own = [np.abs(c) for term, c in every if sum(term.orders) == most]
    return np.asarray(np.maximum(np.max(own, axis=0), 1e-300))


class PatchRows:
    """Assembles the rows of patches for a linear problem."""

    def __init__(
        self, problem: Problem, seed: int = 0, functions: tuple[SharedFunctions, ...] = ()
    ) -> None:
        self.problem, self.unknowns = problem, problem.unknowns
        self.functions, self.seed = functions, seed  # of all patches together
        self.measure = Measure(problem, seed, functions)
        self.rough, self.order = self.measure.rough, self.measure.order
        self.interfaces = Interfaces(problem, self.rough)
        self.integrals = Integrals(self.measure)
        self._ties = TraceTies(self.measure, self.interfaces)
        self._conditions = ConditionRows(self.measure)
        self._equations = EquationRows(self.measure)
        self._systems: list[tuple[tuple[Patch, ...], TraceSystem]] = []
        # Those of problems with the same operator that are solved together, these among them.
        self.siblings: tuple[PatchRows, ...] = ()

    @staticmethod
    def joined(every: Sequence[PatchRows]) -> None:
        """Let the rows of problems with the same operator be assembled and solved together."""
        for rows in every:
            rows.siblings = tuple(every)
            rows._equations.like(every[0]._equations)
            rows._ties.like(every[0]._ties)
            rows.measure.like(every[0].measure)

    def remembered(
        self, patches: tuple[Patch, ...], made: Callable[[], TraceSystem]
    ) -> TraceSystem:
        """Return the system on patches, made anew unless it is one of the last two."""
        for known, system in self._systems:
            if known == patches:
                return system
        self._systems = [*self._systems[-1:], (patches, made())]
        return self._systems[-1][1]

    def with_functions(self, functions: tuple[SharedFunctions, ...]) -> PatchRows:
        """Return the rows with other functions of all patches together."""
        return PatchRows(self.problem, self.seed, functions)

    @property
    def is_simple(self) -> bool:
        """Whether there is one unknown, of order two at most."""
        return len(self.unknowns) == 1 and self.order <= 2

    def weigh(self, faces: Faces, sides: Mapping[Side, str]) -> None:
        """Let rows of good conductors count as what flows through their edges does."""
        if self.problem.is_singular:
            found = climbs(self.problem, faces, ~self._ties.plain(faces), sides)
            # Rows of a patch are kept, and so is their weight.
            self.measure.climbs = found | self.measure.climbs

    def trace_sizes(self, faces: Faces) -> Ints:
        """Return the numbers of moments of faces' traces."""
        return self._ties.trace_sizes(faces)

    def conditions_across(
        self, patches: Sequence[Patch], faces: Faces
    ) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield the rows that tie patches below and above each face to its traces."""
        for k, face in enumerate(faces):
            ties = self._ties.of_face(k, face, patches)
            yield np.asarray(ties[0].matrix), np.asarray(ties[1].matrix)

    def near_moments(self, faces: Faces) -> Flags:
        """Tell which moments of faces' traces stay near their face, (n,)."""
        return self._ties.near_moments(faces)

    def point_owners(self, patches: Sequence[Patch]) -> dict[int, list[PointCondition]]:
        """Return the conditions at points, each with one patch that has the point."""
        return self._conditions.owners(patches)

    def leaves(
        self,
        patches: Sequence[Patch],
        faces: Faces,
        sides: Mapping[Side, str],
        which: Sequence[int],
        links: Sequence[Link] = (),
    ) -> list[LeafRows]:
        """Return the rows of some patches; traces are numbered like the faces.

        Links are the places of patches in the chain of integral conditions, if there are any.
        """
        ties = self._ties.of_patches(faces, patches, which)
        further = self._further(patches, sides, which)
        out = []
        equations = self._equations.reduced([patches[i] for i in which], len(patches))
        for i, reduced in zip(which, equations, strict=True):
            more = tuple(m for m, _ in further[i])
            rhs = np.concatenate([r for _, r in further[i]]) if more else None
            redundant = patches[i].cut is not None
            count = len(self.unknowns)
            leaf = LeafRows(reduced, tuple(ties[i]), more, rhs, redundant=redundant, unknowns=count)
            out.append(self.integrals.attached(leaf, patches[i], links[i]) if links else leaf)
        return out

    def _further(
        self, patches: Sequence[Patch], sides: Mapping[Side, str], which: Collection[int]
    ) -> dict[int, list[Rows]]:
        """Return the rows of conditions on some patches."""
        further = self._conditions.on_sides(patches, sides, which)
        for i, own in self._conditions.on_curves(patches, which).items():
            further[i] += own
        for i, rows in self._conditions.at_points(patches, which):
            further[i].append(rows)
        return further

    def stacks(
        self,
        patches: Sequence[Patch],
        faces: Faces,
        sides: Mapping[Side, str],
        device: Device,
        elimination: TreeElimination,
        weight: float = 1.0,
    ) -> Iterator[Stack]:
        """Yield the rows of all patches, made on a device; the weight is on the equation's."""
        further = self._further(patches, sides, range(len(patches)))
        rows = BatchedRows(device, self._equations, self._ties, faces, further, elimination)
        return rows.stacks(weight)
