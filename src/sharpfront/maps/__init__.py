"""Maps of reference cells into space, and the chain rule."""

from sharpfront.maps.axis import AxisMap
from sharpfront.maps.chain import chain

__all__ = ["AxisMap", "chain"]
