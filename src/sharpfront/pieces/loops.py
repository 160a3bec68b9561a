"""Whether inner loops of the march on a line are compiled."""

from __future__ import annotations

import importlib
import os
from functools import cache
from typing import Any

# Set to 0, loops are not compiled though numba is installed.
VARIABLE = "SHARPFRONT_COMPILED"


@cache
def loops() -> Any:
    """Return the compiled inner loops, None where numba is not installed or not wanted."""
    if os.environ.get(VARIABLE) == "0":
        return None
    try:
        return importlib.import_module("sharpfront.pieces.compiled")
    except ImportError:
        return None
