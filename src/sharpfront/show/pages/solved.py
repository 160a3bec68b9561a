"""The page of one solution: what was asked, what came out, and how far to trust it.

The markup around the charts: what can be chosen, moved and read.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sharpfront.checks import function, refusal, solution_like
from sharpfront.equation import from_sympy
from sharpfront.equation.symbolic import is_symbolic
from sharpfront.show.data.placements import instants, moments, solves
from sharpfront.show.data.quantity import Exact, largest_error, quantities
from sharpfront.show.pages.drawn_data import line_data, map_data, to_json
from sharpfront.show.pages.page import HtmlPage, asset, fragment, inline
from sharpfront.show.pages.sections import convergence_data, figures, history, trust, verdict
from sharpfront.show.statement.script import script, versions
from sharpfront.show.statement.typeset import problem_markup

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


_SCRIPTS = ("chart.js", "line.js", "map.js", "viewer.js")
_START = 'viewer(document, JSON.parse(document.getElementById("report-data").textContent));'


def solve_report(
    solution: Any,
    *,
    title: str,
    statement: str = "",
    exact: Exact | None = None,
    settings: Mapping[str, Any] | None = None,
) -> str:
    """Return one HTML page about a solution that needs no network and no server.

    It shows the problem as mathematics, the outcome in words, the solution and its residual to
    move, zoom and read, on request with the kernels of every solve, every moment of time under a
    slider, how the estimate fell, and the lines that repeat the run. Light or dark as the reader's
    system is, with a button for the other.

    Parameters
    ----------
    solution
        A `Solution` in one dimension or more, of one unknown or several, stationary or in time.
    title
        Heading and window title.
    statement
        Words about the problem, shown above its formulas; several lines, such as a problem's file,
        are shown below them as they are.
    exact
        The exact solution if there is one, ``lambda x: ...`` of the coordinates; for several
        unknowns a mapping from their names, or a function that returns all of them. The page then
        shows the true error.
    settings
        What the solve was called with beyond its tolerance, by name; shown as they are.
    """
    solution_like(solution)
    if not isinstance(title, str):
        raise refusal("title", "a text", title)
    if settings is not None and not isinstance(settings, Mapping):
        raise refusal("settings", "a mapping from names", settings, 'settings={"nu": 1e-3}')
    exact = _functions(solution, exact)
    data, error = solution_data(solution, exact)
    page = HtmlPage(title, style=asset("report.css"))
    verdict(page, solution)
    figures(page, solution, error)
    page.contents()
    _problem(page, solution, statement)
    page.section("Solution")
    page.markup(viewer_markup(data))
    page.section("How far to trust it")
    trust(page, solution, error)
    page.section("How it got there")
    history(page, solution)
    _repeat(page, solution, dict(settings or {}))
    page.markup(f'<script type="application/json" id="report-data">{to_json(data)}</script>')
    page.markup(f'<script>"use strict";\n(() => {{\n{viewer_script()}\n{_START}\n}})();</script>')
    return page.render()


def viewer_script() -> str:
    """Return the scripts that draw, with the function ``viewer(root, data)``."""
    return "\n".join(asset(name) for name in _SCRIPTS)


def solution_data(
    solution: Any, exact: Exact | None
) -> tuple[dict[str, Any], tuple[float, int] | None]:
    """Return everything that pages draw of a solution, and its true error where that is known.

    The error is the largest of those at the points that are drawn, and comes with their number.
    """
    space = solution.domain.space if solution.in_time else solution.domain
    times = moments(solution) if solution.in_time else None
    shown = quantities(solution, exact)
    if times is None:
        placements, answer = solves(solution)
    else:
        placements, answer = instants(solution, times), len(times) - 1
    if space.dimension == 1:
        data, points = line_data(solution, shown, placements, answer, times)
    else:
        data, points = map_data(solution, shown, placements, times)
    return {
        **data,
        "quantities": [
            {"key": s.key, "unknown": s.unknown, "kind": s.kind}
            | {"label": s.quantity.label, "log": s.quantity.logarithmic}
            for s in shown
        ],
        "notes": [p.note for p in placements],
        "answer": answer,
        "inTime": solution.in_time,
        "convergence": convergence_data(solution),
    }, largest_error(solution, exact, np.concatenate(points))


def _functions(solution: Any, exact: Any) -> Any:
    """Return exact solutions as functions; expressions of SymPy become such."""
    if exact is None:
        return None
    if isinstance(exact, Mapping):
        return {name: _functions(solution, one) for name, one in exact.items()}
    if is_symbolic(exact):
        values = solution.problem.parameters if solution.problem else None
        return from_sympy(exact, solution.approximation.coordinates, values)
    return function(exact, "exact", "exact=lambda x: np.exp(x)")


def _problem(page: HtmlPage, solution: Any, statement: str) -> None:
    page.section("Problem")
    words = statement.strip()
    listing = words if "\n" in words else ""
    if words and not listing:
        page.markup(f'<p class="words">{inline(words)}</p>')
    if solution.problem is not None:
        page.markup(problem_markup(solution.problem))
    elif not words:
        page.paragraph("A solution read from a file does not know its equation.")
    if listing:
        page.markup(
            "<details><summary>As it was written</summary>"
            f"<pre><code>{html.escape(listing)}</code></pre></details>"
        )


def _repeat(page: HtmlPage, solution: Any, settings: dict[str, Any]) -> None:
    page.section("To repeat it")
    code, missing = script(solution, settings)
    if missing:
        page.paragraph("To run this, supply what a page cannot hold: " + "; ".join(missing) + ".")
    page.markup(f"<pre><code>{html.escape(code)}</code></pre>")
    given = {"tol": solution.tol} | settings
    rows = []
    for name, value in (given | versions()).items():
        text = f"{value:g}" if isinstance(value, float) else str(value)
        rows.append([name, text if len(text) <= 200 else f"{text[:200]}…"])
    caption = "Settings and versions of this run."
    page.table(["Setting", "Value"], rows, caption, words=2, cards=False)
