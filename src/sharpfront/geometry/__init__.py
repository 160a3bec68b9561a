"""Where: regions with named boundary parts and outward normals."""

from sharpfront.geometry.box import Box, Interval
from sharpfront.geometry.domain import BoundaryPoints, Domain

__all__ = ["BoundaryPoints", "Box", "Domain", "Interval"]
