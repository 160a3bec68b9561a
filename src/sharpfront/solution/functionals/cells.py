"""Where a solution is looked at: between kernels on the line, in cells elsewhere, step by step.

Cells of a domain with rules of quadrature, halved until two rules agree.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.cut_cells import Region
from sharpfront.bases.in_time import PatchworkInTime
from sharpfront.bases.legendre import gauss, product_points, product_weights
from sharpfront.bases.patch import Patch
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.bases.star_charts import cone_of
from sharpfront.errors import DomainError
from sharpfront.geometry import Domain
from sharpfront.geometry.curves import Curve
from sharpfront.geometry.panels import Panels
from sharpfront.geometry.star_surface import squares_of
from sharpfront.geometry.surfaces import Surface
from sharpfront.maps import AxisMap, Strip
from sharpfront.pieces.slabs import SlabBasis
from sharpfront.rounding import EPS
from sharpfront.show.data.kernels import centres_of, graded_axis, kernels_at
from sharpfront.solution.approximation import Approximation

Rule = tuple[FloatArray, FloatArray]
# Points along an axis of a box beyond which nothing is known; the finer of two rules has more.
POINTS, MORE = 8, 3
# Rounds of halving, and cells beyond which no round is begun.
ROUNDS, MOST = 40, 20_000


class Cell(Protocol):
    """A part of a domain."""

    def rules(self) -> tuple[Rule, Rule]:
        """Return points with weights of a rough rule and of a finer one."""

    def halves(self) -> Sequence[Cell]:
        """Return the parts that halving along every axis leaves."""


@dataclass(frozen=True, eq=False)
class PatchCell:
    """A part of a patch, from `low` to `high` in its reference cell."""

    patch: Patch
    low: FloatArray
    high: FloatArray

    def rules(self) -> tuple[Rule, Rule]:
        """Return rules that are exact for the patch's own functions, and for some more."""
        counts = [max(p, 3) for p in self.patch.functions]
        return self._rule(counts), self._rule([n + MORE for n in counts])

    def _rule(self, counts: Sequence[int]) -> Rule:
        patch, half = self.patch, 0.5 * (self.high - self.low)
        z = [a + h * (1.0 + gauss(n)[0]) for a, h, n in zip(self.low, half, counts, strict=True)]
        at = patch.positions(z)
        lengths = [2.0 / m.slopes(s, 1)[0] for m, s in zip(patch.maps, z, strict=True)]
        weights = product_weights(tuple(counts)) * np.prod(product_points(lengths), axis=1)
        return patch.in_space(at), weights * float(np.prod(half)) * patch.densities(at)

    def halves(self) -> Sequence[Cell]:
        """Return two to the number of axes."""
        return [PatchCell(self.patch, low, high) for low, high in _halved(self.low, self.high)]


@dataclass(frozen=True, eq=False)
class BoxCell:
    """A box, or what lies in a region of it."""

    low: FloatArray
    high: FloatArray
    region: Region | None = None

    def rules(self) -> tuple[Rule, Rule]:
        """Return two of Gauss's rules; of a box that is cut its own and those of its halves."""
        look = True if self.region is None else self.region.look(self.low, self.high)
        if isinstance(look, bool):
            return self._whole(look, POINTS), self._whole(look, POINTS + MORE)
        finer = [half._own() for half in self.halves()]
        points, weights = zip(*finer, strict=True)
        return look.quadrature, (np.concatenate(points), np.concatenate(weights))

    def _own(self) -> Rule:
        look = True if self.region is None else self.region.look(self.low, self.high)
        return self._whole(look, POINTS) if isinstance(look, bool) else look.quadrature

    def _whole(self, inside: bool, count: int) -> Rule:
        """Return Gauss's rule on all of the box, or nothing."""
        if not inside:
            return np.empty((0, len(self.low))), np.empty(0)
        z = gauss(count)[0]
        axes = [0.5 * (a * (1 - z) + b * (1 + z)) for a, b in zip(self.low, self.high, strict=True)]
        weights = product_weights((count,) * len(axes))
        return product_points(axes), weights * float(np.prod(self.high - self.low))

    def halves(self) -> Sequence[BoxCell]:
        """Return two to the number of axes."""
        return [BoxCell(low, high, self.region) for low, high in _halved(self.low, self.high)]


