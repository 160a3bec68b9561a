"""The figures of the report, by name; matplotlib is loaded when the first one is drawn.

One look for all figures: sized for a column of text, and legible on a phone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from sharpfront.arrays import FloatArray
from sharpfront.measure import Feature
from sharpfront.paper.cases import Case, Method
from sharpfront.paper.experiments import Results
from sharpfront.paper.runs import View
from sharpfront.paper.summary import sci, spread, zero_scores
from sharpfront.rounding import EPS

WIDTH = 5.6
INK, GREY, PALE = "#222222", "#8a8a8a", "#d9d9d9"


@contextmanager
def styled() -> Iterator[None]:
    """Draw with the look of the report, whatever the user's own settings are."""
    with mpl.rc_context():
        mpl.rcdefaults()
        look = files("sharpfront.paper") / "report.mplstyle"
        mpl.rcParams.update(mpl.rc_params_from_file(str(look), use_default_template=False))
        yield


def panels(heights: tuple[float, ...], height: float) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels one above the other."""
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    axes = figure.subplots(len(heights), 1, height_ratios=heights, squeeze=False)
    return figure, list(axes[:, 0])


def nearest_layer(case: Case) -> Feature:
    """Return the layer that zoomed panels show: the one at the right end."""
    return max(case.features, key=lambda feature: feature.position)


def in_widths(case: Case, points: FloatArray) -> FloatArray:
    """Return the distance of points from the zoomed layer, in layer widths."""
    layer = nearest_layer(case)
    return np.asarray((layer.position - points) / layer.width)


def zoom_axis(axes: Axes, case: Case) -> None:
    """Turn the x axis into distance from the layer in layer widths, the layer at the right."""
    axes.set_xscale("log")
    axes.set_xlim(1e4, 0.05)
    axes.set_xlabel(f"distance from the layer at x = {nearest_layer(case).position:g}, in widths")
    axes.axvspan(1, 0.05, color="#f4ead2", lw=0, zorder=0)


def plain_logs(figure: Figure) -> Figure:
    """Label logarithmic axes 1e-2, as the tables do, with ticks at the powers of ten only.

    Typeset powers and their many minor ticks would take half of the drawing time.
    """
    label = FuncFormatter(lambda value, _: f"1e{round(math.log10(value))}" if value > 0 else "")
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if axis.get_scale() == "log":
                axis.set_major_formatter(label)
                axis.set_minor_locator(NullLocator())
    return figure


def draw_all(results: Results) -> Iterator[tuple[str, Figure]]:
    """Yield every figure that the results allow, with its file name without ending."""
    of_a_case = {"profile": draw_profile, "density": draw_density, "collapse": draw_collapse}
    of_all = {"scatter": draw_scatter, "condition": draw_condition, "sensitivity": draw_sensitivity}
    with styled():
        for case in results.plan.cases:
            for name, draw in of_a_case.items():
                yield f"{name}-{case.name}", plain_logs(draw(results, case))
        for name, draw_both in of_all.items():
            yield name, plain_logs(draw_both(results))


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

    on_grid, rows = place(step.points), place(step.rows)
    axes.fill_between(on_grid, 1e-9, step.density, color=PALE, lw=0, label="p_res on a fine grid")
    dots: dict[str, Any] = {"ms": 2.2, "color": INK, "rasterized": True}
    axes.plot(rows, step.rows_density, ".", label="p_res at the rows", **dots)
    look: dict[str, Any] = {"color": method.colour, "lw": 1.8}
    axes.plot(place(fine), mixture.density(fine), label="learned mixture", **look)
    axes.set(yscale="log", ylim=(1e-4, 1e5), ylabel="density")
    if zoomed:
        zoom_axis(axes, case)
        axes.set_title(f"{method.title}: towards the layer")
    else:
        axes.set(xlim=(-0.01, 1.01), xlabel="x", title=f"{method.title}: {case.label.lower()}")


LOG, SQUARED = "#c44e52", "#8172b3"


def draw_collapse(results: Results, case: Case) -> Figure:
    """Draw both densities of the first residual, and the first centres that come of each."""
    log = results.views.get(("table", case.name, "gmm"))
    squared = results.views.get(("collapse", case.name, "gmm"))
    figure, (above, below) = panels((1.6, 1), 4.8)
    if log is not None and squared is not None:
        _densities(above, log, squared)
        edges = np.linspace(0, 1, 51).tolist()
        for view, colour, words in ((log, LOG, "log(1 + |R|)"), (squared, SQUARED, "R²")):
            centres = view.steps[min(1, len(view.steps) - 1)].centres
            below.hist(centres, edges, histtype="step", color=colour, lw=1.5, label=words)
        below.set(yscale="log", ylabel="kernels per\n1/50 of the domain", ylim=(0.7, None))
        below.legend(loc="upper center", ncols=2)
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
            label = f"mixture of {words}"
            axes.plot(fine, mixture.density(fine), color=colour, lw=1.8, label=label)
    axes.plot([], [], ".", color=GREY, label="dots: the density at the rows")
    axes.axhline(1, color=INK, lw=0.8, ls=":", label="even density")
    axes.set(yscale="log", ylim=(1e-4, 1e3), ylabel="density")
    axes.legend(loc="upper center", ncols=2)


def draw_scatter(results: Results) -> Figure:
    """Draw the paper's measure against the true largest error, one dot per run."""
    figure, axes = panels((1,) * len(results.plan.cases), 3.1 * len(results.plan.cases) + 0.5)
    for panel, case in zip(axes, results.plan.cases, strict=True):
        _scatter_panel(panel, results, case)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def _scatter_panel(axes: Axes, results: Results, case: Case) -> None:
    for method in results.plan.methods:
        runs = results.select("table", case.name, method.name)
        both = [run.rmse for run in runs], [run.max_error for run in runs]
        look: dict[str, Any] = {"ms": 5, "color": method.colour, "alpha": 0.75, "mew": 0}
        axes.plot(*both, "o", label=method.title, **look)
    zero = zero_scores(case)
    axes.plot([zero.rmse], [zero.max_error], "X", ms=8, color=INK, label="the function u = 0")
    claim = case.published["adaptive"].rmse
    axes.axvline(claim, color=GREY, lw=1, ls="--")
    flat = axes.get_xaxis_transform()
    axes.text(claim * 1.25, 0.03, f"paper: {sci(claim)}", transform=flat, color=GREY)
    axes.axhline(1, color=GREY, lw=0.8, ls=":")
    axes.set(xscale="log", yscale="log", title=case.label, ylabel="largest error (graded grid)")
    axes.set_xlabel("root mean square error (uniform grid)")
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, 0.1), max(high, 10))


