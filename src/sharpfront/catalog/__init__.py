"""Named problems with exact solutions and published figures."""

from sharpfront.catalog.entry import Entry, Feature
from sharpfront.catalog.layers import SINGLE_LAYER, TWIN_LAYER
from sharpfront.catalog.measure import graded_points, max_error, mixture_share, uniform_rmse

__all__ = [
    "SINGLE_LAYER",
    "TWIN_LAYER",
    "Entry",
    "Feature",
    "graded_points",
    "max_error",
    "mixture_share",
    "uniform_rmse",
]
