"""The page of one solution: what was asked, what came out, and how far to trust it."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.checks import function, refusal, solution_like
from sharpfront.equation import from_sympy
from sharpfront.equation.symbolic import is_symbolic
from sharpfront.errors import OutcomeKind
from sharpfront.plot.notebook import turns
from sharpfront.report.encode import to_json
from sharpfront.report.history import convergence_data, convergence_words, history_table
from sharpfront.report.line_data import line_data
from sharpfront.report.map_data import map_data
from sharpfront.report.page import HtmlPage, asset, inline
from sharpfront.report.quantities import Exact, largest_error, quantities
from sharpfront.report.script import script, versions
from sharpfront.report.statement import problem_markup
from sharpfront.report.states import instants, moments, solves
from sharpfront.report.viewer import viewer_markup

_SCRIPTS = ("chart.js", "line.js", "map.js", "report.js")
# A longer table is folded away.
_SHORT = 8
_TONES = {OutcomeKind.CONVERGED: "good", OutcomeKind.SEVERAL_SOLUTIONS: "half"}


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
    data, points = _data(solution, exact)
    error = largest_error(solution, exact, points)
    page = HtmlPage(title, style=asset("report.css"))
    _opening(page, solution, error)
    _problem(page, solution, statement)
    page.section("Solution")
    page.markup(viewer_markup(solution, data))
    _trust(page, solution, error)
    _history(page, solution)
    _repeat(page, solution, dict(settings or {}))
    page.markup(f'<script type="application/json" id="report-data">{to_json(data)}</script>')
    code = "\n".join(asset(name) for name in _SCRIPTS)
    page.markup(f'<script>"use strict";\n(() => {{\n{code}\n}})();</script>')
    return page.render()


def _data(solution: Any, exact: Exact | None) -> tuple[dict[str, Any], FloatArray]:
    """Return everything the page draws, and the points where it was evaluated."""
    in_time = hasattr(solution.domain, "space")
    space = solution.domain.space if in_time else solution.domain
    times = moments(solution) if in_time else None
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
        "inTime": in_time,
        "convergence": convergence_data(solution),
    }, np.concatenate(points)


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


def _opening(page: HtmlPage, solution: Any, error: tuple[float, int] | None) -> None:
    kind = solution.outcome.kind
    tone = _TONES.get(kind, "bad")
    page.markup(f'<p class="status {tone}">{html.escape(str(kind)).capitalize()}</p>')
    page.markup(f'<p class="lead">{_summary(solution)}</p>')
    seconds = sum(record.seconds for record in solution.history)
    turns = len(solution.history)
    unit = "steps" if solution.history and hasattr(solution.history[0], "dt") else "solves"
    cards = [
        ("Estimated error", sci(solution.error_estimate), "relative to max(1, max|u|)"),
        ("Tolerance asked for", sci(solution.tol), ""),
        ("Kernels", f"{solution.kernels:,}".replace(",", "\u202f"), ""),
        (unit.capitalize(), str(turns), f"in {seconds:.3g} s"),
    ]
    if error is not None:
        largest = ("True error", sci(error[0]), f"largest of {error[1]} points")
        cards.insert(1, largest)
    rows = "".join(
        f"<div><dt>{html.escape(name)}</dt><dd>{value}"
        + (f"<small>{html.escape(note)}</small>" if note else "")
        + "</dd></div>"
        for name, value, note in cards
    )
    page.markup(f'<dl class="figures">{rows}</dl>')
    page.contents()


def _summary(solution: Any) -> str:
    names = " and ".join(solution.unknowns)
    first = (
        f"{inline(names)} as a sum of {solution.kernels} kernels, with an estimated error of "
        f"{sci(solution.error_estimate)}; {sci(solution.tol)} was asked for."
    )
    if solution.converged:
        return first
    return f"{first} {inline(solution.outcome.advice)}"


def sci(value: float) -> str:
    """Return a number with two digits and its power of ten, as HTML."""
    if not np.isfinite(value):
        return "unknown" if np.isnan(value) else "∞"
    if value == 0 or 0.01 <= abs(value) < 1000:
        return f"{value:.2g}"
    digits, power = f"{value:.1e}".split("e")
    digits = digits.removesuffix(".0")
    ten = f"10<sup>{int(power)}</sup>".replace("-", "−")
    return ten if digits == "1" else f"{digits} × {ten}"


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


def _trust(page: HtmlPage, solution: Any, error: tuple[float, int] | None) -> None:
    page.section("How far to trust it")
    words = f"{solution.outcome.detail} {solution.outcome.advice}".strip()
    page.markup(
        f'<div class="words"><p><strong>{html.escape(str(solution.outcome.kind).capitalize())}.'
        f"</strong> {inline(words)}</p>"
        f"<p>{inline(f'Estimate: {solution.estimate.meaning}')}</p></div>"
    )
    if error is not None:
        times = solution.error_estimate / error[0] if error[0] else np.inf
        page.markup(
            f'<p class="words">Measured against the exact solution at {error[1]} points that '
            f"follow the kernels, the largest error is {sci(error[0])}; the estimate is "
            f"{times:.2g} times that.</p>"
        )


def _history(page: HtmlPage, solution: Any) -> None:
    page.section("How it got there")
    if not solution.history:
        page.paragraph("No history was kept.")
        return
    if len(solution.history) > 1:
        page.markup(convergence_words(solution))
    head, rows, caption = history_table(solution)
    folded = len(rows) > _SHORT
    if folded:
        page.markup(f"<details><summary>Table of {turns(solution)}</summary>")
    page.table(head, rows, caption, cards=not folded)
    if folded:
        page.markup("</details>")


def _repeat(page: HtmlPage, solution: Any, settings: dict[str, Any]) -> None:
    page.section("To repeat it")
    code, missing = script(solution, settings)
    if missing:
        page.paragraph("To run this, supply what a page cannot hold: " + "; ".join(missing) + ".")
    page.markup(f"<pre><code>{html.escape(code)}</code></pre>")
    given = {"tol": solution.tol} | settings
    rows = [[name, _shown(value)] for name, value in (given | versions()).items()]
    page.table(
        ["Setting", "Value"], rows, "Settings and versions of this run.", words=2, cards=False
    )


def _shown(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
