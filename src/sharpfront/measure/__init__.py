"""How true errors are measured: where one looks, and what an error is relative to.

Only what tells of solutions may know this room, nothing that solves: it sits above `solve`. Points
are graded into features that are told (`points`), go with fronts in time (`in_time`), or follow the
kernels where nothing is told (`following`). An error is the largest at such points, relative to
max(1, max|u|) of its unknown as estimates are (`errors`).
"""

from sharpfront.measure.errors import max_error
from sharpfront.measure.following import following_points, true_errors
from sharpfront.measure.in_time import TimeRule, moment_rule, time_rule
from sharpfront.measure.points import Feature, cloud, graded_points

__all__ = [
    "Feature",
    "TimeRule",
    "cloud",
    "following_points",
    "graded_points",
    "max_error",
    "moment_rule",
    "time_rule",
    "true_errors",
]
