"""The one file that names an array library.

Kernels, bases, assembly and dense least squares are written against the array API standard and
get everything that the standard lacks from here: conversion to and from NumPy, and the number of
BLAS threads.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Concatenate, ParamSpec, TypeVar

import array_api_compat
import array_api_compat.numpy
import numpy as np
from numpy.typing import NDArray

# Arrays of any library that follows the standard; there is no common static type yet.
Array = Any
FloatArray = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


def namespace(*arrays: Array) -> Any:
    """Return the array API namespace that the arrays belong to."""
    if all(type(array) is np.ndarray for array in arrays):
        # The general look-up takes longer than many an operation on small arrays.
        return array_api_compat.numpy
    return array_api_compat.array_namespace(*arrays)


def to_host(array: Array) -> FloatArray:
    """Return the array as a NumPy array of doubles."""
    if isinstance(array, np.ndarray):
        return np.asarray(array, dtype=float)
    if hasattr(array, "detach"):
        array = array.detach()
    if array_api_compat.is_array_api_obj(array):
        xp = namespace(array)
        # array-api-strict has devices to check our code with, and calls none of them "cpu".
        strict = array_api_compat.is_array_api_strict_namespace(xp)
        home = xp.__array_namespace_info__().default_device() if strict else "cpu"
        array = array_api_compat.to_device(array, home)
    return np.asarray(array, dtype=float)


def largest(values: FloatArray) -> float:
    """Return the largest absolute value of an array that has some; NaN if one is."""
    return float(np.maximum.reduce(np.abs(values)))


def all_finite(values: FloatArray) -> bool:
    """Tell whether there is neither NaN nor infinity in an array."""
    # Half the time of all().
    return int(np.count_nonzero(np.isfinite(values))) == values.size


Own = ParamSpec("Own")
Owner = TypeVar("Owner")
Result = TypeVar("Result")
Method = Callable[Concatenate[Owner, Own], Result]


def _as_key(argument: Any) -> Any:
    if isinstance(argument, tuple):
        return tuple(map(_as_key, argument))
    return argument.tobytes() if isinstance(argument, np.ndarray) else argument


def remembered(
    most: int | None = None,
) -> Callable[[Method[Owner, Own, Result]], Method[Owner, Own, Result]]:
    """Return what makes a method keep its results with its object, of so many calls at most.

    Arrays among the arguments count by their numbers; all are given by place.
    """

    def keeping(method: Method[Owner, Own, Result]) -> Method[Owner, Own, Result]:
        name = f"results of {method.__name__}"

        @functools.wraps(method)
        def found(self: Owner, /, *arguments: Own.args, **named: Own.kwargs) -> Result:
            known = vars(self).setdefault(name, {})
            key = _as_key(arguments)
            if key not in known:
                if most is not None and len(known) >= most:
                    known.clear()
                known[key] = method(self, *arguments, **named)
            result: Result = known[key]
            return result

        return found

    return keeping


def like(values: Any, example: Array) -> Array:
    """Return host values as an array of the library, type and device of the example."""
    if isinstance(example, np.ndarray):
        return np.asarray(values, dtype=example.dtype)
    xp, host = namespace(example), np.asarray(values, dtype=float)
    flat = xp.asarray(
        host.ravel().tolist(), dtype=example.dtype, device=array_api_compat.device(example)
    )
    # A list forgets the shape of an array without rows.
    return xp.reshape(flat, host.shape)


def zeros(shape: tuple[int, ...], example: Array) -> Array:
    """Return zeros of the library, type and device of the example."""
    device = array_api_compat.device(example)
    return namespace(example).zeros(shape, dtype=example.dtype, device=device)


def identity(size: int, example: Array) -> Array:
    """Return the identity matrix in the library, type and device of the example."""
    device = array_api_compat.device(example)
    return namespace(example).eye(size, dtype=example.dtype, device=device)


@functools.cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def blas_threads(count: int) -> Iterator[None]:
    """Run the block with that many BLAS threads.

    The systems here are small and tall: on a shared machine two threads were measured ten times
    slower than one on 900 x 300 matrices, so the solver asks for one.
    """
    controller = _controller()
    if all(
        lib.num_threads <= count for lib in controller.lib_controllers if lib.user_api == "blas"
    ):
        # Changing nothing is ten times faster than changing back and forth.
        yield
        return
    with controller.limit(limits=count, user_api="blas"):
        yield
