"""How estimate and residual fell: numbers for a chart, and a table."""

from __future__ import annotations

from typing import Any

# A table of more rows is not read; every so-manieth step is shown.
_MOST_ROWS = 40


def in_time(solution: Any) -> bool:
    """Tell whether the history consists of steps of time."""
    return bool(solution.history) and hasattr(solution.history[0], "dt")


def convergence_data(solution: Any) -> dict[str, Any]:
    """Return the curves of the chart: over the solves, or over time."""
    history = solution.history
    series = [_series("estimated error", "blue", [r.error_estimate for r in history])]
    if in_time(solution):
        series.append(_series("step in time", "orange", [r.dt for r in history]))
        x: list[float] = [float(r.time) for r in history]
        names = [f"t = {t:.5g}" for t in x]
    else:
        series.append(_series("residual", "orange", [r.residual for r in history]))
        x = [float(i + 1) for i in range(len(history))]
        names = [f"Solve {i + 1}, {r.kernels} kernels" for i, r in enumerate(history)]
    label = "t" if in_time(solution) else "solve"
    return {
        "x": x,
        "series": series,
        "names": names,
        "tol": solution.tol,
        "xLabel": label,
        "whole": label == "solve",
    }


def _series(label: str, colour: str, values: list[float]) -> dict[str, Any]:
    return {"label": label, "colour": colour, "values": [float(v) for v in values]}


def convergence_words(solution: Any) -> str:
    """Return the chart's place in the page."""
    second = "step in time" if in_time(solution) else "residual (root mean square)"
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
    if in_time(solution):
        head = ["Step", "t", "Step in time", "Kernels", "Estimated error", "Newton", "Seconds"]
        rows = [
            [
                str(i + 1),
                f"{r.time:.5g}",
                f"{r.dt:.1e}",
                str(r.kernels),
                f"{r.error_estimate:.1e}",
                str(r.iterations),
                f"{r.seconds:.3f}",
            ]
            for i, r in shown
        ]
        return (
            head,
            rows,
            f"Steps of time; an estimate holds during its step, with what was carried along.{left}",
        )
    head = ["Solve", "Kernels", "Residual", "Estimated error", "Condition", "Rank", "Seconds"]
    rows = [
        [
            str(i + 1),
            str(r.kernels),
            f"{r.residual:.1e}",
            f"{r.error_estimate:.1e}",
            f"{r.condition:.1e}",
            str(r.rank),
            f"{r.seconds:.3f}",
        ]
        for i, r in shown
    ]
    return head, rows, f"One row for each least-squares solve.{left}"
