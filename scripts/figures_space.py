"""Make the pictures of the page on two dimensions and more."""

from __future__ import annotations

from typing import Any, ClassVar

import matplotlib.pyplot as plt
import numpy as np
from figure_style import BLUE, GREEN, GREY, ORANGE
from matplotlib.collections import EllipseCollection

import sharpfront as sf
from sharpfront import catalog
from sharpfront.adapt import ResolveSpace
from sharpfront.adapt.axis_features import FIRST, discover
from sharpfront.estimate.elements import Elements
from sharpfront.geometry.meshes.mesh import box_mesh

# Ellipses of this many standard deviations: kernels overlap widely, and whole ones hide each other.
_PART = 0.25


def _ellipses(axes: Any, centres: Any, covariances: Any) -> None:
    variances, directions = np.linalg.eigh(covariances)
    long, thin = 2 * _PART * np.sqrt(variances[:, ::-1].T)
    angles = np.degrees(np.arctan2(directions[:, 1, 1], directions[:, 0, 1]))
    axes.add_collection(
        EllipseCollection(
            long,
            thin,
            angles,
            units="xy",
            offsets=centres,
            offset_transform=axes.transData,
            facecolors="#2b6cb030",
            edgecolors=BLUE,
            linewidths=0.6,
        )
    )


def corner() -> plt.Figure:
    """Draw layers that meet in a corner, and the kernels there as ellipses."""
    eps = 1e-2
    entry = catalog.CORNER
    solution = sf.solve(entry.problem(eps), tol=1e-6, adaptor=ResolveSpace())
    error = catalog.max_error(solution, entry.exact(eps), entry.points(eps))
    basis = solution.approximation.bases["u"]
    figure, axes = plt.subplots(1, 3, figsize=(11.4, 3.6), layout="constrained")
    solution.plot("solution", axes=axes[0])
    axes[0].set_title(
        f"Two layers of width {eps:g}: {solution.kernels} kernels,\nerror {error:.0e}, "
        f"estimated {solution.error_estimate:.0e}",
    )
    for panel, low in ((axes[1], 0.0), (axes[2], 0.9)):
        _ellipses(panel, basis.centres, basis.covariances)
        panel.set(xlim=(low, 1), ylim=(low, 1), aspect="equal", xlabel="x", ylabel="y")
    axes[1].set_title("Kernels, drawn at a quarter of\ntheir standard deviation")
    axes[2].set_title("The same in the corner,\n10 times larger")
    return figure


def front() -> plt.Figure:
    """Draw a circular front, its patches, and a part of them magnified."""
    w = 1e-3
    solution = sf.solve(catalog.CIRCULAR_FRONT.problem(w), tol=1e-4)
    figure, (shown, flat, close) = plt.subplots(1, 3, figsize=(11.4, 3.8), layout="constrained")
    solution.plot("solution", axes=shown)
    shown.set_title(
        f"A circular front of width {w:g}:\nestimated error {solution.error_estimate:.0e}"
    )
    solution.plot("kernels", axes=flat)
    solution.plot("kernels", axes=close, x=(0.66, 0.72), y=(0.64, 0.7))
    close.set_title("The same, 17 times larger")
    return figure


def grid() -> plt.Figure:
    """Draw the grids of elements that find the layers: the first, even one and the last."""
    eps = 1e-3
    problem = catalog.CORNER.problem(eps)
    side = np.linspace(0, 1, FIRST[2] + 1)
    even = box_mesh([side, side], problem.domain.parts, problem.domain.periodic_axes)
    first = Elements.build(problem, even, monotone=True).solution()
    last = discover(problem, 4)
    figure, axes = plt.subplots(1, 3, figsize=(11.4, 3.5), layout="constrained")
    cells = len(last.elements.mesh.axes[0]) - 1
    pictures = (
        (
            even,
            first,
            0.95,
            f"First grid, {FIRST[2]} even cells a side:\nthe corner, 20 times larger",
        ),
        (
            last.elements.mesh,
            last.values,
            0.95,
            f"Last grid, {cells} graded cells a side:\nthe same corner",
        ),
        (
            last.elements.mesh,
            last.values,
            1 - 8 * eps,
            "Its corner, 125 times larger:\nthe layers are resolved",
        ),
    )
    for panel, (mesh, values, low, title) in zip(axes, pictures, strict=True):
        x, y = mesh.axes
        u = values.reshape(len(x), len(y))
        image = panel.pcolormesh(x, y, u.T, cmap="viridis", shading="gouraud", vmin=0, vmax=1)
        panel.vlines(x, 0, 1, color="w", lw=0.3)
        panel.hlines(y, 0, 1, color="w", lw=0.3)
        panel.set(title=title, xlabel="x", xlim=(low, 1), ylim=(low, 1), aspect="equal")
        panel.locator_params(nbins=4)
    figure.colorbar(image, ax=axes[-1], label="u")
    return figure


