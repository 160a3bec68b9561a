"""Kernels placed in space: the functions whose weighted sum is the solution."""

from __future__ import annotations

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
        """The number of kernels, without what only helps them, as ghosts do."""

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
    """One kernel at many centres, each with its own shape."""

    kernel: Kernel  # the profile
    centres: Array  # (n, d)
    # (n, d, d): z = shape (x - centre). Isotropic kernels of width s have shape I / s.
    shapes: Array

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
        """The number of kernels."""
        return self.kernels

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
        return self.kernel.matrix(points, self.centres, self.shapes, orders)

    def values(self, weights: Array, points: Array, orders: Orders) -> Array:
        """Return d^orders of the weighted sum at each point, (m,), some points at a time."""
        step = max(1, _CHUNK // self.size)
        starts = range(0, max(int(points.shape[0]), 1), step)
        parts = [self.matrix(points[i : i + step, :], orders) @ weights for i in starts]
        return parts[0] if len(parts) == 1 else namespace(points).concat(parts)

    def state(self) -> dict[str, Any]:
        """Return arrays and words from which `restore` makes the basis again."""
        return {
            "type": "kernels",
            "kernel": self.kernel.name,
            "centres": to_host(self.centres),
            "shapes": to_host(self.shapes),
        }


def restore(state: dict[str, Any]) -> Basis:
    """Return the basis that `state` was taken from."""
    if state.get("type") != "kernels":
        raise BasisError(f"A basis of type {state.get('type')!r} is not known to this version.")
    return KernelBasis(kernel_named(state["kernel"]), state["centres"], state["shapes"])


def isotropic(centres: Array, widths: Array, kernel: Kernel | None = None) -> KernelBasis:
    """Return round kernels: centres (n, d) and one width each, (n,)."""
    xp = namespace(centres, widths)
    if bool(xp.any(widths <= 0)):
        raise BasisError("Widths must be positive; got a width of zero or below.")
    shapes = identity(centres.shape[1], centres)[None, :, :] / widths[:, None, None]
    return KernelBasis(kernel or Gaussian(), centres, shapes)
