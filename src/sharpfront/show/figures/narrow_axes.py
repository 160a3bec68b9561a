"""Axes of narrow windows: places told as distances from a round number."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axis import Axis
from matplotlib.ticker import FuncFormatter, MaxNLocator

# A window is narrow where its places begin with so many times its width: labels would differ in
# their last digits only.
_FAR = 50.0
# Below this width labels have so many digits that there is room for few of them.
_SMALL = 1e-2


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
    if high - low < _SMALL:
        axis.set_major_locator(MaxNLocator(4))
    if max(abs(low), abs(high)) <= _FAR * (high - low):
        return
    place, digits = round_place(low, high), 6 - math.floor(math.log10(high - low))

    class FromPlace(MaxNLocator):
        """Round distances from the place."""

        def tick_values(self, vmin: float, vmax: float) -> Any:
            return place + np.asarray(super().tick_values(vmin - place, vmax - place))

    def words(value: float, _: Any) -> str:
        # What is left of rounding is no distance.
        return f"{round(value - place, digits):.6g}".replace("-", "\u2212")

    axis.set_major_locator(FromPlace(4))
    axis.set_major_formatter(FuncFormatter(words))
    if place:
        sign = "\u2212" if place > 0 else "+"
        axis.set_label_text(f"{name} {sign} {abs(place):.15g}")
