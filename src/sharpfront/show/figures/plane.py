"""Colour maps on planes, kernels as ellipses over them, and surfaces in space."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from matplotlib import cm
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection, LineCollection
from matplotlib.colors import Normalize
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.patheffects import Normal, Stroke
from mpl_toolkits.mplot3d import Axes3D
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from sharpfront.arrays import FloatArray
from sharpfront.bases.cut_cells import Cut
from sharpfront.bases.patch import Patch
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.geometry import Domain
from sharpfront.geometry.marching import triangles
from sharpfront.loading import extra_module
from sharpfront.maps import Strip
from sharpfront.show.data.kernels import Kernels, Section
from sharpfront.show.data.mesh import box_mesh
from sharpfront.show.data.quantity import BLUE, ORANGE, Quantity, colour_scale, summary
from sharpfront.show.data.raster import STRETCHED, Raster, limits_of
from sharpfront.show.figures.narrow_axes import label_narrow

MOST_ELLIPSES = 1500
_NARROW = ", narrower than a dot of the picture"
_TOO_THIN = "it has parts narrower than a dot"
# Patches beside each other are up to 2.5 times as long as another, and as wide; layers are longer.
_LONG_PATCH = 4.0
# Half the spacing of a patch's functions is so many times finer than the layer that they hold.
_FINER = 3.0
# Points along the sides of patches in charts.
_PLACES = 17
# No colour of the maps, so that the outline is not taken for a layer.
_EDGE = "0.6"


def draw_map(
    axes: Axes,
    quantity: Quantity,
    picture: Raster,
    limits: tuple[float, float] | None = None,
    *,
    bar: bool = True,
    named: bool = True,
    faint: bool = False,
) -> None:
    """Draw a raster as a colour map cut to the domain's outline.

    Its colour bar says what the values are if `named`; a title may do so. It is `faint` as the
    background of something else.
    """
    frame(axes, picture.where)
    if picture.outline is None:
        axes.text(0.5, 0.5, "misses the domain", ha="center", transform=axes.transAxes)
        return
    limits = limits or limits_of([picture.values], quantity.logarithmic)
    low, high, colours = colour_scale(limits, quantity)
    ends = picture.where.window
    look: dict[str, Any] = {"origin": "lower", "interpolation": "nearest", "cmap": colours}
    look |= {"vmin": low, "vmax": high, "alpha": 0.35 if faint else None}
    extent = (ends[0, 0], ends[1, 0], ends[0, 1], ends[1, 1])
    image = axes.imshow(picture.values, extent=extent, aspect=axes.get_aspect(), **look)
    # Under the map, so that it hides nothing of a layer at the wall: its outer half is seen. A
    # faint map lets the inner half through.
    width = 1.0 if faint else 2.0
    edge = PathPatch(picture.outline, facecolor="white", edgecolor=_EDGE, lw=width, zorder=-1)
    axes.add_patch(edge)
    image.set_clip_path(picture.outline, axes.transData)
    if bar:
        cut = "min" if quantity.logarithmic else "neither"
        label = quantity.label if named else ""
        # Beside the map and as high as that is, whatever room its sides leave.
        beside = axes.inset_axes((1.04, 0.0, 0.045, 1.0))
        axes.figure.colorbar(image, cax=beside, label=label, extend=cut)


def frame(axes: Axes, where: Section) -> None:
    """Set labels, limits and aspect of a plane's axes."""
    low, high = where.window
    sides = high - low
    room = 0.015 * sides
    (x0, y0), (x1, y1) = low - room, high + room
    axes.set(xlabel=where.labels[0], ylabel=where.labels[1], xlim=(x0, x1), ylim=(y0, y1))
    axes.set_aspect("equal" if sides.max() <= STRETCHED * sides.min() else "auto")
    for spine in axes.spines.values():
        spine.set_color("0.9")
    for i, axis in enumerate((axes.xaxis, axes.yaxis)):
        label_narrow(axis, where.labels[i], low[i], high[i])


