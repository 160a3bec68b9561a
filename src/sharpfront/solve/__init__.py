"""Who solves what, and the loop around it: place, assemble, solve, assess, adapt, stop."""

from sharpfront.solve.loop import SPACE_TOLERANCE, TOLERANCE, solve

__all__ = ["SPACE_TOLERANCE", "TOLERANCE", "solve"]
