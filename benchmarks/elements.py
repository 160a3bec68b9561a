"""The peer of ``plane.py``: scikit-fem on meshes graded by hand into the layers.

The peer is told where the layers are and how wide. Its meshes are made before the clock starts,
with the tables of their edges; the time is that of basis, assembly, boundary values and direct
solve.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse.linalg as sparse
from scipy.spatial import Delaunay, cKDTree
from skfem import (
    Basis,
    BilinearForm,
    ElementQuad2,
    ElementTriP2,
    ElementTriP4,
    LinearForm,
    MeshQuad,
    MeshTri,
    MeshTri2,
    condense,
)

from sharpfront.catalog import Entry
from sharpfront.equation.graph import evaluate
from sharpfront.equation.values import environment, form_values
from sharpfront.measure import max_error
from sharpfront.problem import Problem

ELEMENTS = {"tri2": ElementTriP2, "quad2": ElementQuad2, "tri4": ElementTriP4}
ORDERS = {"tri2": 2, "quad2": 2, "tri4": 4}
# SciPy has one sparse direct solver; these are the orderings that were fastest, by operator.
_SOLVERS: tuple[dict[str, Any], ...] = (
    {"permc_spec": "COLAMD"},
    {
        "permc_spec": "MMD_AT_PLUS_A",
        "diag_pivot_thresh": 0.1,
        "options": {"SymmetricMode": True},
    },
)


@dataclass(frozen=True)
class Setting:
    """How the peer is set.

    Parameters
    ----------
    element
        A key of `ELEMENTS`.
    cells
        Cells across the layer's axis; for the petal, cells per unit length.
    share
        The part of those cells that is graded into the layers.
    along
        Cells along the other axis over cells across.
    reach
        How far the graded cells reach out of the layers, over what interpolation asks for.
    curved
        Whether the edges on a curved boundary are parabolas.
    """

    element: str
    cells: int
    share: float = 0.0
    along: float = 1.0
    reach: float = 1.0
    curved: bool = False

    def __str__(self) -> str:
        graded = f", {self.share:.0%} in layers, reach {self.reach:g}, {self.along:g} along"
        shape = graded if self.share else ""
        return f"{self.element}, {self.cells} cells{shape}{', curved' if self.curved else ''}"


@dataclass(frozen=True)
class Run:
    """What came out: largest error on the test points, median seconds, unknowns."""

    error: float
    seconds: float
    dofs: int
    setting: Setting


def layer_axis(setting: Setting, layers: tuple[float, ...], width: float) -> Any:
    """Return a graded axis on (0, 1): equal parts of the error of a layer.

    A layer exp(-t) interpolated with order p asks for the density exp(-t/(p + 1)) (Bakhvalov's
    mesh); the rest of the cells are equal.
    """
    share, scale = setting.share, setting.reach * (ORDERS[setting.element] + 1) * width
    steps = np.geomspace(1e-5 * width, 1, 4000)
    fine = [np.linspace(0, 1, 4001), *(end + (1 - 2 * end) * steps for end in layers)]
    s = np.unique(np.clip(np.concatenate(fine), 0, 1))
    cdf = (1 - share) * s
    for end in layers:
        decay = -np.expm1(-np.abs(s - end) / scale) * (1 - 2 * end)
        cdf = cdf + share / len(layers) * decay
    cdf = (cdf - cdf[0]) / (cdf[-1] - cdf[0])
    axis = np.interp(np.linspace(0, 1, setting.cells + 1), cdf, s)
    axis[[0, -1]] = 0, 1
    return axis


def outflow_axes(eps: float, setting: Setting) -> tuple[Any, Any]:
    across = layer_axis(setting, (1.0,), eps)
    return across, np.linspace(0, 1, max(2, round(setting.along * setting.cells)) + 1)


def reaction_axes(eps: float, setting: Setting) -> tuple[Any, Any]:
    across = layer_axis(setting, (0.0, 1.0), eps**0.5)
    return across, across


AXES: dict[str, Callable[[float, Setting], tuple[Any, Any]]] = {
    "outflow": outflow_axes,
    "four-layers": reaction_axes,
}


def petal_curve(angle: Any) -> Any:
    """Return points of the petal's boundary, (2, m)."""
    return 0.5 + (0.33 + 0.1 * np.cos(5 * angle)) * np.stack([np.cos(angle), np.sin(angle)])


