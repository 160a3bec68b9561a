"""Maps of reference cells into space, and the chain rule."""

from sharpfront.maps.axis import AxisMap
from sharpfront.maps.chain import chain, pulled_back
from sharpfront.maps.quadrilateral import Quadrilateral

__all__ = ["AxisMap", "Quadrilateral", "chain", "pulled_back"]
