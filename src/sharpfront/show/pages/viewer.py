"""The markup around the charts: what can be chosen, moved and read."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from sharpfront.show.pages.page import fragment

_KINDS = {"solution": "Solution", "residual": "Residual", "error": "True error"}
# Why kernels are not drawn: of a problem in time, and of one without.
_MOVED = "Only the mixture is drawn here: where its kernels are at this moment is not kept."
_EARLIER = (
    "Of earlier solves the number of kernels and the mixture are kept, not the positions of the "
    "kernels."
)


def viewer_markup(data: dict[str, Any]) -> str:
    """Return the interactive part of the page; the script finds its elements by their ids."""
    missing = fragment("missing", why=_MOVED if data["inTime"] else _EARLIER)
    if data["kind"] == "map":
        cuts = "".join(fragment("cut", a=a, b=b) for a, b in (("x", "y"), ("y", "x")))
        charts = fragment("plane", main=_main(data) + missing, cuts=cuts)
    else:
        charts = _main(data) + fragment("kernels", missing=missing)
    return fragment("viewer", controls=_controls(data), scrub=_scrub(data), charts=charts)


def _controls(data: dict[str, Any]) -> str:
    kinds = "".join(
        fragment("kind", kind=kind, checked="" if i else " checked", words=_KINDS[kind])
        for i, kind in enumerate(dict.fromkeys(q["kind"] for q in data["quantities"]))
    )
    parts = []
    unknowns = [q["unknown"] for q in data["quantities"] if q["kind"] == "solution"]
    if len(unknowns) > 1:
        parts.append(_select("unknown", "Unknown", [(u, u) for u in unknowns]))
    if data["kind"] == "map":
        titles = [(str(i), p["title"] or "plane") for i, p in enumerate(data["planes"])]
        if len(titles) > 1:
            parts.append(_select("plane", "Plane", titles))
        parts.append(fragment("tick", key="kernels", colour="", words="kernels"))
        parts.append(fragment("tick", key="mixture", colour=" orange", words="mixture"))
    else:
        parts.append(fragment("tick", key="kernels", colour="", words="kernels and mixture"))
    return fragment("controls", kinds=kinds, others="".join(parts))


def _select(key: str, label: str, options: Sequence[tuple[str, str]]) -> str:
    inner = "".join(
        fragment("option", value=html.escape(value), words=html.escape(words))
        for value, words in options
    )
    return fragment("select", key=key, label=label, options=inner)


def _scrub(data: dict[str, Any]) -> str:
    """Return the slider through solves or time; only the note where there is one of them.

    Through solves it moves the kernels alone, so it comes with them when they are asked for.
    """
    answer, last, moves = data["answer"], len(data["notes"]) - 1, data["inTime"]
    button = '<button type="button" id="play">Play</button>' if moves else ""
    name = "Time" if moves else "Solve"
    slider = fragment("slider", button=button, name=name, last=last, answer=answer) if last else ""
    return fragment(
        "scrub",
        play=" play" if last and moves else "",
        asked="" if moves else " data-on-request hidden",
        slider=slider,
        note=html.escape(data["notes"][answer]),
    )


def _main(data: dict[str, Any]) -> str:
    if data["kind"] == "map":
        quiet = "Point at the map to read values; click to move the cuts."
        left = '<p class="hint" id="ellipses-left"></p>'
        return fragment("main", legend="", kind=" map", quiet=quiet, left=left)
    legend = fragment("start") if data["inTime"] else ""
    quiet = "Point at the chart to read values."
    return fragment("main", legend=legend, kind="", quiet=quiet, left="")