def _halved(low: FloatArray, high: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
    middle = 0.5 * (low + high)
    sides = [((a, m), (m, b)) for a, m, b in zip(low, middle, high, strict=True)]
    chosen = (np.array(corner).T for corner in itertools.product(*sides))
    return [(one, two) for one, two in chosen]


def total(function: Callable[[FloatArray], FloatArray], cells: Sequence[Cell], tol: float) -> float:
    """Return the integral of a function over cells.

    Those on which two rules differ by more than `tol` of the whole are halved.
    """
    found, size, left = 0.0, 0.0, list(cells)
    for last in [*[False] * (ROUNDS - 1), True]:
        both = zip(*(c.rules() for c in left), strict=True)
        rough, fine = (_sums(function, rules) for rules in both)
        size = max(size, found + float(np.sum(np.abs(fine))))
        wide = np.abs(fine - rough) > tol * size
        if last or not wide.any() or len(left) > MOST:
            return found + float(np.sum(fine))
        found += float(np.sum(fine[~wide]))
        left = [h for cell, open_ in zip(left, wide, strict=True) if open_ for h in cell.halves()]
    return found


def _sums(function: Callable[[FloatArray], FloatArray], rules: Sequence[Rule]) -> FloatArray:
    """Return the integral over each cell by its rule, (cells,)."""
    points, weights = (np.concatenate(each) for each in zip(*rules, strict=True))
    own = np.repeat(np.arange(len(rules)), [len(w) for _, w in rules])
    values = function(points) * weights if len(points) else weights
    return np.asarray(np.bincount(own, values, len(rules)), dtype=float)


# Boxes along a side to begin with, where nothing says where a solution is rough.
BOXES = {2: 8, 3: 4}
# Points along each axis of a cone to begin with.
CONE = 8


def line_edges(approximation: Approximation, domain: Domain, t: float | None) -> FloatArray:
    """Return places between which a solution on the line is smooth, both ends among them."""
    low, high = (float(end) for end in domain.bounds[:, 0])
    parts = [np.array([low, high])]
    for basis in approximation.bases.values():
        moved = None if t is None else kernels_at(basis, t)
        parts.append(centres_of(basis)[:, 0] if moved is None else moved.centres[:, 0])
        if isinstance(basis, PatchworkBasis):
            parts.append(np.array([patch.low[0] for patch in basis.patches]))
        elif isinstance(basis, SlabBasis) and t is not None and not basis.slab_at(t).frame.ring:
            parts.append(np.asarray(basis.slab_at(t).at(t).nodes))
    places = np.unique(np.clip(np.concatenate(parts), low, high))
    far = np.diff(places, append=np.inf) > 4 * EPS * max(abs(low), abs(high))
    return np.asarray(np.unique(np.append(places[far], high)))


def subdivided(edges: FloatArray, count: int) -> FloatArray:
    """Return edges (n + 1,) with the way from each to the next in so many steps, (n count + 1,)."""
    share = np.arange(count) / count
    return np.append((edges[:-1, None] + np.diff(edges)[:, None] * share).ravel(), edges[-1])


def moments_of(approximation: Approximation, span: tuple[float, float]) -> FloatArray:
    """Return the ends of all steps in time, (n + 1,)."""
    basis: Any = next(iter(approximation.bases.values()))
    found = np.array(span)
    if isinstance(basis, SlabBasis | PatchworkInTime):
        found = basis.times
    return np.unique(np.clip(np.append(found, span), *span))


def cells_of(approximation: Approximation, domain: Domain) -> list[Cell]:
    """Return cells that tile a domain, each patch one of them where there are patches."""
    basis: Any = next(iter(approximation.bases.values()))
    if isinstance(basis, PatchworkBasis) and basis.dimension == domain.dimension:
        found = _patch_cells(basis, domain)
        if found is not None:
            return found
    if domain.is_box:
        axes = box_axes(basis, domain.bounds, BOXES.get(domain.dimension, 2) + 1)
        return [BoxCell(low, high) for low, high in _products(axes)]
    if domain.dimension == 2:
        low, high = domain.bounds
        axes, region = list(np.linspace(low, high, BOXES[2] + 1).T), region_of(domain)
        return [BoxCell(low, high, region) for low, high in _products(axes)]
    if cones := _cones(domain):
        return cones
    raise DomainError(
        "Integrals over solids are not there yet, but for those made of boxes and those inside one "
        "smooth surface that is seen from a centre. A rough value: the mean over "
        "solution.domain.sample(10000), times solution.domain.measure."
    )


def _cones(domain: Domain) -> list[Cell]:
    """Return a solid inside a smooth surface cut from its centre; nothing if it is another one."""
    pieces = [Surface.of(part, p) for part in domain.parts for p in domain.smooth_pieces(part)]
    squares = squares_of(pieces[0]) if len(pieces) == 1 and pieces[0] is not None else None
    if not squares or not domain.contains(squares[0].centre[None])[0]:
        return []
    ends, out = np.ones(3), list[Cell]()
    for chart in map(cone_of, squares):
        axes = tuple(AxisMap(0.0, float(x)) for x in chart.size)
        out.append(PatchCell(Patch(axes, (CONE,) * 3, chart), -ends, ends))
    return out


def region_of(domain: Domain) -> Region:
    """Return a domain of the plane as boxes see it that its whole boundary cuts."""
    pieces = [(part, c) for part in domain.parts for c in domain.smooth_pieces(part)]
    return Region(domain, Panels((p, c) for p, c in pieces if isinstance(c, Curve)))


def _patch_cells(basis: PatchworkBasis, domain: Domain) -> list[Cell] | None:
    """Return the cells of patches; None where a file has lost what lies inside of them."""
    outside = basis.outside or tuple(p.cut is not None for p in basis.patches)
    lost = [o and p.region is None for o, p in zip(outside, basis.patches, strict=True)]
    if any(lost) and any(isinstance(p.chart, Strip) for p in basis.patches):
        return None
    if basis.dimension == 3 and any(outside):
        return None
    region = region_of(domain) if any(lost) else None
    out: list[Cell] = []
    for patch, without in zip(basis.patches, lost, strict=True):
        inside = region if without else patch.region
        if isinstance(inside, Region) and (without or patch.cut is not None):
            out.append(BoxCell(patch.low, patch.high, inside))
        else:
            ends = np.ones(patch.dimension)
            out.append(PatchCell(patch, -ends, ends))
    return out


def _products(axes: Sequence[FloatArray]) -> list[tuple[FloatArray, FloatArray]]:
    """Return the lower and upper corners of boxes between places along axes."""
    gaps = itertools.product(*(list(itertools.pairwise(axis.tolist())) for axis in axes))
    corners = (np.array(gap) for gap in gaps)
    return [(c[:, 0], c[:, 1]) for c in corners]


def box_axes(basis: Any, bounds: FloatArray, count: int) -> list[FloatArray]:
    """Return places along the sides of a box, dense where kernels are where that is known."""
    return [graded_axis(basis, axis, bounds, count) for axis in range(bounds.shape[1])]
