"""Where batches of matrices are worked on: a card through torch.

The one file that names torch. Batches are arrays of any library, used by what the array API, torch
and NumPy share: products, slices, whole numbers as indices.

Inverses of Cholesky factors of many matrices on a device, by matrix products.

A card multiplies matrices of doubles ten times as fast as it factors or solves with many small
ones. So factors are made of halves, as far as there are enough matrices to keep the card busy, and
inverses, which multiply vectors at once, take the place of triangular solves.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import numpy as np

from sharpfront.arrays import Array, Ints, namespace
from sharpfront.errors import ArgumentError, DeviceError, DeviceMemoryError, MissingExtraError

# Halves are taken of more columns than this, where there are so many matrices: on an H200 factors
# and inverses of 4096 matrices with 256 columns take 8 ms that way and 25 by its library, of 512
# with 220 half the time, of 64 with 224 more.
COLUMNS, MATRICES = 32, 512


class Factors(NamedTuple):
    """Inverses X of the lower factors, their diagonals, and for each matrix whether it has one.

    (b, n, n), (b, n) and (b,); X A X^T = 1.
    """

    inverse: Array
    diagonal: Array
    good: Array


def inverse_factors(device: Device, grams: Array) -> Factors:
    """Return the factors of symmetric matrices, (b, n, n)."""
    count, n = grams.shape[:2]
    inverse = device.zeros((count, n, n))
    diagonal = device.zeros((count, n))
    return Factors(inverse, diagonal, _filled(device, grams, inverse, diagonal))


def worst_of(diagonals: Array) -> Array:
    """Return the smallest and largest entry of the diagonal that has them farthest apart, (2,)."""
    xp = namespace(diagonals)
    low, high = xp.min(diagonals, axis=1), xp.max(diagonals, axis=1)
    worst = xp.reshape(xp.argmin(low / high), (1,))
    return xp.stack([xp.take(low, worst, axis=0)[0], xp.take(high, worst, axis=0)[0]])


def _filled(device: Device, grams: Array, inverse: Array, diagonal: Array) -> Array:
    """Write inverses and diagonals; return which matrices have factors."""
    count, n = grams.shape[:2]
    if n <= COLUMNS or count < MATRICES:
        lower, good = device.cholesky(grams)
        inverse[...] = device.inverse(lower)
        diagonal[...] = namespace(lower).linalg.diagonal(lower)
        return good
    h = COLUMNS * ((n // COLUMNS + 1) // 2)
    first = inverse[:, :h, :h]
    good = _filled(device, grams[:, :h, :h], first, diagonal[:, :h])
    below = grams[:, h:, :h] @ first.mT
    left = grams[:, h:, h:] - below @ below.mT
    good = good & _filled(device, left, inverse[:, h:, h:], diagonal[:, h:])
    inverse[:, h:, :h] = -(inverse[:, h:, h:] @ (below @ first))
    return good


VARIABLE = "SHARPFRONT_DEVICE"
# Arrays of no more bytes than this travel while a card works on; memory for more takes too long to
# fasten.
PINNED = 2**25


class Device(Protocol):
    """What batched elimination needs of a device."""

    name: str

    def put(self, array: Any) -> Array:
        """Return an array on the device: the same if it is there."""

    def zeros(self, shape: tuple[int, ...]) -> Array:
        """Return zeros on the device."""

    def cholesky(self, batch: Array) -> tuple[Array, Array]:
        """Return lower factors of (b, n, n), and for each whether it is one."""

    def inverse(self, lower: Array) -> Array:
        """Return L^-1 of lower triangles, (b, n, n)."""

    @property
    def free(self) -> int:
        """Bytes that may be taken."""

    def guarded(self, needed: list[int]) -> Any:
        """Run a block; a device out of memory raises `DeviceMemoryError` with the bytes needed."""


class Card:
    """A device of torch.

    Parameters
    ----------
    name
        As torch has it: ``cuda``, ``cuda:1``; ``cpu`` to check the code.
    """

    def __init__(self, name: str) -> None:
        torch = _torch()
        if not name.startswith(("cuda", "cpu")):
            raise DeviceError(
                f"device={name!r} is not known to work in double precision. Write device='cuda', "
                "or leave device= out."
            )
        try:
            self._device = torch.device(name)
            torch.zeros(1, dtype=torch.float64, device=self._device)
        except (RuntimeError, AssertionError) as error:
            raise DeviceError(_refusal(torch, name)) from error
        self.name, self._torch = name, torch

    def put(self, array: Any) -> Array:
        """Return an array on the device."""
        if isinstance(array, np.ndarray):
            array = np.ascontiguousarray(array)
            array = self._torch.from_numpy(array if array.flags.writeable else array.copy())
            if self._device.type == "cuda" and array.nbytes <= PINNED:
                # From memory that stays in its place copies wait for nothing that goes on there.
                return array.pin_memory().to(self._device, non_blocking=True)
        return array.to(self._device)

    def zeros(self, shape: tuple[int, ...]) -> Array:
        """Return zeros on the device."""
        return self._torch.zeros(shape, dtype=self._torch.float64, device=self._device)

    def cholesky(self, batch: Array) -> tuple[Array, Array]:
        """Return lower factors, and for each whether it is one."""
        lower, info = self._torch.linalg.cholesky_ex(batch)
        return lower, info == 0

    def inverse(self, lower: Array) -> Array:
        """Return L^-1."""
        identity = self._torch.eye(lower.shape[1], dtype=lower.dtype, device=lower.device)
        return self._torch.linalg.solve_triangular(lower, identity, upper=False)

    @property
    def free(self) -> int:
        """Bytes that torch holds unused, or the driver has."""
        if self._device.type == "cpu":
            return 2**30
        cuda = self._torch.cuda
        held = cuda.memory_reserved(self._device) - cuda.memory_allocated(self._device)
        return int(cuda.mem_get_info(self._device)[0] + held)

    @contextmanager
    def guarded(self, needed: list[int]) -> Iterator[None]:
        """Run a block; say what was needed where memory runs out."""
        try:
            yield
        except self._torch.OutOfMemoryError as error:
            raise DeviceMemoryError(sum(needed), self.free) from error


class WholeNumbers:
    """Whole numbers that travel to a device together: each journey waits for all work there."""

    def __init__(self) -> None:
        self._each: list[tuple[Ints, int]] = []

    def add(self, numbers: Ints) -> slice:
        """Return where numbers will be."""
        start = self._each[-1][1] if self._each else 0
        place = slice(start, start + len(numbers))
        self._each.append((numbers, place.stop))
        return place

    def put(self, device: Device) -> Array:
        """Return all of them on a device."""
        return device.put(np.concatenate([numbers for numbers, _ in self._each]))


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError("torch", "gpu") from error
    return torch


def _refusal(torch: Any, name: str) -> str:
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    seen = f"torch {torch.__version__} sees {count or 'none'}"
    return (
        f"device={name!r} asks for a card that is not there: {seen}. Look at the output of "
        "nvidia-smi and install a torch built for its CUDA, or leave device= out."
    )


def device_named(name: object) -> Device | None:
    """Return the device that was asked for; None for the processor.

    Parameters
    ----------
    name
        As the user gave it; None to ask the variable SHARPFRONT_DEVICE.
    """
    asked = os.environ.get(VARIABLE, "") if name is None else name
    if not isinstance(asked, str):
        raise ArgumentError(
            f"sf.solve: device= expects the name of a device, got {asked!r}. Write device='cuda'."
        )
    return None if asked in ("", "cpu") else Card(asked)
