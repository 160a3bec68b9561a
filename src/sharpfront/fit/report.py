"""A fit in print: a few lines, or a page."""

from __future__ import annotations

import functools
import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.checks import file_path
from sharpfront.files import write_text
from sharpfront.fit.data import Observed
from sharpfront.fit.statistics import STRAIGHT
from sharpfront.show.data.colours import BLUE
from sharpfront.show.pages.page import HtmlPage

if TYPE_CHECKING:
    from sharpfront.fit.result import Fit


def summary(fit: Fit) -> str:
    """Return the fit in a few lines."""
    shown = shown_names(fit)
    width = max(map(len, shown), default=0)
    lines = [f"{name}: {found}" for name, found in fit.functions.items()]
    for name in shown:
        low, high = fit.interval(name)
        value, error = fit.values[name], fit.stderr[name]
        ends = f"95 %: {low:.5g} ... {high:.5g}"
        lines.append(f"{name:<{width}} = {value:.6g} +- {error:.2g}   {ends}")
    for i, a in enumerate(fit.names):
        for j in range(i if a in shown else 0):
            c = fit.correlation[i, j]
            if np.isfinite(c) and abs(c) > 0.1 and fit.names[j] in shown:
                lines.append(f"correlation of {fit.names[j]} and {a}: {c:.2f}")
    ratio = fit.chi2 / max(fit.dof, 1)
    told = f" (p = {fit.p_value:.2g})" if fit.p_value is not None else ""
    if fit.sigma is None:
        lines.append(f"chi2/dof = {ratio:.3g}{told}, {fit.dof} degrees of freedom.")
    else:
        lines.append(f"sigma = {fit.sigma:.3g}, estimated with {fit.dof} degrees of freedom.")
    if fit.minima:
        ended, every = fit.minima[0].starts, sum(m.starts for m in fit.minima)
        lines.append(f"{ended} of {every} starts that ended did so here; {len(fit.minima)} minima.")
    lines.append(
        f"{fit.solves} solves. Solver's share of the error: at most {fit.share:.0e} of a standard "
        "error."
    )
    return "\n".join([*lines, *(f"Note: {note}" for note in fit.notes)])


def shown_names(fit: Fit) -> list[str]:
    """Return the parameters but for the weights of functions."""
    weights = tuple(f"{name}_" for name in fit.functions)
    return [n for n in fit.names if not (weights and n.startswith(weights))]


def write_report(fit: Fit, path: str | Path, title: str) -> Path:
    """Write one HTML page about a fit: numbers, the curves with bands, residuals, profiles."""
    target = file_path(path, "path")
    page = HtmlPage(title or target.stem)
    page.lead(f"{len(fit.model.data)} measurements, {len(fit.names)} free parameters.")
    rows = []
    for name in shown_names(fit):
        low, high = fit.interval(name)
        numbers = (fit.values[name], fit.stderr[name], low, high)
        rows.append([name, *(f"{v:.5g}" for v in numbers)])
    page.table(["parameter", "value", "standard error", "from", "to"], rows, "95 % intervals")
    # Beyond the lines of the parameters, which the table has.
    page.points(summary(fit).splitlines()[len(rows) :])
    page.section("Data and fit")
    for i, observed in enumerate(fit.model.observed):
        page.figure(_svg(functools.partial(draw_fit, fit, i)), *_caption(observed))
    page.section("Residuals")
    words = "Residuals in units of the noise; without pattern if the model is right."
    page.figure(_svg(lambda axes: draw_residuals(fit, axes)), words, words)
    if fit.identifiable and any(abs(b - 1.0) > STRAIGHT for b in fit.bent):
        page.section("Profiles")
        for profile in map(fit.profile, shown_names(fit)):
            page.figure(_svg(profile.plot), str(profile), str(profile))
    write_text(target, page.render())
    return target


def _caption(observed: Observed) -> tuple[str, str]:
    words = f"Measurements of {observed.name} and the fit, with its 95 % band on a line."
    return words, words


def _svg(draw: Callable[[Any], None]) -> bytes:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    draw(figure.subplots())
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def draw_fit(fit: Fit, index: int, axes: Any) -> None:
    """Draw data and fit along the line, or against each other where there is none."""
    observed = fit.model.observed[index]
    start = sum(len(o.values) for o in fit.model.observed[:index])
    own = slice(start, start + len(observed.values))
    sigma = fit.model.sigma[own] * np.sqrt(fit.variance)
    if observed.points.shape[1] == 1 and observed.is_plain:
        x = np.unique(np.concatenate([_even(observed.points[:, 0]), observed.points[:, 0]]))
        curve = getattr(fit.solution, observed.name)(x)
        band = 1.96 * fit.band(x, unknown=observed.name)
        axes.plot(x, curve, color=BLUE)
        axes.fill_between(x, curve - band, curve + band, color=BLUE, alpha=0.2, lw=0)
        axes.errorbar(observed.points[:, 0], observed.values, sigma, fmt=".", color="k", lw=0.8)
        axes.set(xlabel=observed.problem.coordinates[0], ylabel=observed.name)
        return
    predicted = fit.residuals[own] * fit.model.sigma[own] + observed.values
    ends = [float(predicted.min()), float(predicted.max())]
    axes.plot(ends, ends, color=BLUE)
    axes.errorbar(predicted, observed.values, sigma, fmt=".", color="k", lw=0.8)
    axes.set(xlabel="fit", ylabel="measured")


def _even(x: FloatArray) -> FloatArray:
    return np.linspace(float(x.min()), float(x.max()), 300)


def draw_residuals(fit: Fit, axes: Any) -> None:
    """Draw residuals in units of the noise, one after the other."""
    scaled = fit.residuals / np.sqrt(fit.variance)
    axes.axhspan(-1.96, 1.96, color=BLUE, alpha=0.15, lw=0)
    axes.plot(np.arange(1, len(scaled) + 1), scaled, ".", color="k")
    axes.axhline(0.0, color=BLUE)
    axes.set(xlabel="measurement", ylabel="residual / sigma")
