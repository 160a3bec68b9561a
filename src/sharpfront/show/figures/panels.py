"""The panels of a picture of a solution in space, or of one in time at a moment."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.errors import ProblemError
from sharpfront.show.data.kernels import Kernels, Section, kernels_of, section
from sharpfront.show.data.placements import mixture_of
from sharpfront.show.data.quantity import Quantity, residual_of, summary, unknown_of
from sharpfront.show.data.raster import Raster, limits_of, raster
from sharpfront.show.figures import line
from sharpfront.show.figures.convergence import draw_convergence
from sharpfront.show.figures.plane import (
    draw_ellipses,
    draw_map,
    draw_patches,
    draw_surface,
    ellipses_title,
    map_title,
    patches_title,
)

_FROM_FILE = "a solution read from a file\ndoes not know its equation"


@dataclass(frozen=True, eq=False)
class Panel:
    """One picture."""

    draw: Callable[[Any], None]  # draws it into axes
    spatial: bool = False  # whether its axes are of three dimensions
    # Width and height in inches that suit it; None for those of a map.
    size: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Wish:
    """What was asked for."""

    solution: Any  # what is drawn
    unknowns: tuple[str, ...]  # which of its unknowns
    where: dict[str, Any]  # a number or a range for some of the coordinates
    resolution: int  # cells along the longer side of a colour map
    # Whether the figure's title says how the solve ended, so that panels need not.
    brief: bool = False
    note: str = ""  # what all titles begin with: the moment that is drawn
    # For pictures of several moments, which or how many.
    moments: int | Sequence[float] | None = None
    kernels: bool = False  # whether kernels and mixture are drawn with the solution
    title: str = ""  # of the only panel, in place of what it would say

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the coordinates."""
        return tuple(self.solution.approximation.coordinates)

    @property
    def section(self) -> Section:
        """All that is asked for: a line, a plane, or more."""
        return section(self.solution.domain, self.names, self.where)

    def kernels_of(self, unknown: str) -> Kernels:
        """Return the kernels of an unknown."""
        return kernels_of(self.solution.approximation.bases[unknown])

    def sections(self) -> list[Section]:
        """Return the line or plane asked for, or three middle planes where space is left."""
        domain, whole = self.solution.domain, self.section
        if len(whole.free) <= 2:
            return [whole]
        if len(whole.free) > 3:
            raise ProblemError(
                f"Fix all but two or three of the coordinates {', '.join(self.names)}, for "
                f"example plot({self.names[-1]}=0.5)."
            )
        middle = whole.window.mean(axis=0)
        cuts = zip(whole.labels, middle, strict=True)
        return [
            section(domain, self.names, {**self.where, name: float(value)})
            for name, value in reversed(list(cuts))
        ]


def panels(wish: Wish, what: str) -> list[list[Panel]]:
    """Return the panels of a solution in space, row by row."""
    if what == "estimate":
        return [[Panel(partial(draw_convergence, solution=wish.solution))]]
    if what == "surface":
        return [[_surface(wish, unknown) for unknown in wish.unknowns]]
    if what == "all":
        return _all(wish)
    sections = wish.sections()
    if len(sections[0].free) == 1:
        return [_curve_panels(wish, what, sections[0])]
    # Where there are several, the figure's title says how the solve ended.
    wish = replace(wish, brief=wish.brief or len(wish.unknowns) > 1)
    if what == "residual":
        return [_maps(wish, residual_of(wish.solution), wish.unknowns[0], sections)]
    if what == "kernels":
        rows = [_ellipse_panels(wish, unknown, sections) for unknown in wish.unknowns]
    else:
        shown = [(unknown_of(wish.solution, name), name) for name in wish.unknowns]
        rows = [_maps(wish, quantity, name, sections) for quantity, name in shown]
    return rows if len(sections) > 1 else [[row[0] for row in rows]]


def _all(wish: Wish) -> list[list[Panel]]:
    """Return all kinds of panels, two kinds in one row where each has one panel."""
    wish = replace(wish, brief=True)
    residual = [[Panel(note_no_residual)]]
    if wish.solution.problem is not None:
        residual = panels(wish, "residual")
    first = beside(panels(wish, "solution"), panels(wish, "kernels"))
    return first + beside(residual, panels(wish, "estimate"))


def beside(first: list[list[Panel]], second: list[list[Panel]]) -> list[list[Panel]]:
    """Return two pictures in one row where each has one panel, else under each other."""
    single = all(len(rows) == len(rows[0]) == 1 for rows in (first, second))
    return [[first[0][0], second[0][0]]] if single else first + second


