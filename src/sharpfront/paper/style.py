"""One look for all figures: sized for a column of text, and legible on a phone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.catalog import Feature
from sharpfront.paper.cases import Case

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 5.6
INK, GREY, PALE = "#222222", "#8a8a8a", "#d9d9d9"


@contextmanager
def styled() -> Iterator[None]:
    """Draw with the look of the report, whatever the user's own settings are."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        look = files("sharpfront.paper") / "report.mplstyle"
        mpl.rcParams.update(mpl.rc_params_from_file(str(look), use_default_template=False))
        yield


def panels(heights: tuple[float, ...], height: float) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels one above the other."""
    from matplotlib.figure import Figure

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
    from matplotlib.ticker import FuncFormatter, NullLocator

    label = FuncFormatter(lambda value, _: f"1e{round(math.log10(value))}" if value > 0 else "")
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if axis.get_scale() == "log":
                axis.set_major_formatter(label)
                axis.set_minor_locator(NullLocator())
    return figure
