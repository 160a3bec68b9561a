"""How large is the error, and where."""

from sharpfront.estimate.oracle import Assessment, Oracle
from sharpfront.estimate.residual import assess

__all__ = ["Assessment", "Oracle", "assess"]
