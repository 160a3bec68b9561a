"""Make the pictures of the README and of the docs from solutions computed on the spot.

``python scripts/figures.py`` makes all, ``python scripts/figures.py layer.png`` those named.
"""

from __future__ import annotations

import re
import sys
from typing import Any, ClassVar

import matplotlib.pyplot as plt
import numpy as np
from figure_style import BLUE, GREEN, GREY, IMAGES, ORANGE
from figures_space import FIGURES as SPACE

import sharpfront as sf
from sharpfront import catalog, measure
from sharpfront.adapt import Resolve
from sharpfront.equation import Expression


def main() -> None:
    """Write every picture, or those named on the command line."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    figures = {
        "layer.png": layer,
        "discovery.png": discovery,
        "coordinate.png": coordinate,
        "estimate.png": estimate,
        "convergence.png": convergence,
        "fit.png": fit,
        **SPACE,
    }
    for name in sys.argv[1:] or figures:
        figures[name]().savefig(IMAGES / name)
        print(IMAGES / name)


def layer() -> plt.Figure:
    """Draw the single layer of the paper: the whole interval, and inside the layer."""
    nu = 1e-4
    entry = catalog.SINGLE_LAYER
    solution = sf.solve(entry.problem(nu))
    points = measure.graded_points(solution.domain, entry.features(nu))
    error = measure.max_error(solution, entry.exact(nu), points)
    figure, (whole, inside) = plt.subplots(1, 2, figsize=(8.4, 3.0), layout="constrained")
    whole.plot(points, solution(points), color=BLUE, lw=1.8)
    whole.set(title="The whole interval", xlabel="x", ylabel="u", ylim=(-0.08, 1.08))
    distance = np.linspace(0, 12, 400)
    inside.plot(distance, solution(1 - nu * distance), color=BLUE, lw=1.8)
    inside.set(
        title="Inside the layer, magnified 1000 times",
        xlabel="distance from the right end, in widths of the layer (1 - x) / ν",
        xlim=(12, -0.2),
        ylim=(-0.08, 1.08),
    )
    whole.text(
        0.03,
        0.9,
        f"{solution.kernels} kernels\ntrue error {error:.0e}\n"
        f"estimated {solution.error_estimate:.0e}",
        va="top",
        transform=whole.transAxes,
    )
    return figure


def fit() -> plt.Figure:
    """Draw the fit of the tutorial: data with the curve and its band, residuals, the profile."""
    text = (IMAGES.parent / "fitting.md").read_text()
    names: dict[str, Any] = {}
    exec("\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL)[:3]), names)
    result = names["result"]
    figure, panels = plt.subplots(1, 3, figsize=(10, 2.9), layout="constrained")
    result.plot(axes=panels[0]).set_title("The fit and its 95 % band")
    result.plot("residuals", axes=panels[1]).set_title("Residuals")
    result.profile("nu").plot(panels[2]).set_title("How the misfit rises")
    panels[2].xaxis.set_major_locator(plt.MaxNLocator(4))
    return figure


def wavy(x: object) -> object:
    """Return a solution with a front inside and a layer at either end."""
    return (
        np.tanh((x - 0.37) / 2e-3)
        + np.exp(-x / 1e-2)
        - np.exp((x - 1) / 1e-3)
        + 0.3 * np.sin(3 * x)
    )


def wavy_problem() -> sf.Problem:
    """Return -eps u'' + u = f with that solution."""

    def operator(u: Expression, x: Expression) -> Expression:
        return u - 1e-6 * u.dxx

    return sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: operator(u, x) - operator(wavy(x), x),
        boundary=lambda u, x: u - wavy(x),
    )


def discovery() -> plt.Figure:
    """Draw what discovery sees, the mixture fitted to it, and where the kernels go."""
    problem = wavy_problem()
    state = Resolve().start(problem, 1e-8, 0)
    grid, found = state.found.system.grid, state.found
    figure, axes = plt.subplots(3, 1, figsize=(7.2, 6.2), sharex=True, layout="constrained")
    axes[0].plot(grid.nodes, found.solution[0], ".-", ms=3, lw=0.8, color=GREY)
    axes[0].set(ylabel="u", title="1. A fitted difference scheme sees every feature on 300 cells")
    mixture = state.mixture
    axes[1].fill_between(
        grid.middles,
        found.monitor / grid.steps,
        step="mid",
        color=GREY,
        alpha=0.35,
        label="monitor: where things change",
    )
    x = np.unique(np.concatenate([grid.nodes, mixture.quantile(np.linspace(1e-4, 1 - 1e-4, 3000))]))
    x = x[(x >= 0) & (x <= 1)]
    scale = found.monitor.sum()
    axes[1].plot(
        x,
        scale * mixture.density(x[:, None]),
        color=ORANGE,
        lw=1.3,
        label=f"mixture of {mixture.components} Gaussians",
    )
    axes[1].set(
        yscale="log",
        ylim=(1e-2, 3e4),
        ylabel="density",
        title="2. Weighted EM fits a mixture to where things change",
    )
    axes[1].legend(loc="upper center")
    centres = state.basis.centres[:, 0]
    axes[2].plot(centres, np.gradient(centres), ".", ms=4, color=BLUE)
    axes[2].set(
        yscale="log",
        ylabel="spacing",
        xlabel="x",
        title=f"3. {len(centres)} kernels, even in the mixture's coordinate",
    )
    return figure


def coordinate() -> plt.Figure:
    """Draw a layer in x and in the mixture's coordinate."""
    nu = 1e-4
    entry = catalog.SINGLE_LAYER
    solution = sf.solve(entry.problem(nu))
    (piece,) = solution.approximation.bases["u"].pieces
    xi = np.linspace(0, 1, 2001)
    x = piece.coordinate.invert(xi).x
    even = (np.arange(piece.kernels) + 0.5) / piece.kernels
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 2.8), layout="constrained")
    left.plot(x, solution(x), color=BLUE)
    left.set(title="In x: a corner", xlabel="x", ylabel="u")
    right.plot(xi, solution(x), color=BLUE)
    right.plot(even, solution(piece.coordinate.invert(even).x), "o", ms=3, color=ORANGE)
    right.set(title="In the mixture's coordinate: smooth, kernels even", xlabel="ξ")
    return figure


