"""Values on a plane, cell by cell, such that nothing thinner than a cell goes unseen."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import contourpy
import numpy as np
from matplotlib.path import Path
from scipy import ndimage
from scipy.spatial import cKDTree

from sharpfront.arrays import FloatArray, Ints
from sharpfront.geometry import Domain
from sharpfront.show.data.kernels import Function, Kernels, Section, kernels_at, values_inside
from sharpfront.show.data.quantity import Quantity

# Sides that differ by more than this are drawn with axes of their own scale.
STRETCHED = 4.0
_OUTLINE_CELLS = 400
# Places along a thin kernel's long axis, in standard deviations: neighbours overlap.
_ALONG = np.linspace(-1.0, 1.0, 7)
_MOST_STREAKS = 4000


@dataclass(frozen=True, eq=False)
class Raster:
    """A picture of a function on a plane."""

    # One for each cell, rows from low to high, (rows, columns); NaN away from the domain.
    values: FloatArray
    where: Section  # the plane
    outline: Path | None  # the boundary of the domain in the plane; None if the plane misses it
    cell: FloatArray  # size of a cell, (2,)


def limits_of(pictures: Sequence[FloatArray], logarithmic: bool = False) -> tuple[float, float]:
    """Return the smallest and the largest value; NaN where there is none.

    Logarithms fall without bound where a function changes sign, so that for them the
    smallest value is one that a hundredth of the cells are below.
    """
    known = np.concatenate([values[np.isfinite(values)] for values in pictures])
    if not len(known):
        return math.nan, math.nan
    low = np.percentile(known, 1.0) if logarithmic else known.min()
    return float(low), float(known.max())


def raster(
    function: Function, domain: Domain, where: Section, kernels: Kernels, resolution: int
) -> Raster:
    """Return the function in cells of a plane, about `resolution` of them along its longer side.

    A cell shows the value at its middle, unless a thin kernel or the boundary in it has a value
    further beyond those of the neighbouring cells than these differ: then it shows that. So a
    layer thinner than a cell is drawn as a line one cell wide and not left out.
    """
    low, high = where.window
    sides = high - low
    shares = sides / sides.max()
    if sides.max() > STRETCHED * sides.min():
        shares = np.ones(2)
    count = np.maximum(8, np.rint(resolution * shares)).astype(np.int64)
    cell = sides / count
    outline = outline_of(domain, where)
    x, y = (low[i] + (np.arange(count[i]) + 0.5) * cell[i] for i in range(2))
    middles = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    values = values_inside(function, domain, where.lift(middles)).reshape(count[1], count[0])
    streaks = np.concatenate([_streaks(kernels, cell), _rim(domain, outline, resolution)])
    streaks = streaks[where.within(streaks)]
    beyond = values_inside(function, domain, where.lift(streaks))
    seen = np.isfinite(beyond)
    at = np.minimum(((streaks[seen] - low) / cell).astype(np.int64), count - 1)
    values = with_extremes(values, at, beyond[seen])
    return Raster(with_margin(values), where, outline, cell)


def outline_of(domain: Domain, where: Section) -> Path | None:
    """Return the boundary of a domain in a plane as a path; None if the plane misses it."""
    if domain.is_box:
        return _frame(where)
    low, high = where.window
    room = 0.01 * (high - low)
    x, y = (np.linspace(low[i] - room[i], high[i] + room[i], _OUTLINE_CELLS + 1) for i in range(2))
    points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    depth = domain.distance(where.lift(points)).reshape(len(y), len(x))
    if not depth.max() > 0:
        return None
    contours = contourpy.contour_generator(x, y, depth, fill_type="ChunkCombinedCode")
    filled: Any = contours.filled(0.0, 2.0 * float(depth.max()))
    return Path(filled[0][0], filled[1][0])


def _frame(where: Section) -> Path:
    """Return the sides of a window as a path."""
    (x0, y0), (x1, y1) = where.window
    return Path([(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)], closed=True)


def _streaks(kernels: Kernels, cell: FloatArray) -> FloatArray:
    """Return places along the kernels that are thinner than a cell."""
    variances, directions = np.linalg.eigh(kernels.covariances)
    thin = np.sqrt(variances[:, 0]) < cell.max()
    order = np.argsort(variances[thin, 0], kind="stable")[:_MOST_STREAKS]
    long = (np.sqrt(variances[thin, 1])[:, None] * directions[thin, :, 1])[order]
    centres = kernels.centres[thin][order]
    return np.asarray((centres[:, None, :] + _ALONG[:, None] * long[:, None, :]).reshape(-1, 2))


def _rim(domain: Domain, outline: Path | None, resolution: int) -> FloatArray:
    """Return places on the boundary, some for each cell that it passes."""
    if outline is None:
        return np.zeros((0, 2))
    if domain.dimension == 2:
        parts = [domain.boundary(part, 8 * resolution).points for part in domain.parts]
        return np.concatenate([domain.corners, *parts])
    if domain.is_box:
        steps = np.linspace(0.0, 1.0, 3 * resolution)[:, None]
        corners = np.asarray(outline.vertices)
        return np.concatenate([a + steps * (b - a) for a, b in itertools.pairwise(corners)])
    return np.asarray(outline.vertices)


def with_extremes(values: FloatArray, at: Ints, beyond: FloatArray) -> FloatArray:
    """Return cells with the values at places in them that no neighbouring cell foretells."""
    columns, rows = at.T
    least, most = np.full(values.shape, np.inf), np.full(values.shape, -np.inf)
    np.minimum.at(least, (rows, columns), beyond)
    np.maximum.at(most, (rows, columns), beyond)
    known = np.isfinite(values)
    low = ndimage.minimum_filter(np.where(known, values, np.inf), 3, mode="nearest")
    high = ndimage.maximum_filter(np.where(known, values, -np.inf), 3, mode="nearest")
    result = values.copy()
    # A cell whose middle is outside shows what was seen of the boundary in it.
    rim = ~known & np.isfinite(least)
    result[rim] = least[rim]
    seen = np.isfinite(least) & np.isfinite(low)
    under, over = low[seen] - least[seen], most[seen] - high[seen]
    slope = high[seen] - low[seen]
    shown = np.where(under > np.maximum(over, slope), least[seen], result[seen])
    result[seen] = np.where(over > np.maximum(under, slope), most[seen], shown)
    return result


def with_margin(values: FloatArray, axes: Sequence[FloatArray] | None = None) -> FloatArray:
    """Return a grid with what is next to the domain filled in; the outline cuts it off.

    With the value of the nearest cell that has one. Places along the columns and rows tell which
    that is where these are not even.
    """
    missing = np.isnan(values)
    if missing.all() or not missing.any():
        return values
    beside = missing & (ndimage.distance_transform_edt(missing) <= 2)
    x, y = axes or [np.arange(n, dtype=float) for n in values.shape[::-1]]
    places = np.stack(np.meshgrid(x, y), axis=-1)
    nearest = cKDTree(places[~missing]).query(places[beside])[1]
    result = values.copy()
    result[beside] = values[~missing][nearest]
    return result


def raster_in_time(
    quantity: Quantity, basis: Any, domain: Domain, where: Section, resolution: int
) -> Raster:
    """Return a quantity in `resolution` by `resolution` cells of a plane whose second axis is time.

    Each row shows one moment: at the middles of its cells, and where a kernel's centre or an end
    has a value beyond those of the neighbouring cells, that. All values of a row share the
    coordinate of its moment, which is what an evaluation costs.
    """
    low, high = where.window
    cell = (high - low) / resolution
    x, t = (low[i] + (np.arange(resolution) + 0.5) * cell[i] for i in range(2))
    between = [_between(basis, float(moment), where) for moment in t]
    row = np.repeat(np.arange(resolution), [resolution + len(b) for b in between])
    places = np.concatenate([np.concatenate([x, b]) for b in between])
    flat = np.stack([places, t[row]], axis=1)
    points = where.lift(flat)
    values = values_inside(quantity.values, domain, points)
    middle = np.concatenate([np.arange(resolution + len(b)) < resolution for b in between])
    extra = ~middle & np.isfinite(values)
    column = np.minimum(((places[extra] - low[0]) / cell[0]).astype(np.int64), resolution - 1)
    cells, at = (
        values[middle].reshape(resolution, resolution),
        np.stack([column, row[extra]], axis=1),
    )
    cells = with_extremes(cells, at, values[extra])
    return Raster(cells, where, _frame(where), cell)


def _between(basis: Any, t: float, where: Section) -> FloatArray:
    """Return both ends of a row and the kernels' centres in it."""
    ends = where.window[:, 0]
    kernels = kernels_at(basis, t) if len(where.names) == 2 else None
    if kernels is None:
        return np.asarray(ends)
    centres = kernels.centres[:, 0]
    return np.concatenate([ends, centres[(centres > ends[0]) & (centres < ends[1])]])
