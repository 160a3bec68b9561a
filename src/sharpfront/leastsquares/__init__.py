"""Ways to solve a linear system in the least-squares sense."""

from sharpfront.leastsquares.blocked import Blocked
from sharpfront.leastsquares.contract import Facts, LeastSquares, ManySided, solution_of
from sharpfront.leastsquares.dense import SVD

__all__ = ["SVD", "Blocked", "Facts", "LeastSquares", "ManySided", "solution_of"]
