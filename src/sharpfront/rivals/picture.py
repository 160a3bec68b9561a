"""The picture of a race: true error against seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sharpfront.paper.figures.style import GREY, INK, panels, plain_logs, styled
from sharpfront.rivals.racing import Lane

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sharpfront.rivals.comparison import Comparison

# A method keeps its look from picture to picture.
_LOOKS = {
    "ours": ("#d1495b", "o"),
    "gmm-pielm": ("#2e5e8c", "s"),
    "rbf-pielm": ("#7fb0da", "s"),
    "pielm": ("#5b8e7d", "^"),
    "kapi-elm": ("#8c5a9e", "D"),
    "rad": ("#b8860b", "v"),
    "pinn": ("#3a3a3a", "P"),
    "solve_bvp": ("#e07b00", "X"),
    "chebyshev": ("#009e8e", "<"),
    "scikit-fem": ("#6b7f00", ">"),
    "ngsolve": ("#a0522d", "h"),
    "lines": ("#4661d1", "*"),
    "bacoli": ("#c2185b", "p"),
}
# What is farther off than this is drawn there: the picture would be of nothing else.
_MOST = 10.0


def draw(found: Comparison, ax: Axes | None = None) -> Axes:
    """Draw a comparison and return its axes."""
    with styled():
        if ax is None:
            _, (ax,) = panels((1.0,), 4.4)
        for lane in found.lanes:
            if lane.marks:
                _lane(ax, lane)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel("seconds of the processor")
        ax.set_ylabel("true error")
        ax.set_title(found.title)
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