def draw_ellipses(
    axes: Axes, kernels: Kernels, mixture: Kernels | None, domain: Domain, picture: Raster
) -> None:
    """Draw kernels and components of a mixture as ellipses of one standard deviation.

    What of them is outside the domain or in its holes is cut off.
    """
    if picture.outline is None:
        return
    shown, left = kernels.thinned(MOST_ELLIPSES)
    crowded = len(shown.centres) > MOST_ELLIPSES / 4
    width = 0.3 if crowded else 0.6
    _add_ellipses(axes, shown, picture.outline, colour=BLUE, width=width, label="kernels")
    inside = domain.contains(picture.where.lift(shown.centres))
    axes.plot(*shown.centres[inside].T, ".", ms=4 * width, color=BLUE, zorder=2)
    if left:
        words = f"{len(shown.centres)} of {len(shown.centres) + left} ellipses shown"
        look: dict[str, Any] = {"ha": "right", "va": "bottom", "fontsize": 8}
        paper = {"facecolor": "white", "alpha": 0.8, "lw": 0}
        axes.text(0.99, 0.01, words, transform=axes.transAxes, bbox=paper, **look)
    if mixture is not None:
        _add_ellipses(axes, mixture, picture.outline, colour=ORANGE, width=1.0, label="mixture")


def draw_patches(axes: Axes, basis: PatchworkBasis, picture: Raster) -> None:
    """Draw the sides of patches in the plane; strips along curves are drawn thinner."""
    if picture.outline is None:
        return
    for charted, width in ((False, 0.6), (True, 0.35)):
        own = [p for p in basis.patches if (p.chart is not None) == charted]
        sides = [side for patch in own for side in _sides(patch)]
        lines = LineCollection(sides, colors=BLUE, linewidths=width, alpha=0.8, zorder=2)
        axes.add_collection(lines, autolim=False)
        lines.set_clip_path(picture.outline, axes.transData)


def _sides(patch: Patch) -> list[FloatArray]:
    """Return the sides of a patch as lines, what of them lies inside where it is cut."""
    ends = [(a, e) for a in range(2) for e in range(2)]
    whole = [(a, e, float(patch.low[1 - a]), float(patch.high[1 - a])) for a, e in ends]
    out = []
    for axis, end, low, high in patch.cut.rim if isinstance(patch.cut, Cut) else whole:
        at = np.empty((_PLACES if patch.chart else 2, 2))
        at[:, axis] = (patch.high if end else patch.low)[axis]
        at[:, 1 - axis] = np.linspace(low, high, len(at))
        out.append(patch.in_space(at))
    return out


def _add_ellipses(
    axes: Axes, kernels: Kernels, outline: Path, *, colour: str, width: float, label: str
) -> None:
    # Diameters along both axes, and the angle of the first in degrees.
    variances, directions = np.linalg.eigh(kernels.covariances)
    heights, widths = 2 * np.sqrt(np.maximum(variances.T, 0.0))
    angles = np.degrees(np.arctan2(directions[:, 1, 1], directions[:, 0, 1]))
    places: dict[str, Any] = {"offsets": kernels.centres, "offset_transform": axes.transData}
    look: dict[str, Any] = {"facecolors": "none", "edgecolors": colour, "linewidths": width}
    # A pale line beneath tells them from every colour of a map.
    beneath = [Stroke(linewidth=width + 0.8, foreground="white", alpha=0.4), Normal()]
    look |= {"alpha": 0.7, "label": label, "path_effects": beneath}
    ellipses = EllipseCollection(widths, heights, angles, units="xy", **places, **look)
    axes.add_collection(ellipses, autolim=False)
    ellipses.set_clip_path(outline, axes.transData)


def map_title(solution: Any, label: str, picture: Raster, kernels: Kernels, brief: bool) -> str:
    """Return what is seen, how the solve ended unless brief, and whether dots are too wide."""
    thin = thinness(picture, _telling(solution, kernels))
    first = [picture.where.title or label] if brief else [picture.where.title, summary(solution)]
    return "\n".join(filter(None, [*first, _TOO_THIN if _NARROW in thin else ""]))


def _telling(solution: Any, kernels: Kernels) -> Kernels:
    """Return the kernels that tell how fine a solution is.

    Patches graded into a corner are small where the solution is not: of patches only those that
    are much longer than wide tell of a layer.
    """
    bases = solution.approximation.bases.values()
    if not any(isinstance(basis, PatchworkBasis) for basis in bases):
        return kernels
    spread = np.linalg.eigvalsh(kernels.covariances)
    long = kernels.chosen(spread[:, -1] > _LONG_PATCH**2 * spread[:, 0])
    return Kernels(long.centres, _FINER**2 * long.covariances)


