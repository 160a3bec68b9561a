"""The solution profile: the whole domain, and the layer that a whole domain hides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sharpfront.paper.cases import Case
from sharpfront.paper.experiments import Results
from sharpfront.paper.figures.style import GREY, INK, in_widths, panels, zoom_axis
from sharpfront.paper.summary import sci

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_RANGE = (-0.75, 1.75)


def draw_profile(results: Results, case: Case) -> Figure:
    """Draw every method's solution of one problem for the first seed, with the exact one."""
    figure, (whole, zoom) = panels((1, 1), 5.6)
    for axes in (whole, zoom):
        _curves(axes, results, case, zoomed=axes is zoom)
        axes.set(ylim=_RANGE, ylabel="u")
    whole.set(xlim=(-0.01, 1.01), xlabel="x", title=f"{case.label}: the whole domain")
    zoom.set_title("The layer")
    zoom_axis(zoom, case)
    views = [view for (group, name, _), view in results.views.items() if name == case.name]
    if views:
        rows = in_widths(case, views[0].steps[-1].rows)
        # Short strokes near the lower edge, whatever the values are.
        level, flat = np.full(len(rows), 0.03), zoom.get_xaxis_transform()
        look: dict[str, Any] = {"ms": 7, "mew": 0.8, "color": GREY, "alpha": 0.8}
        label = "rows of the equation"
        zoom.plot(rows, level, "|", rasterized=True, label=label, transform=flat, **look)
    figure.legend(*zoom.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def _curves(axes: Axes, results: Results, case: Case, *, zoomed: bool) -> None:
    # Curves that coincide stay visible, the later ones as cores of the earlier.
    widths = iter(np.linspace(4.2, 1.2, len(results.plan.methods)))
    for method in results.plan.methods:
        view = results.views.get(("table", case.name, method.name))
        if view is None:
            continue
        x = in_widths(case, view.points) if zoomed else view.points
        # Values far off the axes make vector graphics overflow.
        values = np.clip(view.values, -50, 50)
        label, peak = method.title, float(np.max(np.abs(view.values)))
        if peak > _RANGE[1]:
            label = f"{label} (peak {sci(peak)})"
        axes.plot(x, values, color=method.colour, lw=next(widths), label=label)
    fine = 1 - np.geomspace(1e-9, 1, 2000)
    fine = np.unique(np.concatenate([fine, 1 - fine]))
    x = in_widths(case, fine) if zoomed else fine
    axes.plot(x, case.exact(fine), color=INK, lw=1.6, ls=(0, (4, 2)), label="exact")
