"""log(1 + |R|) against the raw squared residual: the two densities and where they put kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharpfront.paper.cases import Case
from sharpfront.paper.experiments import Results
from sharpfront.paper.figures.style import GREY, INK, panels
from sharpfront.paper.runs import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOG, SQUARED = "#c44e52", "#8172b3"


def draw_collapse(results: Results, case: Case) -> Figure:
    """Draw both densities of the first residual, and the first centres that come of each."""
    log = results.views.get(("table", case.name, "gmm"))
    squared = results.views.get(("collapse", case.name, "gmm"))
    figure, (above, below) = panels((1.6, 1), 4.8)
    if log is not None and squared is not None:
        _densities(above, log, squared)
        _centres(below, log, squared)
    above.set_title(f"{case.label}: two densities from one residual")
    below.set_title("Kernels of the next solve")
    for axes in (above, below):
        axes.set_xlim(-0.01, 1.01)
        axes.set_xlabel("x")
    return figure


def _densities(axes: Axes, log: View, squared: View) -> None:
    step, fine = log.steps[0], np.linspace(0, 1, 4001)
    for density, view, colour, words in (
        (step.rows_density, log, LOG, "log(1 + |R|)"),
        (step.rows_squared, squared, SQUARED, "R²"),
    ):
        axes.plot(step.rows, density, ".", ms=2, color=colour, alpha=0.35, rasterized=True)
        mixture = view.steps[1].mixture if len(view.steps) > 1 else None
        if mixture is not None:
            axes.plot(
                fine, mixture.density(fine), color=colour, lw=1.8, label=f"mixture of {words}"
            )
    axes.plot([], [], ".", color=GREY, label="dots: the density at the rows")
    axes.axhline(1, color=INK, lw=0.8, ls=":", label="even density")
    axes.set(yscale="log", ylim=(1e-4, 1e3), ylabel="density")
    axes.legend(loc="upper center", ncols=2)


def _centres(axes: Axes, log: View, squared: View) -> None:
    edges = np.linspace(0, 1, 51).tolist()
    for view, colour, words in ((log, LOG, "log(1 + |R|)"), (squared, SQUARED, "R²")):
        centres = view.steps[min(1, len(view.steps) - 1)].centres
        axes.hist(centres, edges, histtype="step", color=colour, lw=1.5, label=words)
    axes.set(yscale="log", ylabel="kernels per\n1/50 of the domain", ylim=(0.7, None))
    axes.legend(loc="upper center", ncols=2)