def patches_title(basis: PatchworkBasis, brief: bool) -> str:
    """Return how many patches there are, and what strips are."""
    strips = sum(isinstance(patch.chart, Strip) for patch in basis.patches)
    said = f"{len(basis.patches)} patches with {basis.size} functions"
    return said if brief or not strips else f"{said};\n{strips} of them in strips along curves"


def ellipses_title(picture: Raster, kernels: Kernels, mixture: Kernels | None, brief: bool) -> str:
    """Return what the colours of the ellipses mean, and how thin the thinnest is."""
    also = ", mixture (orange)" if mixture is not None and len(mixture.centres) else ""
    first = f"kernels (blue){also}, 1 standard deviation"
    if brief:
        return "\n".join([f"{picture.where.title}: {first}".removeprefix(": ")])
    return "\n".join(filter(None, [picture.where.title, first, thinness(picture, kernels)]))


def thinness(picture: Raster, kernels: Kernels) -> str:
    """Return how thin the thinnest kernel seen is, and whether a dot of the picture is wider."""
    seen = kernels.on(picture.where)
    if not len(seen.centres):
        return ""
    in_dots = Kernels(seen.centres, seen.covariances / np.outer(picture.cell, picture.cell))
    return f"thinnest kernel {seen.thinnest:.1e}" + (_NARROW if in_dots.thinnest < 1 else "")


_FACE_CELLS = 24


def surface_of(domain: Domain) -> FloatArray:
    """Return the boundary of a domain in space as triangles, (t, 3, 3).

    Exact for a box; for others from the distance on a grid of 48 cells a side, which cuts sharp
    edges off by about a cell.
    """
    if domain.is_box:
        faces = itertools.product(range(3), domain.bounds)
        return np.concatenate([_face(domain.bounds, axis, end[axis]) for axis, end in faces])
    return triangles(lambda points: -domain.distance(points), domain.bounds)


def draw_surface(axes: Axes3D, quantity: Quantity, domain: Domain, names: tuple[str, ...]) -> None:
    """Draw a quantity on the boundary of a domain, seen from outside."""
    corners = surface_of(domain)
    values = quantity.values(corners.reshape(-1, 3)).reshape(-1, 3).mean(axis=1)
    low, high, colours = colour_scale((float(values.min()), float(values.max())), quantity)
    scale = cm.ScalarMappable(Normalize(low, high), colours)
    colour = scale.to_rgba(values)
    # Thin edges of the triangles' own colours close the seams between them.
    axes.add_collection3d(Poly3DCollection(corners, facecolors=colour, edgecolors=colour, lw=0.2))
    (x0, y0, z0), (x1, y1, z1) = domain.bounds
    axes.set(xlim=(x0, x1), ylim=(y0, y1), zlim=(z0, z1))
    axes.set(xlabel=names[0], ylabel=names[1], zlabel=names[2])
    for name in "xyz":
        axes.locator_params(axis=name, nbins=5)
    axes.set_box_aspect(tuple(np.ptp(domain.bounds, axis=0)))
    axes.figure.colorbar(scale, ax=axes, label=quantity.label, shrink=0.7, pad=0.12)


def viewer(quantity: Quantity, domain: Domain, names: tuple[str, ...]) -> Any:
    """Return a PyVista plotter with the boundary coloured by a quantity; ``.show()`` opens it."""
    pyvista = extra_module("pyvista", "plot3d")
    corners = surface_of(domain)
    points, numbers = np.unique(np.round(corners.reshape(-1, 3), 12), axis=0, return_inverse=True)
    faces = np.insert(numbers.reshape(-1, 3), 0, 3, axis=1).ravel()
    mesh = pyvista.PolyData(points, faces)
    mesh[quantity.label] = quantity.values(points)
    low, high, colours = colour_scale(mesh.get_data_range(quantity.label), quantity)
    plotter = pyvista.Plotter(off_screen=None)
    plotter.add_mesh(mesh, scalars=quantity.label, cmap=colours, clim=(low, high))
    plotter.show_bounds(location="outer", xtitle=names[0], ytitle=names[1], ztitle=names[2])
    return plotter


def _face(bounds: FloatArray, axis: int, level: float) -> FloatArray:
    """Return the face of a box at a level of one axis as triangles, (t, 3, 3)."""
    low, high = np.delete(bounds, axis, axis=1)
    grid = box_mesh(list(np.linspace(low, high, _FACE_CELLS + 1).T))
    return np.insert(grid.points, axis, level, axis=1)[grid.cells]
