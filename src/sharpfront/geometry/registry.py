"""The shapes that a few numbers state: one line each, for files, saved solutions and formulas."""

from sharpfront.geometry.ball import Ball, Disk, HalfSpace
from sharpfront.geometry.ellipse import Ellipse
from sharpfront.geometry.stated_shape import StatedShape

SHAPES: dict[str, type[StatedShape]] = {s.kind: s for s in (Disk, Ball, Ellipse, HalfSpace)}