def note_no_residual(axes: Axes, why: str = _FROM_FILE) -> None:
    """Say in place of a residual why there is none."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, f"no residual: {why}", ha="center", va="center", transform=axes.transAxes)


def _curve_panels(wish: Wish, what: str, where: Section) -> list[Panel]:
    several = what == "kernels" and len(wish.unknowns) > 1
    ending = what if wish.brief else "" if several else summary(wish.solution)
    title = wish.title or "; ".join(filter(None, [wish.note, where.title, ending]))
    solution = wish.solution
    if what == "kernels":
        given = {"solution": solution, "where": where, "title": title}
        return [Panel(partial(line.draw_kernels, unknown=u, **given)) for u in wish.unknowns]
    # The residual is drawn at the places of the first unknown.
    names = wish.unknowns[:1] if what == "residual" else wish.unknowns
    quantities = [unknown_of(solution, name) for name in names]
    quantities = [residual_of(solution)] if what == "residual" else quantities

    def draw(axes: Axes) -> None:
        kernels = [wish.kernels_of(name).on(where) for name in names]
        line.draw_curves(axes, quantities, solution.domain, where, kernels, title)
        for own in kernels if wish.kernels and what == "solution" else ():
            line.draw_ticks(axes, own.centres[:, 0])

    return [Panel(draw)]


def _surface(wish: Wish, unknown: str) -> Panel:
    def draw(axes: Any) -> None:
        if getattr(axes, "name", "") != "3d":
            raise ProblemError("plot('surface') needs axes with projection='3d'.")
        draw_surface(axes, unknown_of(wish.solution, unknown), wish.solution.domain, wish.names)
        if len(wish.unknowns) == 1:
            axes.set_title(summary(wish.solution), fontsize=10)

    return Panel(draw, spatial=True)


def _maps(wish: Wish, quantity: Quantity, unknown: str, sections: Sequence[Section]) -> list[Panel]:
    """Return colour maps of one quantity on planes, with one scale for all."""
    solution, kernels = wish.solution, wish.kernels_of(unknown)
    pictures = [raster_on(wish, quantity, kernels, where) for where in sections]
    brief = wish.brief or len(sections) > 1
    limits = common_limits([limits_of([p.values], quantity.logarithmic) for p in pictures])

    def draw(axes: Axes, picture: Raster, bar: bool) -> None:
        title = wish.title or _noted(
            wish, map_title(solution, quantity.label, picture, kernels, brief)
        )
        # What is seen is said once.
        said = not wish.title and brief and not picture.where.title
        draw_map(axes, quantity, picture, limits, bar=bar, named=not said)
        if wish.kernels and not quantity.logarithmic:
            _draw_ellipses(axes, solution, unknown, picture)
        axes.set_title(title, fontsize=10)

    last = len(sections) - 1
    return [Panel(partial(draw, picture=p, bar=i == last)) for i, p in enumerate(pictures)]


def _noted(wish: Wish, title: str) -> str:
    """Return a title that begins with the wish's note."""
    between = ": " if wish.brief else "; "
    return f"{wish.note}{between}{title}" if wish.note else title


def raster_on(wish: Wish, quantity: Quantity, kernels: Kernels, where: Section) -> Raster:
    """Return a quantity on a plane that meets the domain."""
    picture = raster(
        quantity.values, wish.solution.domain, where, kernels.on(where), wish.resolution
    )
    if picture.outline is None and wish.where:
        raise ProblemError(f"The plane {where.title} misses the domain.")
    return picture


def _ellipse_panels(wish: Wish, unknown: str, sections: Sequence[Section]) -> list[Panel]:
    """Return kernels on planes as ellipses, patches by their sides, over a faint map."""
    solution, quantity = wish.solution, unknown_of(wish.solution, unknown)
    kernels = wish.kernels_of(unknown)
    brief = wish.brief or len(sections) > 1

    def draw(axes: Axes, where: Section) -> None:
        picture = raster_on(wish, quantity, kernels, where)
        draw_map(axes, quantity, picture, bar=False, faint=True)
        basis = solution.approximation.bases[unknown]
        if isinstance(basis, PatchworkBasis) and basis.dimension == 2:
            draw_patches(axes, basis, picture)
            title = patches_title(basis, brief)
        else:
            seen = _draw_ellipses(axes, solution, unknown, picture)
            title = ellipses_title(picture, kernels, seen, brief)
        if len(wish.unknowns) > 1:
            title = f"{unknown}: {title}"
        axes.set_title(_noted(wish, title), fontsize=10)

    return [Panel(partial(draw, where=where)) for where in sections]


def _draw_ellipses(axes: Axes, solution: Any, unknown: str, picture: Raster) -> Kernels | None:
    """Draw kernels and mixture of an unknown; return the components that are seen."""
    kernels = kernels_of(solution.approximation.bases[unknown]).on(picture.where)
    mixture = mixture_of(solution)
    seen = None if mixture is None else Kernels.of_mixture(mixture).on(picture.where)
    draw_ellipses(axes, kernels, seen, solution.domain, picture)
    return seen


def common_limits(limits: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the ends of one scale for several pictures."""
    ends = np.array([pair for pair in limits if not math.isnan(pair[0])])
    if not len(ends):
        raise ProblemError("None of the middle planes meets the domain; give one, plot(z=0.5).")
    return float(ends[:, 0].min()), float(ends[:, 1].max())
