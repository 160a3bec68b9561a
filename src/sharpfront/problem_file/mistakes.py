"""What is wrong with a problem file: every mistake with its line, its text and a suggestion."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from sharpfront.checks import visible
from sharpfront.errors import SharpfrontError
from sharpfront.problem_file.lines import KeyPath, Span

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
        return {
            "line": self.line,
            "column": self.column,
            "key": self.where,
            "text": self.text,
            "message": self.message,
        }


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
        lines = self.source.splitlines()
        return [_paragraph(mistake, self.name, lines) for mistake in self.mistakes]


def _paragraph(mistake: Mistake, name: str, lines: list[str]) -> str:
    name, lines = visible(name), [visible(line) for line in lines]
    place = name if mistake.line is None else f"{name}:{mistake.line}"
    what = f"{mistake.where}: " if mistake.where else ""
    head = visible(f"{place}: {what}{mistake.message}")
    if mistake.line is None or not mistake.quoted or mistake.line > len(lines):
        return head
    number, content = str(mistake.line), lines[mistake.line - 1].replace("\t", " ")
    start = _window(content, mistake)
    content = content[start : start + _EXCERPT]
    shown = f"{head}\n  {number} | {content}"
    if mistake.column is None:
        return shown
    column = mistake.column - start
    mark = "^" * max(1, min(len(mistake.text), len(content) - column + 1))
    return f"{shown}\n  {' ' * len(number)} | {' ' * (column - 1)}{mark}"


def _window(content: str, mistake: Mistake) -> int:
    """Return where to begin with a line too long to be shown as a whole."""
    if len(content) <= _EXCERPT or mistake.column is None:
        return 0
    return max(0, min(mistake.column - _EXCERPT // 3, len(content) - _EXCERPT))


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
