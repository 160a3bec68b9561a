"""Every run as a dot: both measures, the condition number, the scan of settings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sharpfront.paper.cases import Case
from sharpfront.paper.experiments import Results
from sharpfront.paper.figures.style import GREY, INK, WIDTH, panels
from sharpfront.paper.summary import sci, spread, zero_scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
        axes.plot(
            [run.rmse for run in runs],
            [run.max_error for run in runs],
            "o",
            ms=5,
            color=method.colour,
            alpha=0.75,
            mew=0,
            label=method.title,
        )
    zero = zero_scores(case)
    axes.plot([zero.rmse], [zero.max_error], "X", ms=8, color=INK, label="the function u = 0")
    claim = case.published["adaptive"].rmse
    axes.axvline(claim, color=GREY, lw=1, ls="--")
    axes.text(
        claim * 1.25, 0.03, f"paper: {sci(claim)}", transform=axes.get_xaxis_transform(), color=GREY
    )
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
        panel.axvline(1 / float(np.finfo(float).eps), color=INK, lw=0.8, ls=":")
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
    from matplotlib.figure import Figure

    runs = results.select("sensitivity")
    keys = list(dict.fromkeys((run.case, run.setting) for run in runs))
    figure = Figure(figsize=(WIDTH, 1.4 + 0.2 * len(keys)), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for panel, name, words in zip(
        axes, ("rmse", "max_error"), ("uniform RMSE", "largest error"), strict=True
    ):
        for level, key in enumerate(reversed(keys)):
            values = [getattr(run, name) for run in runs if (run.case, run.setting) == key]
            _strip(panel, values, level, "#c44e52" if key[0] == "single" else "#4c72b0")
        panel.set(xscale="log", xlabel=words)
        panel.grid(axis="x", color="#eeeeee")
    axes[0].set_yticks(range(len(keys)), [_words(*key) for key in reversed(keys)], fontsize=7)
    axes[1].axvline(1, color=GREY, lw=0.8, ls=":")
    return figure


def _words(case: str, setting: Sequence[tuple[str, str]]) -> str:
    given = dict(setting)
    return f"{case}, ε={given['epsilon']}, λ={given['lambda']}, {given['collocation']}"
