"""A fit in print: a few lines, or a page."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.checks import file_path
from sharpfront.files import write_text
from sharpfront.fit.data import Observed, with_rows
from sharpfront.show.data.quantity import BLUE
from sharpfront.show.pages.page import HtmlPage, svg_of

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
    if fit.p_value is not None:
        ratio, p = fit.chi2 / fit.dof, fit.p_value
        lines.append(f"chi2/dof = {ratio:.3g} (p = {p:.2g}), {fit.dof} degrees of freedom.")
    elif fit.sigma is None:
        lines.append(f"chi2 = {fit.chi2:.3g}; no degrees of freedom are left to test it by.")
    else:
        lines.append(f"sigma = {fit.sigma:.3g}, estimated with {fit.dof} degrees of freedom.")
    if fit.minima:
        ended, every = fit.minima[0].starts, sum(m.starts for m in fit.minima)
        lines.append(f"{ended} of {every} starts that ended did so here; {len(fit.minima)} minima.")
    share = f" Solver's share of the error: at most {fit.share:.0e} of a standard error."
    known = np.isfinite(list(fit.stderr.values())).any()
    solves = "1 solve" if fit.solves == 1 else f"{fit.solves} solves"
    lines.append(f"{solves}.{share if known else ''}")
    return "\n".join([*lines, *(f"Note: {note}" for note in fit.notes)])


def shown_names(fit: Fit) -> list[str]:
    """Return the parameters but for the weights of functions."""
    weights = tuple(f"{name}_" for name in fit.functions)
    return [n for n in fit.names if not (weights and n.startswith(weights))]


def write_report(fit: Fit, path: str | Path, title: str, profiles: bool) -> Path:
    """Write one HTML page about a fit: numbers, the curves with bands, residuals, profiles."""
    target = file_path(path, "path")
    page = HtmlPage(title or target.stem)
    counts = {"parameter": len(shown_names(fit)), "function": len(fit.functions)}
    free = [f"{n} free {what}{'s' if n != 1 else ''}" for what, n in counts.items() if n]
    page.lead(f"{len(fit.model.data)} measurements, {' and '.join(free)}.")
    rows = []
    for name in shown_names(fit):
        low, high = fit.interval(name)
        numbers = (fit.values[name], fit.stderr[name], low, high)
        rows.append([name, *(f"{v:.5g}" for v in numbers)])
    if rows:
        page.table(["parameter", "value", "standard error", "from", "to"], rows, "95 % intervals")
    # Beyond the lines of the parameters, which the table has.
    starts = tuple(f"{row[0]} " for row in rows)
    told = summary(fit).splitlines()
    page.points([li for li in told if not (" = " in li and starts and li.startswith(starts))])
    page.section("Data and fit")
    for i, observed in enumerate(fit.model.observed):
        words = f"Measurements of {observed.name if observed.is_plain else 'an observation'}"
        if _along_line(observed):
            words += " and the fit, with its 95 % band."
        else:
            words += " against the fit; on the line both agree."
            words += " Bars across are its 95 % band." if observed.is_plain else ""
        page.figure(_svg(functools.partial(draw_fit, fit, i)), words)
    if fit.functions:
        page.section("Functions")
        for name in fit.functions:
            words = f"The function {name} with its 95 % band."
            page.figure(_svg(functools.partial(draw_function, fit, name)), words)
    page.section("Residuals")
    words = "Residuals in units of the noise; without pattern if the model is right."
    page.figure(_svg(lambda axes: draw_residuals(fit, axes)), words)
    if profiles and rows and fit.identifiable:
        page.section("Profiles")
        for profile in map(fit.profile, shown_names(fit)):
            words = (
                f"By how much the least misfit rises if {profile.name} is held and all else is "
                f"fitted anew; by {profile.allowed:.3g} at the ends of the interval. {profile}"
            )
            page.figure(_svg(profile.plot), words)
    write_text(target, page.render())
    return target


def _along_line(observed: Observed) -> bool:
    """Tell whether an unknown was measured along one coordinate."""
    return observed.points.shape[1] == 1 and observed.is_plain


def _svg(draw: Callable[[Any], None]) -> bytes:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    draw(figure.subplots())
    return svg_of(figure)


def draw_fit(fit: Fit, index: int, axes: Any) -> None:
    """Draw data and fit along the line, or against each other where there is none."""
    observed = fit.model.observed[index]
    own = list(with_rows(fit.model.observed))[index][1]
    sigma = fit.model.sigma[own] * np.sqrt(fit.variance)
    if _along_line(observed):
        x = np.unique(np.concatenate([_even(observed.points[:, 0]), observed.points[:, 0]]))
        values = getattr(fit.solution, observed.name)(x)
        _draw_band(axes, x, values, fit.band(x, unknown=observed.name))
        axes.errorbar(observed.points[:, 0], observed.values, sigma, fmt=".", color="k", lw=0.8)
        axes.set(xlabel=observed.problem.coordinates[0], ylabel=observed.name)
        return
    predicted = fit.residuals[own] * fit.model.sigma[own] + observed.values
    # Of a single measurement too the line has a length.
    every = np.concatenate([predicted, observed.values - sigma, observed.values + sigma])
    ends = [float(every.min()), float(every.max())]
    axes.plot(ends, ends, color=BLUE)
    across = None
    if observed.is_plain:
        band = 1.96 * fit.band(*observed.points.T, unknown=observed.name)
        across = np.where(np.isfinite(band), band, 0.0)
    axes.errorbar(predicted, observed.values, sigma, across, fmt=".", color="k", lw=0.8)
    axes.set(xlabel=f"fit of {observed.name}", ylabel="measured")


def draw_function(fit: Fit, name: str, axes: Any) -> None:
    """Draw a fitted function with its 95 % band over its interval."""
    found = fit.functions[name]
    x = _even(found.best.curve.process.centres)
    _draw_band(axes, x, found(x), found.band(x))
    own = fit.model.observed[0].problem.coordinates
    axes.set(xlabel=own[0] if len(own) == 1 else f"argument of {name}", ylabel=name)


def _draw_band(axes: Any, x: FloatArray, curve: FloatArray, error: FloatArray) -> None:
    """Draw a curve with its 95 % band."""
    axes.plot(x, curve, color=BLUE)
    ends = curve - 1.96 * error, curve + 1.96 * error
    axes.fill_between(x, *ends, color=BLUE, alpha=0.2, lw=0)


def _even(x: FloatArray) -> FloatArray:
    return np.linspace(float(x.min()), float(x.max()), 300)


def draw_residuals(fit: Fit, axes: Any) -> None:
    """Draw residuals in units of the noise, one after the other."""
    scaled = fit.residuals / np.sqrt(fit.variance)
    axes.axhspan(-1.96, 1.96, color=BLUE, alpha=0.15, lw=0)
    axes.plot(np.arange(1, len(scaled) + 1), scaled, ".", color="k")
    axes.axhline(0.0, color=BLUE)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set(xlabel="measurement", ylabel="residual / sigma")
