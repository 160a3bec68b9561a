"""One HTML page that needs nothing but itself: no scripts, fonts or images from elsewhere.

Words may carry two marks: ``*emphasis*`` and `` `code` ``. Everything else is shown as it is. The
words of reports are texts in files, with places for the numbers of a run.
"""

from __future__ import annotations

import base64
import html
import io
import re
import string
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from string import Template
from typing import Any

_BUTTON = '<button type="button" class="theme" id="theme" hidden>Dark</button>'
# The browser itself sees to it that nothing is fetched from elsewhere.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
_TONES = {"reproduces": "good", "does not reproduce": "bad", "partly": "half"}


@cache
def asset(name: str) -> str:
    """Return the text of a file that becomes part of pages."""
    return (files("sharpfront.show.pages") / "assets" / name).read_text(encoding="utf-8")


@cache
def _fragments() -> dict[str, Template]:
    parts = re.split(r"<!-- (\w+) -->\n", asset("fragments.html"))[1:]
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return {name: Template(text.replace("\n", "")) for name, text in pairs}


def fragment(name: str, /, **words: object) -> str:
    """Return a piece of markup with words put in; the caller has escaped what needs it."""
    return _fragments()[name].substitute(words)


@dataclass(eq=False)
class HtmlPage:
    """A page that is written from top to bottom and rendered once."""

    title: str  # heading and window title
    style: str = ""  # rules after the page's own
    _parts: list[str] = field(default_factory=list)
    _sections: list[tuple[str, str]] = field(default_factory=list)

    def lead(self, words: str) -> None:
        """Write the opening paragraph."""
        self._parts.append(f'<p class="lead">{inline(words)}</p>')

    def contents(self) -> None:
        """Leave room for links to the sections."""
        self._parts.append("\0contents\0")

    def section(self, heading: str) -> None:
        """Begin a section."""
        key = re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")
        self._sections.append((key, heading))
        self._parts.append(f'<h2 id="{key}">{inline(heading)}</h2>')

    def paragraph(self, words: str) -> None:
        """Write a paragraph."""
        self._parts.append(f"<p>{inline(words)}</p>")

    def points(self, items: Sequence[str]) -> None:
        """Write a list."""
        self._parts.append(f"<ul>{''.join(f'<li>{inline(item)}</li>' for item in items)}</ul>")

    def text(self, words: str) -> None:
        """Write blocks with empty lines between them: ``## heading``, ``- items``, paragraphs."""
        for block in words.split("\n\n"):
            if block.startswith("## "):
                self.section(block.removeprefix("## "))
            elif block.startswith("- "):
                self.points(block.removeprefix("- ").split("\n- "))
            else:
                self.paragraph(block)

    def verdicts(self, items: Sequence[tuple[str, str, str]]) -> None:
        """Write a list of verdicts: the verdict, what it is about, the key of the finding."""
        lines = (
            f'<li><span class="tag {_TONES.get(verdict, "note")}">{inline(verdict)}</span>'
            f'<a href="#{html.escape(key)}">{inline(words)}</a></li>'
            for verdict, words, key in items
        )
        self._parts.append(f'<ul class="lead-list">{"".join(lines)}</ul>')

    def finding(self, key: str, verdict: str, title: str, evidence: Sequence[str]) -> None:
        """Write a finding: verdict, title, paragraphs of evidence; a dash begins a list's item."""
        body = "".join(_listed(words) for words in evidence).replace("</ul><ul>", "")
        self._parts.append(
            f'<div class="finding {_TONES.get(verdict, "note")}" id="{html.escape(key)}">'
            f'<p class="verdict">{inline(verdict)}</p><h3>{inline(title)}</h3>{body}</div>'
        )

    def table(
        self,
        head: Sequence[str],
        rows: Sequence[Sequence[str]],
        caption: str,
        *,
        words: int = 1,
        cards: bool = True,
    ) -> None:
        """Write a table; what follows a line break in a cell is set small.

        So many columns on the left are `words`, the others numbers. As `cards`, each row is one on
        a phone; otherwise the table scrolls sideways.
        """
        tops = "".join(f"<th{_kind(i, words)}>{inline(text)}</th>" for i, text in enumerate(head))
        lines = "".join(
            "<tr>"
            + "".join(
                f'<td{_kind(i, words)} data-label="{html.escape(head[i])}">{_cell(text)}</td>'
                for i, text in enumerate(row)
            )
            + "</tr>"
            for row in rows
        )
        self._parts.append(
            f'<div class="table"><table{" class=cards" if cards else ""}>'
            f"<caption>{inline(caption)}</caption><thead><tr>{tops}</tr></thead>"
            f"<tbody>{lines}</tbody></table></div>"
        )

    def figure(self, svg: bytes, caption: str, description: str = "") -> None:
        """Write a figure that becomes part of the page; its caption describes it unless told."""
        data = base64.b64encode(svg).decode("ascii")
        self._parts.append(
            f'<figure><img alt="{html.escape(description or caption)}" '
            f'src="data:image/svg+xml;base64,{data}">'
            f"<figcaption>{inline(caption)}</figcaption></figure>"
        )

    def markup(self, html_text: str) -> None:
        """Write HTML as it is; the caller has escaped what needs it."""
        self._parts.append(html_text)

    def body(self) -> str:
        """Return what was written, without heading and frame."""
        links = "".join(f'<a href="#{key}">{inline(name)}</a>' for key, name in self._sections)
        return "\n".join(self._parts).replace("\0contents\0", f"<nav>{links}</nav>")

    def render(self) -> str:
        """Return the page."""
        style, script = asset("page.css") + self.style, asset("page.js")
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
            f"<title>{html.escape(self.title)}</title>\n<style>{style}</style>\n</head>\n"
            f"<body>\n<main>\n{_BUTTON}\n<h1>{inline(self.title)}</h1>\n{self.body()}\n</main>\n"
            f"<script>{script}</script>\n</body>\n</html>\n"
        )


def svg_of(figure: Any) -> bytes:
    """Return a figure of matplotlib as SVG, the same bytes for the same figure."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def inline(words: str) -> str:
    """Return words as HTML, with ``*emphasis*`` and `` `code` `` marked up."""
    # A number and its unit stay on one line.
    escaped = html.escape(words, quote=False).replace(" %", "\u00a0%")
    pieces = re.split(r"`([^`]+)`", escaped)
    for i, piece in enumerate(pieces):
        marked = re.sub(r"\*(\S(?:[^*]*\S)?)\*", r"<em>\1</em>", piece)
        pieces[i] = f"<code>{piece}</code>" if i % 2 else marked
    return "".join(pieces)


def _listed(words: str) -> str:
    if words.startswith("- "):
        return f"<ul><li>{inline(words[2:])}</li></ul>"
    return f"<p>{inline(words)}</p>"


def _kind(column: int, words: int) -> str:
    return ' class="words"' if column < words else ""


def _cell(text: str) -> str:
    first, _, rest = text.partition("\n")
    # One element, so that number and quartiles stay together in a card.
    return f"<span>{inline(first)}{f' <small>{inline(rest)}</small>' if rest else ''}</span>"


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
