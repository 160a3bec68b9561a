"""How estimate and residual fell: numbers for a chart, and a table."""

from __future__ import annotations

from typing import Any

from sharpfront.arrays import FloatArray
from sharpfront.show.data.history import course_of

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
    course = course_of(solution)
    if course.stepped:
        second = _series("step in time", "orange", course.column("dt"))
        x = course.column("time").tolist()
        names = [f"t = {t:.5g}" for t in x]
    else:
        second = _series("residual", "orange", course.column("residual"))
        x = [float(i + 1) for i in range(len(course.records))]
        names = [f"Solve {i + 1}, {r.kernels} kernels" for i, r in enumerate(course.records)]
    return {
        "x": x,
        "series": [_series("estimated error", "blue", course.column("error_estimate")), second],
        "names": names,
        "tol": solution.tol,
        "xLabel": "t" if course.stepped else course.unit,
        "whole": not course.stepped,
    }


def _series(label: str, colour: str, values: FloatArray) -> dict[str, Any]:
    return {"label": label, "colour": colour, "values": values.tolist()}


def convergence_words(solution: Any) -> str:
    """Return the chart's place in the page."""
    second = "step in time" if course_of(solution).stepped else "residual (root mean square)"
    return (
        '<div class="legend"><span><i class="line"></i>estimated error</span>'
        f'<span><i class="line orange"></i>{second}</span></div>'
        '<figure class="chart low"><canvas id="convergence" tabindex="0" role="img" '
        f'aria-label="Estimated error and {second} on a logarithmic scale"></canvas>'
        '<output class="read" id="convergence-read">Point at the chart to read its values.</output>'
        "</figure>"
    )


def history_table(solution: Any) -> tuple[list[str], list[list[str]], str]:
    """Return head, rows and caption of the table."""
    every = -(-len(solution.history) // _MOST_ROWS)
    shown = [
        (i, r)
        for i, r in enumerate(solution.history)
        if i % every == 0 or i == len(solution.history) - 1
    ]
    left = f" Every {every}th step is shown." if every > 1 else ""
    unit, columns, caption = "Solve", _SOLVE_COLUMNS, "One row for each least-squares solve."
    if course_of(solution).stepped:
        unit, columns = "Step", _STEP_COLUMNS
        caption = "Steps of time; an estimate holds during its step, with what was carried along."
    rows = [
        [str(i + 1), *(f"{getattr(r, name):{form}}" for name, form in columns.values())]
        for i, r in shown
    ]
    return [unit, *columns], rows, caption + left
