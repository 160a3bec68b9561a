"""What domains are cut into boxes and charts with: one record, with the reason for each number."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TilingSettings:
    """How large boxes beside boundaries are, and which angles and slivers are avoided."""

    # Angles of quadrilaterals that are larger, in degrees, are avoided: the chart's axes hardly
    # differ there, and at a corner that points inwards least squares settle on a wrong function (at
    # 162).
    blunt: float = 140.0
    # Beside a bend inwards of radius r boxes are no larger than this many r: solutions continue a
    # part of r beyond the boundary.
    bent: float = 4.0
    # Points along each side of a box at which it is looked for holes inside, and how near to it.
    along_sides: int = 24
    nearly: float = 0.999
    large_hole: float = 0.25  # the share of a box's sides that a hole takes which divides it
    # Directions and places along them in which a way out of a hole is looked for.
    rays: int = 48
    along_rays: int = 200
    most_lines: int = 8  # along an axis; with more corners of holes have no functions
    room: float = 1e-3  # around a domain boxes have this share of its size, where no wall is
    # Sides that turn by less than this at a corner, in degrees, have a mitre there. With 15 a drawn
    # heptagon ended at the limit of functions, with 40 it took 54 000, with 60 13 200 and with 80
    # 16 200; two others 15 300 and 11 000 with 40, 7 700 with 60 and 11 000 with 80.
    hardly: float = 60.0
    # Lines that leave shorter parts of themselves or of a side, as shares, are left to splitting:
    # charts beside them would be slivers. One that meets an end does not cut the side.
    sliver: float = 0.02


TILING = TilingSettings()
