"""Colour maps on planes, and kernels as ellipses over them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from sharpfront.arrays import Host
from sharpfront.plot.quantity import DECADES, Quantity, summary
from sharpfront.plot.raster import STRETCHED, Raster
from sharpfront.plot.section import Kernels, Section

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ELLIPSES = 1500
_INK = "0.15"


def draw_map(
    axes: Axes,
    quantity: Quantity,
    picture: Raster,
    limits: tuple[float, float] | None = None,
    *,
    bar: bool = True,
    faint: bool = False,
) -> None:
    """Draw a raster as a colour map cut to the domain's outline.

    Parameters
    ----------
    axes
        Where.
    quantity
        What the values are.
    picture
        The values.
    limits
        Ends of the colour scale; of the values by default.
    bar
        Whether to draw a colour bar.
    faint
        Whether it is the background of something else.
    """
    frame(axes, picture.where)
    if picture.outline is None:
        axes.text(0.5, 0.5, "misses the domain", ha="center", transform=axes.transAxes)
        return
    low, high, colours = colour_scale(limits or picture.limits, quantity.logarithmic)
    ends = picture.where.window
    image = axes.imshow(
        picture.values,
        origin="lower",
        extent=(ends[0, 0], ends[1, 0], ends[0, 1], ends[1, 1]),
        aspect=axes.get_aspect(),
        cmap=colours,
        vmin=low,
        vmax=high,
        alpha=0.35 if faint else None,
        interpolation="nearest",
    )
    from matplotlib.patches import PathPatch

    edge = PathPatch(picture.outline, facecolor="none", edgecolor=_INK, lw=0.7, zorder=3)
    axes.add_patch(edge)
    image.set_clip_path(picture.outline, axes.transData)
    if bar:
        cut = "min" if low > (limits or picture.limits)[0] else "neither"
        axes.figure.colorbar(image, ax=axes, label=quantity.label, extend=cut)


def frame(axes: Axes, where: Section) -> None:
    """Set labels, limits and aspect of a plane's axes."""
    low, high = where.window
    sides = high - low
    room = 0.015 * sides
    axes.set(
        xlabel=where.labels[0],
        ylabel=where.labels[1],
        xlim=(low[0] - room[0], high[0] + room[0]),
        ylim=(low[1] - room[1], high[1] + room[1]),
        aspect="equal" if sides.max() <= STRETCHED * sides.min() else "auto",
    )
    for spine in axes.spines.values():
        spine.set_color("0.8")


def colour_scale(limits: tuple[float, float], logarithmic: bool) -> tuple[float, float, str]:
    """Return the ends of a colour scale and the name of the colours.

    Values that change sign about evenly get a diverging scale with zero in its middle.
    """
    low, high = limits
    if logarithmic:
        return max(low, high - DECADES), high, "magma"
    if low < 0 < high and 0.4 < -low / high < 2.5:
        largest = max(-low, high)
        return -largest, largest, "RdBu_r"
    if not high > low and math.isfinite(low):
        return low - 0.5, low + 0.5, "viridis"
    return low, high, "viridis"


def draw_ellipses(axes: Axes, kernels: Kernels, mixture: Kernels | None) -> None:
    """Draw kernels and components of a mixture as ellipses of one standard deviation."""
    shown = thinned(kernels, MOST_ELLIPSES)
    _add_ellipses(axes, shown, colour="C0", width=0.5, label="kernels, 1 standard deviation")
    if len(shown.centres) < len(kernels.centres):
        axes.text(
            0.99,
            0.01,
            f"{len(shown.centres)} of {len(kernels.centres)} kernels shown",
            ha="right",
            va="bottom",
            fontsize=8,
            transform=axes.transAxes,
            bbox={"facecolor": "white", "alpha": 0.8, "lw": 0},
        )
    if mixture is not None:
        _add_ellipses(axes, mixture, colour="#d55e00", width=1.3, label="mixture")


def thinned(kernels: Kernels, most: int) -> Kernels:
    """Return at most so many kernels, drawn without order from equal ones left out before."""
    both = np.concatenate(
        [kernels.centres, kernels.covariances.reshape(len(kernels.centres), -1)], axis=1
    )
    scale = np.maximum(np.abs(both).max(axis=0, initial=0.0), np.finfo(float).tiny)
    _, first = np.unique(np.round(both / scale, 9), axis=0, return_index=True)
    if len(first) > most:
        first = np.random.default_rng(0).choice(first, most, replace=False)
    return Kernels(kernels.centres[first], kernels.covariances[first])


def _add_ellipses(axes: Axes, kernels: Kernels, colour: str, width: float, label: str) -> None:
    from matplotlib.collections import EllipseCollection

    widths, heights, angles = _ellipses(kernels.covariances)
    axes.add_collection(
        EllipseCollection(
            widths,
            heights,
            angles,
            units="xy",
            offsets=kernels.centres,
            offset_transform=axes.transData,
            facecolors="none",
            edgecolors=colour,
            linewidths=width,
            alpha=0.7,
            label=label,
        ),
        autolim=False,
    )


def _ellipses(covariances: Host) -> tuple[Host, Host, Host]:
    """Return the diameters along both axes and the angle of the first in degrees."""
    variances, directions = np.linalg.eigh(covariances)
    diameters = 2 * np.sqrt(np.maximum(variances, 0.0))
    angles = np.degrees(np.arctan2(directions[:, 1, 1], directions[:, 0, 1]))
    return diameters[:, 1], diameters[:, 0], angles


def map_title(solution: Any, picture: Raster, kernels: Kernels) -> str:
    """Return two lines: how the solve ended, and how thin the thinnest kernels are."""
    lines = [summary(solution)]
    if picture.where.title:
        lines.insert(0, picture.where.title)
    if len(kernels.centres):
        line = f"thinnest kernel: {kernels.thinnest:.1e}"
        if kernels.thinnest < float(picture.cell.max()):
            line += f" (less than a dot of this picture, {float(picture.cell.max()):.1e})"
        lines.append(line)
    return "\n".join(lines)
