"""The words of the report: texts in a file, with places for the numbers of a run."""

from __future__ import annotations

import re
import string
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from sharpfront.paper.summary import percent, sci, seconds


def _many(number: int) -> str:
    """Return the beginning of a sentence on that many runs."""
    return {0: "No run is", 1: "One run is"}.get(number, f"{number} runs are")


_FORMS = {"sci": sci, "percent": percent, "seconds": seconds, "many": _many}


class _Writer(string.Formatter):
    """Writes numbers in texts; the forms of the report go before Python's."""

    def format_field(self, value: Any, format_spec: str) -> str:
        form = _FORMS.get(format_spec)
        return form(value) if form else str(super().format_field(value, format_spec))


@cache
def texts(section: str) -> dict[str, Any]:
    """Return the texts of a section by name."""
    file = files("sharpfront.paper") / "words.toml"
    return dict(tomllib.loads(file.read_text(encoding="utf-8"))[section])


def said(section: str, part: str, **facts: Any) -> str:
    """Return a text with facts put in; a single end of a line is a blank."""
    text = _Writer().format(texts(section)[part], **facts).strip()
    return re.sub(r"(?<!\n)\n(?!\n|- ) *", " ", text)
