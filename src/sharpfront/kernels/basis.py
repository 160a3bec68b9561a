"""Kernels placed in space: the functions whose weighted sum is the solution."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from sharpfront.arrays import Array, identity, namespace, to_host
from sharpfront.errors import BasisError
from sharpfront.kernels import Gaussian, Kernel, Orders, kernel_named

# Entries of one evaluation matrix: 16 MB of doubles, so that a million points do not fill memory.
_CHUNK = 2_000_000


@runtime_checkable
class Basis(Protocol):
    """The contract: how many functions, in how many dimensions, and any derivative of them."""

    @property
    def size(self) -> int:
        """The number of functions."""

    @property
    def kernels(self) -> int:
        """The number of kernels, without what only helps them: polynomials, ghosts."""

    @property
    def dimension(self) -> int:
        """The number of coordinates."""

    def matrix(self, points: Array, orders: Orders) -> Array:
        """Return d^orders of each function at each point, (m, size)."""

    def values(self, weights: Array, points: Array, orders: Orders) -> Array:
        """Return d^orders of the weighted sum at each point, (m,)."""

    def state(self) -> dict[str, Any]:
        """Return arrays and words from which the basis is made again."""


@runtime_checkable
class CombiningBasis(Basis, Protocol):
    """A basis that adds up several derivatives faster than one after the other."""

    def combined(
        self, points: Array, orders: Sequence[Orders], coefficients: Sequence[Array]
    ) -> Array:
        """Return sum_t c_t d^orders_t of each function at each point, (m, size)."""


@runtime_checkable
class SharingBasis(Basis, Protocol):
    """A basis that finds several derivatives at once faster than one after the other."""

    def several(self, weights: Array, points: Array, orders: Sequence[Orders]) -> list[Array]:
        """Return several derivatives of the weighted sum at each point, (m,) each."""


@runtime_checkable
class PlacedBasis(Protocol):
    """A basis that says where its functions are and how far they reach."""

    @property
    def dimension(self) -> int:
        """The number of coordinates."""

    @property
    def centres(self) -> Array:
        """Where they are, (n, d)."""

    @property
    def covariances(self) -> Array:
        """How far they reach, (n, d, d)."""


@dataclass(frozen=True, eq=False)
class KernelBasis:
    """One kernel at many centres, each with its own shape, and a polynomial tail."""

    kernel: Kernel  # the profile
    centres: Array  # (n, d)
    # (n, d, d): z = shape (x - centre). Isotropic kernels of width s have shape I / s.
    shapes: Array
    degree: int = -1  # total degree of the polynomial tail; -1 for none

    def __post_init__(self) -> None:
        if self.centres.ndim != 2 or self.shapes.shape != (*self.centres.shape, self.dimension):
            raise BasisError(
                f"Expected centres (n, d) and shapes (n, d, d), got {tuple(self.centres.shape)} "
                f"and {tuple(self.shapes.shape)}."
            )
        xp = namespace(self.centres, self.shapes)
        if not bool(xp.all(xp.isfinite(self.centres))) or not bool(
            xp.all(xp.isfinite(self.shapes))
        ):
            raise BasisError("Centres and shapes must be finite; a width of zero gives no shape.")

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return int(self.centres.shape[1])

    @property
    def kernels(self) -> int:
        """The number of kernels."""
        return int(self.centres.shape[0])

    @property
    def size(self) -> int:
        """The number of kernels and polynomials."""
        return int(self.centres.shape[0]) + len(self._powers)

    @property
    def _powers(self) -> list[Orders]:
        ranges = [range(self.degree + 1)] * self.dimension
        return [p for p in itertools.product(*ranges) if sum(p) <= self.degree]

    @property
    def covariances(self) -> Array:
        """Those of Gaussians of these shapes, (n, d, d)."""
        xp = namespace(self.shapes)
        return xp.linalg.inv(xp.matrix_transpose(self.shapes) @ self.shapes)

    def matrix(self, points: Array, orders: Orders) -> Array:
        """Return d^orders of each function at each point, (m, size)."""
        if points.ndim != 2 or points.shape[1] != self.dimension:
            raise BasisError(
                f"Expected points of shape (m, {self.dimension}), got {tuple(points.shape)}."
            )
        if len(orders) != self.dimension:
            raise BasisError(
                f"Expected one order for each of {self.dimension} coordinates, got {orders}."
            )
        kernels = self.kernel.matrix(points, self.centres, self.shapes, orders)
        if not self._powers:
            return kernels
        tail = [self._monomial(points, power, orders) for power in self._powers]
        xp = namespace(points)
        return xp.concat([kernels, xp.stack(tail, axis=1)], axis=1)

    def values(self, weights: Array, points: Array, orders: Orders) -> Array:
        """Return d^orders of the weighted sum at each point, (m,), some points at a time."""
        step = max(1, _CHUNK // self.size)
        starts = range(0, max(int(points.shape[0]), 1), step)
        parts = [self.matrix(points[i : i + step, :], orders) @ weights for i in starts]
        return parts[0] if len(parts) == 1 else namespace(points).concat(parts)

    def _monomial(self, points: Array, power: Orders, orders: Orders) -> Array:
        """Return d^orders of prod ((x_i - middle_i) / half_i)^power_i, scaled to the centres."""
        xp = namespace(points)
        result = points[:, 0] * 0 + 1
        for i, (p, n) in enumerate(zip(power, orders, strict=True)):
            low, high = xp.min(self.centres[:, i]), xp.max(self.centres[:, i])
            half = xp.where(high > low, (high - low) / 2, xp.ones_like(low))
            if n > p:
                return result * 0
            scaled = (points[:, i] - (low + high) / 2) / half
            result = result * math.perm(p, n) * scaled ** (p - n) / half**n
        return result

    def state(self) -> dict[str, Any]:
        """Return arrays and words from which `restore` makes the basis again."""
        return {
            "type": "kernels",
            "kernel": self.kernel.name,
            "degree": self.degree,
            "centres": to_host(self.centres),
            "shapes": to_host(self.shapes),
        }


def restore(state: dict[str, Any]) -> Basis:
    """Return the basis that `state` was taken from."""
    if state.get("type") != "kernels":
        raise BasisError(f"A basis of type {state.get('type')!r} is not known to this version.")
    kernel = kernel_named(state["kernel"])
    return KernelBasis(kernel, state["centres"], state["shapes"], int(state["degree"]))


def isotropic(centres: Array, widths: Array, kernel: Kernel | None = None) -> KernelBasis:
    """Return round kernels: centres (n, d) and one width each, (n,)."""
    xp = namespace(centres, widths)
    if bool(xp.any(widths <= 0)):
        raise BasisError("Widths must be positive; got a width of zero or below.")
    shapes = identity(centres.shape[1], centres)[None, :, :] / widths[:, None, None]
    return KernelBasis(kernel or Gaussian(), centres, shapes)


def from_covariances(
    centres: Array, covariances: Array, kernel: Kernel | None = None
) -> KernelBasis:
    """Return kernels with a full covariance each: centres (n, d), covariances (n, d, d)."""
    xp = namespace(centres, covariances)
    try:
        lower = xp.linalg.cholesky(covariances)
    # The standard names no exception: NumPy's is a ValueError, Torch's a RuntimeError.
    except (ValueError, RuntimeError) as error:
        raise BasisError(f"Covariances must be symmetric and positive definite: {error}.") from None
    unit = identity(centres.shape[1], centres)
    shapes = xp.linalg.solve(lower, xp.broadcast_to(unit, lower.shape))
    return KernelBasis(kernel or Gaussian(), centres, shapes)
