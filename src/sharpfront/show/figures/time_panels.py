"""The panels of a picture of a solution in time.

A solution in time at single moments, one of them or several side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes

from sharpfront.arrays import FloatArray
from sharpfront.errors import BasisError, ProblemError
from sharpfront.show.data.kernels import Section, curve, section
from sharpfront.show.data.placements import TIME, Moment
from sharpfront.show.data.quantity import residual_of, summary, unknown_of
from sharpfront.show.data.raster import limits_of, raster_in_time
from sharpfront.show.figures import convergence, panels
from sharpfront.show.figures.line import curve_of, draw_curves, draw_strip, share_legend
from sharpfront.show.figures.panels import Panel, Wish
from sharpfront.show.figures.plane import draw_map, frame
from sharpfront.show.figures.tracks import (
    draw_paths,
    draw_tracks,
    node_paths,
    passages,
    placed_anew,
    tracks_of,
)


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
    limits = panels.common_limits([limits_of([p.values]) for p in pictures])
    columns = _columns(len(stills))

    def draw(axes: Axes, i: int) -> None:
        last = i % columns == columns - 1 or i == len(stills) - 1
        draw_map(axes, quantities[i], pictures[i], limits, bar=last)
        axes.set_title(stills[i].note, fontsize=10)

    return [Panel(partial(draw, i=i), size=_MAP) for i in range(len(stills))]


# Inches of a panel where a figure has several.
_STAIRS = (6.4, 2.2)
_RESIDUALS = 5


def timed_panels(wish: Wish, what: str) -> list[list[Panel]]:
    """Return the panels of a solution in time, row by row."""
    if what == "estimate":
        return [[panel] for panel in _course(wish)]
    if what == "all":
        return _all_in_time(wish)
    if what == "film":
        return film_panels(wish)
    where = wish.section
    if len(where.free) > 2 and TIME not in wish.where:
        # Of a map that changes, its last state.
        end = wish.solution.domain.time[1]
        return at_moment(wish, what, end)
    if TIME not in where.labels:
        return at_moment(wish, what, float(where.point[-1]))
    if len(where.free) > 2:
        raise ProblemError(
            f"A map over {', '.join(where.labels)} has too many axes. Give one moment, "
            f"plot(t={where.window[1, -1]:g}), or draw plot('film', t=...) for several."
        )
    if len(where.free) == 1:
        return [[_along_time(wish, what, where)]]
    if what == "residual":
        return [[_residuals(wish)]]
    if what == "kernels" and len(wish.names) > 2:
        raise ProblemError("Kernels in the plane are drawn at a moment: plot('kernels', t=0.5).")
    if what == "kernels":
        sharing: dict[int, list[str]] = {}
        for name in wish.unknowns:
            sharing.setdefault(id(wish.solution.approximation.bases[name]), []).append(name)
        return [[_paths(wish, names, where) for names in sharing.values()]]
    wish = replace(wish, brief=wish.brief or len(wish.unknowns) > 1)
    return [[_map(wish, unknown, where) for unknown in wish.unknowns]]


def at_moment(wish: Wish, what: str, t: float) -> list[list[Panel]]:
    """Return the panels of one moment."""
    now = still(wish, t)
    if what == "solution" and len(now.names) == 1:
        title = now.note if wish.brief else f"{now.note}; {summary(now.solution)}"
        title = wish.title or title
        where = now.section
        curve = curve_of(now.solution, now.unknowns, where)

        def draw(axes: Axes) -> None:
            draw_strip(axes, curve, where, kernels=now.kernels, period=period_of(now))
            axes.set_title(title, fontsize=10)

        return [[Panel(draw, size=(6.4, 4.4))]]
    return panels.panels(now, what)


def _map(wish: Wish, unknown: str, where: Section) -> Panel:
    """Return a colour map over space and time, if asked for with the components' tracks on it."""
    solution, quantity = wish.solution, unknown_of(wish.solution, unknown)
    basis = solution.approximation.bases[unknown]
    picture = raster_in_time(quantity, basis, solution.domain, where, wish.resolution)
    tracked = wish.kernels and len(wish.names) == 2

    def draw(axes: Axes) -> None:
        draw_map(axes, quantity, picture, named=not wish.brief)
        _roomy(axes, where)
        if tracked:
            draw_tracks(axes, tracks_of(solution), colour="black", halo=True)
        head = ", ".join(filter(None, [where.title, unknown if wish.brief else summary(solution)]))
        lines = "black lines: components of the mixture" if tracked else ""
        axes.set_title("\n".join(filter(None, [wish.title or head, lines])), fontsize=10)

    return Panel(draw)


