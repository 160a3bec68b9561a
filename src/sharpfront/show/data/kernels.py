"""Where kernels and components are, and how wide: of a basis, at a moment, on a section.

Where a picture looks: a line or a plane through the domain.

Places at which a solution is tabulated: as close together as its kernels are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sharpfront.arrays import Flags, FloatArray, to_host
from sharpfront.bases.in_time import PatchworkInTime
from sharpfront.errors import ProblemError
from sharpfront.geometry import Domain
from sharpfront.kernels.basis import PlacedBasis
from sharpfront.mixture import Mixture
from sharpfront.pieces.slabs import SlabBasis
from sharpfront.rounding import BISECTIONS

# Of curves: even places, and into how many steps the way from one kernel to the next is divided.
_EVEN, _STEPS = 1001, 8


def graded_axis(basis: Any, axis: int, bounds: FloatArray, count: int) -> FloatArray:
    """Return up to `count` increasing places along an axis with both ends, dense like kernels.

    Even ones where a basis does not say where its kernels are in these bounds (2, d).
    """
    centres = centres_of(basis)
    known = centres[:, axis] if centres.shape[1] == bounds.shape[1] else np.zeros(0)
    return graded_places(known, bounds[:, axis], count)


def graded_places(
    centres: FloatArray, ends: Sequence[float] | FloatArray, count: int
) -> FloatArray:
    """Return up to `count` increasing places with both ends: even ones, and as dense as centres."""
    low, high = ends
    shares, inside = np.linspace(0.0, 1.0, count), np.clip(centres, low, high)
    graded = np.quantile(np.concatenate([[low], inside, [high]]), shares[1::2])
    return np.unique(np.concatenate([low + (high - low) * shares[::2], graded, [high]]))


def dense_places(kernels: Kernels, ends: tuple[float, float]) -> FloatArray:
    """Return even places on a line, and the way from each kernel to the next in steps."""
    (low, high), centres = ends, kernels.centres[:, 0]
    inside = centres[(centres > low) & (centres < high)]
    stops = np.unique(np.concatenate([[low, high], inside]))
    graded = stops[:-1, None] + np.diff(stops)[:, None] * np.arange(_STEPS) / _STEPS
    return np.unique(np.concatenate([np.linspace(low, high, _EVEN), stops, graded.ravel()]))


def line_points(domain: Domain, where: Section, kernels: Kernels) -> tuple[FloatArray, Any]:
    """Return increasing places along a line, and which of them are inside the domain.

    Even places, the kernels' centres and some between each two, and the places where the line
    enters and leaves the domain, so that a layer narrower than even spacing is drawn where it is.
    """
    low, high = where.window[:, 0]
    x = dense_places(kernels, (low, high))
    inside = domain.contains(where.lift(x[:, None]))
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    entered = _crossings(domain, where, x[edges], x[edges + 1], inside[edges])
    x = np.concatenate([x, entered])
    inside = np.concatenate([inside, np.ones(len(entered), dtype=bool)])
    order = np.argsort(x, kind="stable")
    return x[order], inside[order]


def curve(
    function: Function, domain: Domain, where: Section, kernels: Kernels
) -> tuple[FloatArray, FloatArray]:
    """Return increasing places along a line, and a function there; NaN outside the domain."""
    x, inside = line_points(domain, where, kernels)
    values = np.full(len(x), np.nan)
    values[inside] = function(where.lift(x[inside, None]))
    return x, values


def _crossings(
    domain: Domain, where: Section, left: FloatArray, right: FloatArray, first: Any
) -> FloatArray:
    """Return the last places inside before the line crosses the boundary."""
    inner, outer = np.where(first, left, right), np.where(first, right, left)
    for _ in range(BISECTIONS if len(inner) else 0):
        middle = (inner + outer) / 2
        inside = domain.contains(where.lift(middle[:, None]))
        inner, outer = np.where(inside, middle, inner), np.where(inside, outer, middle)
    return np.asarray(inner)


Function = Callable[[FloatArray], FloatArray]
Where = Mapping[str, float | tuple[float, float]]


@dataclass(frozen=True, eq=False)
class Section:
    """A line or a plane along coordinate axes, within a window."""

    names: tuple[str, ...]  # names of all coordinates of the space
    free: tuple[int, ...]  # which of them vary
    point: FloatArray  # the values of the others, (d,); NaN for the free ones
    window: FloatArray  # lower and upper end of each free coordinate, (2, f)

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the free coordinates."""
        return tuple(self.names[i] for i in self.free)

    @property
    def title(self) -> str:
        """The fixed coordinates as text, ``z = 0.5``; empty where none is fixed."""
        fixed = [i for i in range(len(self.names)) if i not in self.free]
        return ", ".join(f"{self.names[i]} = {self.point[i]:g}" for i in fixed)

    def lift(self, flat: FloatArray) -> FloatArray:
        """Return points of the section (m, f) as points of space (m, d)."""
        points = np.tile(self.point, (len(flat), 1))
        points[:, self.free] = flat
        return points

    def within(self, flat: FloatArray) -> Flags:
        """Tell which points of the section (m, f) are in its window."""
        return np.asarray(np.all((flat >= self.window[0]) & (flat <= self.window[1]), axis=1))


