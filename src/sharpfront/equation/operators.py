"""Python's operators and NumPy's ufuncs on a symbol: recorded, or refused with advice."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Self, TypeVar

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
# On conditions `&` means what it means for arrays of booleans; numbers 0 and 1 stand for those.
_AS_LOGICAL = {
    np.bitwise_and: np.logical_and,
    np.bitwise_or: np.logical_or,
    np.bitwise_xor: np.logical_xor,
    np.invert: np.logical_not,
}
_FILLED = {np.zeros_like: 0.0, np.ones_like: 1.0}


Symbol = TypeVar("Symbol", bound="Operators")


def _before(ufunc: np.ufunc) -> Callable[[Symbol, Any], Symbol]:
    """Return the operator of a symbol that stands before something else."""
    return lambda symbol, other: symbol._apply(ufunc, symbol, other)


def _behind(ufunc: np.ufunc) -> Callable[[Symbol, Any], Symbol]:
    """Return the operator of a symbol that stands behind something else."""
    return lambda symbol, other: symbol._apply(ufunc, other, symbol)


class Operators:
    """Mixin: every arithmetic operation becomes a call of `_apply` with the ufunc it means."""

    @abstractmethod
    def _apply(self, ufunc: np.ufunc, *arguments: Any) -> Self:
        """Return the node for a ufunc applied to symbols and numbers."""

    @abstractmethod
    def _where(self, *arguments: Any) -> Self:
        """Return the node for ``np.where(condition, a, b)``."""

    __add__, __radd__ = _before(np.add), _behind(np.add)
    __sub__, __rsub__ = _before(np.subtract), _behind(np.subtract)
    __mul__, __rmul__ = _before(np.multiply), _behind(np.multiply)
    __truediv__, __rtruediv__ = _before(np.true_divide), _behind(np.true_divide)
    __pow__, __rpow__ = _before(np.power), _behind(np.power)
    __floordiv__, __rfloordiv__ = _before(np.floor_divide), _behind(np.floor_divide)
    __mod__, __rmod__ = _before(np.remainder), _behind(np.remainder)
    __and__, __rand__ = _before(np.logical_and), _behind(np.logical_and)
    __or__, __ror__ = _before(np.logical_or), _behind(np.logical_or)
    __xor__, __rxor__ = _before(np.logical_xor), _behind(np.logical_xor)
    __lt__, __le__ = _before(np.less), _before(np.less_equal)
    __gt__, __ge__ = _before(np.greater), _before(np.greater_equal)

    def __neg__(self) -> Self:
        return self._apply(np.negative, self)

    def __pos__(self) -> Self:
        return self

    def __abs__(self) -> Self:
        return self._apply(np.absolute, self)

    def __invert__(self) -> Self:
        return self._apply(np.logical_not, self)

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
            "Write np.where(condition, a, b), np.maximum(a, b), (x > 0) & (x < 1) for 0 < x < 1, "
            "or wrap a function of the coordinates as sf.function(f)(x)."
        )

    def __float__(self) -> NoReturn:
        raise EquationError(_NO_NUMBER)

    __int__ = __index__ = __complex__ = __float__

    def __round__(self, _: int | None = None) -> NoReturn:
        raise EquationError(
            "round(x) is not known of a symbol: write np.rint(x), or np.rint(100 * x) / 100 for "
            "two digits."
        )

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise EquationError(_NO_NUMBER)

    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse ``u(x)`` and ``u.dx()``."""
        raise EquationError(
            "A symbol is not called: an unknown is written u, its derivatives u.dx or u.d('x', 2), "
            "without parentheses and coordinates behind."
        )

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
        return self._apply(_AS_LOGICAL.get(ufunc, ufunc), *inputs)

    def _clip(self, value: Any, *bounds: Any, **named: Any) -> Any:
        names = {"a_min": "low", "min": "low", "a_max": "high", "max": "high"}
        if len(bounds) > 2 or not named.keys() <= names.keys():
            raise EquationError("Write np.clip(value, low, high), without further arguments.")
        limits = dict(zip(("low", "high"), bounds, strict=False))
        limits |= {names[key]: bound for key, bound in named.items()}
        for key, ufunc in (("low", np.maximum), ("high", np.minimum)):
            if limits.get(key) is not None:
                value = self._apply(ufunc, value, limits[key])
        return value

    def _select(self, condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
        """Return ``np.select(...)``: the choice of the first condition that holds."""
        for condition, choice in reversed([*zip(condlist, choicelist, strict=True)]):
            default = self._where(condition, choice, default)
        return default

    def __array_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if func is np.where and len(args) == 3 and not kwargs:
            return self._where(*args)
        if func is np.clip:
            return self._clip(*args, **kwargs)
        if func is np.select:
            return self._select(*args, **kwargs)
        if func in _FILLED and len(args) == 1 and not kwargs:
            return self._apply(np.add, self._apply(np.multiply, 0.0, self), _FILLED[func])
        if func is np.full_like and len(args) == 2 and not kwargs:
            return self._apply(np.add, self._apply(np.multiply, 0.0, self), args[1])
        name = getattr(func, "__name__", str(func))
        if func is np.round:
            self.__round__()
        if func is np.interp:
            raise EquationError(
                "np.interp is no ufunc and cannot be traced. Write f = sf.function(lambda x: "
                "np.interp(x, xs, ys), breaks=xs[1:-1]) and f(x): it bends at xs. Where the "
                "equation differentiates it, as in (f(x) * u.dx).dx, give derivative=lambda x: "
                "(np.diff(ys) / np.diff(xs))[np.searchsorted(xs[1:-1], x)] too."
            )
        raise EquationError(
            f"np.{name} is not a ufunc and cannot be traced. If each of its values depends on one "
            f"point alone, wrap the call: sf.function(lambda x: np.{name}(x, ...))(x). Sums and "
            "means over points have no meaning here; an integral of an unknown over (0, 1) is one "
            "more unknown, J: J.dx as an equation, conditions=[sf.integral(lambda u, J, x: u - J)]."
        )
