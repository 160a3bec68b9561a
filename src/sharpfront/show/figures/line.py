"""Curves along a line: one-dimensional solutions and cuts through others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.geometry import Domain
from sharpfront.show.data.colours import CURVES
from sharpfront.show.data.grid import line_points
from sharpfront.show.data.kernels import Kernels, kernels_of
from sharpfront.show.data.quantity import Quantity, residual_of, unknown_of
from sharpfront.show.data.section import Section
from sharpfront.show.data.snapshot import mixture_of
from sharpfront.show.figures.narrow import label_narrow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DASHES = ("-", (0, (5, 2)), (0, (2, 1.5)), (0, (6, 1.5, 1.5, 1.5)))


def draw_solution(
    axes: Axes, solution: Any, unknowns: Sequence[str], where: Section, title: str, ticks: bool
) -> None:
    """Draw unknowns along a line; if asked for, with a tick at every kernel that it meets."""
    for i, unknown in enumerate(unknowns):
        kernels = kernels_of(solution.approximation.bases[unknown]).on(where)
        style = curve_style(i)
        _draw_curve(axes, unknown_of(solution, unknown), solution.domain, where, kernels, style)
        if ticks:
            _draw_ticks(axes, kernels.centres[:, 0])
    _label(axes, where, title)
    if len(unknowns) > 1:
        axes.legend(frameon=False)
    else:
        axes.set_ylabel(unknowns[0])


def curve_style(number: int) -> dict[str, Any]:
    """Return colour and dashes of a curve, so that one that lies on another leaves it visible."""
    return {"color": CURVES[number % len(CURVES)], "ls": _DASHES[number % len(_DASHES)], "lw": 1.6}


def draw_residual(axes: Axes, solution: Any, where: Section, title: str) -> None:
    """Draw the largest residual of any equation along a line, on a logarithmic axis."""
    quantity = residual_of(solution)
    kernels = kernels_of(next(iter(solution.approximation.bases.values()))).on(where)
    size = Quantity(quantity.label, lambda points: 10.0 ** quantity.values(points))
    _draw_curve(axes, size, solution.domain, where, kernels, curve_style(0))
    axes.set_yscale("log")
    _label(axes, where, title)
    axes.set_ylabel("|residual|")


def draw_kernels(axes: Axes, solution: Any, unknown: str, where: Section, title: str) -> None:
    """Draw the widths of the kernels along a line over a faint solution.

    Each kernel is a dot at its centre and standard deviation; components of the last mixture are
    bars one standard deviation to either side at theirs.
    """
    kernels = kernels_of(solution.approximation.bases[unknown]).on(where)
    behind = axes.twinx()
    behind.set_zorder(axes.get_zorder() - 1)
    axes.patch.set_visible(False)
    faint = {"color": "0.75", "lw": 1.2}
    _draw_curve(behind, unknown_of(solution, unknown), solution.domain, where, kernels, faint)
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


def _draw_curve(
    axes: Axes,
    quantity: Quantity,
    domain: Domain,
    where: Section,
    kernels: Kernels,
    style: Mapping[str, Any],
) -> None:
    x, inside = line_points(domain, where, kernels)
    values = np.full(len(x), np.nan)
    values[inside] = quantity.values(where.lift(x[inside, None]))
    axes.plot(x, values, label=quantity.label, **style)


def _draw_ticks(axes: Axes, places: FloatArray) -> None:
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
