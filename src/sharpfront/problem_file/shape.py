"""From the text of a file to its checked shape, with every word that does not fit."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from sharpfront.checks import did_you_mean, is_number
from sharpfront.problem_file.mistakes import Book, KeyPath, Mistake, StatementError, line_index
from sharpfront.problem_file.schema import SECTIONS, SYNONYMS, File, section_of, words_of


def shaped(source: str, name: str) -> tuple[File, Book]:
    """Return what fits of a file, and the book with what does not.

    A text that is not TOML raises StatementError: then nothing more can be said.
    """
    data = _toml(source, name)
    book = Book(source, line_index(source))
    while True:
        try:
            return File.model_validate(data), book
        except ValidationError as error:
            for detail in _without_echoes(error.errors()):
                path = tuple(p for p in detail["loc"] if p != "[key]")
                # The table is known to be wrong as a whole; the word in it is named.
                inner = detail["ctx"]["option"] if detail["type"] == "option" else None
                book.note((*path, inner) if inner else path, *_words(detail, path))
                _drop(data, path)


def _without_echoes(details: list[ErrorDetails]) -> list[ErrorDetails]:
    """Return the complaints without those of a missing word that is there, but misspelt."""
    strange = [d["loc"] for d in details if d["type"] == "extra_forbidden"]

    def misspelt(missing: tuple[int | str, ...]) -> bool:
        beside = (str(loc[-1]) for loc in strange if loc[:-1] == missing[:-1])
        return any(did_you_mean(word, [str(missing[-1])]) for word in beside)

    return [d for d in details if d["type"] != "missing" or not misspelt(d["loc"])]


def _toml(source: str, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        words, _, place = message.rpartition(" (at ")
        numbers = [int(n) for n in place.replace(",", " ").replace(")", " ").split() if n.isdigit()]
        lines = source.splitlines()
        line, column = numbers if len(numbers) == 2 else (max(1, len(lines)), None)
        said = f"This is not TOML: {words or message}. A text stands in quotes, a value behind =."
        mistake = Mistake((), said, "", line, column, True)
        raise StatementError([mistake], name, source) from None


def _drop(data: dict[str, Any], path: KeyPath) -> None:
    """Take out what does not fit, so that the rest can be looked at.

    A domain goes as a whole: a part of one is another domain.
    """
    table, key = data, path[0]
    if key in ("conditions", "solve", "parameters", "definitions", "initial", "exact", "free"):
        inner = data.get(str(key))
        if len(path) > 1 and isinstance(inner, dict) and path[1] in inner:
            table, key = inner, path[1]
    table.pop(str(key), None)


def _words(detail: ErrorDetails, path: KeyPath) -> tuple[str, str]:
    """Return what to say of something that does not fit, and the text that it is about."""
    kind, value = detail["type"], detail["input"]
    if kind == "extra_forbidden":
        return _unknown_word(str(path[-1]), path[:-1]), str(path[-1])
    if kind == "missing":
        table = ".".join(str(p) for p in path[:-1] if isinstance(p, str))
        return f"{table} needs {path[-1]!r}, which is missing.", table.rpartition(".")[2]
    if kind in ("dict_type", "model_type"):
        what = f"a table, [{path[-1]}] with a line for each value"
        return f"Expected {what}, got {value!r}.", _shown(value)
    if kind == "list_type":
        return f"Expected a list in square brackets, got {value!r}.", _shown(value)
    if kind == "kind" and path[:1] == ("conditions",) and is_number(value):
        part = next((p for p in reversed(path) if isinstance(p, str)), "")
        if (meant := SYNONYMS.get(part, part)) in words_of(SECTIONS["solve"]):
            said = f"{part!r} is not a part of the boundary. It belongs in [solve]: {meant} ="
            return f"{said} {value}.", part
        return f'{detail["msg"]} A condition says of what: {part} = "u = {value}".', _shown(value)
    if kind in ("kinds", "option", "bounds"):
        context: Mapping[str, Any] = detail.get("ctx", {})
        return detail["msg"], str(context.get("option", context.get("got", "").split(" ")[0]))
    return detail["msg"], _shown(value)


def _shown(value: object) -> str:
    """Return a value as it may stand in the file."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float) else ""


# Words for parts of a boundary that may stand above all tables by mistake, and for ranges and kinds
# in a domain, as other programs have them.
PARTS = ("left", "right", "bottom", "top", "back", "front", "surface")
OF_RANGES = ("low", "high", "min", "max", "x_min", "x_max", "xmin", "xmax", "a", "b")
DOMAIN_KINDS = ("kind", "type", "dim", "dimension")


def _unknown_word(word: str, table: KeyPath) -> str:
    section = section_of(table)
    known = words_of(SECTIONS[section])
    where = f"[{section}]" if section else "a problem file"
    close = did_you_mean(word, known, SYNONYMS)
    if not section and word in PARTS:
        close = f' A condition on a part stands in [conditions]: {word} = "u = 0".'
    meant = SYNONYMS.get(word, word)
    others = [s for s, model in SECTIONS.items() if s != section and meant in words_of(model)]
    if section == "domain" and (meant in OF_RANGES or meant in DOMAIN_KINDS):
        close = " A domain is named with its sizes: interval = [0, 1]."
    elif not close and others:
        own = "" if meant == word else f", as {meant}"
        where_else = f"in [{others[0]}]" if others[0] else "above all tables"
        close = f" It belongs {where_else}{own}."
    known_words = "" if close else f" Known: {', '.join(known)}."
    return f"{word!r} is not a word of {where}.{close}{known_words}"