def _roomy(axes: Axes, where: Section) -> None:
    """Let axes of space and time have scales of their own, without margins, and few labels."""
    (x0, t0), (x1, t1) = where.window
    axes.set(aspect="auto", xlim=(x0, x1), ylim=(t0, t1))
    axes.locator_params(axis="x", nbins=6)


def _paths(wish: Wish, unknowns: list[str], where: Section) -> Panel:
    """Return the ways of kernels and components through time."""
    basis = wish.solution.approximation.bases[unknowns[0]]
    paths, shown, seen = node_paths(basis, where.window)

    def draw(axes: Axes) -> None:
        frame(axes, where)
        _roomy(axes, where)
        draw_paths(axes, paths)
        draw_tracks(axes, tracks_of(wish.solution))
        some = f", {shown} of {seen} shown" if shown < seen else ""
        several = f" of {', '.join(unknowns)}" if len(wish.solution.unknowns) > 1 else ""
        lines = [f"nodes{several} (blue{some})", "components of the mixture (orange)"]
        if placed_anew(basis) and not wish.brief:
            lines.append("breaks: placed anew between steps")
        axes.set_title("\n".join(lines), fontsize=10)

    return Panel(draw)


def _residuals(wish: Wish) -> Panel:
    """Return the residual along the line at several moments."""
    window = wish.section.window[:, -1]
    times = moments_of(wish, wish.moments, _RESIDUALS)
    if wish.moments is None:
        times = even(window, _RESIDUALS + 1)[1:]
    residual_of(wish.solution)

    def draw(axes: Axes) -> None:
        colours = colormaps["viridis"](np.linspace(0.0, 0.9, len(times)))
        for t, colour in zip(times, colours, strict=True):
            now = still(wish, t)
            where, solution = now.section, now.solution
            kernels = now.kernels_of(now.unknowns[0]).on(where)
            x, powers = curve(residual_of(solution).values, solution.domain, where, kernels)
            axes.plot(x, 10.0**powers, lw=0.9, color=colour, label=now.note)
            axes.set(xlabel=where.labels[0], xlim=tuple(where.window[:, 0]))
        title = "residual" if wish.brief else summary(wish.solution)
        axes.set(yscale="log", ylabel="|residual|")
        axes.set_title(title, fontsize=10)
        axes.legend(fontsize=8, loc="upper right")
        axes.locator_params(axis="x", nbins=6)

    return Panel(draw, size=(6.4, 4.0))


def _along_time(wish: Wish, what: str, where: Section) -> Panel:
    """Return unknowns, or the residual, at a fixed place over time."""
    if what == "kernels":
        raise ProblemError("Kernels move in space; leave a coordinate of space free.")
    solution = wish.solution
    quantities = [residual_of(solution)] if what == "residual" else []
    quantities = quantities or [unknown_of(solution, name) for name in wish.unknowns]
    span = (float(where.window[0, 0]), float(where.window[1, 0]))
    basis = solution.approximation.bases[wish.unknowns[0]]
    moments = [passages(basis, float(where.point[0]), span)] * len(quantities)
    title = f"{where.title}; {summary(solution)}"

    def draw(axes: Axes) -> None:
        draw_curves(axes, quantities, solution.domain, where, moments, title)

    return Panel(draw, size=(6.4, 4.0))


def _course(wish: Wish) -> list[Panel]:
    """Return how estimate, steps and kernels went over time."""
    if not wish.solution.history:
        raise ProblemError("This solve was stopped before its first step: nothing to draw.")
    times = {k: v for k, v in ranges(wish).items() if k == TIME}
    ends = section(wish.solution.domain, wish.names, times).window[:, -1]
    draws = (convergence.draw_error, convergence.draw_steps, convergence.draw_counts)
    span = (float(ends[0]), float(ends[1]))
    return [Panel(partial(draw, solution=wish.solution, span=span), size=_STAIRS) for draw in draws]


def _all_in_time(wish: Wish) -> list[list[Panel]]:
    """Return the map, the kernels, the residual and the course of the solve."""
    wish = replace(wish, brief=True)
    first, second = timed_panels(wish, "solution"), timed_panels(wish, "kernels")
    error, steps, counts = (replace(panel, size=(4.8, 3.0)) for panel in _course(wish))
    residual = Panel(panels.note_no_residual)
    if wish.solution.problem is not None:
        try:
            residual_of(wish.solution).values(wish.solution.domain.bounds.mean(axis=0)[None])
            residual = timed_panels(wish, "residual")[0][0]
        except BasisError:
            why = "has derivatives that are not carried"
            residual = Panel(partial(panels.note_no_residual, why=why))
    last = [[replace(residual, size=(4.8, 3.4)), error], [steps, counts]]
    return [*panels.beside(first, second), *last]
