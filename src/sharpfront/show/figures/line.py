"""Curves along a line: one-dimensional solutions and cuts through others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.geometry import Domain
from sharpfront.show.data.colours import CURVES
from sharpfront.show.data.grid import curve
from sharpfront.show.data.kernels import Kernels, kernels_of
from sharpfront.show.data.quantity import Quantity, unknown_of
from sharpfront.show.data.section import Section
from sharpfront.show.data.snapshot import mixture_of
from sharpfront.show.figures.narrow import label_narrow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DASHES = ("-", (0, (5, 2)), (0, (2, 1.5)), (0, (6, 1.5, 1.5, 1.5)))


def draw_curves(
    axes: Axes,
    quantities: Sequence[Quantity],
    domain: Domain,
    where: Section,
    kernels: Sequence[Kernels],
    title: str,
) -> None:
    """Draw quantities along a line, each at places as close together as its kernels are.

    Logarithms are drawn on a logarithmic axis.
    """
    for i, (quantity, own) in enumerate(zip(quantities, kernels, strict=True)):
        x, values = curve(quantity.values, domain, where, own)
        shown = 10.0**values if quantity.logarithmic else values
        axes.plot(x, shown, label=quantity.label, **curve_style(i))
    _label(axes, where, title)
    if quantities[0].logarithmic:
        axes.set(yscale="log", ylabel="|residual|")
    elif len(quantities) > 1:
        axes.legend(frameon=False)
    else:
        axes.set_ylabel(quantities[0].label)


def curve_style(number: int) -> dict[str, Any]:
    """Return colour and dashes of a curve, so that one that lies on another leaves it visible."""
    return {"color": CURVES[number % len(CURVES)], "ls": _DASHES[number % len(_DASHES)], "lw": 1.6}


def draw_kernels(axes: Axes, solution: Any, unknown: str, where: Section, title: str) -> None:
    """Draw the widths of the kernels along a line over a faint solution.

    Each kernel is a dot at its centre and standard deviation; components of the last mixture are
    bars one standard deviation to either side at theirs.
    """
    kernels = kernels_of(solution.approximation.bases[unknown]).on(where)
    behind = axes.twinx()
    behind.set_zorder(axes.get_zorder() - 1)
    axes.patch.set_visible(False)
    values = unknown_of(solution, unknown).values
    behind.plot(*curve(values, solution.domain, where, kernels), color="0.75", lw=1.2)
    behind.set_ylabel(unknown, color="0.5")
    behind.tick_params(colors="0.5")
    widths = np.sqrt(kernels.covariances[:, 0, 0])
    axes.plot(kernels.centres[:, 0], widths, ".", ms=3, color="C0", label="kernels")
    mixture = mixture_of(solution)
    if mixture is not None:
        seen = Kernels.of_mixture(mixture).on(where)
        deviations = np.sqrt(seen.covariances[:, 0, 0])
        axes.errorbar(
            seen.centres[:, 0],
            deviations,
            xerr=deviations,
            fmt="s",
            ms=3,
            lw=1,
            color="C1",
            label="mixture",
        )
    axes.set_yscale("log")
    _label(axes, where, title)
    axes.set_ylabel("standard deviation")
    axes.legend(frameon=False)


def _label(axes: Axes, where: Section, title: str) -> None:
    low, high = where.window[:, 0]
    axes.set(xlabel=where.labels[0], xlim=(low, high))
    label_narrow(axes.xaxis, where.labels[0], low, high)
    axes.set_title(title, fontsize=10)


def draw_ticks(axes: Axes, places: FloatArray) -> None:
    """Draw a tick for every kernel at the foot of the axes."""
    axes.plot(
        places,
        np.full(len(places), 0.02),
        "|",
        ms=5,
        alpha=0.4,
        color="0.3",
        zorder=1,
        clip_on=False,
        transform=axes.get_xaxis_transform(),
    )
