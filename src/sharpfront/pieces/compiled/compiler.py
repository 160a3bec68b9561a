"""How inner loops are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Loop = TypeVar("Loop", bound=Callable[..., Any])


def compiled(loop: Loop) -> Loop:
    """Return a loop as machine code, kept on disk; products and sums may be rounded once."""
    return cast(Loop, numba.njit(cache=True, error_model="numpy", fastmath={"contract"})(loop))