class Watched(ResolveSpace):
    """The default adaptor, keeping every assessment it makes."""

    seen: ClassVar[list[Any]] = []

    def assess(self, state: Any, approximation: Any) -> Any:
        """Return the assessment and remember it."""
        result = super().assess(state, approximation)
        self.seen.append(result)
        return result


def _iterates(problem: sf.Problem, tol: float, most: int) -> list[Any]:
    Watched.seen.clear()
    sf.solve(problem, adaptor=Watched(max_kernels=most), tol=tol)
    return list(Watched.seen)


def convergence(most: int = 1800) -> plt.Figure:
    """Draw estimate and truth solve by solve, for layers, a front and singular corners."""
    figure, axes = plt.subplots(figsize=(6.8, 4.4), layout="constrained")
    cases = (
        (catalog.OUTFLOW, 1e-4, BLUE),
        (catalog.CORNER, 1e-3, ORANGE),
        (catalog.CIRCULAR_FRONT, 5e-3, GREEN),
    )
    for entry, value, colour in cases:
        exact, points = entry.exact(value), entry.points(value, per_axis=150)
        size = max(1.0, float(np.max(np.abs(exact(*points.T)))))
        steps = _iterates(entry.problem(value), 1e-11, most)
        errors = [
            np.max(np.abs(s.approximation.values("u", points, (0, 0)) - exact(*points.T))) / size
            for s in steps
        ]
        _curve(axes, steps, errors, colour, f"{entry.title.lower()}, {value:g}")
    singular = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: -1e-2 * sf.laplacian(u) + u.dx - 1,
        boundary=lambda u, x, y: u,
    )
    _curve(axes, _iterates(singular, 1e-11, most), None, GREY, "singular corners, 0.01")
    axes.plot([], [], "o-", color="k", ms=4, label="true max error")
    axes.plot([], [], "x--", color="k", ms=5, lw=0.8, label="its estimate")
    axes.plot([], [], "o", color="k", ms=4, alpha=0.3, label="solves that were no better")
    axes.set(
        yscale="log",
        xlabel="kernels",
        ylabel="relative max error",
        title="Estimate and truth, solve by solve",
    )
    axes.legend(fontsize=8)
    return figure


def _curve(axes: Any, steps: list[Any], errors: Any, colour: str, label: str) -> None:
    """Draw the solves that got better with their size as a line, the others as faint marks."""
    kernels = np.array([s.approximation.kernels for s in steps])
    estimates = np.array([s.estimate.value for s in steps])
    order = np.lexsort((estimates, kernels))
    reached = np.minimum.accumulate(estimates[order])
    better = order[np.flatnonzero(np.diff(reached, prepend=np.inf) < 0)]
    others = np.setdiff1d(order, better)
    values = estimates if errors is None else np.array(errors)
    mark = "x" if errors is None else "o"
    axes.plot(kernels[others], values[others], mark, ms=4, color=colour, alpha=0.3)
    if errors is not None:
        axes.plot(kernels[better], values[better], "o-", ms=4, color=colour, label=label)
    lone = {} if errors is not None else {"label": label}
    axes.plot(kernels[better], estimates[better], "x--", ms=5, lw=0.8, color=colour, **lone)


FIGURES = {
    "corner2d.png": corner,
    "front2d.png": front,
    "grid2d.png": grid,
    "convergence2d.png": convergence,
}
