"""Maps of reference cells into space, and the chain rule."""

from sharpfront.maps.axis import AxisMap
from sharpfront.maps.chain import chain, pulled_back
from sharpfront.maps.quadrilateral import Quadrilateral
from sharpfront.maps.strip import Strip

Chart = Quadrilateral | Strip

__all__ = ["AxisMap", "Chart", "Quadrilateral", "Strip", "chain", "pulled_back"]
