"""Which picture is asked for, and where its panels go."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from sharpfront.errors import ProblemError
from sharpfront.plot.panels import Panel, Wish, panels
from sharpfront.plot.quantity import summary, unknown_of
from sharpfront.plot.surface import viewer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = ("solution", "kernels", "residual", "estimate", "all", "surface", "viewer")


def plot_solution(
    solution: Any,
    what: Any = "solution",
    *,
    axes: Any = None,
    unknown: str | None = None,
    resolution: int = 240,
    **where: float | tuple[float, float],
) -> Any:
    """Draw a solution; `Solution.plot` says how.

    Returns the axes, an array of them where there are several panels, or PyVista's plotter.
    """
    if not isinstance(what, str):
        what, axes = "solution", what
    if what not in KINDS:
        raise ProblemError(f"plot() draws {', '.join(KINDS)}; got {what!r}.")
    if unknown is not None and unknown not in solution.unknowns:
        raise ProblemError(
            f"There is no unknown {unknown!r}; they are {', '.join(solution.unknowns)}."
        )
    unknowns = (unknown,) if unknown else tuple(solution.unknowns)
    wish = Wish(solution, unknowns, where, resolution)
    if what in ("surface", "viewer") and (solution.domain.dimension != 3 or where):
        raise ProblemError(f"plot({what!r}) draws the whole boundary of a domain in space.")
    if what == "viewer":
        return viewer(unknown_of(solution, unknowns[0]), solution.domain, wish.names)
    return _drawn(wish, panels(wish, what), axes)


def _drawn(wish: Wish, rows: list[list[Panel]], axes: Any) -> Any:
    """Draw panels into given axes, or into a new figure."""
    panels = [panel for row in rows for panel in row]
    if axes is None:
        places = _figure(wish, rows)
    else:
        places = list(np.atleast_1d(np.asarray(axes, dtype=object)).ravel())
        if len(places) != len(panels):
            raise ProblemError(f"This picture has {len(panels)} panels, got {len(places)} axes.")
    for panel, place in zip(panels, places, strict=True):
        panel.draw(place)
    if len(panels) == 1:
        return places[0]
    out = np.empty(len(places), dtype=object)
    out[:] = places
    widths = {len(row) for row in rows}
    return out.reshape(len(rows), -1) if len(widths) == 1 else out


def _figure(wish: Wish, rows: list[list[Panel]]) -> list[Axes]:
    import matplotlib.pyplot as plt

    columns = math.lcm(*(len(row) for row in rows))
    widest = max(len(row) for row in rows)
    flat = len(wish.names) == 1
    if len(rows) == widest == 1:
        size = (6.4, 4.0 if flat else 5.0)
    else:
        size = (max(6.4, 4.8 * widest), 4.2 * len(rows))
    figure = plt.figure(figsize=size, layout="constrained")
    grid = figure.add_gridspec(len(rows), columns)
    places = []
    for i, row in enumerate(rows):
        span = columns // len(row)
        for j, panel in enumerate(row):
            cell = grid[i, j * span : (j + 1) * span]
            places.append(
                figure.add_subplot(cell, projection="3d")
                if panel.spatial
                else figure.add_subplot(cell)
            )
    if len(places) > 1:
        figure.suptitle(summary(wish.solution), fontsize=11)
    return places
