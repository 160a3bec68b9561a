"""Axes of narrow windows: places told as distances from a round number."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axis import Axis

# A window is narrow where its places begin with so many times its width: labels would differ in
# their last digits only.
_FAR = 50.0


def round_place(low: float, high: float) -> float:
    """Return the number with the fewest digits between two ends, the nearest to their middle."""
    middle = (low + high) / 2
    for digits in range(-math.floor(math.log10(max(abs(low), abs(high), 1e-300))), 18):
        step = 10.0**-digits
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if first <= last:
            return float(round(min(max(round(middle / step), first), last) * step, max(digits, 0)))
    return middle


def label_narrow(axis: Axis, name: str, low: float, high: float) -> None:
    """Label an axis of a narrow window far from zero by the distance from a round place."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator

    if max(abs(low), abs(high)) <= _FAR * (high - low):
        return
    place = round_place(low, high)
    found = MaxNLocator(4).tick_values(low - place, high - place)
    # Rounding must not drop the tick at an end.
    room = 1e-6 * (high - low)
    kept = [v for v in found if low - room <= place + v <= high + room]
    axis.set_major_locator(FixedLocator(list(np.add(kept, place))))
    axis.set_major_formatter(FixedFormatter([f"{v:.4g}".replace("-", "\u2212") for v in kept]))
    if place:
        sign = "\u2212" if place > 0 else "+"
        axis.set_label_text(f"{name} {sign} {abs(place):.15g}")
