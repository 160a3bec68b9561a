"""The markup around the charts: what can be chosen, moved and read."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

_KINDS = {"solution": "Solution", "residual": "Residual", "error": "True error"}
_HINT = (
    "Drag to move, double-click or use the buttons to zoom; with the chart focused, the wheel and "
    "the keys + − 0 and arrows do the same."
)
# Positions of a cut's slider.
_CUT_STEPS = 400


def viewer_markup(data: dict[str, Any]) -> str:
    """Return the interactive part of the page; the script finds its elements by their ids."""
    parts = [_controls(data), _scrub(data)]
    if data["kind"] == "line":
        parts += [_main(data), _line_kernels(data)]
    else:
        parts.append(f'<div class="plane"><div>{_main(data)}</div>{_cuts()}</div>')
    words = "These charts need JavaScript; it is part of this page and fetches nothing."
    return (
        f'<div class="viewer" id="viewer">{"".join(parts)}</div><noscript><p>{words}</p></noscript>'
    )


def _controls(data: dict[str, Any]) -> str:
    kinds = list(dict.fromkeys(q["kind"] for q in data["quantities"]))
    choices = "".join(
        f'<label><input type="radio" name="kind" value="{kind}"{" checked" if not i else ""}>'
        f"<span>{_KINDS[kind]}</span></label>"
        for i, kind in enumerate(kinds)
    )
    parts = [f'<fieldset class="choice"><legend>Show</legend>{choices}</fieldset>']
    unknowns = [q["unknown"] for q in data["quantities"] if q["kind"] == "solution"]
    if len(unknowns) > 1:
        parts.append(_select("unknown", "Unknown", [(u, u) for u in unknowns]))
    if data["kind"] == "map":
        titles = [(str(i), p["title"] or "plane") for i, p in enumerate(data["planes"])]
        if len(titles) > 1:
            parts.append(_select("plane", "Plane", titles))
        parts.append(_box("kernels", "kernels", "") + _box("mixture", "mixture", " orange"))
    else:
        parts.append(_box("kernels", "kernels and mixture", ""))
    return f'<div class="controls">{"".join(parts)}</div>'


def _select(key: str, label: str, options: Sequence[tuple[str, str]]) -> str:
    inner = "".join(
        f'<option value="{html.escape(value)}">{html.escape(words)}</option>'
        for value, words in options
    )
    return f'<label>{label} <select id="{key}">{inner}</select></label>'


def _box(key: str, words: str, colour: str) -> str:
    return (
        f'<label class="tick"><span><input type="checkbox" id="show-{key}"> '
        f'<i class="ring{colour}"></i> {words}</span></label>'
    )


def _scrub(data: dict[str, Any]) -> str:
    """Return the slider through solves or time; only the note where there is one of them.

    Through solves it moves the kernels alone, so it comes with them when they are asked for.
    """
    last = len(data["notes"]) - 1
    note = (
        f'<output id="scrub-note" for="scrub">{html.escape(data["notes"][data["answer"]])}</output>'
    )
    asked = "" if data["inTime"] else " data-on-request hidden"
    if not last:
        return f'<div class="scrub"{asked}>{note}</div>'
    name = "Time" if data["inTime"] else "Solve"
    button = '<button type="button" id="play">Play</button>' if data["inTime"] else ""
    return (
        f'<div class="scrub{" play" if button else ""}"{asked}>{button}'
        f'<label for="scrub">{name}</label>'
        f'<input type="range" id="scrub" min="0" max="{last}" step="1" value="{data["answer"]}">'
        f"{note}</div>"
    )


def _main(data: dict[str, Any]) -> str:
    kind = " map" if data["kind"] == "map" else ""
    quiet = "Point at the chart to read values."
    if kind:
        quiet = "Point at the map to read values; click to move the cuts."
    tools = "".join(
        f'<button type="button" data-act="{act}" aria-label="{words}">{sign}</button>'
        for act, words, sign in (
            ("in", "Zoom in", "+"),
            ("out", "Zoom out", "−"),
            ("sharpest", "Zoom to the narrowest kernel", "Sharpest place"),
            ("reset", "Show everything", "Reset"),
        )
    )
    faint = '<span><i class="line faint"></i>at the start</span>' if data["inTime"] else ""
    legend = f'<div class="legend">{faint}</div>' if faint and not kind else ""
    return (
        f'{legend}<figure class="chart{kind}" data-chart="main"><canvas id="main" tabindex="0" '
        'role="img" aria-label="The solution; arrow keys move the window, plus and minus zoom">'
        f'</canvas><div class="bar"><output class="read" id="main-read">{quiet}</output>'
        f'<div class="tools">{tools}</div></div><p class="hint">{_HINT}</p>'
        + ('<p class="hint" id="ellipses-left"></p>' if kind else "")
        + "</figure>"
        + (_missing(data) if kind else "")
    )


def _line_kernels(data: dict[str, Any]) -> str:
    return (
        "<div data-on-request hidden>"
        '<div class="legend"><span><i></i>kernels, one dot each</span>'
        '<span><i class="orange"></i>components of the mixture, one deviation to either side</span>'
        '</div><figure class="chart low"><canvas id="kernels" tabindex="0" role="img" '
        'aria-label="Kernels and mixture: position and width"></canvas>'
        '<output class="read" id="kernels-read">Narrow kernels are low, wide ones high.</output>'
        f"</figure>{_missing(data)}</div>"
    )


def _missing(data: dict[str, Any]) -> str:
    why = (
        "Only the mixture is drawn here: where its kernels are at this moment is not kept."
        if data["inTime"]
        else "Of earlier solves the number of kernels and the mixture are kept, not the positions "
        "of the kernels."
    )
    return f'<p class="hint" id="kernels-missing" hidden>{why}</p>'


def _cuts() -> str:
    charts = "".join(
        f'<div class="cut"><h3 id="cut-{a}-title">Cut</h3><figure class="chart low">'
        f'<canvas id="cut-{a}" tabindex="0" role="img" aria-labelledby="cut-{a}-title"></canvas>'
        f'<output class="read" id="cut-{a}-read"></output></figure>'
        f'<label for="at-{b}" id="at-{b}-label">Cut</label><input type="range" id="at-{b}" min="0" '
        f'max="{_CUT_STEPS}" value="{_CUT_STEPS // 2}"></div>'
        for a, b in (("x", "y"), ("y", "x"))
    )
    return f'<div class="cuts">{charts}</div>'
