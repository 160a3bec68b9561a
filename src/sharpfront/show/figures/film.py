"""Several moments of a solution in time, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from sharpfront.errors import ProblemError
from sharpfront.show.data.kernels import kernels_of
from sharpfront.show.data.quantity import unknown_of
from sharpfront.show.data.section import section
from sharpfront.show.figures import panels
from sharpfront.show.figures.panels import Panel, Wish
from sharpfront.show.figures.plane import draw_map
from sharpfront.show.figures.stills import moments_of, period_of, ranges, still
from sharpfront.show.figures.strip import curve_of, draw_strip, share_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = 3
# Inches of a panel.
_CURVE, _MAP = (3.5, 2.7), (3.5, 3.2)


def film_panels(wish: Wish) -> list[list[Panel]]:
    """Return one panel for each of several moments, with one scale for all."""
    times = moments_of(wish, wish.moments, 6)
    stills = [still(replace(wish, where=ranges(wish)), t) for t in times]
    flat = len(stills[0].names) == 1
    frames = _curves(stills) if flat else _maps(stills)
    columns = _columns(len(frames))
    return [frames[i : i + columns] for i in range(0, len(frames), columns)]


def _columns(count: int) -> int:
    """Return how many panels go side by side: three, or two where that leaves one alone."""
    return 2 if count == 4 else min(_COLUMNS, count)


def _curves(stills: Sequence[Wish]) -> list[Panel]:
    where = section(stills[0].solution.domain, stills[0].names, stills[0].where)
    curves = [curve_of(now.solution, now.unknowns, where) for now in stills]
    ends = np.array([curve.limits for curve in curves])
    limits = float(ends[:, 0].min()), float(ends[:, 1].max())
    columns = _columns(len(stills))

    def draw(axes: Axes, i: int) -> None:
        period = period_of(stills[i])
        asked = stills[i].kernels
        draw_strip(axes, curves[i], where, limits, kernels=asked, period=period, legend=False)
        if i % columns:
            axes.set_ylabel("")
        if i + columns < len(stills):
            axes.set_xlabel("")
        axes.set_title(stills[i].note, fontsize=10)
        if i == 0:
            share_legend(axes)

    return [Panel(partial(draw, i=i), size=_CURVE) for i in range(len(stills))]


def _maps(stills: Sequence[Wish]) -> list[Panel]:
    unknown = stills[0].unknowns[0]
    quantities = [unknown_of(now.solution, unknown) for now in stills]
    where = section(stills[0].solution.domain, stills[0].names, stills[0].where)
    if len(where.free) != 2:
        raise ProblemError("A film of maps has two free coordinates; fix the others.")
    pictures = []
    for now, quantity in zip(stills, quantities, strict=True):
        kernels = kernels_of(now.solution.approximation.bases[unknown])
        pictures.append(panels.raster_on(now, quantity, kernels, where))
    limits = panels.common_limits([p.limits() for p in pictures])
    columns = _columns(len(stills))

    def draw(axes: Axes, i: int) -> None:
        last = i % columns == columns - 1 or i == len(stills) - 1
        draw_map(axes, quantities[i], pictures[i], limits, bar=last)
        axes.set_title(stills[i].note, fontsize=10)

    return [Panel(partial(draw, i=i), size=_MAP) for i in range(len(stills))]
