"""Ways to solve a linear system in the least-squares sense."""

from sharpfront.leastsquares.blocked import Blocked
from sharpfront.leastsquares.contract import Facts, LeastSquares
from sharpfront.leastsquares.dense import SVD, PivotedQR

__all__ = ["SVD", "Blocked", "Facts", "LeastSquares", "PivotedQR"]
