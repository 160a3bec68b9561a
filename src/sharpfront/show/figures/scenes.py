"""What a film shows: a figure, and how to bring it to one moment after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from sharpfront.arrays import FloatArray
from sharpfront.show.data.kernels import Kernels, Section, kernels_of, section
from sharpfront.show.data.placements import Moment
from sharpfront.show.data.quantity import ORANGE, unknown_of
from sharpfront.show.data.raster import Raster, limits_of
from sharpfront.show.figures import panels
from sharpfront.show.figures.line import curve_of, draw_strip, share_legend
from sharpfront.show.figures.panels import Wish
from sharpfront.show.figures.plane import draw_map
from sharpfront.show.figures.time_panels import period_of

_CURVE_SIZE, _MAP_SIZE = (6.4, 4.4), (6.0, 5.0)
_DPI = 100


@dataclass(frozen=True, eq=False)
class Scene:
    """A figure and what moves in it."""

    figure: Figure  # of its own, not pyplot's
    count: int  # of frames
    show: Callable[[int], None]  # brings the figure to a frame by its number
    moving: tuple[Artist, ...]  # the artists that differ from frame to frame

    def __post_init__(self) -> None:
        """Leave what moves out of a plain drawing of the figure."""
        for artist in self.moving:
            artist.set_animated(True)


def time_labels(times: FloatArray) -> list[str]:
    """Return the moments as text, with as many digits as tell them apart."""
    least = float(np.min(np.diff(times)))
    digits = int(np.clip(1 - np.floor(np.log10(least)), 0, 15))
    return [f"t = {t:.{digits}f}" for t in times]


def _film_figure(size: tuple[float, float]) -> tuple[Figure, Axes]:
    figure = Figure(figsize=size, dpi=_DPI, layout="constrained")
    return figure, figure.add_subplot()


def _space(wish: Wish) -> Section:
    where = {name: value for name, value in wish.where.items() if name != wish.names[-1]}
    return section(wish.solution.domain.space, wish.names[:-1], where)


def curve_scene(wish: Wish, times: FloatArray) -> Scene:
    """Return the scene of a solution on the line, over the faint curves of its beginning."""
    where = _space(wish)
    curves = [curve_of(Moment(wish.solution, float(t)), wish.unknowns, where) for t in times]
    figure, axes = _film_figure(_CURVE_SIZE)
    limits = panels.common_limits([curve.limits for curve in curves])
    period = period_of(wish)
    strip = draw_strip(
        axes, curves[0], where, limits, kernels=wish.kernels, period=period, legend=False
    )
    labels = time_labels(times)
    start = f"at t = {times[0]:g}"
    for values in curves[0].values.values():
        axes.plot(curves[0].places, values, "--", color="0.7", lw=1, zorder=1, label=start)
        start = "_"
    share_legend(axes)
    title = axes.set_title(labels[0], loc="left", family="monospace")

    def show(i: int) -> None:
        strip.show(curves[i])
        title.set_text(labels[i])

    return Scene(figure, len(times), show, (*strip.artists, title))


def map_scene(wish: Wish, times: FloatArray) -> Scene:
    """Return the scene of a solution in the plane, a colour map; if asked for, under kernels."""
    where, unknown = _space(wish), wish.unknowns[0]
    states = [Moment(wish.solution, float(t)) for t in times]
    pictures = []
    for state in states:
        still = Wish(state, (unknown,), {}, wish.resolution)
        quantity, kernels = unknown_of(state, unknown), still.kernels_of(unknown)
        pictures.append(panels.raster_on(still, quantity, kernels, where))
    limits = panels.common_limits([limits_of([picture.values]) for picture in pictures])
    figure, axes = _film_figure(_MAP_SIZE)
    draw_map(axes, unknown_of(states[0], unknown), pictures[0], limits)
    image, labels = axes.images[0], time_labels(times)
    title = axes.set_title(labels[0], loc="left", family="monospace")
    over: tuple[Artist, ...] = ()
    if wish.kernels:
        over, move = _kernels(axes, unknown, states, where, pictures[0])

    def show(i: int) -> None:
        image.set_data(np.ma.masked_invalid(pictures[i].values))
        if over:
            move(i)
        title.set_text(labels[i])

    return Scene(figure, len(times), show, (image, *over, title))


def _kernels(
    axes: Axes, unknown: str, states: Sequence[Moment], where: Section, picture: Raster
) -> tuple[tuple[Artist, ...], Callable[[int], None]]:
    """Add kernels' centres and components over a map; return them and how to move them."""
    dots = axes.plot([], [], "o", ms=2.2, mew=0.5, mfc="white", mec="black", label="kernels")[0]
    known = any(state.mixture is not None for state in states)
    ellipses, move = _moving_ellipses(axes, "components of the mixture" if known else "_none")
    if picture.outline is not None:
        ellipses.set_clip_path(picture.outline, axes.transData)
    share_legend(axes)

    def show(i: int) -> None:
        state = states[i]
        centres = kernels_of(state.approximation.bases[unknown]).on(where).centres
        dots.set_data(*centres[state.domain.contains(where.lift(centres))].T)
        move(None if state.mixture is None else Kernels.of_mixture(state.mixture))

    return (dots, ellipses), show


def _moving_ellipses(axes: Axes, label: str) -> tuple[Artist, Callable[[Kernels | None], None]]:
    """Add ellipses of components, one standard deviation each, and return how to move them."""
    shown = PolyCollection([], facecolors="none", edgecolors=ORANGE, linewidths=1.0, label=label)
    axes.add_collection(shown, autolim=False)
    angle = np.linspace(0.0, 2.0 * np.pi, 73)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)

    def move(kernels: Kernels | None) -> None:
        if kernels is None:
            shown.set_verts([])
            return
        roots = np.linalg.cholesky(kernels.covariances)
        shown.set_verts(list(kernels.centres[:, None] + circle @ np.swapaxes(roots, 1, 2)))

    return shown, move
