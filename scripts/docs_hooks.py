r"""What mkdocs calls while it builds the documentation.

Formulas between dollars, which arithmatex marks, become MathML: browsers draw it without a script
or a font. Tables break between words. And a page that would load anything from elsewhere
stops the build, because the site has to work without a network.
"""

from __future__ import annotations

import html
import re
from typing import Any

from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError

_MARKED = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<formula>.*?)\\[)\]]</(?P=tag)>', re.DOTALL
)
_CELL = re.compile(r"(<td[^>]*>)(.*?)(</td>)", re.DOTALL)
# Tags are passed over. Numbers, 2.5e-11 and 16 777 216, stay whole; paths break after a slash.
_WORD = re.compile(r"<[^>]*>|\d[\d.]*e-\d+|\d{1,3}(?: \d{3})+|/(?=[a-z])")
_FROM_ELSEWHERE = re.compile(
    r'<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)="(?:https?:)?//[^>]*>'
)


def on_page_content(content: str, **_: Any) -> str:
    """Return the HTML of a page with its formulas as MathML and tables that break between words."""
    content = _CELL.sub(lambda cell: cell[1] + _WORD.sub(_held, cell[2]) + cell[3], content)
    return _MARKED.sub(_drawn, content)


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Refuse a page that loads something from elsewhere."""
    found = _FROM_ELSEWHERE.search(output)
    if found:
        raise PluginError(f"{page.file.src_path} would load from elsewhere: {found[0]}")
    return output


def _held(match: re.Match[str]) -> str:
    if match[0].startswith("<"):
        return match[0]
    return "/<wbr>" if match[0] == "/" else f'<span class="number">{match[0]}</span>'


def _drawn(match: re.Match[str]) -> str:
    block = match["tag"] == "div"
    formula = convert(html.unescape(match["formula"]), display="block" if block else "inline")
    if "\\" in formula:
        raise PluginError(f"This formula has a command that is not known: {match['formula']}")
    # Names of functions stand upright, letters slanted.
    formula = re.sub(r"<mi>(\w{2,})</mi>", r'<mi mathvariant="normal">\1</mi>', formula)
    return f'<div class="formula">{formula}</div>' if block else formula
