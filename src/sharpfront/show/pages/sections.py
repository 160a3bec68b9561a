"""What pages say of one solution: the verdict, how far to trust it, how it got there."""

from __future__ import annotations

import html
from typing import Any

import numpy as np

from sharpfront.errors import OutcomeKind
from sharpfront.show.data.quantity import column, is_stepped, turns
from sharpfront.show.pages.page import HtmlPage, fragment, inline

# A longer table is folded away.
_SHORT = 8
_TONE_OF = {OutcomeKind.CONVERGED: "good", OutcomeKind.SEVERAL_SOLUTIONS: "half"}


def verdict(page: HtmlPage, solution: Any) -> None:
    """Write the outcome, and one sentence about it."""
    kind = solution.outcome.kind
    tone = _TONE_OF.get(kind, "bad")
    page.markup(f'<p class="status {tone}">{html.escape(str(kind)).capitalize()}</p>')
    names = " and ".join(solution.unknowns)
    first = (
        f"{inline(names)} as a sum of {solution.kernels} kernels, with an estimated error of "
        f"{sci(solution.error_estimate)}; {sci(solution.tol)} was asked for."
    )
    advice = "" if solution.converged else f" {inline(solution.outcome.advice)}"
    page.markup(f'<p class="lead">{first}{advice}</p>')


def figures(page: HtmlPage, solution: Any, error: tuple[float, int] | None) -> None:
    """Write the numbers that matter."""
    count, unit = turns(solution).split()
    unit = f"{unit.removesuffix('s')}s".capitalize()
    cards = [
        ("Estimated error", sci(solution.error_estimate), "relative to max(1, max|u|)"),
        ("Tolerance asked for", sci(solution.tol), ""),
        ("Kernels", f"{solution.kernels:,}".replace(",", "\u202f"), ""),
        (unit, count, f"in {column(solution, 'seconds').sum():.3g} s"),
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


def trust(page: HtmlPage, solution: Any, error: tuple[float, int] | None) -> None:
    """Write the outcome, what the estimate means, and the true error where it is known."""
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


def history(page: HtmlPage, solution: Any) -> None:
    """Write how estimate and residual fell, as a chart and as a table."""
    if not solution.history:
        page.paragraph("No history was kept.")
        return
    if len(solution.history) > 1:
        second = "step in time" if is_stepped(solution) else "residual (root mean square)"
        page.markup(fragment("convergence", second=second))
    head, rows, caption = history_table(solution)
    folded = len(rows) > _SHORT
    if folded:
        page.markup(f"<details><summary>Table of {turns(solution)}</summary>")
    page.table(head, rows, caption, cards=not folded)
    if folded:
        page.markup("</details>")


# A table of more rows is not read; every so-manieth step is shown.
_MOST_ROWS = 40
# Columns of the table: what a record calls them, and how their numbers are written.
_SOLVE_COLUMNS = {
    "Kernels": ("kernels", ""),
    "Residual": ("residual", ".1e"),
    "Estimated error": ("error_estimate", ".1e"),
    "Condition": ("condition", ".1e"),
    "Rank": ("rank", ""),
    "Seconds": ("seconds", ".3f"),
}
_STEP_COLUMNS = {
    "t": ("time", ".5g"),
    "Step in time": ("dt", ".1e"),
    "Kernels": ("kernels", ""),
    "Estimated error": ("error_estimate", ".1e"),
    "Newton": ("iterations", ""),
    "Seconds": ("seconds", ".3f"),
}


def convergence_data(solution: Any) -> dict[str, Any]:
    """Return the curves of the chart: over the solves, or over time."""
    stepped = is_stepped(solution)
    if stepped:
        second, kept = "step in time", "dt"
        x = column(solution, "time").tolist()
        names = [f"t = {t:.5g}" for t in x]
    else:
        second, kept = "residual", "residual"
        x = [float(i + 1) for i in range(len(solution.history))]
        names = [f"Solve {i + 1}, {r.kernels} kernels" for i, r in enumerate(solution.history)]
    curves = ("estimated error", "blue", "error_estimate"), (second, "orange", kept)
    return {
        "x": x,
        "series": [
            {"label": label, "colour": colour, "values": column(solution, name).tolist()}
            for label, colour, name in curves
        ],
        "names": names,
        "tol": solution.tol,
        "xLabel": "t" if stepped else "solve",
        "whole": not stepped,
    }


def history_table(solution: Any) -> tuple[list[str], list[list[str]], str]:
    """Return head, rows and caption of the table."""
    last = len(solution.history) - 1
    every = last // _MOST_ROWS + 1
    left = f" Every {every}th step is shown." if every > 1 else ""
    unit, columns, caption = "Solve", _SOLVE_COLUMNS, "One row for each least-squares solve."
    if is_stepped(solution):
        unit, columns = "Step", _STEP_COLUMNS
        caption = "Steps of time; an estimate holds during its step, with what was carried along."
    rows = [
        [str(i + 1), *(f"{getattr(r, name):{form}}" for name, form in columns.values())]
        for i, r in enumerate(solution.history)
        if i % every == 0 or i == last
    ]
    return [unit, *columns], rows, caption + left
