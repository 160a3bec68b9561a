"""Which picture is asked for, and where its panels go."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from sharpfront.checks import is_number, listed, numbers_in, refusal, whole
from sharpfront.errors import ProblemError
from sharpfront.show.data.quantity import summary, unknown_of
from sharpfront.show.figures.closeup import closeup_panels
from sharpfront.show.figures.panels import Panel, Wish, panels
from sharpfront.show.figures.plane import viewer
from sharpfront.show.figures.time_panels import timed_panels

KINDS = (
    *("solution", "close-up", "kernels", "residual", "estimate", "all"),
    *("surface", "viewer", "film"),
)


def plot_solution(
    solution: Any,
    what: Any = "solution",
    *,
    axes: Any = None,
    unknown: str | None = None,
    resolution: int = 240,
    moments: int | Sequence[float] | None = None,
    kernels: bool = False,
    **where: float | tuple[float, float],
) -> Any:
    """Draw a solution; `Solution.plot` says how.

    Returns the axes, an array of them where there are several panels, or PyVista's plotter.
    """
    if not isinstance(what, str):
        what, axes = "solution", what
    if what not in KINDS:
        raise ProblemError(f"plot() draws {', '.join(KINDS)}; got {what!r}.")
    _check(axes, resolution, moments, where)
    if unknown is not None and (not isinstance(unknown, str) or unknown not in solution.unknowns):
        raise ProblemError(
            f"There is no unknown {unknown!r}; they are {', '.join(solution.unknowns)}."
        )
    unknowns = (unknown,) if unknown else tuple(solution.unknowns)
    wish = Wish(solution, unknowns, where, resolution, moments=moments, kernels=kernels)
    if what in ("surface", "viewer") and (
        solution.domain.dimension != 3 or where or solution.in_time
    ):
        raise ProblemError(f"plot({what!r}) draws the whole boundary of a domain in space.")
    if what == "viewer":
        return viewer(unknown_of(solution, unknowns[0]), solution.domain, wish.names)
    if what == "close-up":
        return _drawn(wish, closeup_panels(wish), axes)
    if solution.in_time:
        return _drawn(wish, timed_panels(wish, what), axes)
    if what == "film" or moments is not None:
        raise ProblemError("Only a solution in time has moments; this one does not change.")
    return _drawn(wish, panels(wish, what), axes)


def _check(axes: Any, resolution: Any, moments: Any, where: Mapping[str, Any]) -> None:
    """Refuse options of the wrong kind."""
    whole(resolution, "resolution", 2, "resolution=240")
    if axes is not None and not all(
        hasattr(each, "plot") for each in np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
    ):
        raise refusal("axes", "axes of matplotlib", axes, "axes=plt.gca()")
    if moments is not None and not (is_number(moments) and float(moments).is_integer()):
        numbers_in(moments, "moments", "a number of moments, or the moments", "moments=4")
    for name, value in where.items():
        expected = "a number that cuts, or a range (low, high)"
        numbers_in(listed(value), name, expected, f"{name}=0.5")


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


def new_axes() -> Axes:
    """Return the axes of a new figure."""
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(6.4, 4.0), layout="constrained")[1]


def _figure(wish: Wish, rows: list[list[Panel]]) -> list[Axes]:
    import matplotlib.pyplot as plt

    columns = math.lcm(*(len(row) for row in rows))
    size = _size(rows, flat=len(wish.names) == 1)
    figure = plt.figure(figsize=size, layout="constrained")
    grid = figure.add_gridspec(len(rows), columns)
    places = []
    # Panels of one size keep it where a last row is short of some.
    alike = len({panel.size or panel for row in rows for panel in row}) == 1
    for i, row in enumerate(rows):
        span = columns // len(rows[0] if alike else row)
        for j, panel in enumerate(row):
            cell = grid[i, j * span : (j + 1) * span]
            places.append(figure.add_subplot(cell, projection="3d" if panel.spatial else None))
    if len(places) > 1:
        figure.suptitle(summary(wish.solution), fontsize=11)
    return places


def _size(rows: list[list[Panel]], *, flat: bool) -> tuple[float, float]:
    """Return width and height of a figure in inches."""
    if len(rows) == len(rows[0]) == 1:
        return rows[0][0].size or (6.4, 4.0 if flat else 5.0)
    sizes = [[panel.size or (4.8, 4.2) for panel in row] for row in rows]
    width = max(sum(w for w, _ in row) for row in sizes)
    return max(6.4, width), sum(max(h for _, h in row) for row in sizes)
