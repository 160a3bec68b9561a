"""The figures of the report, by name; matplotlib is loaded when the first one is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sharpfront.paper.experiments import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_all(results: Results) -> Iterator[tuple[str, Figure]]:
    """Yield every figure that the results allow, with its file name without ending."""
    from sharpfront.paper.figures.collapse import draw_collapse
    from sharpfront.paper.figures.density import draw_density
    from sharpfront.paper.figures.profile import draw_profile
    from sharpfront.paper.figures.strips import draw_condition, draw_scatter, draw_sensitivity
    from sharpfront.paper.figures.style import plain_logs, styled

    with styled():
        for case in results.plan.cases:
            yield f"profile-{case.name}", plain_logs(draw_profile(results, case))
            yield f"density-{case.name}", plain_logs(draw_density(results, case))
            yield f"collapse-{case.name}", plain_logs(draw_collapse(results, case))
        yield "scatter", plain_logs(draw_scatter(results))
        yield "condition", plain_logs(draw_condition(results))
        yield "sensitivity", plain_logs(draw_sensitivity(results))
