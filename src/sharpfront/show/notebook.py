"""A solution as one line, and as a small table with a picture for notebooks."""

from __future__ import annotations

import base64
import html
import io
from typing import Any

from sharpfront.show.data.quantity import column, turns

_WIDTH = 34
_CELL = "padding: .15em .8em .15em 0; text-align: left; vertical-align: top"


def headline(solution: Any) -> str:
    """Return the essential in one line."""
    names = ", ".join(solution.unknowns)
    where = ", ".join(solution.approximation.coordinates)
    span = ", t from {:g} to {:g}".format(*solution.domain.time) if solution.in_time else ""
    return (
        f"Solution for {names} of ({where}){span}: {solution.outcome.kind}, estimated "
        f"error {solution.error_estimate:.1e}{_since(solution)} (tol {solution.tol:.0e}), "
        f"{solution.kernels} kernels, {turns(solution)}"
    )


def _since(solution: Any) -> str:
    since = solution.error_estimate_since
    return f" from t = {since:.3g} on" if since is not None else ""


def card(solution: Any) -> str:
    """Return HTML that needs nothing but itself: a table and a picture."""
    outcome = str(solution.outcome.kind)
    error = f"{solution.error_estimate:.1e}{_since(solution)}"
    rows = {
        "unknowns": ", ".join(solution.unknowns),
        "domain": repr(solution.domain),
        "outcome": outcome if solution.converged else f"{outcome}: {solution.outcome.advice}",
        "estimated error": f"{error} (asked for {solution.tol:.0e})",
        "kernels": str(solution.kernels),
        "work": f"{turns(solution)} in {column(solution, 'seconds').sum():.3g} s",
    }
    lines = "".join(
        f'<tr><th style="{_CELL}; font-weight: 600">{name}</th>'
        f'<td style="{_CELL}; max-width: {_WIDTH}em">{html.escape(words)}</td></tr>'
        for name, words in rows.items()
    )
    return (
        '<div style="display: flex; flex-wrap: wrap; gap: 1.5em; align-items: flex-start">'
        f'<table style="border-collapse: collapse">{lines}</table>{_picture(solution)}</div>'
    )


def _picture(solution: Any) -> str:
    # A notebook shows the table also where nothing can be drawn.
    try:
        data = base64.b64encode(thumbnail(solution)).decode("ascii")
    except Exception as error:
        return f"<p>No picture: {html.escape(str(error))}</p>"
    words = html.escape(headline(solution))
    return f'<img alt="{words}" src="data:image/png;base64,{data}">'


def _fixed(solution: Any) -> dict[str, Any]:
    """Return all but one or two coordinates: space at its middle, time at its end."""
    names = solution.approximation.coordinates
    low, high = solution.domain.bounds
    space = len(names) - solution.in_time
    fixed: dict[str, Any] = {names[i]: float((low[i] + high[i]) / 2) for i in range(2, space)}
    if solution.in_time:
        # Just before the end: on it, the plane would only touch the domain.
        fixed[names[-1]] = float(high[-1] - 1e-6 * (high[-1] - low[-1]))
    return fixed


def thumbnail(solution: Any) -> bytes:
    """Return a small PNG of the first unknown; beyond two coordinates of its middle plane."""
    from matplotlib.figure import Figure

    from sharpfront.show.figures.figure import plot_solution

    names = solution.approximation.coordinates
    fixed = _fixed(solution)
    # A figure of its own: pyplot's would be shown a second time by the notebook.
    figure = Figure(figsize=(4.2, 3.0 if len(names) == 1 else 3.4), layout="constrained")
    axes = figure.add_subplot()
    plot_solution(solution, axes=axes, unknown=solution.unknowns[0], resolution=160, **fixed)
    axes.set_title(", ".join(f"{name} = {value:.4g}" for name, value in fixed.items()))
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=80)
    return buffer.getvalue()
