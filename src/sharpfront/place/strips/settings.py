"""What strips were tuned with: one record, with the reason for each number."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StripSettings:
    """How deep strips and shells are, where they end, and how patches across them are cut."""

    # A strip is no deeper than this share of how far normals do not meet.
    deepest: float = 0.6
    # Layers that are deeper than so many times that are left to boxes: they are no narrower than
    # these.
    wide: float = 2.0
    # Points at a depth are as far from a surface as this share of it, where normals do not meet.
    clear: float = 0.98
    # Functions of a layer end at this share of how far normals do not meet, if that leaves e^-left
    # of the tolerance: with e^-2 errors were 0.08 of it. Across a layer weights fall by its width
    # in units of radii of curvature, or by `bent` at the least.
    within: float = 0.95
    left: float = 2.0
    bent: float = 0.2
    # Harmonics have no higher degree than this: shells take over.
    most_along: int = 24
    # Where nothing is narrow a band is as deep as this share of the room: boxes hold the rest as
    # well.
    shallow: float = 0.4
    # Patches across a front are as deep as so many functions more than they begin with can hold.
    more: int = 4
    # Depths that are tried for them, each this factor of the one before, down to rounding: first
    # every fourth, then every one. Data bend on a curve if no patch across it holds them after the
    # last number of these.
    shorter: float = 0.6
    tried: int = 60
    strides: tuple[int, int] = (4, 1)
    thinnest: int = 30
    not_shorter: float = 0.1  # from this share of the one before on
    # No more patches than this across a front: data that take more are not smooth beside it.
    most_across: int = 20
    # A strip is no deeper than this share of how far normals meet nothing else, and where layers
    # are deeper than that strips meet half way.
    of_gap: float = 0.9
    # From one end of a panel to the other room changes by no more than this share of its length.
    slope: float = 0.5
    # Where a curve meets a wall at a smaller angle than this, as its sine, strips end before it
    # does.
    steep_enough: float = 0.4
    # Nor are there any where there is less room than this share of the domain: boxes would be as
    # small.
    narrowest: float = 1e-3
    # Across a front that others cross data are looked at in so many places.
    looked: int = 6
    # Straight fronts that cross are left to charts if patches beside them that hold them are deeper
    # than this share of the domain. Of ten drawn pairs of widths from 3e-3 to 3e-2, to 1e-6, half
    # as much would give charts to three of 3e-3 (6.6 to 13 s where parallelograms take 2.5 to 3),
    # twice as much parallelograms to four of 7e-3 and 1e-2 (4.7 to 17 s instead of 1.7 to 3.2).
    charted: float = 0.007
    # Where strips end inside panels are no longer than so many times the room beside them.
    beside_room: float = 6.0
    # At a wall a band takes no more than this share of the way to its end, a strip of the wall.
    aside: float = 0.4
    # Strips lie apart from the boundary by this share of their depth, less beside corners.
    apart: float = 0.98
    beside_corners: float = 0.5
    # How deep layers are is asked of strips of this depth, as a share of the domain's size.
    nominal: float = 1e-3
    squeezed: float = 10.0  # in a strip areas differ by no more than this factor
    # Cosines of the turn at corners that point outwards or inwards, at the least: at 30 degrees and
    # at 300 strips are four and two times as deep along the corner as elsewhere.
    outwards: float = -0.87
    inwards: float = -0.5
    # Directions turn over as much of a side as strips are deep, or so many times what mitres take
    # of it: as much is left of their inner sides as is gone.
    turned: float = 1.5
    ends: float = 0.8  # where both ends take more than this share of a side, they share it
    # Strips along a layer that a wind carries are no deeper than so many times it: past a disk at
    # 20 degrees 2, 3 and 5 took 20 200, 19 700 and 19 700 functions at eps = 1e-3, and 39 400,
    # 32 200 and 37 800 at 1e-4.
    beside_layer: float = 3.0
    # Nor than this share of the room, and at a wall of the way to its end; it fills those of which
    # it takes more than this share. These three were not varied.
    near_rims: float = 0.98
    at_wall: float = 0.8
    filled: float = 0.6
    # Where such a layer has no strips boxes are no longer than so many times its depth: there 1, 2
    # and 4 took 22 600, 17 900 and 20 400 functions at 1e-3; at 1e-4 37 200 and 34 900 with 1 and
    # 2, and with 4 it was not done after 90 s.
    short: float = 2.0
    # If they are closer to its middle than this share of that; not varied.
    in_layer: float = 0.7
    # Parts of a strip are no longer than so many times what they are from a tangency.
    lengthened: float = 1.5
    # Boxes along a front, for every one as long as what they can hold across it; they cost half of
    # what strips and the boxes that these cut do: a wavy front of 1e-2 took 4.1 s of them, 12.4 s
    # of strips.
    boxes: float = 1.5
    # About crossings data are held to this share of what is asked across other fronts. Where a
    # little is missed patches of a parallelogram are cut one by one: two lines at 30 degrees of
    # width 1e-5 took 59 000 functions with 1, 21 000, 19 000 and 18 200 with 0.3, 0.1 and 0.03; of
    # width 1e-3 37 700 with 1, were not done after a minute with 0.3 and 0.1, and took 17 100 with
    # 0.03.
    at_crossings: float = 0.03
    # A layer is followed no farther than so many times the size of the domain, and looked at in so
    # many places.
    farthest: float = 2.0
    on_path: int = 400
    still: float = 1e-3  # where the wind is weaker than this share of what it was a layer ends
    # Across a front data are held to this share of what they are elsewhere, 30 tolerances: what is
    # left of a front in a long patch beside it is found by halving, a circle of 1e-3 took twice the
    # patches.
    strict: float = 1 / 30
    thin: float = 1e-3  # charts beside a straight front are looked at over this share of a side
    broad: float = 0.25  # squares beside a front are looked at over no more than this share of them
    halved: int = 6  # panels are, at most, until what is half way is a polynomial to rounding
    # What is left of a panel whose rest meets others is at least this share of it.
    least_left: float = 0.1
    # Points half way for every panel that tell boxes that there is no room for them.
    along_middle: int = 100
    seen: int = 2000  # points of the domain at which a function's sign is looked at
    # Places along each side of a square from which others of the surface are looked for.
    shell_places: int = 12
    # Room is found on so many depths, each this factor of the one before; so it is for shells.
    depths: int = 60
    factor: float = 0.85
    shell_depths: int = 200
    shell_factor: float = 0.96
    # Places along a layer that a wind carries at which room is looked for, and the same of them.
    seen_along: int = 200
    depths_along: int = 120
    thinner: float = 0.93
    on_shell: int = 5  # places along each axis of a shell at which its surroundings are looked at
    rates_seen: int = 50  # places on each surface at which rates are looked at first
    alike: float = 0.01  # rates at which layers decay that differ by less than this share are one
    places_along: int = 17  # places along a strip at which rates are looked at


STRIPS = StripSettings()
