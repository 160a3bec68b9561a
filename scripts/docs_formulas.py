r"""Formulas of the documentation as MathML, which browsers draw without a script or a font.

A hook of mkdocs: arithmatex marks what stands between dollars, and this turns the marks into MathML
when a page is built. So the site needs no network, and a formula that cannot be read stops the
build.
"""

from __future__ import annotations

import html
import re
from typing import Any

from latex2mathml.converter import convert

_MARKED = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<formula>.*?)\\[)\]]</(?P=tag)>', re.DOTALL
)


def on_page_content(content: str, **_: Any) -> str:
    """Return the HTML of a page with its formulas as MathML."""
    return _MARKED.sub(_drawn, content)


def _drawn(match: re.Match[str]) -> str:
    block = match["tag"] == "div"
    formula = convert(html.unescape(match["formula"]), display="block" if block else "inline")
    return f'<div class="formula">{formula}</div>' if block else formula
