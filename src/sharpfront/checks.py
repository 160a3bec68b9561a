"""Arguments that must be numbers, counts, flags or functions: read once, refused in one form.

Every refusal says what the argument is called, what was expected, what was got and what to try.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import math
import numbers
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np

from sharpfront.errors import ArgumentError, ProblemError, SharpfrontError

P = ParamSpec("P")
R = TypeVar("R")

# Types of numbers that are known at a glance.
_QUICK = (float, int)
# Of a value in an error message, and of places in a list.
_MOST_SHOWN, _MOST_LISTED = 100, 6
# Values of one point that differ by less, relative to the largest, are the same: compiled code may
# round by how many points there are.
_SAME = 1e-6
# Calls of a function after which it is no longer asked: the first may be along one side only.
ASKED = 8


def shown(value: object) -> str:
    """Return a value as an error message shows it: its kind where that is what is wrong."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"an array of shape {value.shape}"
    try:
        words = repr(value)
    except Exception:
        # A broken __repr__ must not hide what is wrong.
        words = f"something of type {type(value).__name__}"
    words = words if len(words) <= _MOST_SHOWN else f"{words[:_MOST_SHOWN]}..."
    return f"the text {words}" if isinstance(value, str) else words


def visible(text: str) -> str:
    """Return a text in which control characters are written out: a terminal would obey them.

    Lines and tabs stay. Signs that turn the direction of writing are written out too.
    """
    return "".join(c if c in "\n\t" or _harmless(c) else ascii(c)[1:-1] for c in text)


def _harmless(character: str) -> bool:
    # Cc: control; Cf: format, as the marks that turn the direction; Cs: half of a pair.
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs")


def refusal(
    name: str,
    expected: str,
    value: object,
    attempt: str = "",
    error: type[SharpfrontError] = ProblemError,
) -> SharpfrontError:
    """Return the error for an argument that is not what it must be."""
    advice = f" Try {attempt}." if attempt else ""
    return error(f"{name}: expected {expected}, got {shown(value)}.{advice}")


def shortened(words: Sequence[str]) -> list[str]:
    """Return the first of a long list of words, and how many more there are."""
    if len(words) <= _MOST_LISTED:
        return list(words)
    return [*words[: _MOST_LISTED - 1], f"{len(words) - _MOST_LISTED + 1} more"]


