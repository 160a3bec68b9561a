"""Pictures of solutions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sharpfront.errors import ProblemError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_solution(solution: Any, axes: Axes | None = None) -> Axes:
    """Draw a solution in one dimension, with a tick at every kernel's centre.

    The points of the curve follow the kernels, so that a layer narrower than a pixel's worth of
    uniform points is drawn where it is.
    """
    import matplotlib.pyplot as plt

    if solution.domain.dimension != 1:
        raise ProblemError(
            "plot() draws one-dimensional solutions; evaluate the solution on a grid instead."
        )
    if axes is None:
        _, axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    low, high = solution.domain.bounds[:, 0]
    for unknown in solution.unknowns:
        centres = _centres(solution.approximation.bases[unknown])
        centres = centres[(centres >= low) & (centres <= high)]
        x = np.unique(np.concatenate([np.linspace(low, high, 1001), centres]))
        axes.plot(x, getattr(solution, unknown)(x), lw=1.6, label=unknown)
        axes.plot(
            centres,
            np.full(len(centres), 0.02),
            "|",
            ms=5,
            alpha=0.4,
            color="0.3",
            zorder=1,
            clip_on=False,
            transform=axes.get_xaxis_transform(),
        )
    axes.set(xlabel=solution.approximation.coordinates[0], xlim=(low, high))
    axes.set_title(
        f"{solution.outcome.kind}: estimated error {solution.error_estimate:.1e}, "
        f"{solution.kernels} kernels",
        fontsize=10,
    )
    axes.legend(frameon=False)
    return axes


def _centres(basis: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    centres = getattr(basis, "centres", None)
    return np.zeros(0) if centres is None else np.asarray(centres)[:, 0]
