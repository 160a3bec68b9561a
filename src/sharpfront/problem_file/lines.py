"""On which lines of a TOML file each key and value stands; the standard reader does not say."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass

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
