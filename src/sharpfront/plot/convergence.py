"""How the estimate and the residual fell over the adaptations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sharpfront.arrays import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_convergence(axes: Axes, solution: Any) -> None:
    """Draw estimate and residual over the number of kernels, with the tolerance as a line."""
    kernels = np.array([record.kernels for record in solution.history], dtype=float)
    for name, label, style in (
        ("error_estimate", "estimated error", "o-"),
        ("residual", "residual, root mean square", "s--"),
    ):
        values = np.array([getattr(record, name) for record in solution.history], dtype=float)
        good = np.isfinite(values) & (values > 0) & (kernels > 0)
        axes.loglog(kernels[good], values[good], style, ms=4, lw=1.2, label=label)
    axes.axhline(solution.tol, color="0.3", lw=1, ls=":", label=f"tolerance {solution.tol:.0e}")
    _label_kernels(axes, kernels)
    axes.set(xlabel="kernels", title=f"{len(kernels)} solve{'s' * (len(kernels) != 1)}")
    axes.title.set_fontsize(10)
    axes.legend(frameon=False, fontsize=8)


def _label_kernels(axes: Axes, kernels: FloatArray) -> None:
    """Write plain numbers under a logarithmic axis that spans less than a decade or two."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    if not len(kernels):
        return
    low, high = float(kernels.min()), float(kernels.max())
    axes.set_xlim(0.8 * low, 1.25 * high)
    wide = high > 20 * low
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 1.5, 2, 3, 5, 7)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(LogLocator(subs="auto") if wide else NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
