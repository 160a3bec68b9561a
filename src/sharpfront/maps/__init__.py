"""Maps of reference cells into space, and the chain rule."""

from sharpfront.maps.axis import AxisMap
from sharpfront.maps.chain import chain, jacobian, normals_across, pulled_back
from sharpfront.maps.chords import Chords
from sharpfront.maps.drift import Drift, drift_tables
from sharpfront.maps.front_drift import Drifts, FrontDrift, restored_drift
from sharpfront.maps.mixture_axis import MixtureAxis, Points, mixture_axis
from sharpfront.maps.moving_axis import MovingAxis
from sharpfront.maps.moving_square import MovingSquare, restored_square
from sharpfront.maps.quadrilateral import Quadrilateral
from sharpfront.maps.shell import Shell
from sharpfront.maps.strip import Strip

Chart = Quadrilateral | Strip | Shell

__all__ = [
    "AxisMap",
    "Chart",
    "Chords",
    "Drift",
    "Drifts",
    "FrontDrift",
    "MixtureAxis",
    "MovingAxis",
    "MovingSquare",
    "Points",
    "Quadrilateral",
    "Shell",
    "Strip",
    "chain",
    "drift_tables",
    "jacobian",
    "mixture_axis",
    "normals_across",
    "pulled_back",
    "restored_drift",
    "restored_square",
]
