"""Who solves what, and the loop around it: place, assemble, solve, assess, adapt, stop."""

from sharpfront.solve.loop import solve
from sharpfront.solve.options import SPACE_TOLERANCE, TOLERANCE

__all__ = ["SPACE_TOLERANCE", "TOLERANCE", "solve"]