def each_alone(
    what: str,
    call: Callable[..., Any],
    columns: Sequence[Any],
    found: Any,
    error: type[SharpfrontError] = ProblemError,
) -> None:
    """Refuse a function whose values at points change when others are left out.

    Divided by its largest value or less its mean over the points it would be another function for
    each set of them, and nothing in a solution would tell.

    Parameters
    ----------
    what
        What the function is called in an error.
    call
        Takes arrays of the coordinates, returns an array of one shape with them, or a number.
    columns, found
        Arrays of coordinates that it was called with, and what it returned.
    """
    count = min(8, (columns[0].size + 1) // 2)
    before = np.broadcast_to(found, columns[0].shape).reshape(-1)
    size = np.abs(before[np.isfinite(before)]).max(initial=0.0)
    # Two sets: what divides by the largest value changes nothing in the one that has that point.
    for own in (slice(None, count), slice(None, -count - 1, -1)):
        alone = call(*(np.asarray(c).reshape(-1)[own] for c in columns))
        alone = np.broadcast_to(alone, before[own].shape)
        same = np.isclose(before[own], alone, rtol=_SAME, atol=_SAME * size)
        i = int(np.argmin(same | ~np.isfinite(before[own])))
        if same[i] or not np.isfinite(before[own][i]):
            continue
        raise error(
            f"{what} is {before[own][i]:.6g} at a point if it is called with {before.size} points, "
            f"and {alone[i]:.6g} there if it is called with {count} of them. A value must depend "
            "on its own point alone: compute means, largest values and random numbers beforehand, "
            "over points of your own, and interpolate where that is needed."
        )


def did_you_mean(
    word: object, known: Iterable[str], synonyms: Mapping[str, str] | None = None
) -> str:
    """Return `` Did you mean 'tol'?`` where a known word is close or means the same, or nothing.

    Synonyms are far from the known words but mean one of them.
    """
    close = closest(str(word), list(known), synonyms or {})
    return f" Did you mean {close!r}?" if close else ""


def closest(word: str, known: Collection[str], synonyms: Mapping[str, str]) -> str | None:
    """Return the known word that is meant: a synonym, a misspelling, or one cut short."""
    if synonyms.get(word.lower()) in known:
        return synonyms[word.lower()]
    found = difflib.get_close_matches(word, known, n=1)
    found += difflib.get_close_matches(word.lower(), known, n=1)
    # tolerance for tol, param for parameters: too far apart for difflib.
    found += [k for k in known if min(len(k), len(word)) > 2 and _begins(word.lower(), k)]
    return found[0] if found else None


def _begins(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def explained(example: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make calls whose arguments do not fit the signature say by an example how to write it."""

    def wrap(call: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(call)
        def explaining(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return call(*args, **kwargs)
            except TypeError:
                words = _misfit(call, args, kwargs, example)
                if words is None:
                    raise
                raise ArgumentError(words) from None

        return explaining

    return wrap


def explained_fields(example: str) -> Callable[[type[R]], type[R]]:
    """Do the same for what a dataclass is made of."""

    def wrap(kind: type[R]) -> type[R]:
        make: Any = kind.__init__
        setattr(kind, "__init__", explained(example)(make))  # noqa: B010
        return kind

    return wrap


def _misfit(
    call: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], example: str
) -> str | None:
    """Return how arguments do not fit a signature; None if they do."""
    signature = inspect.signature(call)
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        strange = re.search(r"unexpected keyword argument '(\w+)'", str(error))
        hint = did_you_mean(strange.group(1), signature.parameters) if strange else ""
        own = args[1:] if next(iter(signature.parameters), "") == "self" else args
        given = [*map(shown, own), *(f"{k}={shown(v)}" for k, v in kwargs.items())]
        name = example.partition("(")[0]
        return (
            f"{name}: {error}, got {name}({', '.join(given)}).{hint} Write for example {example}."
        )
    return None


def is_number(value: object) -> bool:
    """Tell whether a value is one real number, which neither a bool nor a text is."""
    if type(value) in _QUICK:
        # Asking the classes of numbers takes longer than a small solve can spare.
        return True
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bool | np.bool_ | str | np.ndarray):
        return False
    if isinstance(value, numbers.Real):
        return True
    if isinstance(value, numbers.Complex) or not hasattr(value, "__float__"):
        return False
    # A Decimal, or pi of SymPy; expressions with variables have the method too, and refuse.
    if getattr(value, "free_symbols", None):
        return False
    try:
        return isinstance(float(value), float)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return False


def finite(
    value: Any,
    name: str,
    expected: str = "a finite number",
    attempt: str = "",
    error: type[SharpfrontError] = ProblemError,
    within: Callable[[float], bool] = lambda number: True,
) -> float:
    """Return a finite real number for which `within` holds.

    The name, what is expected and what to try stand in the message of the error.
    """
    if is_number(value):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number) and within(number):
            return number
    raise refusal(name, expected, value, attempt, error)


def positive(
    value: Any, name: str, attempt: str = "", error: type[SharpfrontError] = ProblemError
) -> float:
    """Return a finite number above zero."""
    return finite(value, name, "a positive, finite number", attempt, error, lambda n: n > 0)


def whole(
    value: Any,
    name: str,
    least: int,
    attempt: str = "",
    error: type[SharpfrontError] = ProblemError,
) -> int:
    """Return a whole number of at least so much; 300.0 is none, and the message says 300."""
    if type(value) is int and value >= least:
        return value
    is_whole = isinstance(value, numbers.Integral | np.integer) and is_number(value)
    if is_whole and int(value) >= least:
        return int(value)
    if is_number(value) and float(value).is_integer() and value >= least:
        attempt = f"{name}={int(value)}"
    raise refusal(name, f"a whole number, {least} or more", value, attempt, error)


def flag(value: Any, name: str, error: type[SharpfrontError] = ProblemError) -> bool:
    """Return True or False."""
    if value is True or value is False or isinstance(value, np.bool_):
        return bool(value)
    raise refusal(name, "True or False", value, error=error)


def function(
    value: Any, name: str, attempt: str, error: type[SharpfrontError] = ProblemError
) -> Callable[..., Any]:
    """Return something that can be called."""
    if callable(value):
        checked: Callable[..., Any] = value
        return checked
    raise refusal(name, "a function", value, attempt, error)


def one_of(value: Any, name: str, known: Sequence[str]) -> str:
    """Return one of several words."""
    if isinstance(value, str) and value in known:
        return value
    words = ", ".join(map(repr, known))
    raise refusal(name, f"one of {words}", value, f"{name}={known[0]!r}")


def numbers_in(
    value: Any,
    name: str,
    expected: str,
    attempt: str = "",
    error: type[SharpfrontError] = ProblemError,
) -> tuple[float, ...]:
    """Return a tuple, list or array of finite numbers, one or more."""
    # Asking whether something can be iterated takes longer than a small solve can spare.
    is_row = type(value) is tuple or (
        isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping | np.ndarray)
    )
    if is_row or (isinstance(value, np.ndarray) and value.ndim == 1):
        items = tuple(value)
        if items and all(is_number(i) and math.isfinite(i) for i in items):
            return tuple(map(float, items))
    raise refusal(name, expected, value, attempt, error)


def listed(value: Any) -> tuple[Any, ...]:
    """Return the items of a row, or a single value, as a text is, as the only item."""
    if type(value) is tuple:
        return value
    single = isinstance(value, str | bytes) or not isinstance(value, Iterable)
    return (value,) if single else tuple(value)


def solution_like(value: Any) -> Any:
    """Return a solution, which rooms below it know by what it has."""
    if hasattr(value, "approximation") and hasattr(value, "outcome"):
        return value
    raise refusal("solution", "a Solution, as solve returns it or sf.load reads it", value)


def file_path(value: Any, name: str, error: type[SharpfrontError] = ProblemError) -> Path:
    """Return the path of a file."""
    try:
        return Path(value)
    except TypeError:
        raise refusal(name, "the name of a file", value, error=error) from None
