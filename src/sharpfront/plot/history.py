"""How a solve in time went: estimate, steps and kernels over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.plot.colours import BLUE, GREEN, ORANGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_error(axes: Axes, solution: Any, span: tuple[float, float]) -> None:
    """Draw the estimated error of every step, the largest so far, and the tolerance."""
    times, largest = solution.error_over_time()
    own = np.array([step.error_estimate for step in solution.history])
    axes.semilogy(times, own, ".", ms=5, color=BLUE, label="of each step")
    axes.step(_starting(solution, times), [largest[0], *largest], where="pre", color=BLUE, lw=1.4)
    axes.lines[-1].set_label("largest so far")
    axes.axhline(solution.tol, color="0.3", lw=1, ls=":", label=f"tolerance {solution.tol:.0e}")
    _label(axes, span, "estimated error")
    axes.legend(frameon=False, fontsize=8, loc="best")


def draw_steps(axes: Axes, solution: Any, span: tuple[float, float]) -> None:
    """Draw the length of every step over time, on a logarithmic axis."""
    steps = np.array([step.dt for step in solution.history])
    _stairs(axes, solution, steps, ORANGE)
    axes.set_yscale("log")
    if steps.max() < 20 * steps.min():
        _few_decades(axes)
    _label(axes, span, "length of step, dt")


def draw_counts(axes: Axes, solution: Any, span: tuple[float, float]) -> None:
    """Draw the number of kernels of one unknown over time."""
    from matplotlib.ticker import MaxNLocator

    counts = np.array([step.kernels for step in solution.history])
    _stairs(axes, solution, counts, GREEN)
    axes.set_ylim(0, 1.12 * counts.max())
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    several = len(solution.unknowns) > 1
    _label(axes, span, "kernels of each unknown" if several else "kernels")


def _stairs(axes: Axes, solution: Any, values: FloatArray, colour: str) -> None:
    times = np.array([step.time for step in solution.history])
    axes.step(_starting(solution, times), [values[0], *values], where="pre", color=colour, lw=1.4)


def _starting(solution: Any, times: FloatArray) -> FloatArray:
    return np.concatenate([[solution.domain.time[0]], times])


def _few_decades(axes: Axes) -> None:
    """Write numbers also between the powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _label(axes: Axes, span: tuple[float, float], ylabel: str) -> None:
    axes.set(xlabel="t", ylabel=ylabel, xlim=span)
