"""A problem file with other values of its parameters and another tolerance, comments and all."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping

from sharpfront.errors import ProblemError
from sharpfront.problem_file.mistakes import value_index

_SOLVE = re.compile(r"^[ \t]*\[[ \t]*solve[ \t]*\][^\n]*\n?", re.MULTILINE)


def with_values(
    source: str, parameters: Mapping[str, float | str], tol: float | None = None
) -> str:
    """Return the text of a problem file with values in place of those that stand in it.

    ``tol`` under ``[solve]`` is added where it is missing.
    """
    text = source.replace("\r\n", "\n")
    found = value_index(text)
    changed: dict[tuple[str, str], float | str] = {
        ("parameters", n): v for n, v in parameters.items()
    }
    if tol is not None:
        changed["solve", "tol"] = tol
    places = sorted((found[path], value) for path, value in changed.items() if path in found)
    for (start, end), value in reversed(places):
        text = text[:start] + _written(value) + text[end:]
    if tol is not None and ("solve", "tol") not in found:
        # Under its [solve], or under a new one at the end.
        header, line = _SOLVE.search(text), f"tol = {_written(tol)}\n"
        before = text[: header.end()] if header else f"{text.rstrip()}\n\n[solve]"
        gap = "" if before.endswith("\n") else "\n"
        text = f"{before}{gap}{line}{text[header.end() :] if header else ''}"
    _check(source, text, changed)
    return text


def _written(value: float | str) -> str:
    """Return a value in TOML: a whole number as it is, a text in quotes."""
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return f"{value:g}" if float(f"{value:g}") == value else repr(float(value))


def _check(source: str, text: str, changed: Mapping[tuple[str, str], float | str]) -> None:
    """Refuse a text that does not say the same but for what was to change."""
    wanted = tomllib.loads(source)
    for (table, name), value in changed.items():
        wanted.setdefault(table, {})[name] = value
    try:
        same = tomllib.loads(text) == wanted
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        names = ", ".join(name for _, name in changed)
        raise ProblemError(
            f"The file cannot be written again with other values of {names}. "
            "Write each of them on a line of its own, below [parameters] or [solve]."
        )
