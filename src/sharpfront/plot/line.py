"""Curves along a line: one-dimensional solutions and cuts through others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.geometry import Domain
from sharpfront.plot.colours import CURVES
from sharpfront.plot.narrow import label_narrow
from sharpfront.plot.quantity import Quantity, residual_of, unknown_of
from sharpfront.plot.section import Kernels, Section, kernels_of, mixture_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_EVEN = 1001
_BISECTIONS = 40
# Into so many steps the way from one kernel to the next is divided.
_STEPS = 8
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
    return {
        "color": CURVES[number % len(CURVES)],
        "ls": _DASHES[number % len(_DASHES)],
        "lw": 1.6,
    }


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
    mixture = mixture_of(solution, unknown)
    if mixture is not None:
        seen = Kernels(mixture.means, mixture.covariances).on(where)
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


def line_points(domain: Domain, where: Section, kernels: Kernels) -> tuple[FloatArray, Any]:
    """Return increasing places along a line, and which of them are inside the domain.

    Even places, the kernels' centres and some between each two, and the places where the line
    enters and leaves the domain, so that a layer narrower than even spacing is drawn where it is.
    """
    low, high = where.window[:, 0]
    centres = np.unique(np.concatenate([[low, high], kernels.centres[:, 0]]))
    graded = centres[:-1, None] + np.diff(centres)[:, None] * np.arange(_STEPS) / _STEPS
    x = np.concatenate([np.linspace(low, high, _EVEN), centres, graded.ravel()])
    x = np.unique(x[(x >= low) & (x <= high)])
    inside = domain.contains(where.lift(x[:, None]))
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    entered = _crossings(domain, where, x[edges], x[edges + 1], inside[edges])
    x = np.concatenate([x, entered])
    inside = np.concatenate([inside, np.ones(len(entered), dtype=bool)])
    order = np.argsort(x, kind="stable")
    return x[order], inside[order]


def _crossings(
    domain: Domain, where: Section, left: FloatArray, right: FloatArray, first: Any
) -> FloatArray:
    """Return the last places inside before the line crosses the boundary."""
    inner, outer = np.where(first, left, right), np.where(first, right, left)
    for _ in range(_BISECTIONS if len(inner) else 0):
        middle = (inner + outer) / 2
        inside = domain.contains(where.lift(middle[:, None]))
        inner, outer = np.where(inside, middle, inner), np.where(inside, outer, middle)
    return np.asarray(inner)
