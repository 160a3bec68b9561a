"""Colours that every kind of eye tells apart (Okabe and Ito)."""

BLUE, ORANGE, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
CURVES = (BLUE, GREEN, PURPLE, "#000000")
