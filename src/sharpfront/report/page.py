"""One HTML page that needs nothing but itself: no scripts, fonts or images from elsewhere.

Words may carry two marks: ``*emphasis*`` and `` `code` ``. Everything else is shown as it is.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

_STYLE = """
:root { color-scheme: light; --ink: #1d1f23; --soft: #5b6270; --line: #dfe2e7; --paper: #fff;
  --wash: #f6f7f9; --good: #1a7f4b; --bad: #b3372f; --half: #9a6700; --note: #3a5a8c; }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-behavior: smooth; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 17px/1.6 Charter, "Bitstream Charter", "Iowan Old Style", Georgia, serif; }
main { max-width: 46rem; margin: 0 auto; padding: 2.5rem 1.25rem 5rem; }
h1, h2, h3, table, .verdict, nav, figcaption, .cards dt, .lead-list, .tag
  { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .6rem; letter-spacing: -.01em; }
h2 { font-size: 1.35rem; line-height: 1.3; margin: 3rem 0 .8rem; padding-top: 1rem;
  border-top: 1px solid var(--line); }
h3 { font-size: 1.05rem; line-height: 1.35; margin: 0 0 .5rem; }
p { margin: 0 0 1rem; }
.lead { font-size: 1.15rem; color: #33373e; }
code { font: .88em/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  background: var(--wash); padding: .1em .3em; border-radius: 3px; overflow-wrap: anywhere; }
nav { font-size: .9rem; margin: 1.5rem 0 0; display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; }
nav a { color: var(--note); text-decoration: none; border-bottom: 1px solid var(--line); }
.lead-list { list-style: none; margin: 1.5rem 0; padding: 0; font-size: .95rem; line-height: 1.4; }
.lead-list li { display: grid; grid-template-columns: 10.5rem 1fr; gap: .2rem 1rem;
  padding: .5rem 0; border-top: 1px solid var(--line); }
.lead-list li:last-child { border-bottom: 1px solid var(--line); }
.lead-list a { color: inherit; text-decoration-color: var(--line); text-underline-offset: .2em; }
.tag { font-size: .78rem; font-weight: 650; letter-spacing: .02em; white-space: nowrap; }
.good { color: var(--good); } .bad { color: var(--bad); } .half { color: var(--half); }
.note { color: var(--note); }
.finding { margin: 1.6rem 0 2.2rem; padding: .2rem 0 0 1rem; border-left: 4px solid var(--line); }
.finding.good { border-color: var(--good); } .finding.bad { border-color: var(--bad); }
.finding.half { border-color: var(--half); } .finding.note { border-color: var(--note); }
.finding > * { color: var(--ink); }
.verdict { font-size: .78rem; font-weight: 650; text-transform: uppercase; letter-spacing: .06em;
  margin: 0 0 .2rem; }
.finding.good .verdict { color: var(--good); } .finding.bad .verdict { color: var(--bad); }
.finding.half .verdict { color: var(--half); } .finding.note .verdict { color: var(--note); }
figure { margin: 1.8rem 0; } figure img { display: block; width: 100%; max-width: 38rem;
  height: auto; margin: 0 auto; }
figcaption, caption { font-size: .88rem; line-height: 1.45; color: var(--soft); }
figcaption { margin: .6rem auto 0; max-width: 38rem; }
.table { overflow-x: auto; margin: 1.4rem 0 1.8rem; }
table { border-collapse: collapse; width: 100%; font-size: .84rem; line-height: 1.35;
  font-variant-numeric: tabular-nums; }
caption { caption-side: bottom; text-align: left; padding-top: .6rem;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
th, td { text-align: right; padding: .38rem .5rem; vertical-align: top; white-space: nowrap; }
th { font-weight: 600; color: var(--soft); border-bottom: 1.5px solid var(--ink);
  white-space: normal; vertical-align: bottom; }
td { border-bottom: 1px solid var(--line); }
th.words, td.words { text-align: left; white-space: normal; }
@media (min-width: 980px) { .table { margin-left: -6rem; margin-right: -6rem; }
  td.words { white-space: nowrap; } }
tr.strong td { background: var(--wash); }
td small { color: var(--soft); font-size: .9em; display: block; }
@media (max-width: 640px) {
  body { font-size: 16px; } h1 { font-size: 1.6rem; } main { padding-top: 1.5rem; }
  .lead-list li { grid-template-columns: 1fr; }
  table.cards thead { display: none; }
  table.cards, table.cards tbody, table.cards tr, table.cards td, table.cards caption
    { display: block; width: 100%; }
  table.cards { display: flex; flex-direction: column; } table.cards caption { order: 1; }
  table.cards tr { border-top: 1.5px solid var(--ink); padding: .4rem 0 .7rem; }
  table.cards td { border: 0; padding: .12rem 0; display: flex; justify-content: space-between;
    gap: 1rem; text-align: right; white-space: normal; }
  table.cards td.words { text-align: right; }
  table.cards td:first-child { font-weight: 600; }
  table.cards td::before { content: attr(data-label); color: var(--soft); font-weight: 400;
    text-align: left; flex: none; max-width: 55%; }
  table.cards td small { display: inline; }
}
@media print { body { font-size: 11pt; } .finding, figure, tr { break-inside: avoid; } }
"""

# The browser itself sees to it that nothing is fetched from elsewhere.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
_TONES = {"reproduces": "good", "does not reproduce": "bad", "partly": "half"}


@dataclass(eq=False)
class HtmlPage:
    """A page that is written from top to bottom and rendered once.

    Parameters
    ----------
    title
        Heading and window title.
    style
        Rules after the page's own.
    """

    title: str
    style: str = ""
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
        """Write a table.

        Parameters
        ----------
        head, rows
            Texts; what follows a line break in a cell is set small.
        caption
            What the table shows.
        words
            So many columns on the left are words, the others numbers.
        cards
            On a phone, show each row as a card; otherwise the table scrolls sideways.
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

    def figure(self, svg: bytes, caption: str, description: str) -> None:
        """Write a figure; the SVG becomes part of the page."""
        data = base64.b64encode(svg).decode("ascii")
        self._parts.append(
            f'<figure><img alt="{html.escape(description)}" '
            f'src="data:image/svg+xml;base64,{data}">'
            f"<figcaption>{inline(caption)}</figcaption></figure>"
        )

    def markup(self, html_text: str) -> None:
        """Write HTML as it is; the caller has escaped what needs it."""
        self._parts.append(html_text)

    def render(self) -> str:
        """Return the page."""
        links = "".join(f'<a href="#{key}">{inline(name)}</a>' for key, name in self._sections)
        body = "\n".join(self._parts).replace("\0contents\0", f"<nav>{links}</nav>")
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
            f"<title>{html.escape(self.title)}</title>\n<style>{_STYLE}{self.style}</style>\n</head>\n"
            f"<body>\n<main>\n<h1>{inline(self.title)}</h1>\n{body}\n</main>\n</body>\n</html>\n"
        )


def inline(words: str) -> str:
    """Return words as HTML, with ``*emphasis*`` and `` `code` `` marked up."""
    # A number and its unit stay on one line.
    escaped = html.escape(words, quote=False).replace(" %", "\u00a0%")
    pieces = re.split(r"`([^`]+)`", escaped)
    for i, piece in enumerate(pieces):
        pieces[i] = f"<code>{piece}</code>" if i % 2 else _emphasised(piece)
    return "".join(pieces)


def _emphasised(piece: str) -> str:
    return re.sub(r"\*(\S(?:[^*]*\S)?)\*", r"<em>\1</em>", piece)


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
