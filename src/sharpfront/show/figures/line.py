"""Curves along a line: one-dimensional solutions and cuts through others.

A curve at a moment, with the kernels and the mixture's components in a strip under it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from sharpfront.arrays import FloatArray
from sharpfront.geometry import Domain
from sharpfront.mixture import Mixture
from sharpfront.show.data.kernels import Kernels, Section, curve, kernels_of, line_points
from sharpfront.show.data.placements import Moment, mixture_of
from sharpfront.show.data.quantity import CURVES, ORANGE, Quantity, unknown_of
from sharpfront.show.figures.narrow_axes import label_narrow

# Parts of the height of the axes: the strip, the ticks' middle, the bells' feet and highest top.
STRIP, _TICKS, _FEET, _TOP = 0.26, 0.03, 0.07, 0.24
_BELL = np.linspace(-3.5, 3.5, 57)


@dataclass(frozen=True, eq=False)
class Curve:
    """Unknowns along a line at a moment."""

    places: FloatArray  # increasing, (m,)
    values: dict[str, FloatArray]  # of each unknown, (m,) each
    centres: FloatArray  # of the kernels in the window, (n,)
    mixture: Mixture | None  # whose components are drawn; None for none

    @property
    def limits(self) -> tuple[float, float]:
        """The smallest and the largest value."""
        every = np.concatenate(list(self.values.values()))
        return float(every.min()), float(every.max())


def curve_of(moment: Moment, unknowns: Sequence[str], where: Section) -> Curve:
    """Return unknowns at a moment, at places as close together as the kernels are."""
    approximation = moment.approximation
    basis = approximation.bases[unknowns[0]]
    kernels = kernels_of(basis).on(where)
    x, _ = line_points(moment.domain, where, kernels)
    points = where.lift(x[:, None])
    values = {name: approximation.values(name, points, (0,)) for name in unknowns}
    return Curve(x, values, kernels.centres[:, 0], moment.mixture)


def bells(mixture: Mixture | None, period: float | None) -> list[FloatArray]:
    """Return the outline of each component's density over height, (m, 2) each.

    The highest reaches to the top of the strip; heights are in proportion to the weights, not the
    densities, or the narrowest would leave nothing of the others. On a circle a component is seen
    from both sides of the seam.
    """
    if mixture is None:
        return []
    profile = np.exp(-0.5 * _BELL**2)
    heights = mixture.weights / mixture.weights.max()
    out = []
    for turn in (0.0,) if period is None else (-period, 0.0, period):
        for k, height in enumerate(heights):
            x = mixture.means[k, 0] + turn + np.sqrt(mixture.covariances[k, 0, 0]) * _BELL
            out.append(np.stack([x, _FEET + (_TOP - _FEET) * height * profile], axis=1))
    return out


@dataclass(frozen=True, eq=False)
class Strip:
    """The artists of a picture at a moment; `show` moves them to another one.

    Without ticks and bells where only the curves are drawn.
    """

    lines: dict[str, Line2D]
    ticks: Line2D | None
    bells: PolyCollection | None
    period: float | None

    @property
    def artists(self) -> tuple[Artist, ...]:
        """All that move."""
        found = (*self.lines.values(), self.ticks, self.bells)
        return tuple(artist for artist in found if artist is not None)

    def show(self, curve: Curve) -> None:
        """Move curves, ticks and bells to where they are at a moment."""
        for name, values in curve.values.items():
            self.lines[name].set_data(curve.places, values)
        if self.ticks is not None:
            self.ticks.set_data(curve.centres, np.full(len(curve.centres), _TICKS))
        if self.bells is not None:
            self.bells.set_verts(bells(curve.mixture, self.period))


def draw_strip(
    axes: Axes,
    curve: Curve,
    where: Section,
    limits: tuple[float, float] | None = None,
    *,
    kernels: bool = True,
    period: float | None = None,
    legend: bool = True,
) -> Strip:
    """Draw curves, if asked for with kernels and components in a strip under them.

    The axis has room for `limits`, by default the curve's own; `period` is the length of a circle.
    """
    lines = {
        name: axes.plot([], [], label=name, zorder=3, **curve_style(i))[0]
        for i, name in enumerate(curve.values)
    }
    ticks, mounds = _ticks_and_bells(axes) if kernels else (None, None)
    strip = Strip(lines, ticks, mounds, period)
    strip.show(curve)
    _strip_frame(axes, where, limits or curve.limits, list(curve.values), STRIP if kernels else 0.0)
    if legend and (kernels or len(lines) > 1):
        below: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.13)}
        axes.legend(ncols=2 + len(lines), frameon=False, fontsize=9, **below)
    return strip


def _ticks_and_bells(axes: Axes) -> tuple[Line2D, PolyCollection]:
    """Add ticks for kernels and bells for components, without data."""
    flat = axes.get_xaxis_transform()
    look: dict[str, Any] = {"ms": 7, "mew": 0.9, "color": "0.25", "zorder": 2}
    (ticks,) = axes.plot([], [], "|", transform=flat, label="kernels", **look)
    look = {"facecolors": (ORANGE, 0.3), "edgecolors": ORANGE, "linewidths": 1.3, "zorder": 2.5}
    mounds = PolyCollection([], transform=flat, label="components of the mixture", **look)
    axes.add_collection(mounds, autolim=False)
    return ticks, mounds


def share_legend(axes: Axes) -> None:
    """Put one legend for all panels under the figure, or inside the axes of a user's figure."""
    figure = axes.figure
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) < 2:
        # One curve has its name beside the axis.
        return
    if not isinstance(figure.get_layout_engine(), ConstrainedLayoutEngine):
        axes.legend(fontsize=7)
        return
    figure.legend(
        handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=9
    )


def _strip_frame(
    axes: Axes, where: Section, limits: tuple[float, float], unknowns: Sequence[str], strip: float
) -> None:
    """Leave room for a strip of that part of the height; the values' axis has ticks above it."""
    low, high = limits
    least = 1e-12 * max(abs(low), abs(high), 1.0)
    low, high = (low, high) if high - low > least else (low - 0.5, high + 0.5)
    room = 0.06 * (high - low)
    bottom = low - room - strip / (1.0 - strip) * (high - low + 2 * room)
    left, right = where.window[:, 0]
    axes.set(xlabel=where.labels[0], xlim=(left, right), ylim=(bottom, high + room))
    name = unknowns[0] if len(unknowns) == 1 else ""
    axes.set_ylabel(name, y=(1 + strip) / 2, rotation=0 if len(name) <= 2 else 90, labelpad=10)
    found = MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(low, high)
    axes.set_yticks([v for v in found if low - room / 2 <= v <= high + room / 2])
    if strip:
        axes.plot([0, 1], [strip, strip], color="0.85", lw=0.8, zorder=0, transform=axes.transAxes)
    label_narrow(axes.xaxis, where.labels[0], left, right)


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
        look: dict[str, Any] = {"fmt": "s", "ms": 3, "lw": 1, "color": "C1", "label": "mixture"}
        axes.errorbar(seen.centres[:, 0], deviations, xerr=deviations, **look)
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
    look: dict[str, Any] = {"ms": 5, "alpha": 0.4, "color": "0.3", "zorder": 1, "clip_on": False}
    feet = np.full(len(places), 0.02)
    axes.plot(places, feet, "|", transform=axes.get_xaxis_transform(), **look)
