"""Make the picture of a front in the plane."""

from __future__ import annotations

import matplotlib.pyplot as plt

import sharpfront as sf
from sharpfront import catalog


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


FIGURES = {"front2d.png": front}
