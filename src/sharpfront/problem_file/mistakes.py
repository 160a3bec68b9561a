"""What is wrong with a problem file: every mistake with its line, its text and a suggestion.

On which lines of a TOML file each key and value stands; the standard reader does not say.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from sharpfront.checks import visible
from sharpfront.errors import SharpfrontError

KeyPath = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STRINGS = (
    re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}', re.DOTALL),
    re.compile(r"'''.*?'{3,5}", re.DOTALL),
    re.compile(r'"(?:[^"\\\n]|\\.)*"'),
    re.compile(r"'[^'\n]*'"),
)
_WORD = re.compile(r"[^,\]}#\n]*")


@dataclass(frozen=True)
class Span:
    """The first and the last line of a key with its value, counted from one."""

    first: int
    last: int


def line_index(source: str) -> dict[KeyPath, Span]:
    """Return the lines of every key, table and item of an array of a sound TOML document."""
    scanner = _Scanner(source.replace("\r\n", "\n"))
    scanner.document()
    return scanner.spans


def value_index(source: str) -> dict[KeyPath, tuple[int, int]]:
    """Return where the text of every value begins and ends, in characters; see `line_index`.

    The source has ends of lines of one character.
    """
    scanner = _Scanner(source)
    scanner.document()
    return scanner.values


class _Scanner:
    """Goes once through the text; what is not of interest here has been checked by tomllib."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.spans: dict[KeyPath, Span] = {}
        self.values: dict[KeyPath, tuple[int, int]] = {}
        # How many tables each array of tables has so far.
        self.counts: dict[KeyPath, int] = {}

    def document(self) -> None:
        table: KeyPath = ()
        self.blank()
        while self.place < len(self.text):
            if self.text[self.place] == "[":
                table = self.header()
            else:
                self.pair(table)
            self.blank()

    def header(self) -> KeyPath:
        start, several = self.place, self.text.startswith("[[", self.place)
        self.place += 2 if several else 1
        names = self.key()
        self.place = self.text.index("]", self.place) + (2 if several else 1)
        path: KeyPath = ()
        for i, name in enumerate(names):
            path = (*path, name)
            self.note(path, start)
            if several and i == len(names) - 1:
                self.counts[path] = self.counts.get(path, 0) + 1
            if path in self.counts:
                path = (*path, self.counts[path] - 1)
                self.note(path, start)
        return path

    def pair(self, table: KeyPath) -> None:
        start = self.place
        names = self.key()
        self.place = self.text.index("=", self.place) + 1
        self.blank()
        path = (*table, *names)
        begin = self.place
        self.value(path)
        self.values[path] = (begin, begin + len(self.text[begin : self.place].rstrip()))
        for i in range(len(table) + 1, len(path) + 1):
            self.note(path[:i], start)

    def key(self) -> tuple[str, ...]:
        """Return the names of a dotted key."""
        names: list[str] = []
        while True:
            self.blank()
            quoted = self.string()
            if quoted is None:
                found = _BARE.match(self.text, self.place)
                assert found is not None
                self.place = found.end()
                names.append(found.group())
            else:
                names.append(tomllib.loads(f"key = {quoted}")["key"])
            self.blank()
            if not self.text.startswith(".", self.place):
                return tuple(names)
            self.place += 1

    def value(self, path: KeyPath) -> None:
        if self.text.startswith("[", self.place):
            self.listed("]", lambda i: self.item((*path, i)))
        elif self.text.startswith("{", self.place):
            self.listed("}", lambda _: self.pair(path))
        elif self.string() is None:
            found = _WORD.match(self.text, self.place)
            assert found is not None
            self.place = found.end()

    def item(self, path: KeyPath) -> None:
        start = self.place
        self.value(path)
        self.note(path, start)

    def listed(self, close: str, read: Callable[[int], None]) -> None:
        """Read what stands between brackets, separated by commas."""
        self.place += 1
        self.blank()
        i = 0
        while not self.text.startswith(close, self.place):
            read(i)
            i += 1
            self.blank()
            if self.text.startswith(",", self.place):
                self.place += 1
                self.blank()
        self.place += 1

    def string(self) -> str | None:
        for pattern in _STRINGS:
            found = pattern.match(self.text, self.place)
            if found:
                self.place = found.end()
                return found.group()
        return None

    def blank(self) -> None:
        found = _BLANK.match(self.text, self.place)
        assert found is not None
        self.place = found.end()

    def note(self, path: KeyPath, start: int) -> None:
        """Remember the lines from `start` to here, where the path is new."""
        first = self.text.count("\n", 0, start) + 1
        self.spans.setdefault(path, Span(first, self.text.count("\n", 0, self.place) + 1))


