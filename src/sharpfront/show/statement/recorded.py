"""Functions as Python code: stand-ins for arrays write down what is done to them."""

from __future__ import annotations

import keyword
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.special
from numpy.lib.mixins import NDArrayOperatorsMixin

from sharpfront.arrays import FloatArray

# How strongly operations bind, as in Python; what is called or named binds most.
_COMPARE, _OR, _AND, _SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(8)
_INFIX = {
    **{"less": ("<", _COMPARE), "less_equal": ("<=", _COMPARE), "equal": ("==", _COMPARE)},
    **{"greater": (">", _COMPARE), "greater_equal": (">=", _COMPARE)},
    **{"not_equal": ("!=", _COMPARE), "bitwise_or": ("|", _OR), "bitwise_and": ("&", _AND)},
    **{"add": ("+", _SUM), "subtract": ("-", _SUM), "multiply": ("*", _PRODUCT)},
    **{"divide": ("/", _PRODUCT), "power": ("**", _POWER)},
}
# Longer tables are not copied into a text.
_MOST_ENTRIES = 400


class NotRecordedError(Exception):
    """Something was done that cannot be written down."""


@dataclass(frozen=True, eq=False)
class Recorded(NDArrayOperatorsMixin):
    """What was done to some names, as code."""

    code: str  # a Python expression
    rank: int = _ATOM  # how strongly its outermost operation binds

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Record the call of a ufunc."""
        if method != "__call__" or options:
            raise NotRecordedError
        return _called(ufunc.__name__, ufunc, inputs)

    def __array_function__(self, function: Any, _: Any, inputs: Any, options: Any) -> Any:
        """Record the call of any other function of NumPy."""
        return _called(function.__name__, function, inputs, options)

    def __bool__(self) -> bool:
        """Refuse: which way code goes cannot be seen."""
        raise NotRecordedError

    def __float__(self) -> float:
        """Refuse: there is no number yet."""
        raise NotRecordedError

    def __array__(self, *_: Any, **__: Any) -> Any:
        """Refuse: there are no values yet."""
        raise NotRecordedError

    def within(self, least: int) -> str:
        """Return the code, in parentheses if it binds less than it must."""
        return self.code if self.rank >= least else f"({self.code})"


def _called(name: str, function: Any, inputs: Sequence[Any], options: Any = None) -> Recorded:
    parts = [recorded(each) for each in inputs]
    if name in _INFIX and not options:
        sign, rank = _INFIX[name]
        # a - (b - c) needs its parentheses; powers group from the right, comparisons not at all.
        left = rank + 1 if rank in (_COMPARE, _POWER) else rank
        space = "" if rank == _POWER else " "
        code = f"{parts[0].within(left)}{space}{sign}{space}{parts[1].within(rank + 1)}"
        return Recorded(code, rank)
    if name in ("negative", "invert"):
        return Recorded(f"{'-' if name == 'negative' else '~'}{parts[0].within(_SIGN)}", _SIGN)
    homes = {"np": np, "scipy.special": scipy.special}
    found = [word for word, home in homes.items() if getattr(home, name, None) is function]
    if not found:
        raise NotRecordedError
    words = [part.code for part in parts]
    words += [f"{key}={recorded(value).code}" for key, value in (options or {}).items()]
    return Recorded(f"{found[0]}.{name}({', '.join(words)})")


def recorded(value: Any) -> Recorded:
    """Return a number, a list or an array as code; what is recorded already as it is."""
    if isinstance(value, Recorded):
        return value
    if isinstance(value, bool | np.bool_ | str) or value is None:
        return Recorded(repr(value if not isinstance(value, np.bool_) else bool(value)))
    if isinstance(value, int | float | np.integer | np.floating):
        return Recorded(number(float(value)), _SIGN if value < 0 else _ATOM)
    if isinstance(value, list | tuple):
        inner = ", ".join(recorded(each).code for each in value)
        return Recorded(f"[{inner}]" if isinstance(value, list) else f"({inner},)")
    if isinstance(value, np.ndarray) and value.dtype.kind in "buif" and value.size <= _MOST_ENTRIES:
        if value.ndim == 0:
            return recorded(value.item())
        return Recorded(f"np.array({recorded(value.tolist()).code})")
    raise NotRecordedError


def number(value: float) -> str:
    """Return a number as code, whole ones without a point."""
    if not math.isfinite(value):
        return "np.nan" if math.isnan(value) else "np.inf" if value > 0 else "-np.inf"
    whole = value == int(value) and abs(value) < 1e15
    return repr(int(value)) if whole and repr(value) != "-0.0" else repr(float(value))


def source_of(function: Callable[..., Any], names: Sequence[str], points: FloatArray) -> str | None:
    """Return a vectorised function of the coordinates as a lambda; None if that cannot be told.

    The function is called with stand-ins that record what it does. What they recorded counts only
    if it gives the function's own values at points (m, d).
    """
    # A user's function may do anything with a stand-in.
    try:
        found = called(function, names, [Recorded(name) for name in names])
        code = f"lambda {', '.join(names)}: {recorded(found).code}"
    except Exception:
        return None
    return code if agrees(code, function, names, points) else None


def called(function: Callable[..., Any], names: Sequence[str], values: Sequence[Any]) -> Any:
    """Return what a function gives that takes its arguments by these names, or in this order."""
    try:
        return function(**dict(zip(names, values, strict=True)))
    except Exception:
        return function(*values)


def agrees(
    code: str, function: Callable[..., Any], names: Sequence[str], points: FloatArray
) -> bool:
    """Tell whether code of a function gives the function's own values at points (m, d)."""
    try:
        again = eval(code, {"np": np, "scipy": scipy})
        with np.errstate(all="ignore"):
            both = [called(f, names, list(points.T)) for f in (again, function)]
        values = [np.array(np.broadcast_to(v, len(points)), dtype=float) for v in both]
    except Exception:
        return False
    return np.array_equal(values[0], values[1], equal_nan=True)


def free_name(wanted: str, taken: Sequence[str]) -> str:
    """Return a name like a wanted one that code may use and that is not taken."""
    word = "".join(c if c.isalnum() else "_" for c in wanted.replace("'", "_prime")).strip("_")
    word = word if word.isidentifier() and not keyword.iskeyword(word) else "f"
    word = "f" if word == "lambda" else word
    i, name = 2, word
    while name in taken:
        name, i = f"{word}{i}", i + 1
    return name
