"""A fit in print: a few lines, or a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sharpfront.fit.result import Fit


def summary(fit: Fit) -> str:
    """Return the fit in a few lines."""
    width = max(map(len, fit.names))
    lines = []
    for name in fit.names:
        low, high = fit.interval(name)
        value, error = fit.values[name], fit.stderr[name]
        ends = f"95 %: {low:.5g} ... {high:.5g}"
        lines.append(f"{name:<{width}} = {value:.6g} +- {error:.2g}   {ends}")
    for i, a in enumerate(fit.names):
        for j in range(i):
            c = fit.correlation[i, j]
            if np.isfinite(c) and abs(c) > 0.1:
                lines.append(f"correlation of {fit.names[j]} and {a}: {c:.2f}")
    ratio = fit.chi2 / max(fit.dof, 1)
    told = f" (p = {fit.p_value:.2g})" if fit.p_value is not None else ""
    if fit.sigma is None:
        lines.append(f"chi2/dof = {ratio:.3g}{told}, {fit.dof} degrees of freedom.")
    else:
        lines.append(f"sigma = {fit.sigma:.3g}, estimated with {fit.dof} degrees of freedom.")
    lines.append(
        f"{fit.solves} solves. Solver's share of the error: at most {fit.share:.0e} of a standard "
        "error."
    )
    return "\n".join([*lines, *(f"Note: {note}" for note in fit.notes)])


def write_report(fit: Fit, path: str | Path, title: str) -> Path:
    """Write one HTML page about a fit."""
    raise NotImplementedError
