"""A solution in time at single moments, one of them or several side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.errors import ProblemError
from sharpfront.show.data.quantity import unknown_of
from sharpfront.show.data.section import section
from sharpfront.show.data.snapshot import TIME, Moment
from sharpfront.show.figures import panels
from sharpfront.show.figures.panels import Panel, Wish
from sharpfront.show.figures.plane import draw_map
from sharpfront.show.figures.strip import curve_of, draw_strip, share_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def still(wish: Wish, t: float) -> Wish:
    """Return the same wish for the solution at a moment."""
    where = {name: value for name, value in wish.where.items() if name != TIME}
    return replace(wish, solution=Moment(wish.solution, t), where=where, note=f"t = {t:.6g}")


def moments_of(wish: Wish, count: int | Sequence[float] | None, default: int) -> list[float]:
    """Return even moments with both ends, or those that were given."""
    window = section(wish.solution.domain, wish.names, ranges(wish)).window[:, -1]
    if count is None or isinstance(count, int | np.integer):
        number = default if count is None else int(count)
        if number < 1:
            raise ProblemError(f"Expected at least one moment, got moments={count!r}.")
        return even(window, number) if number > 1 else [float(window[1])]
    given = [float(t) for t in count]
    low, high = wish.solution.domain.time
    if not given or not all(low <= t <= high for t in given):
        raise ProblemError(f"Expected moments between {low:g} and {high:g}, got {count!r}.")
    return given


def even(window: FloatArray, count: int) -> list[float]:
    """Return even moments with both ends."""
    return [float(t) for t in np.linspace(float(window[0]), float(window[1]), count)]


def ranges(wish: Wish) -> dict[str, Any]:
    """Return what was asked for of the coordinates, without a single moment."""
    return {k: v for k, v in wish.where.items() if k != TIME or np.ndim(v) == 1}


def period_of(wish: Wish) -> float | None:
    """Return the length of a circle; None for a stretch."""
    domain = wish.solution.domain
    low, high = domain.bounds[:, 0]
    return float(high - low) if domain.periodic_axes[0] else None


_COLUMNS = 3
# Inches of a panel.
_CURVE, _MAP = (3.5, 2.7), (3.5, 3.2)


def film_panels(wish: Wish) -> list[list[Panel]]:
    """Return one panel for each of several moments, with one scale for all."""
    times = moments_of(wish, wish.moments, 6)
    stills = [still(replace(wish, where=ranges(wish)), t) for t in times]
    flat = len(stills[0].names) == 1
    frames = _curve_stills(stills) if flat else _map_stills(stills)
    columns = _columns(len(frames))
    return [frames[i : i + columns] for i in range(0, len(frames), columns)]


def _columns(count: int) -> int:
    """Return how many panels go side by side: three, or two where that leaves one alone."""
    return 2 if count == 4 else min(_COLUMNS, count)


def _curve_stills(stills: Sequence[Wish]) -> list[Panel]:
    where = stills[0].section
    curves = [curve_of(now.solution, now.unknowns, where) for now in stills]
    limits = panels.common_limits([curve.limits for curve in curves])
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


def _map_stills(stills: Sequence[Wish]) -> list[Panel]:
    unknown = stills[0].unknowns[0]
    quantities = [unknown_of(now.solution, unknown) for now in stills]
    where = stills[0].section
    if len(where.free) != 2:
        raise ProblemError("A film of maps has two free coordinates; fix the others.")
    pictures = []
    for now, quantity in zip(stills, quantities, strict=True):
        pictures.append(panels.raster_on(now, quantity, now.kernels_of(unknown), where))
    limits = panels.common_limits([p.limits() for p in pictures])
    columns = _columns(len(stills))

    def draw(axes: Axes, i: int) -> None:
        last = i % columns == columns - 1 or i == len(stills) - 1
        draw_map(axes, quantities[i], pictures[i], limits, bar=last)
        axes.set_title(stills[i].note, fontsize=10)

    return [Panel(partial(draw, i=i), size=_MAP) for i in range(len(stills))]
