"""The solution on the boundary of a domain in space."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from matplotlib import cm
from matplotlib.colors import Normalize
from mpl_toolkits.mplot3d import Axes3D
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from sharpfront.arrays import FloatArray
from sharpfront.geometry import Box, Domain
from sharpfront.geometry.marching import triangles
from sharpfront.loading import extra_module
from sharpfront.show.data.mesh import box_mesh
from sharpfront.show.data.quantity import Quantity, colour_scale

_FACE_CELLS = 24


def surface_of(domain: Domain) -> FloatArray:
    """Return the boundary of a domain in space as triangles, (t, 3, 3).

    Exact for a box; for others from the distance on a grid of 48 cells a side, which cuts sharp
    edges off by about a cell.
    """
    if isinstance(domain, Box):
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
