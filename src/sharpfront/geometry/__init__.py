"""Where: regions with named boundary parts and outward normals."""

from sharpfront.geometry.ball import Ball, Disk, HalfSpace
from sharpfront.geometry.box import Box, Interval
from sharpfront.geometry.cloud import Cloud
from sharpfront.geometry.combine import Combination, inside
from sharpfront.geometry.domain import BoundaryPoints, Domain, SpaceTime
from sharpfront.geometry.ellipse import Ellipse
from sharpfront.geometry.levelset import Implicit
from sharpfront.geometry.polygon import Polygon
from sharpfront.geometry.restore import restore_domain
from sharpfront.geometry.solid import Solid

__all__ = [
    "Ball",
    "BoundaryPoints",
    "Box",
    "Cloud",
    "Combination",
    "Disk",
    "Domain",
    "Ellipse",
    "HalfSpace",
    "Implicit",
    "Interval",
    "Polygon",
    "Solid",
    "SpaceTime",
    "inside",
    "restore_domain",
]
