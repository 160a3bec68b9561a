"""Solutions as files that ParaView and other viewers read."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray, Ints
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.checks import file_path, solution_like, whole
from sharpfront.errors import DomainError, ProblemError
from sharpfront.files import replacing
from sharpfront.loading import extra_module
from sharpfront.show.data.kernels import graded_axis
from sharpfront.show.data.mesh import box_mesh, clipped, patch_mesh
from sharpfront.show.dataset import columns_of, to_xarray

_FORMATS: dict[str, dict[str, Any]] = {
    ".vtu": {"file_format": "vtu"},
    ".vtk": {"file_format": "vtk"},
    # As text, so that the file stays one file.
    ".xdmf": {"file_format": "xdmf", "data_format": "XML"},
}
# A grid, by way of xarray.
_GRID = ".nc"
# A row for each place of a grid, as text.
_TABLE = ".csv"
_CELLS = {1: "line", 2: "triangle", 3: "tetra"}
# Nodes along a side, by dimension.
_RESOLUTION = {1: 1000, 2: 120, 3: 24}

__all__ = ["export", "to_xarray"]


def export(solution: Any, path: str | Path, *, resolution: int | None = None) -> Path:
    """Write a solution on a mesh of its domain as ``.vtu``, ``.vtk`` or ``.xdmf``, or as a table.

    A file ``.nc`` (NetCDF) holds it on a grid instead, time included: what `to_xarray` returns. A
    file ``.csv`` has a row for each place of that grid, with the names of its columns in the first
    one, and needs nothing else.

    The mesh is as fine as the kernels are, so that layers are resolved: each patch has nodes of its
    own, along strips too, and ends where the boundary cuts it. Its points carry each unknown by
    name, its gradient as ``grad_u``, and, if the problem is known, the size of each
    equation's residual as ``residual`` (``residual_1``, ``residual_2``, ... for several). The file
    is written under a temporary name and renamed. Needs meshio: ``pip install sharpfront[export]``.

    Parameters
    ----------
    solution
        What to write, in one to three dimensions.
    path
        Where; the suffix says in which format.
    resolution
        Nodes along each side of a box; a shape gets as many as a box around it would have inside
        it, patches as many in all. By default 1000, 120 or 24 in one, two or three dimensions, and
        no fewer than functions.
    """
    solution_like(solution)
    target = file_path(path, "path")
    if resolution is not None:
        whole(resolution, "resolution", 2, "resolution=100")
    if target.suffix in (_GRID, _TABLE):
        return _export_grid(solution, target, resolution)
    if target.suffix not in _FORMATS:
        known = ", ".join((*_FORMATS, _GRID, _TABLE))
        raise ProblemError(f"export() writes {known} files, got {target.name!r}.")
    meshio = extra_module("meshio", "export")
    points, cells = _mesh(solution, resolution)
    kind = _CELLS[points.shape[1]]
    mesh = meshio.Mesh(_in_space(points), [(kind, cells)], point_data=_data(solution, points))
    with replacing(target) as temporary:
        meshio.write(temporary, mesh, **_FORMATS[target.suffix])
    return target


def _export_grid(solution: Any, target: Path, resolution: int | None) -> Path:
    names = solution.approximation.coordinates
    space = names[:-1] if solution.in_time else names
    axes = {} if resolution is None else dict.fromkeys(space, resolution)
    if target.suffix == _TABLE:
        columns = columns_of(solution, axes)
        rows = np.column_stack(list(columns.values()))
        with replacing(target) as temporary:
            # Seventeen digits give the same number back.
            np.savetxt(temporary, rows, "%.17g", ",", header=",".join(columns), comments="")
        return target
    grid = to_xarray(solution, **axes)
    with replacing(target) as temporary:
        # SciPy's format needs nothing else to be installed.
        grid.to_netcdf(temporary, engine="scipy")
    return target


def _mesh(solution: Any, resolution: int | None) -> tuple[FloatArray, Ints]:
    """Return nodes (m, d) and cells (k, d + 1), fine where the first unknown's kernels are."""
    domain = solution.domain
    d = domain.dimension
    if domain.time is not None:
        raise DomainError(
            "export() writes a problem in time as .nc, over space and time; a mesh has no time."
        )
    if d not in _CELLS:
        raise DomainError(
            f"export() writes one to three dimensions, not {d}. Evaluate the solution on a grid."
        )
    count = _RESOLUTION[d] if resolution is None else resolution
    basis = next(iter(solution.approximation.bases.values()))
    if d == 1:
        nodes = graded_axis(basis, 0, domain.bounds, count)
        numbers = np.arange(len(nodes))
        return nodes[:, None], np.stack([numbers[:-1], numbers[1:]], axis=1)
    if isinstance(basis, PatchworkBasis):
        fewest = basis.size if resolution is None else 2
        low, high = domain.bounds
        share = float(domain.measure / np.prod(high - low))
        mesh = patch_mesh(basis, max(math.ceil(share * float(count) ** domain.dimension), fewest))
        knows_shape = len(basis.patches) > 1
    else:
        mesh = box_mesh([graded_axis(basis, i, domain.bounds, count) for i in range(d)])
        knows_shape = False
    # Kernels, and one patch for all, know nothing of a shape in their box.
    mesh = mesh if knows_shape or domain.is_box else clipped(mesh, domain.contains)
    return mesh.points, mesh.cells


def _data(solution: Any, points: FloatArray) -> dict[str, FloatArray]:
    """Return what the nodes carry, by name."""
    approximation = solution.approximation
    steps = np.eye(points.shape[1], dtype=int)
    data: dict[str, FloatArray] = {}
    for unknown in solution.unknowns:
        data[unknown] = approximation.values(unknown, points, (0,) * points.shape[1])
        slopes = [approximation.values(unknown, points, tuple(map(int, step))) for step in steps]
        data[f"grad_{unknown}"] = _in_space(np.stack(slopes, axis=1))
    if solution.problem is not None:
        sizes = np.abs(approximation.residuals(solution.problem, points))
        single = len(sizes) == 1
        data |= {"residual" if single else f"residual_{i + 1}": s for i, s in enumerate(sizes)}
    return data


def _in_space(vectors: FloatArray) -> FloatArray:
    """Return vectors with zeros up to three components: the formats know no others."""
    return np.pad(vectors, ((0, 0), (0, 3 - vectors.shape[1])))
