"""Named problems with exact solutions and published figures."""

from sharpfront.catalog.entry import Entry, Feature
from sharpfront.catalog.layers import (
    OSCILLATION,
    REACTION,
    SINGLE_LAYER,
    SPIKE,
    TURNING_POINT,
    TWIN_LAYER,
)
from sharpfront.catalog.measure import graded_points, max_error, mixture_share, uniform_rmse

__all__ = [
    "OSCILLATION",
    "REACTION",
    "SINGLE_LAYER",
    "SPIKE",
    "TURNING_POINT",
    "TWIN_LAYER",
    "Entry",
    "Feature",
    "graded_points",
    "max_error",
    "mixture_share",
    "uniform_rmse",
]
