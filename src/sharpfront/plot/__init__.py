"""Pictures of solutions, and films of those in time; loaded when one is asked for."""

from typing import TYPE_CHECKING

from sharpfront.loading import fetcher

if TYPE_CHECKING:
    from sharpfront.plot.animation import animate
    from sharpfront.plot.figure import plot_solution

__all__ = ["animate", "plot_solution"]

__getattr__ = fetcher(__name__, {"animation": "animate", "figure": "plot_solution"})
