"""Pictures of solutions, and films of those in time."""

from sharpfront.plot.animation import animate
from sharpfront.plot.figure import plot_solution

__all__ = ["animate", "plot_solution"]
