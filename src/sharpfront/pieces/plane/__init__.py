"""Products of kernels in two moving mixtures' coordinates: the plane in time."""

from sharpfront.pieces.plane.basis import PlaneInTime, ProductSlab, restore_plane_in_time

__all__ = ["PlaneInTime", "ProductSlab", "restore_plane_in_time"]