def petal_mesh(setting: Setting) -> Any:
    """Return a nearly uniform triangulation: boundary points, a hexagonal lattice, smoothing."""
    h = 1 / setting.cells
    angles = np.linspace(0, 2 * np.pi, 20_001)
    curve = petal_curve(angles)
    length = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(curve), axis=0))])
    count = round(length[-1] / h)
    edge = petal_curve(np.interp(np.arange(count) * length[-1] / count, length, angles)).T
    near = cKDTree(curve.T)
    i, j = np.meshgrid(*[np.arange(-2, int(1.3 / h) + 2)] * 2)
    lattice = np.stack([(i + (j % 2) / 2).ravel() * h, j.ravel() * h * np.sqrt(0.75)], axis=1)
    inside = lattice[_in_petal(lattice) & (near.query(lattice)[0] > 0.6 * h)]
    for _ in range(8):
        points = np.concatenate([edge, inside])
        mesh = MeshTri(*map(np.ascontiguousarray, (points.T, _triangles(points).T)))
        sums = np.zeros_like(points)
        for a, b in (mesh.facets, mesh.facets[::-1]):
            np.add.at(sums, a, points[b])
        degree = np.bincount(mesh.facets.ravel(), minlength=len(points))[:, None]
        inside = (sums / degree)[count:]
    return _curved(mesh) if setting.curved else mesh


def _in_petal(points: Any) -> Any:
    x, y = (points - 0.5).T
    return np.hypot(x, y) < 0.33 + 0.1 * np.cos(5 * np.arctan2(y, x))


def _triangles(points: Any) -> Any:
    triangles = Delaunay(points).simplices
    corners = points[triangles]
    u, v = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    area = np.abs(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]) / 2
    return triangles[_in_petal(corners.mean(axis=1)) & (area > 1e-3 * np.median(area))]


def _curved(mesh: Any) -> Any:
    """Return the mesh with the middles of its boundary edges on the petal's boundary."""
    result = MeshTri2.from_mesh(mesh)
    middles = result.doflocs.copy()
    which = mesh.p.shape[1] + mesh.boundary_facets()
    x, y = middles[:, which] - 0.5
    middles[:, which] = petal_curve(np.arctan2(y, x))
    return replace(result, doflocs=middles)


@lru_cache(maxsize=4)
def mesh_for(name: str, value: float, setting: Setting) -> Any:
    if name == "petal":
        mesh = petal_mesh(setting)
    else:
        kind = MeshQuad if setting.element == "quad2" else MeshTri
        mesh = kind.init_tensor(*AXES[name](value, setting))
    # Tables that scikit-fem makes on first use belong to the mesh.
    mesh.facets, mesh.t2f, mesh.boundary_facets()
    return mesh


def solve(
    problem: Problem, exact: Callable[..., Any], mesh: Any, setting: Setting, option: int
) -> Any:
    """Return basis and solution of one finite-element solve; its data are the exact solution's."""
    form = problem.forms[0]
    leaves = environment(problem.coordinates, mesh.p[:, :1].T)
    weights = {
        term.orders: c[0]
        for term, c in zip(form.terms, form_values(form, leaves, 1)[0], strict=True)
    }

    @BilinearForm
    def operator(u: Any, v: Any, _: Any) -> Any:
        total = -weights[2, 0] * u.grad[0] * v.grad[0] - weights[0, 2] * u.grad[1] * v.grad[1]
        if (1, 0) in weights:
            total = total + weights[1, 0] * u.grad[0] * v
        return total + weights[0, 0] * u * v if (0, 0) in weights else total

    @LinearForm
    def load(v: Any, w: Any) -> Any:
        x = {("coordinate", name): c for name, c in zip(problem.coordinates, w.x, strict=True)}
        return -np.asarray(evaluate(form.source, x)) * v

    basis = Basis(mesh, ELEMENTS[setting.element]())
    matrix, right = operator.assemble(basis), load.assemble(basis)
    edge = basis.get_dofs().all()
    u = basis.zeros()
    u[edge] = exact(*basis.doflocs[:, edge])
    inner, right, u, free = condense(matrix, right, x=u, D=edge)
    u[free] = sparse.splu(inner.tocsc(), **_SOLVERS[option]).solve(right)
    return basis, u