def draw_condition(results: Results) -> Figure:
    """Draw the condition number of H with the first and with the last kernels."""
    cases, methods = results.plan.cases, results.plan.methods
    figure, axes = panels((1,) * len(cases), 0.4 + len(cases) * (0.8 + 0.42 * len(methods)))
    for panel, case in zip(axes, cases, strict=True):
        for level, method in enumerate(reversed(methods)):
            runs = results.select("table", case.name, method.name)
            _strip(panel, [run.condition_last for run in runs], level, method.colour)
            if any(run.solves > 1 for run in runs):
                _strip(panel, [run.condition_first for run in runs], level + 0.28, GREY)
        panel.set_yticks(range(len(methods)), [method.title for method in reversed(methods)])
        panel.axvline(1 / EPS, color=INK, lw=0.8, ls=":")
        panel.set(xscale="log", title=case.label, ylim=(-0.5, len(methods) - 0.3))
        panel.set_xlabel("condition number of H")
    return figure


def _strip(axes: Axes, values: Sequence[float], level: float, colour: str) -> None:
    known = [value for value in values if math.isfinite(value)]
    axes.plot(known, np.full(len(known), level), "o", ms=3.5, color=colour, alpha=0.45, mew=0)
    box = spread(known)
    if box is not None:
        axes.plot([box.first, box.third], [level, level], color=colour, lw=2.2, alpha=0.9)
        axes.plot([box.median], [level], "|", ms=13, mew=2.2, color=colour)


def draw_sensitivity(results: Results) -> Figure:
    """Draw both measures for every setting of the scan."""
    runs = results.select("sensitivity")
    keys = list(dict.fromkeys((run.case, run.setting) for run in runs))
    figure = Figure(figsize=(WIDTH, 1.4 + 0.2 * len(keys)), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    measures = ("rmse", "uniform RMSE"), ("max_error", "largest error")
    for panel, (name, words) in zip(axes, measures, strict=True):
        for level, key in enumerate(reversed(keys)):
            values = [getattr(run, name) for run in runs if (run.case, run.setting) == key]
            _strip(panel, values, level, "#c44e52" if key[0] == "single" else "#4c72b0")
        panel.set(xscale="log", xlabel=words)
        panel.grid(axis="x", color="#eeeeee")
    labels = []
    for case, setting in reversed(keys):
        given = dict(setting)
        words = f"ε={given['epsilon']}, λ={given['lambda']}, {given['collocation']}"
        labels.append(f"{case}, {words}")
    axes[0].set_yticks(range(len(keys)), labels, fontsize=7)
    axes[1].axvline(1, color=GREY, lw=0.8, ls=":")
    return figure
