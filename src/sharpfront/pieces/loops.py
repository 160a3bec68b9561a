"""Whether inner loops of the march on a line are compiled."""

from __future__ import annotations

import importlib
import os
from functools import cache
from typing import Any

# Set to 1, loops are compiled if numba is installed. They are not by themselves: compiling takes
# half a minute once, and a process that solves one short problem is not faster for it.
VARIABLE = "SHARPFRONT_COMPILED"


@cache
def loops() -> Any:
    """Return the compiled inner loops, None where they are not wanted or numba is missing."""
    if os.environ.get(VARIABLE) != "1":
        return None
    try:
        return importlib.import_module("sharpfront.pieces.compiled")
    except (ImportError, RuntimeError):
        # Without numba, or without a folder in which compiled code can be kept.
        return None
