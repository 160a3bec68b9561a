"""What is drawn depends on the test alone: not on the day, on a database, or on other tests."""

import gc

from hypothesis import settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

settings.register_profile("same", derandomize=True, database=None, deadline=None)
settings.load_profile("same")

# Hypothesis also draws numbers that stand in the source of whatever is imported by then, which are
# others when a file runs alone. There is no setting for that.
if hasattr(providers, "_get_local_constants"):
    providers._get_local_constants = Constants


def pytest_collection_finish() -> None:
    """Look for garbage less often, and not among modules and tests: a twelfth of all time."""
    gc.freeze()
    gc.set_threshold(50_000, 50, 100)