def local_coordinates(basis: Any, x: Any, cells: Any) -> Any:
    """Return coordinates (2, m, 1) in the reference cell; exact in triangles and rectangles."""
    corners = basis.mesh.p[:, basis.mesh.t[:, cells]]
    origin, last = corners[:, 0], -1 if basis.mesh.t.shape[0] == 4 else 2
    a, b, d = corners[:, 1] - origin, corners[:, last] - origin, x - origin
    area = a[0] * b[1] - a[1] * b[0]
    return (
        np.stack([d[0] * b[1] - d[1] * b[0], a[0] * d[1] - a[1] * d[0]])[:, :, None]
        / area[None, :, None]
    )


def bent(basis: Any, x: Any, cells: Any, local: Any) -> Any:
    """Return local coordinates in cells with curved edges, by Newton's steps from straight ones."""
    for _ in range(6):
        gap = x[:, :, None] - basis.mapping.F(local, tind=cells)
        step = np.einsum("ijkl,jkl->ikl", basis.mapping.invDF(local, tind=cells), gap)
        # A cell that does not hold the point may lead far away.
        local = np.clip(local + step, -2, 3)
    return local


def values(basis: Any, u: Any, candidates: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a finite-element function of the coordinates.

    `candidates` gives cells (m, c) for points (2, m); the one that holds the point is taken.
    """
    triangle = basis.mesh.t.shape[0] != 4

    def outside(local: Any) -> Any:
        s, t = local[:, :, 0]
        return np.maximum(np.maximum(-s, -t), s + t - 1 if triangle else np.maximum(s, t) - 1)

    def at(*coordinates: Any) -> Any:
        x = np.stack(coordinates)
        best, result = np.full(x.shape[1], np.inf), np.empty(x.shape[1])
        for cells in candidates(x).T:
            local = local_coordinates(basis, x, cells)
            out = outside(local)
            if isinstance(basis.mesh, MeshTri2):
                # A parabola may map two places to a point: the cell must hold it about as it is
                # when straight.
                local = bent(basis, x, cells, local)
                out = np.maximum(outside(local), out - 0.3)
            better = out < best - 1e-9
            total = sum(
                u[basis.element_dofs[k, cells]]
                * np.asarray(basis.elem.gbasis(basis.mapping, local, k, tind=cells)[0])[:, 0]
                for k in range(basis.Nbfun)
            )
            best, result = np.where(better, out, best), np.where(better, total, result)
        return result

    return at


def tensor_cells(mesh: Any) -> Callable[[Any], Any]:
    """Return the candidates in a tensor mesh: scikit-fem's own search fails on thin cells."""
    axes = [np.unique(c) for c in mesh.p]
    shape = tuple(len(a) - 1 for a in axes)

    def number(x: Any) -> Any:
        at = [
            np.clip(np.searchsorted(a, c, side="right") - 1, 0, n - 1)
            for a, c, n in zip(axes, x, shape, strict=True)
        ]
        return np.ravel_multi_index(at, shape)

    centres = mesh.p[:, mesh.t].mean(axis=1)
    order = np.argsort(number(centres), kind="stable").reshape(np.prod(shape), -1)
    return lambda x: order[number(x)]


def nearest_cells(mesh: Any, count: int = 8) -> Callable[[Any], Any]:
    tree = cKDTree(mesh.p[:, mesh.t[:3]].mean(axis=1).T)
    return lambda x: tree.query(x.T, count)[1]


def fem(entry: Entry, value: float, setting: Setting, points: Any, runs: int = 1) -> Run:
    """Return error on the points, median time and unknowns of the better direct solver.

    A single run is taken with the one that is better as a rule.
    """
    mesh = mesh_for(entry.name, value, setting)
    problem, exact, timed = entry.problem(value), entry.exact(value), []
    for option in range(len(_SOLVERS)) if runs > 1 else (1,):
        seconds = []
        for _ in range(runs):
            started = time.perf_counter()
            basis, u = solve(problem, exact, mesh, setting, option)
            seconds.append(time.perf_counter() - started)
        timed.append(statistics.median(seconds))
    cells = nearest_cells(mesh) if entry.name == "petal" else tensor_cells(mesh)
    error = max_error(values(basis, u, cells), exact, points)
    return Run(error, min(timed), int(basis.N), setting)
