"""Named problems with exact solutions and published figures."""

from sharpfront.catalog.entry import Entry, Feature, Front, SpatialEntry, TimeEntry
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
from sharpfront.catalog.time_heat import COOLING, HEAT_HAT, HEAT_STEP
from sharpfront.catalog.time_line import (
    FAST_ADVECTION,
    FAST_PULSE,
    FLUX_FRONT,
    MOVING_FRONT,
    REFLECTED_PULSE,
    WAVE_PULSE,
)
from sharpfront.catalog.time_measure import (
    TimeErrors,
    TimeRule,
    measure,
    moment_rule,
    steepest,
    time_rule,
)
from sharpfront.catalog.time_plane import (
    GROWING_CIRCLE,
    OBLIQUE_SHOCK,
    PETAL_HEAT,
    PLANE_IN_TIME,
    TURNING_PULSE,
    PlaneTimeEntry,
)
from sharpfront.catalog.time_reaction import (
    ALLEN_CAHN,
    FISHER,
    GRAY_SCOTT,
    KDV,
    KURAMOTO_SIVASHINSKY,
    NAGUMO,
)
from sharpfront.catalog.time_shocks import BURGERS, HUMP, MERGING_SHOCKS, TRAVELLING_SHOCK

PLANE = (
    *(OUTFLOW, CORNER, FOUR_LAYERS, CIRCULAR_FRONT, SMOOTH_CIRCULAR_FRONT, WAVY_FRONT),
    *(SHARP_SOURCE, SQUARE_WAVES, PETAL, L_SHAPE, PIERCED_SQUARE, BIHARMONIC_PETAL),
)
SPACE = (CUBE, BALL, ELLIPSOID, TORUS, HYPERCUBE)
TIME = (
    *(MOVING_FRONT, FLUX_FRONT, TRAVELLING_SHOCK, BURGERS, HUMP, MERGING_SHOCKS),
    *(FAST_ADVECTION, FAST_PULSE, WAVE_PULSE, REFLECTED_PULSE, HEAT_STEP, HEAT_HAT, COOLING),
    *(FISHER, NAGUMO, ALLEN_CAHN, KDV, KURAMOTO_SIVASHINSKY, GRAY_SCOTT),
)

__all__ = [
    "ALLEN_CAHN",
    "BALL",
    "BIHARMONIC_PETAL",
    "BURGERS",
    "CIRCULAR_FRONT",
    "COOLING",
    "CORNER",
    "CUBE",
    "ELLIPSOID",
    "FAST_ADVECTION",
    "FAST_PULSE",
    "FISHER",
    "FLUX_FRONT",
    "FOUR_LAYERS",
    "GRAY_SCOTT",
    "GROWING_CIRCLE",
    "HEAT_HAT",
    "HEAT_STEP",
    "HUMP",
    "HYPERCUBE",
    "KDV",
    "KURAMOTO_SIVASHINSKY",
    "L_SHAPE",
    "MERGING_SHOCKS",
    "MOVING_FRONT",
    "NAGUMO",
    "OBLIQUE_SHOCK",
    "OSCILLATION",
    "OUTFLOW",
    "PETAL",
    "PETAL_HEAT",
    "PIERCED_SQUARE",
    "PLANE",
    "PLANE_IN_TIME",
    "REACTION",
    "REFLECTED_PULSE",
    "SHARP_SOURCE",
    "SINGLE_LAYER",
    "SMOOTH_CIRCULAR_FRONT",
    "SPACE",
    "SPIKE",
    "SQUARE_WAVES",
    "TIME",
    "TORUS",
    "TRAVELLING_SHOCK",
    "TURNING_POINT",
    "TURNING_PULSE",
    "TWIN_LAYER",
    "WAVE_PULSE",
    "WAVY_FRONT",
    "Entry",
    "Feature",
    "Front",
    "PlaneTimeEntry",
    "SpatialEntry",
    "TimeEntry",
    "TimeErrors",
    "TimeRule",
    "cloud",
    "front_points",
    "graded_axis",
    "graded_points",
    "max_error",
    "measure",
    "mixture_share",
    "moment_rule",
    "steepest",
    "tensor_points",
    "time_rule",
    "uniform_rmse",
]
