"""Where a picture looks: a line or a plane through the domain, and the kernels seen there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray, to_host
from sharpfront.errors import ProblemError
from sharpfront.geometry import Domain
from sharpfront.mixture import Mixture
from sharpfront.pieces import tables

Where = Mapping[str, float | tuple[float, float]]
# A kernel is seen on a section that passes within so many standard deviations of its centre.
_REACH = 2.0


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

    def within(self, flat: FloatArray) -> NDArray[np.bool_]:
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


@dataclass(frozen=True, eq=False)
class Kernels:
    """Centres (n, d) and covariances (n, d, d)."""

    centres: FloatArray
    covariances: FloatArray

    @property
    def thinnest(self) -> float:
        """The smallest standard deviation of any kernel in any direction; infinite for none."""
        if not len(self.centres):
            return np.inf
        return float(np.sqrt(np.linalg.eigvalsh(self.covariances)[:, 0].min()))

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
        kept = where.within(centres)
        return Kernels(centres[kept], covariances[kept])


def kernels_of(basis: Any) -> Kernels:
    """Return the kernels of a basis; none where it does not say where they are."""
    d = int(basis.dimension)
    centres = getattr(basis, "centres", None)
    if centres is None:
        return Kernels(np.zeros((0, d)), np.zeros((0, d, d)))
    places = np.asarray(to_host(centres), dtype=float)
    if hasattr(basis, "covariances"):
        return Kernels(places, np.asarray(basis.covariances))
    if hasattr(basis, "shapes"):
        shapes = np.asarray(to_host(basis.shapes), dtype=float)
        return Kernels(places, np.linalg.inv(np.swapaxes(shapes, 1, 2) @ shapes))
    # Pieces of the line: even kernels in a coordinate of their own, so many spacings wide.
    order = np.argsort(places[:, 0])
    widths = np.ones(len(places))
    if len(places) > 1:
        widths[order] = tables.WIDTH * np.abs(np.gradient(places[order, 0]))
    return Kernels(places, widths[:, None, None] ** 2)


def mixture_of(solution: Any, unknown: str) -> Mixture | None:
    """Return the mixture that an unknown's kernels came from, or that of the last solve."""
    own: Mixture | None = getattr(solution.approximation.bases[unknown], "mixture", None)
    if own is None and solution.history:
        own = solution.history[-1].mixture
    return own
