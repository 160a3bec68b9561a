"""The page of one solution: what was asked, what came out, and how far to trust it."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

import numpy as np

from sharpfront.checks import function, refusal, solution_like
from sharpfront.equation import from_sympy
from sharpfront.equation.symbolic import is_symbolic
from sharpfront.show.data.placements import instants, moments, solves
from sharpfront.show.data.quantity import Exact, largest_error, quantities
from sharpfront.show.pages.drawn_data import line_data, map_data
from sharpfront.show.pages.encode import to_json
from sharpfront.show.pages.page import HtmlPage, asset, inline
from sharpfront.show.pages.sections import convergence_data, figures, history, trust, verdict
from sharpfront.show.pages.viewer import viewer_markup
from sharpfront.show.statement.script import script, versions
from sharpfront.show.statement.typeset import problem_markup

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
        "quantities": [s.words() for s in shown],
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
    rows = [[name, _setting(value)] for name, value in (given | versions()).items()]
    page.table(
        ["Setting", "Value"], rows, "Settings and versions of this run.", words=2, cards=False
    )


def _setting(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