# So much of a line is shown: with its number it fits a narrow terminal unwrapped.
_EXCERPT = 70


@dataclass(frozen=True)
class Mistake:
    """One thing that is wrong.

    Parameters
    ----------
    path
        Where in the file, ("conditions", "left"); empty for the file as a whole.
    message
        What was got, what was expected and what to try.
    text
        The offending text as it stands in the file; empty where something is missing.
    line, column
        Counted from one; None where there is no such place, as for ``--set``.
    quoted
        Whether to show the line.
    """

    path: KeyPath
    message: str
    text: str = ""
    line: int | None = None
    column: int | None = None
    quoted: bool = False

    @property
    def where(self) -> str:
        """The path in words, ``conditions.left``."""
        return "".join(
            f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.path
        ).removeprefix(".")

    def as_dict(self) -> dict[str, Any]:
        """Return it as words and numbers."""
        place = {"line": self.line, "column": self.column, "key": self.where}
        return place | {"text": self.text, "message": self.message}


class StatementError(SharpfrontError, ValueError):
    """A problem file that does not state a problem; holds all its mistakes.

    Parameters
    ----------
    mistakes
        At least one, in the order of the file.
    name
        Of the file.
    source
        Its text.
    """

    def __init__(self, mistakes: Collection[Mistake], name: str, source: str = "") -> None:
        self.mistakes = tuple(sorted(mistakes, key=lambda m: (m.line or 0, m.column or 0)))
        self.name = name
        self.source = source
        super().__init__("\n".join(self.paragraphs()))

    def paragraphs(self) -> list[str]:
        """Return each mistake with its line of the file and a mark under the offending text."""
        lines = [visible(line) for line in self.source.splitlines()]
        return [_paragraph(mistake, visible(self.name), lines) for mistake in self.mistakes]


def _paragraph(mistake: Mistake, name: str, lines: list[str]) -> str:
    place = name if mistake.line is None else f"{name}:{mistake.line}"
    what = f"{mistake.where}: " if mistake.where else ""
    head = visible(f"{place}: {what}{mistake.message}")
    if mistake.line is None or not mistake.quoted or mistake.line > len(lines):
        return head
    number, content = str(mistake.line), lines[mistake.line - 1].replace("\t", " ")
    # A line too long to be shown as a whole begins near the mistake.
    start = max(0, min((mistake.column or 0) - _EXCERPT // 3, len(content) - _EXCERPT))
    content = content[start : start + _EXCERPT]
    shown = f"{head}\n  {number} | {content}"
    if mistake.column is None:
        return shown
    column = mistake.column - start
    mark = "^" * max(1, min(len(mistake.text), len(content) - column + 1))
    return f"{shown}\n  {' ' * len(number)} | {' ' * (column - 1)}{mark}"


@dataclass(eq=False)
class Book:
    """Collects the mistakes of one file."""

    source: str  # the text of the file
    spans: Mapping[KeyPath, Span]  # where each key is
    mistakes: list[Mistake] = field(default_factory=list)

    def note(self, path: KeyPath, message: str, text: str = "") -> None:
        """Add a mistake; the nearest key above that is in the file gives the line."""
        known = self._nearest(path)
        # A single value may stand where a list is meant: then it has no place to be named by.
        path = tuple(
            p for i, p in enumerate(path) if isinstance(p, str) or path[: i + 1] in self.spans
        )
        if known is None:
            # Of something that is missing from the file as a whole.
            self.mistakes.append(Mistake(path, message, "", 1))
            return
        line, column = self._found(self.spans[known], text)
        self.mistakes.append(Mistake(path, message, text if column else "", line, column, True))

    def has_in(self, *sections: str) -> bool:
        """Tell whether there is a mistake in a section."""
        return any(m.path[:1] == (section,) for m in self.mistakes for section in sections)

    def _nearest(self, path: KeyPath) -> KeyPath | None:
        """Return the longest beginning of a path that is in the file.

        A single table may stand where a list of them is meant: then places in it do not count.
        """
        for i in range(len(path), 0, -1):
            for known in (path[:i], tuple(p for p in path[:i] if isinstance(p, str))):
                if known in self.spans:
                    return known
        return None

    def _found(self, span: Span, text: str) -> tuple[int, int | None]:
        """Return line and column of a text among the lines of a key."""
        lines = self.source.splitlines()
        for number in range(span.first, span.last + 1) if text else ():
            # Whole words first: `u` is not the one in `nu`.
            for pattern in (rf"(?<!\w){re.escape(text)}(?!\w)", re.escape(text)):
                found = re.search(pattern, lines[number - 1])
                if found:
                    return number, found.start() + 1
        return span.first, None
