"""Numbers in a page: arrays as base64, the rest as JSON that no markup can break out of."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sharpfront.files import plain

_LEVELS, _NO_LEVEL = 65_534, 65_535


def doubles(values: ArrayLike) -> dict[str, str]:
    """Return an array for the page with all its digits: places keep theirs beside a wall."""
    return {"f8": _packed(values, "<f8")}


def singles(values: ArrayLike) -> dict[str, str]:
    """Return an array for the page with seven digits, enough for what is drawn."""
    return {"f4": _packed(values, "<f4")}


def levels(values: ArrayLike) -> dict[str, Any]:
    """Return an array for the page in 65 535 levels, half the size; NaN stays NaN."""
    array = np.asarray(values, dtype=float)
    known = np.isfinite(array)
    low, high = (float(array[known].min()), float(array[known].max())) if known.any() else (0, 0)
    share = np.where(known, (array - low) / ((high - low) or 1.0), 0.0)
    steps = np.where(known, np.rint(_LEVELS * share), _NO_LEVEL).astype("<u2")
    return {"u2": base64.b64encode(steps.tobytes()).decode("ascii"), "low": low, "high": high}


def _packed(values: ArrayLike, kind: str) -> str:
    # Beyond single precision's range is infinity, which is what it would be drawn as.
    with np.errstate(over="ignore"):
        array = np.asarray(values, dtype=float).astype(kind)
    return base64.b64encode(array.tobytes()).decode("ascii")


def to_json(data: Any) -> str:
    """Return JSON for a script element; NaN and infinities become null."""
    text = json.dumps(plain(data), allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", " ").replace("\u2029", " ")
