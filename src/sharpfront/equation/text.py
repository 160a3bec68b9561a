"""Equations as text, ``"-nu*u_xx + u_x = 0"``, read by a whitelist over Python's syntax tree."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

from sharpfront.equation.expression import Expression, split_names
from sharpfront.equation.parser import FUNCTIONS, Parameters, Reader, TextError, short
from sharpfront.equation.printer import NORMAL
from sharpfront.equation.printer import to_text as to_text
from sharpfront.equation.repair import repaired
from sharpfront.equation.trace import Symbols, is_condition
from sharpfront.errors import EquationError

# What carries a derivative without a name of its own: laplacian(u), diff(u, x).
_DIFFERENTIATED = r"\b(?:laplacian|diff)\(\s*([^\W\d]\w*)\s*[,)]"


def parse(text: str, symbols: Symbols, parameters: Parameters | None = None) -> Expression:
    """Return the residual that an equation's text states, left side minus right side.

    Without ``=`` the right side is zero. ``u_xx`` is a derivative, ``u_n`` the normal one,
    ``diff(k*u_x, x)`` and ``laplacian(u)`` derivatives of whole expressions. Parameters give values
    to the other names; an expression stands for what it is.
    """
    left, *right = (Reader(text, side, symbols, parameters or {}).read() for side in _sides(text))
    return left - right[0] if right else left


def parse_condition(
    text: str, symbols: Symbols, parameters: Parameters | None = None
) -> Expression:
    """Return a comparison, ``"x > 0.5 and y < 1"``, as an expression that is 1 where it holds."""
    reader = Reader(text, text, symbols, parameters or {})
    expression = reader.read(condition=True)
    if not is_condition(expression):
        raise TextError(
            f"{short(text)} is not a comparison. Write for example x > 0.5 and y < 1.", text
        )
    return expression


def mistakes_in(
    text: str, symbols: Symbols, parameters: Parameters | None = None, *, condition: bool = False
) -> tuple[TextError, ...]:
    """Return everything that `parse` or `parse_condition` would refuse, not only the first."""
    found: list[TextError] = []
    try:
        for side in (text,) if condition else _sides(text):
            Reader(text, side, symbols, parameters or {}, found).read(condition=condition)
        if not found:
            (parse_condition if condition else parse)(text, symbols, parameters)
    except EquationError as error:
        found.append(error if isinstance(error, TextError) else TextError(str(error), text))
    return tuple({str(error): error for error in found}.values())


def _sides(text: str) -> list[str]:
    if not isinstance(text, str):
        raise EquationError(f"Expected a text such as 'u_x = 1', got {text!r}.")
    # The `=` of <=, >= and != belongs to a comparison.
    sides = re.split(r"(?<![<>!=])=(?!=)", text)
    if len(sides) > 2 or "==" in text:
        raise TextError(
            f"An equation has one `=`, got {text!r}." + (_meant(text) or " Write u_x = 1."),
            "==" if "==" in text else "=",
        )
    return sides


def meant_by(text: str, coordinates: tuple[str, ...]) -> str | None:
    """Return how an equation that was written as on paper is written here; None if unknown."""
    return repaired(text, coordinates, FUNCTIONS)


def _meant(text: str) -> str:
    found = meant_by(text, ("x",))
    return f" Did you mean {short(found)}?" if found else ""


def unknowns_in(
    text: str, coordinates: tuple[str, ...], parameters: Collection[str] = ()
) -> tuple[str, ...]:
    """Return the names that carry a derivative in the text: ``u_xx`` makes u an unknown.

    Names of parameters are left out, so that ``k_x`` may be one.
    """

    def carrier(name: str) -> str:
        head, _, tail = unicodedata.normalize("NFKC", name).rpartition("_")
        return head if head and split_names(tail, coordinates) else ""

    names = [n for n in re.findall(r"[^\W\d]\w*", text) if n not in parameters]
    # Of diff(u_x, x) the unknown is u already.
    whole = [n for n in re.findall(_DIFFERENTIATED, text) if not carrier(n)]
    found = [carrier(n) for n in (*names, *(f"{n}_{coordinates[0]}" for n in whole)) if carrier(n)]
    unknowns = tuple(dict.fromkeys(name for name in found if name != NORMAL))
    if not unknowns:
        found_in = meant_by(text, coordinates)
        hint = f"Did you mean {short(found_in)}?" if found_in else "Write -nu*u_xx + u_x = 0."
        raise EquationError(
            f"No derivative along {', '.join(coordinates)} is found in {short(text)}. {hint}"
        )
    return unknowns
