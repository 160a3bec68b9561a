"""Python's operators and NumPy's ufuncs on a symbol: recorded, or refused with advice."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NoReturn, Self

import numpy as np

from sharpfront.errors import EquationError

_NO_NUMBER = (
    "A symbol was turned into a number, as math.exp(x) or float(x) would do. "
    "Write the NumPy function instead, np.exp(x), or wrap your own: sf.function(f)(x)."
)
_NO_ITEMS = (
    "A symbol stands for all points at once: it has no length and no items. "
    "Use np.where(condition, a, b), or wrap the function: sf.function(f)(x)."
)


class Operators:
    """Mixin: every arithmetic operation becomes a call of `_apply` with the ufunc it means."""

    @abstractmethod
    def _apply(self, ufunc: np.ufunc, *arguments: Any) -> Self:
        """Return the node for a ufunc applied to symbols and numbers."""

    @abstractmethod
    def _where(self, *arguments: Any) -> Self:
        """Return the node for ``np.where(condition, a, b)``."""

    def __add__(self, other: Any) -> Self:
        return self._apply(np.add, self, other)

    def __radd__(self, other: Any) -> Self:
        return self._apply(np.add, other, self)

    def __sub__(self, other: Any) -> Self:
        return self._apply(np.subtract, self, other)

    def __rsub__(self, other: Any) -> Self:
        return self._apply(np.subtract, other, self)

    def __mul__(self, other: Any) -> Self:
        return self._apply(np.multiply, self, other)

    def __rmul__(self, other: Any) -> Self:
        return self._apply(np.multiply, other, self)

    def __truediv__(self, other: Any) -> Self:
        return self._apply(np.true_divide, self, other)

    def __rtruediv__(self, other: Any) -> Self:
        return self._apply(np.true_divide, other, self)

    def __pow__(self, other: Any) -> Self:
        return self._apply(np.power, self, other)

    def __rpow__(self, other: Any) -> Self:
        return self._apply(np.power, other, self)

    def __floordiv__(self, other: Any) -> Self:
        return self._apply(np.floor_divide, self, other)

    def __rfloordiv__(self, other: Any) -> Self:
        return self._apply(np.floor_divide, other, self)

    def __mod__(self, other: Any) -> Self:
        return self._apply(np.remainder, self, other)

    def __rmod__(self, other: Any) -> Self:
        return self._apply(np.remainder, other, self)

    def __neg__(self) -> Self:
        return self._apply(np.negative, self)

    def __pos__(self) -> Self:
        return self

    def __abs__(self) -> Self:
        return self._apply(np.absolute, self)

    def __lt__(self, other: Any) -> Self:
        return self._apply(np.less, self, other)

    def __le__(self, other: Any) -> Self:
        return self._apply(np.less_equal, self, other)

    def __gt__(self, other: Any) -> Self:
        return self._apply(np.greater, self, other)

    def __ge__(self, other: Any) -> Self:
        return self._apply(np.greater_equal, self, other)

    def __eq__(self, other: object) -> NoReturn:
        raise EquationError(
            "A residual is an expression that is zero where the equation holds: "
            "write `u.dx - 1`, not `u.dx == 1`. To compare values, write np.equal(a, b)."
        )

    __ne__ = __eq__
    __hash__ = object.__hash__

    def __bool__(self) -> NoReturn:
        raise EquationError(
            "The residual is called once with symbols, which are neither true nor false, so "
            "`if`, `and`, `or` and `max` cannot decide on them. "
            "Write np.where(condition, a, b), np.maximum(a, b), or wrap a function of the "
            "coordinates as sf.function(f)(x)."
        )

    def __float__(self) -> NoReturn:
        raise EquationError(_NO_NUMBER)

    __int__ = __index__ = __complex__ = __float__

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise EquationError(_NO_NUMBER)

    def __getitem__(self, index: object) -> NoReturn:
        raise EquationError(_NO_ITEMS)

    def __iter__(self) -> NoReturn:
        raise EquationError(_NO_ITEMS)

    def __len__(self) -> NoReturn:
        raise EquationError(_NO_ITEMS)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs or ufunc.nout != 1:
            detail = f"np.{ufunc.__name__}" + (f".{method}" if method != "__call__" else "")
            raise EquationError(
                f"{detail} with {sorted(kwargs) or 'these arguments'} cannot be traced. "
                "Use a plain call of a ufunc with one result, or sf.function(f)(x)."
            )
        return self._apply(ufunc, *inputs)

    def __array_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if func is np.where and len(args) == 3 and not kwargs:
            return self._where(*args)
        if func is np.clip and len(args) == 3 and not kwargs:
            value, low, high = args
            value = value if low is None else self._apply(np.maximum, value, low)
            return value if high is None else self._apply(np.minimum, value, high)
        name = getattr(func, "__name__", str(func))
        raise EquationError(
            f"np.{name} is not a ufunc and cannot be traced. "
            f"Wrap the call: sf.function(lambda x: np.{name}(x, ...))(x)."
        )
