"""Named problems with exact solutions and published figures."""

from sharpfront.catalog.entry import Entry, Feature, Front, SpatialEntry
from sharpfront.catalog.fronts import CIRCULAR_FRONT, SMOOTH_CIRCULAR_FRONT, WAVY_FRONT
from sharpfront.catalog.layers import (
    OSCILLATION,
    REACTION,
    SINGLE_LAYER,
    SPIKE,
    TURNING_POINT,
    TWIN_LAYER,
)
from sharpfront.catalog.measure import graded_points, max_error, mixture_share, uniform_rmse
from sharpfront.catalog.plane import CORNER, FOUR_LAYERS, OUTFLOW
from sharpfront.catalog.points import cloud, front_points, graded_axis, tensor_points
from sharpfront.catalog.shapes import (
    BIHARMONIC_PETAL,
    L_SHAPE,
    PETAL,
    PIERCED_SQUARE,
    SHARP_SOURCE,
    SQUARE_WAVES,
)
from sharpfront.catalog.space import BALL, CUBE, ELLIPSOID, HYPERCUBE, TORUS

PLANE = (
    *(OUTFLOW, CORNER, FOUR_LAYERS, CIRCULAR_FRONT, SMOOTH_CIRCULAR_FRONT, WAVY_FRONT),
    *(SHARP_SOURCE, SQUARE_WAVES, PETAL, L_SHAPE, PIERCED_SQUARE, BIHARMONIC_PETAL),
)
SPACE = (CUBE, BALL, ELLIPSOID, TORUS, HYPERCUBE)

__all__ = [
    "BALL",
    "BIHARMONIC_PETAL",
    "CIRCULAR_FRONT",
    "CORNER",
    "CUBE",
    "ELLIPSOID",
    "FOUR_LAYERS",
    "HYPERCUBE",
    "L_SHAPE",
    "OSCILLATION",
    "OUTFLOW",
    "PETAL",
    "PIERCED_SQUARE",
    "PLANE",
    "REACTION",
    "SHARP_SOURCE",
    "SINGLE_LAYER",
    "SMOOTH_CIRCULAR_FRONT",
    "SPACE",
    "SPIKE",
    "SQUARE_WAVES",
    "TORUS",
    "TURNING_POINT",
    "TWIN_LAYER",
    "WAVY_FRONT",
    "Entry",
    "Feature",
    "Front",
    "SpatialEntry",
    "cloud",
    "front_points",
    "graded_axis",
    "graded_points",
    "max_error",
    "mixture_share",
    "tensor_points",
    "uniform_rmse",
]