def section(domain: Domain, names: Sequence[str], where: Where) -> Section:
    """Return the section that a number or a range for some of the coordinates describes."""
    point = np.full(len(names), np.nan)
    window = domain.bounds.copy()
    for name, value in where.items():
        if name not in names:
            raise ProblemError(
                f"plot() got {name!r}, which is not a coordinate; they are {', '.join(names)}."
            )
        i = list(names).index(name)
        low, high = domain.bounds[:, i]
        ends = np.atleast_1d(np.asarray(value, dtype=float))
        if ends.shape not in ((1,), (2,)) or not np.all((ends >= low) & (ends <= high)):
            raise ProblemError(
                f"Expected a number or a range (low, high) between {low:g} and {high:g} for "
                f"{name}, got {value!r}."
            )
        if len(ends) == 1:
            point[i] = ends[0]
        elif ends[0] < ends[1]:
            window[:, i] = ends
        else:
            raise ProblemError(f"The range of {name} must increase, got {value!r}.")
    free = tuple(int(i) for i in np.flatnonzero(np.isnan(point)))
    if not free:
        raise ProblemError("Every coordinate is fixed: call the solution for a single value.")
    return Section(tuple(names), free, point, window[:, list(free)])


def values_inside(function: Function, domain: Domain, points: FloatArray) -> FloatArray:
    """Return a function at points (m, d), NaN outside the domain."""
    values = np.full(len(points), np.nan)
    inside = domain.contains(points)
    if inside.any():
        values[inside] = function(points[inside])
    return values


# A kernel is seen on a section that passes within so many standard deviations of its centre.
_REACH = 2.0


@dataclass(frozen=True, eq=False)
class Kernels:
    """Centres (n, d) and covariances (n, d, d)."""

    centres: FloatArray
    covariances: FloatArray

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return int(self.centres.shape[1])

    @property
    def thinnest(self) -> float:
        """The smallest standard deviation of any kernel in any direction; infinite for none."""
        if not len(self.centres):
            return np.inf
        return float(np.sqrt(np.linalg.eigvalsh(self.covariances)[:, 0].min()))

    @classmethod
    def of_mixture(cls, mixture: Mixture) -> Kernels:
        """Return the components of a mixture as if they were kernels."""
        return cls(mixture.means, mixture.covariances)

    @classmethod
    def together(cls, several: Sequence[Kernels], dimension: int) -> Kernels:
        """Return all of several in one; none of none."""
        d = dimension
        centres = [np.zeros((0, d)), *(kernels.centres for kernels in several)]
        covariances = [np.zeros((0, d, d)), *(kernels.covariances for kernels in several)]
        return cls(np.concatenate(centres), np.concatenate(covariances))

    def chosen(self, which: Any) -> Kernels:
        """Return some of them, by number or by a flag for each."""
        return Kernels(self.centres[which], self.covariances[which])

    def thinned(self, most: int) -> tuple[Kernels, int]:
        """Return kernels that differ, at most so many of them, and how many were left out."""
        flat = self.covariances.reshape(len(self.centres), -1)
        both = np.concatenate([self.centres, flat], axis=1)
        scale = np.maximum(np.abs(both).max(axis=0, initial=0.0), np.finfo(float).tiny)
        _, first = np.unique(np.round(both / scale, 9), axis=0, return_index=True)
        left = max(0, len(first) - most)
        if left:
            # Every so-manieth of a grid would make patterns that are not there.
            first = np.random.default_rng(0).choice(first, most, replace=False)
        return self.chosen(first), left

    def on(self, where: Section) -> Kernels:
        """Return what a section shows of the kernels within its reach and window.

        A Gaussian restricted to fixed values of some coordinates is a Gaussian in the others.
        """
        free = list(where.free)
        fixed = [i for i in range(len(where.names)) if i not in free]
        centres, covariances = self.centres[:, free], self.covariances[:, free][:, :, free]
        if fixed and len(self.centres):
            off = where.point[fixed] - self.centres[:, fixed]
            between = self.covariances[:, fixed][:, :, free]
            across = np.linalg.inv(self.covariances[:, fixed][:, :, fixed])
            moved = np.einsum("nxf,nxy,ny->nf", between, across, off)
            centres = centres + moved
            covariances = covariances - np.einsum("nxf,nxy,nyg->nfg", between, across, between)
            near = np.einsum("nx,nxy,ny->n", off, across, off) <= _REACH**2
            centres, covariances = centres[near], covariances[near]
        return Kernels(centres, covariances).chosen(where.within(centres))


def centres_of(basis: Any) -> FloatArray:
    """Return the centres of a basis, (n, d); none where it does not say where they are."""
    if not isinstance(basis, PlacedBasis):
        return np.zeros((0, basis.dimension))
    return np.asarray(to_host(basis.centres), dtype=float)


def kernels_of(basis: Any) -> Kernels:
    """Return the kernels of a basis; none where it does not say where they are."""
    if not isinstance(basis, PlacedBasis):
        return Kernels.together([], int(basis.dimension))
    return Kernels(centres_of(basis), np.asarray(to_host(basis.covariances), dtype=float))


def kernels_at(basis: Any, t: float) -> Kernels | None:
    """Return the functions at a moment; None for a basis that does not tell.

    Those of an element or a patch stand at its Gauss points, as wide as they are apart.
    """
    if isinstance(basis, PatchworkInTime):
        return Kernels(*basis.places_at(t))
    if not isinstance(basis, SlabBasis):
        return None
    frame = basis.slab_at(t).at(t)
    points = frame.tables.points
    centres = frame.positions[0].T.ravel()
    widths = np.repeat(frame.lengths[0] / points, points)
    if frame.ring:
        # Where a ring begins: before any step nodes had not moved.
        low = float(basis.slabs[0].frame.nodes[0])
        centres = low + np.mod(centres - low, frame.nodes[-1] - frame.nodes[0])
    order = np.argsort(centres)
    return Kernels(centres[order, None], widths[order, None, None] ** 2)
