"""How large is the error, and where."""

from sharpfront.estimate.residual import Assessment, assess

__all__ = ["Assessment", "assess"]
