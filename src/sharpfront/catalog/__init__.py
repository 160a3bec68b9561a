"""Named problems with exact solutions and published figures, and how errors are measured.

Each is a name here too: ``catalog.TWIN_LAYER`` is ``catalog.named("twin-layer")``.
"""

from sharpfront.catalog.entry import Entry, listing, named
from sharpfront.catalog.measure import (
    Feature,
    TimeErrors,
    TimeRule,
    graded_points,
    max_error,
    measure,
    mixture_share,
    time_rule,
    uniform_rmse,
)
from sharpfront.problem_file.measure import cloud

__all__ = [
    "Entry",
    "Feature",
    "TimeErrors",
    "TimeRule",
    "cloud",
    "graded_points",
    "listing",
    "max_error",
    "measure",
    "mixture_share",
    "named",
    "time_rule",
    "uniform_rmse",
]


def __getattr__(name: str) -> Entry:
    """Return an entry by its name in capitals."""
    entry = listing().get(name.lower().replace("_", "-")) if name.isupper() else None
    if entry is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return entry