class Watched(Resolve):
    """The default adaptor, keeping every assessment it makes."""

    seen: ClassVar[list[Any]] = []

    def assess(self, state: Any, approximation: Any) -> Any:
        """Return the assessment and remember it."""
        result = super().assess(state, approximation)
        self.seen.append(result)
        return result


def iterates(problem: sf.Problem, tol: float) -> list[Any]:
    """Return what every solve on the way to a tolerance came to."""
    Watched.seen.clear()
    sf.solve(problem, adaptor=Watched(), tol=tol)
    return list(Watched.seen)


def estimate() -> plt.Figure:
    """Draw the residual, the estimated error and the true error of one solve."""
    first = iterates(wavy_problem(), 1e-8)[0]
    grid, check = first.check.grid, first.check
    true = np.abs(first.approximation.values("u", grid.nodes[:, None], (0,)) - wavy(grid.nodes))
    figure, (top, bottom) = plt.subplots(
        2, 1, figsize=(7.2, 4.6), sharex=True, layout="constrained"
    )
    top.semilogy(grid.middles, np.abs(check.residual[0]) + 1e-16, ".", ms=2.5, color=GREY)
    top.set(ylabel="|f - L u|", title="What the equation leaves, at points that were not fitted")
    bottom.semilogy(
        grid.nodes, np.abs(check.profile) + 1e-16, color=ORANGE, lw=1.4, label="error equation"
    )
    bottom.semilogy(grid.nodes, true + 1e-16, "--", color=BLUE, lw=1.2, label="true error")
    bottom.set(ylabel="|error|", xlabel="x", title="The error it implies, and the true one")
    bottom.legend(loc="lower right")
    return figure


def convergence() -> plt.Figure:
    """Draw estimate and truth of several problems, asked for ever more digits."""
    figure, axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    cases = (
        (catalog.TWIN_LAYER, 1e-8, BLUE),
        (catalog.TURNING_POINT, 1e-8, ORANGE),
        (catalog.REACTION_LAYER, 1e-4, GREEN),
    )
    for entry, parameter, colour in cases:
        problem, exact = entry.problem(parameter), entry.exact(parameter)
        points = measure.graded_points(problem.domain, entry.features(parameter))
        solved = {s.kernels: s for s in (sf.solve(problem, tol=10.0**-k) for k in range(2, 13))}
        kernels = sorted(solved)
        errors = [measure.max_error(solved[n], exact, points) for n in kernels]
        label = f"{entry.title}, {parameter:g}"
        axes.semilogy(kernels, errors, "o-", ms=5, color=colour, label=label)
        estimates = [solved[n].error_estimate for n in kernels]
        axes.semilogy(kernels, estimates, "x--", ms=6, lw=0.8, color=colour)
    axes.plot([], [], "o-", color="k", ms=5, label="true max error")
    axes.plot([], [], "x--", color="k", ms=6, lw=0.8, label="its estimate")
    axes.set(xlabel="kernels", ylabel="relative max error", title="Estimate and truth")
    axes.legend(loc="lower left")
    return figure


if __name__ == "__main__":
    main()
