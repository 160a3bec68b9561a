"""Pictures of solutions."""

from sharpfront.plot.figure import plot_solution

__all__ = ["plot_solution"]
