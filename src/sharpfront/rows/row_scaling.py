"""What the rows of a problem are measured by, and the probe beside their right-hand sides.

The probe is white noise of size one in units of u. What its solution grows to says how well the
problem determines its solution. For systems and beyond order two a smooth load is another probe,
whose solution is the softest mode.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import TypeVar

import numpy as np

from sharpfront.arrays import Flags, FloatArray, Ints, remembered
from sharpfront.bases.corner_functions import CornerFunctions, SharedFunctions, count, tabulated
from sharpfront.bases.layer_functions import LayerFunctions
from sharpfront.bases.local_functions import HeldFunctions
from sharpfront.bases.patch import Patch
from sharpfront.bases.vertex_functions import VertexFunctions
from sharpfront.equation.linearise import LinearForm
from sharpfront.problem import Problem
from sharpfront.rounding import TINY
from sharpfront.rows.form_values import FormValues, form_at, is_constant, taylor_of
from sharpfront.rows.row_norm import THIN, felt_sides, roughness, size_of_terms

# Numbers that the probe repeats.
NOISE = 9973
# A place is told from others by its product with these.
MIXED = np.array([12.9898, 78.233, 37.719])
# Equation rows weigh this power of the number of functions less than ties and conditions, for
# order two: almost C1 beats a small residual. Any weight from p^-1 on gives the same digits. With
# its square 19 drawn problems take 1.06 times the functions, and one is not solved.
LIGHTER = 1.5
# Tables of functions of all patches that are kept: some for each side of a few hundred patches.
MOST_TABLES = 2000
# Points at which the operator is looked at for what a load may do.
LOOKED = 64
# One length, or several.
Length = TypeVar("Length", float, FloatArray)


class Measure:
    """Sizes of unknowns, votes of patches and the probe's noise for a linear problem."""

    def __init__(
        self, problem: Problem, seed: int, functions: tuple[SharedFunctions, ...] = ()
    ) -> None:
        self.problem, self.functions, self.shared = problem, functions, count(functions)
        self.unknowns = problem.unknowns
        self.rough = roughness(problem.forms, problem.unknowns)
        self.order = max(form.order for form in problem.forms)
        self.constant = all(is_constant(f) for f in problem.forms)
        # Whether the equations are highest derivatives with constant coefficients, and no more,
        # which leave nothing of functions of corners; of those of edges they do.
        self.principal = (
            self.constant
            and problem.domain.dimension < 3
            and all(t.order == self.order for form in problem.forms for t in form.terms)
        )
        # Equal votes of the rings about a corner: h^(d/2 - m) for order 2m.
        self._vote = 0.5 * problem.domain.dimension - 0.5 * self.order
        self.extent = float(np.ptp(problem.domain.bounds, axis=0).max())
        self._noise = _drawn(seed)
        # A smooth load is solved for where corners may hold a soft mode back (`patchwork.soft`).
        self.loaded = problem.domain.dimension > 1 and (self.order > 2 or len(self.unknowns) > 1)
        self._load = self._smooth_load(seed)
        self.climbs: dict[Patch, float] = {}
        self._reaches: dict[object, FloatArray] = {}
        self._tabulated: dict[object, FloatArray] = {}
        # Whether some functions are not of all patches.
        self._local = any(
            isinstance(f, (CornerFunctions, HeldFunctions)) and f.support is not None
            for f in functions
        )
        self._first = np.cumsum([0, *(f.size for f in functions)])[:-1].tolist()

    def like(self, other: Measure) -> None:
        """Share tables of the functions of all patches, which are those of another problem too."""
        self._tabulated = other._tabulated

    def _smooth_load(self, seed: int) -> FloatArray:
        """Return the value and slopes of the smooth probe in each equation, (equations, 1 + d)."""
        shape = len(self.problem.forms), 1 + self.problem.domain.dimension
        load = np.random.default_rng(seed).standard_normal(shape)
        # Constraints such as u_x + v_y = 0 may not hold with anything else on the right.
        highest = np.array([form.order == self.order for form in self.problem.forms])
        return np.asarray(load * highest[:, None])

    @cached_property
    def load_effect(self) -> float:
        """What the smooth probe does to u where nothing is soft: over all the domain's extent."""
        points = self.problem.domain.sample(LOOKED)
        sides = np.full(points.shape[1], self.extent)
        effects = []
        for form, load in zip(self.problem.forms, self.load(points), strict=True):
            found = form_at(form, self.problem.coordinates, points)
            effects.append(np.abs(load) / np.maximum(size_of_terms(found, sides, self.rough), TINY))
        return float(np.max(effects))

    def vote(self, length: Length) -> Length:
        """Return the vote of patches as long as that, or of each of several."""
        vote: Length = length**self._vote
        return vote

    def weight(self, patch: Patch) -> float:
        """Return the weight of a patch's rows: its vote, times the climb to it."""
        return self.vote(patch.longest) * self.climb(patch)

    def climb(self, patch: Patch) -> float:
        """Return how many times more rows count on a patch for what it conducts (`climbs`)."""
        return self.climbs.get(patch, 1.0)

    def probed(
        self,
        rhs: FloatArray,
        load: FloatArray | float = 0.0,
        points: FloatArray | None = None,
        shared: FloatArray | float = 0.0,
    ) -> FloatArray:
        """Return a right-hand side of rows with the probes' beside it, (m, 2) or (m, 3), and more.

        Rows of the equation on a patch have noise of their own, by the `points` they are asked at.
        Last come those of the functions of all patches together.
        """
        probes = 3 if self.loaded else 2
        out = np.empty((len(rhs), probes + self.shared))
        out[:, probes:] = shared
        out[:, 0] = rhs
        where = np.zeros((1, 1)) if points is None or not len(points) else points
        out[:, 1] = self.noise(where.mean(axis=0, keepdims=True), len(rhs))[0]
        if self.loaded:
            out[:, 2] = load
        return out

    def noise(self, places: FloatArray, count: int) -> FloatArray:
        """Return so many numbers of noise for each place, (n, d), as (n, count).

        Were they the same for all patches, equal ones side by side would not see modes that are
        odd about where they meet.
        """
        which = self.noise_from(places)[:, None] + np.arange(count)
        return np.asarray(self.noise_for(count)[which] / math.sqrt(count))

    @staticmethod
    def noise_from(places: FloatArray) -> Ints:
        """Return with which number of the noise each place starts, (n,)."""
        # Digits of a sine are as good as drawn, and the same whatever came before.
        mixed = 4e4 * np.sin(places @ MIXED[: places.shape[1]])
        return np.asarray((NOISE * (mixed - np.floor(mixed))).astype(np.int64))

    def noise_for(self, count: int) -> FloatArray:
        """Return the noise, of which any place takes so many in a row."""
        return np.resize(self._noise, NOISE + count)

    def of_functions(
        self,
        form: FormValues,
        points: FloatArray,
        scale: FloatArray | float,
        patch: Patch,
        among: Flags | None = None,
    ) -> FloatArray | float:
        """Return what a form makes of shared functions on a patch, on the right-hand side.

        The form is in derivatives along space's axes, at points, with a factor for each. Of all
        functions, or of those among some.
        """
        if not self.shared:
            return 0.0
        out = np.zeros((len(points), self.shared), dtype=np.result_type(*form.coefficients))
        held = self._holds(patch) if among is None else self._holds(patch) & among
        if not held.any():
            return out
        known, factor = self._laplacians, _of_laplacian(form)
        plain = held & np.isnan(known) if factor is not None else held
        for term, c in zip(form.terms, form.coefficients, strict=True):
            which = plain if sum(term.orders) == 2 else held
            if which.any():
                own = self._table(points, term.orders, patch, which)
                out[:, which] -= np.reshape(scale * c, (-1, 1)) * own
        if factor is not None and (rest := held & ~plain).any():
            out[:, rest] -= np.reshape(scale * factor, (-1, 1)) * known[rest]
        return out

    @cached_property
    def _laplacians(self) -> FloatArray:
        """The Laplacian of each shared function where that is the same everywhere, else NaN."""
        each = [f.functions if isinstance(f, HeldFunctions) else f for f in self.functions]
        return np.concatenate(
            [
                f.laplacians if isinstance(f, VertexFunctions) else np.full(f.size, np.nan)
                for f in each
            ]
        )

    def _table(
        self,
        points: FloatArray,
        orders: tuple[int, ...],
        patch: Patch,
        held: Flags,
    ) -> FloatArray:
        """Return a derivative of some shared functions at points of a patch, (m, functions)."""
        key = points.tobytes(), orders, patch.middle.tobytes(), held.tobytes()
        if key not in self._tabulated:
            if len(self._tabulated) > MOST_TABLES:
                self._tabulated.clear()
            own = [f for f, first in zip(self.functions, self._first, strict=True) if held[first]]
            self._tabulated[key] = tabulated(own, points, orders, patch.middle)
        return self._tabulated[key]

    def held_by_one(self, one: Patch, other: Patch) -> Flags | None:
        """Tell which shared functions just one of two patches has; None if there are none."""
        if not self._local:
            return None
        differ = self._holds(one) != self._holds(other)
        return differ if differ.any() else None

    @remembered()
    def _holds(self, patch: Patch) -> Flags:
        """Tell which shared functions a patch has."""
        local = [
            f.has(patch.middle)[0] if isinstance(f, (CornerFunctions, HeldFunctions)) else True
            for f in self.functions
        ]
        return np.repeat(local, [f.size for f in self.functions])

    def in_layers(self, patch: Patch) -> FloatArray:
        """Return points of a patch in layers that have functions: rows see these there, (m, d)."""
        if not len(self._in_layers):
            return self._in_layers
        inside = np.all((self._in_layers >= patch.low) & (self._in_layers <= patch.high), axis=1)
        return np.asarray(self._in_layers[inside])

    @property
    def layered(self) -> bool:
        """Whether some functions are those of layers."""
        return any(isinstance(f, LayerFunctions) for f in self.functions)

    @cached_property
    def _in_layers(self) -> FloatArray:
        found = [f.row_points for f in self.functions if isinstance(f, LayerFunctions)]
        return np.concatenate(found) if found else np.zeros((0, self.problem.domain.dimension))

    def load(self, points: FloatArray) -> FloatArray:
        """Return the smooth probe at points, one source for each equation, (equations, m)."""
        bounds = self.problem.domain.bounds
        at = (points - bounds.mean(axis=0)) / self.extent
        return np.asarray(self._load[:, :1] + self._load[:, 1:] @ at.T)

    def at(
        self,
        form: LinearForm,
        patch: Patch,
        positions: FloatArray,
        normals: FloatArray | None = None,
    ) -> FormValues:
        """Return a form at positions in a patch's chart, in derivatives along the chart."""
        points = patch.in_space(positions)
        found = form_at(form, self.problem.coordinates, points, normals)
        return found.in_chart(taylor_of(patch, positions))

    def reach(self, patch: Patch) -> FloatArray:
        """Return the sides of a patch as far as its effect is felt."""
        if not self._is_thin(patch):
            return patch.sides
        key = self._reach_key(patch)
        if key not in self._reaches:
            self.note_reaches([patch])
        return self._reaches[key]

    def note_reaches(self, patches: Sequence[Patch]) -> None:
        """Find the reach of thin patches: coefficients that vary are evaluated once for all."""
        fresh = {self._reach_key(p): p for p in patches if self._is_thin(p)}
        fresh = {key: p for key, p in fresh.items() if key not in self._reaches}
        if not fresh:
            return
        own = list(fresh.values())
        middles = [
            0.5 * (p.low + p.high)[None] if p.cut is None else p.inner_points()[:1] for p in own
        ]
        points = np.concatenate([p.in_space(at) for p, at in zip(own, middles, strict=True)])
        ends = np.cumsum([len(at) for at in middles])[:-1]
        each = [
            form_at(form, self.problem.coordinates, points).split(ends)
            for form in self.problem.forms
        ]
        for k, (key, patch) in enumerate(fresh.items()):
            taylor = taylor_of(patch, middles[k])
            forms = [parts[k].in_chart(taylor) for parts in each]
            self._reaches[key] = self.felt(forms, patch.sides[None])[0]

    def _is_thin(self, patch: Patch) -> bool:
        longest = self.extent if patch.dimension == 1 else patch.longest
        return bool(longest >= THIN * patch.shortest)

    def _reach_key(self, patch: Patch) -> object:
        return patch.shape if self.constant else patch

    def felt(self, forms: Sequence[FormValues], sides: FloatArray) -> FloatArray:
        """Return the sides of patches, (b, d), as far as effects of forms at a point are felt."""
        found = [felt_sides(form, sides, self.rough, self.extent) for form in forms]
        return np.asarray(np.max(found, axis=0))


def _of_laplacian(form: FormValues) -> FloatArray | None:
    """Return the factor of the Laplacian if a form has no other derivatives of order two."""
    pairs = zip(form.terms, form.coefficients, strict=True)
    second = [(t.orders, c) for t, c in pairs if sum(t.orders) == 2]
    pure = [c for orders, c in second if max(orders) == 2]
    if form.order != 2 or len(pure) != len(second) or len(pure) != len(second[0][0]):
        return None
    return pure[0] if all(np.array_equal(c, pure[0]) for c in pure) else None


@lru_cache(maxsize=4)
def _drawn(seed: int) -> FloatArray:
    """Return the numbers of the probe's noise."""
    return np.random.default_rng(seed).standard_normal(NOISE)


def lightest(patches: Sequence[Patch], order: int) -> float:
    """Return the smallest weight of equation rows on patches."""
    return float(lighter(np.array([p.functions for p in patches]), order).min())


def lighter(functions: Ints, order: int) -> FloatArray:
    """Return the weight of equation rows on patches with so many functions along axes, (n, d)."""
    most = np.prod(functions, axis=1) ** (1.0 / functions.shape[1])
    return np.asarray(most ** (-LIGHTER * order / 2))
