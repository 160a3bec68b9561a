"""Boxes over a solid with curved or slanted sides, which these cut."""

from __future__ import annotations

from sharpfront.bases.solid_cut import SolidRegion
from sharpfront.geometry import Domain
from sharpfront.geometry.surfaces import surfaces_of
from sharpfront.place.tiling.blocks import Block, Tiling
from sharpfront.place.tiling.curved import frame_of


def solid_tiling(domain: Domain) -> Tiling | None:
    """Return the tiling of a solid by boxes that its surface cuts."""
    surfaces = surfaces_of({part: domain.smooth_pieces(part) for part in domain.parts})
    if surfaces is None:
        return None
    walls = tuple((*s.wall, s.part) for s in surfaces if s.wall is not None)
    block = Block(domain, frame_of(domain, walls), walls, region=SolidRegion(domain, surfaces))
    return Tiling(domain, (block,))
