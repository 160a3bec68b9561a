"""Runs that several tests look at, made once."""

from functools import cache

from sharpfront.catalog import time_plane
from sharpfront.evolve.plane import evolve_plane

# Entry, parameter, tolerance, and bounds: relative L2 over space-time, largest error, kernels.
CASES = {
    "turning-pulse": (time_plane.TURNING_PULSE, 0.05, 1e-3, 1e-3, 1e-3, 900),
    "growing-circle": (time_plane.GROWING_CIRCLE, 0.1, 1e-2, 3e-3, 1e-2, 1000),
    "oblique-shock": (time_plane.OBLIQUE_SHOCK, 1e-2, 1e-3, 3e-4, 1e-3, 450),
    "petal-heat": (time_plane.PETAL_HEAT, 4.0, 1e-6, 1e-7, 1e-6, 200),
}


@cache
def solved(name):
    entry, value, tol, *_ = CASES[name]
    return evolve_plane(entry.problem(value), tol)


@cache
def errors(name):
    entry, value, *_ = CASES[name]
    return time_plane.plane_time_errors(entry, value, solved(name))
