"""Make the pictures and the film of the pages on problems in time."""

from __future__ import annotations

from functools import cache
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from figure_style import IMAGES

import sharpfront as sf
from sharpfront import catalog

_MOST_BYTES = 1_500_000


@cache
def burgers() -> Any:
    """Return the solution whose steepening wave becomes a shock 0.003 wide."""
    problem = sf.Problem(
        sf.Interval(-1, 1),
        lambda u, x, t: u.dt + u * u.dx - 0.01 / np.pi * u.dxx,
        boundary=lambda u, x, t: u,
        initial=lambda x: -np.sin(np.pi * x),
        time=(0, 1),
    )
    return sf.solve(problem, tol=1e-7)


@cache
def merging() -> Any:
    """Return the solution whose two shocks become one."""
    return sf.solve(catalog.MERGING_SHOCKS.problem(1e-3), tol=1e-5)


def burgers_film() -> plt.Figure:
    """Draw the wave at six moments."""
    axes = burgers().plot("film", moments=6, kernels=True)
    return axes[0, 0].figure


def burgers_tracks() -> plt.Figure:
    """Draw the wave over space and time, and the ways of its kernels."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained")
    burgers().plot(axes=left)
    burgers().plot("kernels", axes=right)
    return figure


def merging_paths() -> plt.Figure:
    """Draw two shocks over space and time, and the ways of kernels and components."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained")
    merging().plot(axes=left)
    merging().plot("kernels", axes=right)
    return figure


def course() -> plt.Figure:
    """Draw estimate, steps and kernels over time."""
    return burgers().plot("estimate")[0, 0].figure


FIGURES = {
    "time-film.png": burgers_film,
    "time-tracks.png": burgers_tracks,
    "time-merging.png": merging_paths,
    "time-estimate.png": course,
}
FILMS = {"time-burgers.gif": burgers, "time-merging.gif": merging}


def main() -> None:
    """Write all pictures and films."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    for name, draw in FIGURES.items():
        figure = draw()
        figure.savefig(IMAGES / name)
        plt.close(figure)
    for name, solved in FILMS.items():
        path = solved().animate(IMAGES / name, frames=80, fps=16, kernels=True)
        size = path.stat().st_size
        if size > _MOST_BYTES:
            raise RuntimeError(f"{name} has {size} bytes, more than {_MOST_BYTES}.")


if __name__ == "__main__":
    main()
