"""Colours that every kind of eye tells apart (Okabe and Ito), and scales of them."""

from __future__ import annotations

from sharpfront.show.data.quantity import Quantity

BLUE, ORANGE, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
CURVES = (BLUE, GREEN, PURPLE, "#000000")


def colour_scale(limits: tuple[float, float], quantity: Quantity) -> tuple[float, float, str]:
    """Return the ends of a colour scale and the name of the colours.

    Values that change sign about evenly get a diverging scale with zero in its middle. Where all
    values differ by less than their error, the scale is as wide as that and shows them as equal.
    """
    low, high = limits
    if quantity.logarithmic:
        return low, high, "magma"
    middle, least = (low + high) / 2, max(quantity.noise, 1e-12 * max(abs(low), abs(high), 1.0))
    if high - low < least:
        return middle - least, middle + least, "viridis"
    if low < 0 < high and 0.4 < -low / high < 2.5:
        largest = max(-low, high)
        return -largest, largest, "RdBu_r"
    return low, high, "viridis"
