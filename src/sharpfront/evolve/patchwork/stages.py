"""The stages of a step on patches: residuals, tangents, and their solution mode by mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfront.adapt.patchwork.system import patch_system
from sharpfront.arrays import FloatArray
from sharpfront.bases.patch import Patch
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.bases.radau import (
    STAGES,
    diagonal,
    differentiation,
    interpolation,
    interpolation_rate,
    stage_nodes,
)
from sharpfront.equation.expression import TIME, Key
from sharpfront.equation.graph import derivatives_in
from sharpfront.equation.operator import Operator
from sharpfront.equation.values import at_points, environment
from sharpfront.evolve.patchwork.places import Places, given_places, inner_places
from sharpfront.evolve.patchwork.system import PlaneSystem
from sharpfront.evolve.patchwork.tangents import About, Tangents
from sharpfront.leastsquares.kept import FactoredTree
from sharpfront.leastsquares.traces import Tree
from sharpfront.leastsquares.tree import TreeElimination
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.rows.faces import Faces, Side
from sharpfront.rows.neighbours import faces_of
from sharpfront.rows.stage_rows import Asked, StageRows
from sharpfront.trust.between_stages import between, left_over
from sharpfront.trust.between_stages import shares as lengths_of

Ints = NDArray[np.int64]
# Real or complex.
Numbers = NDArray[Any]
# Derivatives by time that are known: none, the first and the second.
RATES = 3


@dataclass(frozen=True, eq=False)
class _Held:
    """A residual and the points at which it is asked."""

    residual: Operator
    places: Places
    normals: FloatArray | None = None


class PatchDiscrete:
    """A problem on given patches.

    Parameters
    ----------
    system
        What is marched.
    tiling
        Its domain.
    patches
        Boxes that tile it.
    """

    def __init__(self, system: PlaneSystem, tiling: Tiling, patches: Sequence[Patch]) -> None:
        self.system, self.tiling = system, tiling
        self.basis = PatchworkBasis(tuple(patches))
        self.inner = inner_places(self.basis)
        self._held = [_Held(r, self.inner) for r in system.equations]
        self._index: list[Ints] = []
        self._elimination: TreeElimination | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Unknowns and functions of each."""
        return len(self.system.unknowns), self.basis.size

    def tree(self, tangents: Tangents, rate: complex) -> FactoredTree:
        """Return the rows of one mode, factored."""
        rows = StageRows(tangents.problem(abs(rate)), tangents.powers, rate)
        patches, tiling = self.basis.patches, self.tiling
        if self._elimination is None:
            # Which traces there are, and how many moments of each, is the same for all modes.
            self._elimination = Tree().elimination(patch_system(rows, tiling, patches))
        leaves = rows.kept_leaves(patches, *self._walls)
        if not self._index:
            self._note(rows)
        return FactoredTree(leaves, self._elimination)

    @cached_property
    def _walls(self) -> tuple[Faces, Mapping[Side, str]]:
        """The faces between patches, and their sides along the boundary."""
        faces, bare = faces_of(self.basis.patches, self.tiling.periods)
        return faces, self.tiling.parts(self.basis.patches, bare)

    def _note(self, rows: StageRows) -> None:
        """Find out where conditions are asked, and in which order data belong to leaves."""
        stated = [*rows.problem.conditions, *rows.problem.further]
        forms = [form for condition in stated for form in condition.forms]
        numbers = {id(form): k for k, form in enumerate(forms)}
        self._hold(rows.asked, numbers, len(forms))
        self._index = self._indices(rows.asked, numbers)

    def _hold(
        self, asked: Sequence[Sequence[Asked]], numbers: Mapping[int, int], count: int
    ) -> None:
        residuals = [r for own in self.system.conditions for r in own]
        none = np.zeros((0, 2))
        for number in range(count):
            own = [[a for a in each if numbers[id(a.form)] == number] for each in asked]
            points = [np.concatenate([none, *(a.points for a in each)]) for each in own]
            normals = np.concatenate([none, *(a.normals for each in own for a in each)])
            places = given_places(self.basis, points)
            self._held.append(_Held(residuals[number], places, normals))

    def _indices(self, asked: Sequence[Sequence[Asked]], numbers: Mapping[int, int]) -> list[Ints]:
        """Return where the data of each leaf are among all."""
        ends = np.concatenate([[0], np.cumsum([len(h.places.points) for h in self._held])])
        equations = len(self.system.equations)
        out = []
        for i, own in enumerate(asked):
            first, last = self.inner.starts[i : i + 2]
            parts = [ends[e] + np.arange(first, last) for e in range(equations)]
            passed: dict[int, int] = {}
            for a in own:
                number = equations + numbers[id(a.form)]
                at = passed.get(number, 0)
                passed[number] = at + len(a.points)
                begin = int(ends[number]) + int(self._held[number].places.starts[i]) + at
                parts.append(begin + np.arange(len(a.points)))
            out.append(np.concatenate(parts))
        return out

    def data(self, levels: FloatArray, t: FloatArray) -> FloatArray:
        """Return what all residuals are, (S, data).

        Parameters
        ----------
        levels
            Weights of unknowns and of their rates, (RATES, S, K, n).
        t
            The moments, (S,).
        """
        return np.concatenate([self._values(h, levels, t) for h in self._held], axis=1)

    def _values(self, held: _Held, levels: FloatArray, t: FloatArray) -> FloatArray:
        count = len(held.places.points)
        leaves = self.leaves(held, levels, t)
        found = at_points(held.residual.expression, leaves, len(t) * count, held.residual.what)
        return found.reshape(len(t), count)

    def leaves(self, held: _Held, levels: FloatArray, t: FloatArray) -> dict[Key, FloatArray]:
        """Return what residuals are made of, at all points for one moment after the other."""
        s, names = len(t), self.system.unknowns
        points = np.tile(held.places.points, (s, 1))
        normals = None if held.normals is None else np.tile(held.normals, (s, 1))
        leaves = environment(self.system.space, points, normals)
        leaves["coordinate", TIME] = np.repeat(t, len(held.places.points))
        for leaf in derivatives_in(held.residual.expression):
            x, y, rate = leaf.orders
            own = levels[rate][:, names.index(leaf.unknown)]
            leaves[leaf.key] = held.places.values(own, (x, y)).ravel()
        return leaves

    @property
    def count(self) -> int:
        """The number of residuals."""
        return len(self._held)

    def held(self, numbers: range) -> list[_Held]:
        """Return some residuals with their points."""
        return [self._held[i] for i in numbers]

    def tangents(
        self, residuals: Sequence[_Held], levels: FloatArray, t: float
    ) -> list[list[FloatArray]]:
        """Return the coefficient of each term of residuals about a state, (m,) each.

        Parameters
        ----------
        residuals
            Which.
        levels
            Weights of unknowns and of their rates, (RATES, K, n).
        t
            When.
        """
        out = []
        for held in residuals:
            leaves = self.leaves(held, levels[:, None], np.array([t]))
            what, count = f"tangent of the {held.residual.what}", len(held.places.points)
            out.append([at_points(c.coefficient, leaves, count, what) for c in held.residual.terms])
        return out

    def linear(self, tangents: Sequence[Sequence[FloatArray]], levels: FloatArray) -> FloatArray:
        """Return sums of tangents times derivatives, (S, data); levels as for `data`."""
        out = []
        for held, own in zip(self._held, tangents, strict=True):
            total = np.zeros((levels.shape[1], len(held.places.points)))
            for term, c in zip(held.residual.terms, own, strict=True):
                x, y, rate = term.orders
                weights = levels[rate][:, self.system.unknowns.index(term.unknown)]
                total += c * held.places.values(weights, (x, y))
            out.append(total)
        return np.concatenate(out, axis=1)

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Which data are of equations, those of conditions are not."""
        count = len(self.system.equations) * len(self.inner.points)
        return np.arange(sum(len(h.places.points) for h in self._held)) < count

    def solved(self, tree: FactoredTree, data: Numbers) -> Numbers:
        """Return the weights for several data of a mode, (R, all data): (R, K, n)."""
        columns = tree.solve([data[:, index].T for index in self._index])
        blocks = [c.T.reshape(len(data), len(self.system.unknowns), -1) for c in columns]
        return np.concatenate(blocks, axis=2)


@dataclass(frozen=True, eq=False)
class PatchFactors:
    """The systems of all modes for steps of one length, about one state.

    Parameters
    ----------
    discrete
        The patches.
    dt
        The length.
    about
        The state.
    even
        Whether tangents of the equations are the same everywhere, about the middle of what they
        are: then equal patches are factored once.
    """

    discrete: PatchDiscrete
    dt: float
    about: About
    even: bool = False

    @cached_property
    def trees(self) -> list[FactoredTree]:
        """One for the real eigenvalue, one for each pair."""
        rates = [complex(value) / self.dt for value in diagonal().values]
        rates[0] = complex(rates[0].real, 0.0)
        numbers = [[float(c[0]) for c in own] for own in self._inside] if self.even else None
        tangents = Tangents(self.discrete.system, self.about, numbers)
        return [self.discrete.tree(tangents, rate) for rate in rates]

    @cached_property
    def _inside(self) -> list[list[FloatArray]]:
        """Tangents of the equations at the points of their rows."""
        discrete = self.discrete
        own = discrete.held(range(len(discrete.system.equations)))
        found = discrete.tangents(own, self.about.weights, self.about.t)
        if not self.even:
            return found
        return [[np.full(c.shape, 0.5 * (c.min() + c.max())) for c in each] for each in found]

    @cached_property
    def tangents(self) -> list[list[FloatArray]]:
        """At the points of the rows."""
        assert self.trees
        discrete = self.discrete
        own = discrete.held(range(len(discrete.system.equations), discrete.count))
        return [*self._inside, *discrete.tangents(own, self.about.weights, self.about.t)]

    def next(self, start: FloatArray, levels: FloatArray, t: FloatArray) -> FloatArray:
        """Return the stages that are next by Newton's method with these systems, (S, K, n).

        Parameters
        ----------
        start
            Unknowns and rates at the beginning, (2, K, n).
        levels
            Stages, (S, K, n).
        t
            Their moments.
        """
        assert self.trees
        discrete, radau = self.discrete, diagonal()
        left = discrete.data(with_rates(start, levels, self.dt), t)
        whole = discrete.linear(self.tangents, with_rates(np.zeros_like(start), levels, self.dt))
        mixed = radau.into @ (whole - left)
        count = len(self.trees) - 1
        found = [discrete.solved(self.trees[0], mixed[:1])]
        pairs = mixed[1 : 1 + count] + 1j * mixed[1 + count :]
        found += [
            discrete.solved(tree, own[None])
            for tree, own in zip(self.trees[1:], pairs, strict=True)
        ]
        modes = [*(f.real for f in found), *(f.imag for f in found[1:])]
        return np.asarray(-np.tensordot(radau.back, np.concatenate(modes), axes=1))


def with_rates(start: FloatArray, levels: FloatArray, dt: float) -> FloatArray:
    """Return stages with their first and second rates, (RATES, S, K, n)."""
    inverse = diagonal().inverse / dt
    first = np.tensordot(inverse, levels - start[0], axes=1)
    return np.stack([levels, first, np.tensordot(inverse, first - start[1], axes=1)])


def unseen_on_patches(
    factors: PatchFactors,
    start: FloatArray,
    values: FloatArray,
    t: float,
    span: tuple[float, float],
) -> FloatArray:
    """Return how far off a step may be by what its stages do not see, at the inner points, (K, m).

    As on the line: what is left of equations between the stages adds up; of conditions the largest
    counts, while it lasts.

    Parameters
    ----------
    factors
        Of the step.
    start, values
        Unknowns and rates at its beginning, and weights there and at the stages.
    t, span
        When it begins, and the span of the whole run.
    """
    discrete, dt = factors.discrete, factors.dt
    s = between(t, t + dt, span)
    if not len(s):
        return np.zeros((len(values[0]), 1))
    every = np.concatenate([stage_nodes(), s])
    first = interpolation_rate(every) / dt
    shares = [interpolation(every), first, first @ differentiation() / dt]
    levels = np.stack([np.tensordot(share, values, axes=1) for share in shares])
    levels[:, :STAGES] = with_rates(start, values[1:], dt)
    rest = left_over(every, discrete.data(levels, t + dt * every))
    within = np.where(discrete.inside, rest * lengths_of(s)[:, None] / diagonal().gamma, 0.0)
    beside = np.where(discrete.inside, 0.0, rest)
    found = discrete.solved(factors.trees[0], np.concatenate([within, beside]))
    seen = np.abs(discrete.inner.values(found, (0, 0)))
    return np.asarray(seen[: len(s)].sum(axis=0) + seen[len(s) :].max(axis=0))


def stage_moments(t: float, dt: float) -> FloatArray:
    """Return the moments of the stages."""
    return np.asarray(t + dt * stage_nodes(STAGES))
