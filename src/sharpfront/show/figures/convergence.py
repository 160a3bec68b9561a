"""How a solve went: estimate and residual over the kernels, or all that changed over time."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from sharpfront.arrays import FloatArray
from sharpfront.show.data.quantity import BLUE, GREEN, ORANGE, column, turns


def draw_convergence(axes: Axes, solution: Any) -> None:
    """Draw estimate and residual over the number of kernels, with the tolerance as a line."""
    kernels = column(solution, "kernels")
    for values, label, style in (
        (column(solution, "error_estimate"), "estimated error", "o-"),
        (column(solution, "residual"), "residual, root mean square", "s--"),
    ):
        good = np.isfinite(values) & (values > 0) & (kernels > 0)
        axes.loglog(kernels[good], values[good], style, ms=4, lw=1.2, label=label)
    axes.axhline(solution.tol, color="0.3", lw=1, ls=":", label=f"tolerance {solution.tol:.0e}")
    _label_kernels(axes, kernels)
    axes.set(xlabel="kernels", title=turns(solution))
    axes.title.set_fontsize(10)
    axes.legend(frameon=False, fontsize=8)


def draw_error(axes: Axes, solution: Any, span: tuple[float, float]) -> None:
    """Draw the estimated error of every step, the largest so far, and the tolerance."""
    times, largest = solution.error_over_time()
    each = column(solution, "error_estimate")
    axes.semilogy(times, each, ".", ms=5, color=BLUE, label="of each step")
    _stairs(axes, solution, largest, BLUE)
    axes.lines[-1].set_label("largest so far")
    axes.axhline(solution.tol, color="0.3", lw=1, ls=":", label=f"tolerance {solution.tol:.0e}")
    axes.set(xlabel="t", ylabel="estimated error", xlim=span)
    axes.legend(frameon=False, fontsize=8, loc="best")


def draw_steps(axes: Axes, solution: Any, span: tuple[float, float]) -> None:
    """Draw the length of every step over time, on a logarithmic axis."""
    steps = column(solution, "dt")
    _stairs(axes, solution, steps, ORANGE)
    axes.set_yscale("log")
    if steps.max() < 20 * steps.min():
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set(xlabel="t", ylabel="length of step, dt", xlim=span)


def draw_counts(axes: Axes, solution: Any, span: tuple[float, float]) -> None:
    """Draw the number of kernels of one unknown over time."""
    counts = column(solution, "kernels")
    _stairs(axes, solution, counts, GREEN)
    axes.set_ylim(0, 1.12 * counts.max())
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    several = " of each unknown" if len(solution.unknowns) > 1 else ""
    axes.set(xlabel="t", ylabel=f"kernels{several}", xlim=span)


def _label_kernels(axes: Axes, kernels: FloatArray) -> None:
    """Write plain numbers under a logarithmic axis that spans less than a decade or two."""
    if not len(kernels):
        return
    low, high = float(kernels.min()), float(kernels.max())
    axes.set_xlim(0.8 * low, 1.25 * high)
    wide = high > 20 * low
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 1.5, 2, 3, 5, 7)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(LogLocator(subs="auto") if wide else NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())


def _stairs(axes: Axes, solution: Any, values: FloatArray, colour: str) -> None:
    times = [solution.domain.time[0], *column(solution, "time")]
    axes.step(times, [values[0], *values], where="pre", color=colour, lw=1.4)
