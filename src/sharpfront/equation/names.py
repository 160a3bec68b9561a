"""Which names an unknown may have: those under which it can be reached afterwards."""

from __future__ import annotations

import functools
import keyword
from collections.abc import Iterable

from sharpfront.equation.expression import split_names
from sharpfront.equation.printer import NORMAL
from sharpfront.errors import EquationError

# What a solution calls its own; solutions are above this room and say so when they are defined.
_RESERVED: set[str] = set()


def reserve(names: Iterable[str]) -> None:
    """Keep names for the attributes and methods of a solution, ``solution.plot``."""
    _RESERVED.update(n for n in names if not n.startswith("_"))
    unreachable.cache_clear()


def refuse_names(unknowns: tuple[str, ...], coordinates: tuple[str, ...]) -> None:
    """Refuse unknowns that could not be reached, or that would read as something else."""
    for name in unknowns:
        why = unreachable(name, unknowns, coordinates)
        if why is not None:
            raise EquationError(why)


@functools.lru_cache(maxsize=256)
def unreachable(name: str, unknowns: tuple[str, ...], coordinates: tuple[str, ...]) -> str | None:
    """Return why an unknown cannot have this name and what to try; None if it can."""
    head, _, tail = name.rpartition("_")
    if name in _RESERVED:
        why = f"solution.{name} is something else, so it could not be reached"
    elif name.startswith("_") or not name.isidentifier() or keyword.iskeyword(name):
        why = "solution.name must be able to reach it"
    elif name == "dn" or (name[:1] == "d" and split_names(name[1:], coordinates)):
        why = f"it reads as the derivative u.{name}"
    elif name == NORMAL:
        why = f"{NORMAL}_x is a component of the boundary's normal"
    elif head in unknowns and (tail == "n" or split_names(tail, coordinates)):
        why = f"it reads as a derivative of {head}"
    else:
        return None
    other = f"{name.strip('_')}1"
    attempt = other if other.isidentifier() and not keyword.iskeyword(name) else "u"
    return f"An unknown cannot be called {name!r}: {why}. Choose another name, such as {attempt}."
