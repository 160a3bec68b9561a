"""Families of problems and data: fits with intervals, and sweeps."""

from sharpfront.fit.data import Data
from sharpfront.fit.fitting import fit
from sharpfront.fit.free_parameters import Free, Prior
from sharpfront.fit.result import Fit
from sharpfront.fit.sweep import sweep
from sharpfront.fit.table import Table

__all__ = ["Data", "Fit", "Free", "Prior", "Table", "fit", "sweep"]
