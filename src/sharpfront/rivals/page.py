"""A race as a page that needs nothing but a browser."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from sharpfront.paper.figures import GREY, INK, panels, plain_logs, styled
from sharpfront.rivals.comparison import HEAD, Comparison
from sharpfront.rivals.racing import Lane
from sharpfront.show.pages.page import HtmlPage, Words, svg_of
from sharpfront.show.statement.script import versions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# A method keeps its look from picture to picture.
_LOOKS = {
    **{"ours": ("#d1495b", "o"), "gmm-pielm": ("#2e5e8c", "s"), "rbf-pielm": ("#7fb0da", "s")},
    **{"pielm": ("#5b8e7d", "^"), "kapi-elm": ("#8c5a9e", "D"), "rad": ("#b8860b", "v")},
    **{"pinn": ("#3a3a3a", "P"), "solve_bvp": ("#e07b00", "X"), "chebyshev": ("#009e8e", "<")},
    **{"scikit-fem": ("#6b7f00", ">"), "ngsolve": ("#a0522d", "h"), "lines": ("#4661d1", "*")},
    **{"bacoli": ("#c2185b", "p")},
}
_WORDS = Words("sharpfront.rivals", {})
# What is farther off than this is drawn there: the picture would be of nothing else.
_MOST = 10.0


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
    written.table(HEAD, rows, _WORDS.said("page", "caption", truth=found.truth), words=2)
    picture, caption = svg_of(found.plot().figure), _WORDS.said("page", "figure")
    written.figure(picture, caption, "True error against seconds for each method")
    away = [f"{x.title}: {x.failure}." for x in found.ordered() if not x.marks]
    if away:
        written.section("Not in the race")
        written.points(away)
    written.section("Settings")
    rows = [
        [lane.title, mark.setting, f"{mark.error:.1e}", f"{mark.seconds:.2g}"]
        for lane in found.ordered()
        for mark in lane.marks
    ]
    spent = [f"{x.title} {len(x.tried)} in {x.spent:.2g} s" for x in found.lanes if x.tried]
    caption = f"The marks of the picture. Settings tried: {', '.join(spent)}."
    written.table(("Method", "Setting", "Error", "Seconds"), rows, caption, words=2)
    if found.published:
        written.section("Published elsewhere")
        written.points([f"{p.method}: {p.figure} ({p.source})." for p in found.published])
    written.section("Methods")
    written.points([f"{x.title}: {x.citation}." for x in found.lanes if x.name != "ours"])
    written.section("How this was measured")
    seeds = f"{found.seeds[0]} to {found.seeds[-1]}" if len(found.seeds) > 1 else found.seeds[0]
    used = ", ".join(f"{k} {v}" for k, v in versions().items())
    written.text(_WORDS.said("page", "how", seconds=found.seconds, seeds=seeds, versions=used))
    return written.render()


def _lead(found: Comparison) -> str:
    ran = sum(bool(lane.marks) for lane in found.lanes)
    lost = [f"{lane.title} ({beside})" for lane, beside in found.losses]
    words = f"{ran} methods had {found.seconds:g} s of the processor each. "
    if lost:
        return f"{words}Ours loses to {'; '.join(lost)}."
    return f"{words}None was faster than ours to any error, nor got further."


def draw(found: Comparison, ax: Axes | None = None) -> Axes:
    """Draw a comparison and return its axes."""
    with styled():
        if ax is None:
            _, (ax,) = panels((1.0,), 4.4)
        for lane in found.lanes:
            if lane.marks:
                _lane(ax, lane)
        words = {"xlabel": "seconds of the processor", "ylabel": "true error"}
        ax.set(xscale="log", yscale="log", title=found.title, **words)
        ax.grid(True, which="major", color=GREY, alpha=0.25, linewidth=0.6)
        ax.axhline(1.0, color=GREY, linestyle=":", linewidth=0.8)
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        plain_logs(ax.figure)  # type: ignore[arg-type]
    return ax


def _lane(ax: Axes, lane: Lane) -> None:
    colour, marker = _LOOKS.get(lane.name, (INK, "o"))
    ours = lane.name == "ours"
    look: dict[str, Any] = {"color": colour, "zorder": 3 if ours else 2}
    ax.plot(
        [m.seconds for m in lane.marks],
        [min(m.error, _MOST) for m in lane.marks],
        marker=marker,
        markersize=5.5 if ours else 4.5,
        linewidth=2.2 if ours else 1.2,
        label=lane.title,
        **look,
    )
    for mark in lane.marks:
        errors = [min(run.error, _MOST) for run in mark.runs]
        if len(errors) > 1 and max(errors) > 1.1 * min(errors):
            ax.vlines(mark.seconds, min(errors), max(errors), linewidth=3, alpha=0.3, **look)
