"""The words of reports: texts in files, with places for the numbers of a run."""

from __future__ import annotations

import re
import string
import tomllib
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib.resources import files
from typing import Any


class _Formatter(string.Formatter):
    """Writes numbers in texts; forms of its own go before Python's."""

    def __init__(self, forms: Mapping[str, Callable[[Any], str]]) -> None:
        self.forms = forms

    def format_field(self, value: Any, format_spec: str) -> str:
        form = self.forms.get(format_spec)
        return form(value) if form else str(super().format_field(value, format_spec))


class Words:
    """The texts in ``words.toml`` of a package, whose numbers may have forms of their own."""

    def __init__(self, package: str, forms: Mapping[str, Callable[[Any], str]]) -> None:
        self._file = files(package) / "words.toml"
        self._writer = _Formatter(forms)

    @cached_property
    def texts(self) -> dict[str, dict[str, Any]]:
        """All of them, by section and name."""
        return tomllib.loads(self._file.read_text(encoding="utf-8"))

    def said(self, section: str, part: str, **facts: Any) -> str:
        """Return a text with facts put in; a single end of a line is a blank."""
        text = self._writer.format(self.texts[section][part], **facts).strip()
        return re.sub(r"(?<!\n)\n(?!\n|- ) *", " ", text)
