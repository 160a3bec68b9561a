"""A race as a page that needs nothing but a browser."""

from __future__ import annotations

import html
import io
from typing import TYPE_CHECKING, Any

from sharpfront.rivals.comparison import HEAD, Comparison, methods_of
from sharpfront.show import HtmlPage
from sharpfront.show.statement.script import versions

if TYPE_CHECKING:
    from sharpfront.rivals.racing import Lane


def page(found: Comparison, title: str | None = None) -> str:
    """Return the page as HTML."""
    written = HtmlPage(title or f"{found.title}: methods compared")
    written.lead(_lead(found))
    if found.statement:
        text = html.escape(found.statement.strip())
        written.markup(f'<pre style="white-space: pre-wrap">{text}</pre>')
    written.section("Error and time")
    ran = [row for lane, row in zip(found.ordered(), found.rows(), strict=True) if lane.marks]
    # The extremes are set small, below the median.
    rows = [[cell.replace(" [", "\n[") for cell in row] for row in ran]
    written.table(HEAD, rows, _caption(found), words=2)
    written.figure(
        _svg(found),
        "True error against seconds of the processor. Each mark is a setting that no faster one of "
        "the same method is as good as; bars are the spread over seeds, and errors above ten are "
        "drawn at ten. Lower left is better.",
        "True error against seconds for each method",
    )
    away = [f"{x.title}: {x.failure}." for x in found.ordered() if not x.marks]
    if away:
        written.section("Not in the race")
        written.points(away)
    _settings(written, found)
    if found.published:
        written.section("Published elsewhere")
        written.points([f"{p.method}: {p.figure} ({p.source})." for p in found.published])
    written.section("Methods")
    written.points(methods_of(found.lanes))
    written.section("How this was measured")
    written.paragraph(_how(found))
    written.paragraph("Versions: " + ", ".join(f"{k} {v}" for k, v in versions().items()) + ".")
    return written.render()


def _lead(found: Comparison) -> str:
    ran = sum(bool(lane.marks) for lane in found.lanes)
    lost = [f"{lane.title} ({beside})" for lane, beside in found.losses]
    words = f"{ran} methods had {found.seconds:g} s of the processor each. "
    if lost:
        return f"{words}Ours loses to {'; '.join(lost)}."
    return f"{words}None was faster than ours to any error, nor got further."


def _caption(found: Comparison) -> str:
    return (
        f"Errors are the largest at test points, against {found.truth}, relative to "
        "max(1, max|u|); [least, most] over seeds where they differ. Seconds are of the processor, "
        "one thread, medians; *to 1e-4* is the fastest setting that gets there, – where none does. "
        "The second column is where a method does best beside ours; what beats ours stands first."
    )


def _settings(written: HtmlPage, found: Comparison) -> None:
    written.section("Settings")
    rows = [
        [lane.title, mark.setting, f"{mark.error:.1e}", f"{mark.seconds:.2g}"]
        for lane in found.ordered()
        for mark in lane.marks
    ]
    tried = ", ".join(f"{x.title} {len(x.tried)} in {x.spent:.2g} s" for x in _ran(found))
    head = ("Method", "Setting", "Error", "Seconds")
    written.table(head, rows, f"The marks of the picture. Settings tried: {tried}.", words=2)


def _ran(found: Comparison) -> list[Lane]:
    return [lane for lane in found.lanes if lane.tried]


def _how(found: Comparison) -> str:
    seeds = f"{found.seeds[0]} to {found.seeds[-1]}" if len(found.seeds) > 1 else found.seeds[0]
    return (
        f"Each method tried its settings, the cheapest first, until {found.seconds:g} s of the "
        "processor were spent; the best of them by the true error, which a user does not know, are "
        "shown, for rivals and ours alike. Those were run again: with the "
        f"seeds {seeds} where something is drawn, three times where nothing is. The tuning of "
        "KAPI-ELM and the training of networks are in their times; the search among settings is "
        "not. One BLAS thread; a first run that loads and compiles is not counted."
    )


def _svg(found: Comparison) -> bytes:
    figure: Any = found.plot().figure
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()
