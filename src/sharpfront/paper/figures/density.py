"""The error density with the mixture that was learned from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.paper.cases import Case, Method
from sharpfront.paper.experiments import Results
from sharpfront.paper.figures.style import INK, PALE, in_widths, panels, zoom_axis
from sharpfront.paper.runs import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_density(results: Results, case: Case) -> Figure:
    """Draw p_res and the last mixture for each method that has one, whole and zoomed."""
    shown = [
        (method, view)
        for method in results.plan.methods
        if (view := results.views.get(("table", case.name, method.name))) is not None
        and view.steps[-1].mixture is not None
    ]
    figure, axes = panels((1,) * max(1, 2 * len(shown)), 1.0 + 2.05 * max(1, 2 * len(shown)))
    for i, (method, view) in enumerate(shown):
        _panel(axes[2 * i], case, method, view, zoomed=False)
        _panel(axes[2 * i + 1], case, method, view, zoomed=True)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def _panel(axes: Axes, case: Case, method: Method, view: View, *, zoomed: bool) -> None:
    # The last mixture was fitted to the residual of the solve before the last.
    step, mixture = view.steps[max(0, len(view.steps) - 2)], view.steps[-1].mixture
    assert mixture is not None, "only methods with a mixture are drawn"
    fine = np.unique(np.concatenate([np.linspace(0, 1, 2001), 1 - np.geomspace(1e-9, 1, 2000)]))

    def place(points: FloatArray) -> FloatArray:
        return in_widths(case, points) if zoomed else points

    axes.fill_between(
        place(step.points), 1e-9, step.density, color=PALE, lw=0, label="p_res on a fine grid"
    )
    axes.plot(
        place(step.rows),
        step.rows_density,
        ".",
        ms=2.2,
        color=INK,
        rasterized=True,
        label="p_res at the rows",
    )
    axes.plot(
        place(fine), mixture.density(fine), color=method.colour, lw=1.8, label="learned mixture"
    )
    axes.set(yscale="log", ylim=(1e-4, 1e5), ylabel="density")
    if zoomed:
        zoom_axis(axes, case)
        axes.set_title(f"{method.title}: towards the layer")
    else:
        axes.set(xlim=(-0.01, 1.01), xlabel="x", title=f"{method.title}: {case.label.lower()}")
