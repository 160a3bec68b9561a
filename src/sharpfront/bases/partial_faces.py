"""Faces of patches in space of which only a part lies inside, or whose normals vary."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import qr

from sharpfront.arrays import Flags, FloatArray, remembered
from sharpfront.bases.axis_functions import means_of, points_for
from sharpfront.bases.legendre import gauss, legendre_table, product_points
from sharpfront.bases.total_degree import products
from sharpfront.maps import Shell

if TYPE_CHECKING:
    from sharpfront.bases.solid_cut_cells import SolidRegion

# Points along an axis that tell what of a face lies inside at first, and at the most.
ON_FACE, CLOSER = 16, 64
# Points on a part of a face for every moment.
ON_PART = 3
# Combinations of polynomials that are smaller than this on a part of a face are left out.
DEPENDENT = 1e-5
# Points of a side of a shell beyond those that are exact for polynomials: its map is none.
MAPPED = 6


@dataclass(frozen=True, eq=False)
class Part(ABC):
    """A part of a rectangle, and moments over it.

    Parameters
    ----------
    low, high
        The rectangle about it.
    """

    low: FloatArray
    high: FloatArray

    @abstractmethod
    def placed(self, at: FloatArray) -> FloatArray:
        """Return positions of the rectangle, (m, 2), as points of it, (m, 3)."""

    @abstractmethod
    def has(self, points: FloatArray) -> Flags:
        """Tell which points of the rectangle belong to the part."""

    @property
    def is_whole(self) -> bool:
        """Whether it is known to be all of the rectangle."""
        return False

    @remembered()
    def rule(
        self, counts: tuple[int, ...], decays: tuple[float, ...] = (0.0, 0.0)
    ) -> tuple[FloatArray, FloatArray]:
        """Return points, (m, 3), and what takes values there to moments, (moments, m).

        These are means with functions up to a joint degree that are orthonormal in the mean over
        the points; those of which nothing is left there are left out. Functions are polynomials, or
        along an axis of a whole face those of `axis_functions`.
        """
        return self._whole(counts, decays) if self.is_whole else self._cut(counts)

    def _whole(
        self, counts: tuple[int, ...], decays: tuple[float, ...]
    ) -> tuple[FloatArray, FloatArray]:
        along = tuple(
            points_for(n + MAPPED, fall) if fall else n + MAPPED
            for n, fall in zip(counts, decays, strict=True)
        )
        first, second = (
            means_of(*each)[own]
            for *each, own in zip(along, counts, decays, products(counts, True), strict=True)
        )
        at = product_points([gauss(n)[0] for n in along])
        mean = (first[:, :, None] * second[:, None, :]).reshape(len(first), -1)
        return self.placed(self._spread(at)), mean

    def _cut(self, counts: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
        z, points = self._points(ON_PART * products(counts, True).shape[1])
        # Products of Legendre polynomials up to a joint degree at points.
        chosen = products(counts, True)
        values = np.ones((len(z), chosen.shape[1]))
        for a, (count, own) in enumerate(zip(counts, chosen, strict=True)):
            values *= legendre_table(z[:, a], count)[0][:, own]
        basis, triangle, _ = qr(values, mode="economic", pivoting=True)
        sizes = np.abs(np.diagonal(triangle))
        kept = basis[:, sizes > DEPENDENT * sizes[0]]
        return points, np.ascontiguousarray(kept.T) / np.sqrt(len(points))

    def _points(self, count: int) -> tuple[FloatArray, FloatArray]:
        """Return points of the part, at least so many, in the reference square and placed."""
        along = max(ON_FACE, int(np.sqrt(count)))
        while True:
            z = product_points([gauss(along)[0]] * 2)
            points = self.placed(self._spread(z))
            inside = self.has(points)
            if inside.sum() >= count or along >= 4 * CLOSER:
                return z[inside], points[inside]
            along = int(1.5 * along)

    def _spread(self, z: FloatArray) -> FloatArray:
        return np.asarray(0.5 * (self.low * (1 - z) + self.high * (1 + z)))


@dataclass(frozen=True, eq=False)
class PartialFace(Part):
    """What of a face between two boxes lies inside of a solid.

    Parameters
    ----------
    region
        The solid.
    axis, place
        The plane it lies in.
    """

    region: SolidRegion
    axis: int
    place: float

    def placed(self, at: FloatArray) -> FloatArray:
        """Return positions in the plane as points of space."""
        return np.insert(at, self.axis, self.place, axis=1)

    def has(self, points: FloatArray) -> Flags:
        """Tell which points have the solid on both sides of the plane."""
        size = float(np.max(self.high - self.low))
        return self.region.on_both_sides(points, self.axis, size)


@dataclass(frozen=True, eq=False)
class ShellFace(Part):
    """What two patches have in common of a side of a shell; its points are positions in the shell.

    Parameters
    ----------
    shell
        The shell.
    axis, end
        The side: which coordinate stays the same, at its lower (0) or upper (1) end.
    box
        Where given, the ends of a box of space, of which it is the part inside.
    """

    shell: Shell
    axis: int
    end: int
    box: tuple[FloatArray, FloatArray] | None = None

    @property
    def is_whole(self) -> bool:
        """Whether it is all of the rectangle."""
        return self.box is None

    def placed(self, at: FloatArray) -> FloatArray:
        """Return positions along the side as positions in the shell."""
        place = float(self.shell.size[self.axis]) if self.end else 0.0
        return np.insert(at, self.axis, place, axis=1)

    def has(self, points: FloatArray) -> Flags:
        """Tell which positions lie in the box."""
        assert self.box is not None
        low, high = self.box
        at = self.shell.points(points)
        return np.asarray(np.all((at >= low) & (at <= high), axis=1))
