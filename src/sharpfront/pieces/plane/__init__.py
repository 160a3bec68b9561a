"""Products of kernels in two moving mixtures' coordinates: the plane in time."""

from sharpfront.pieces.plane.basis import Piece, PlaneInTime, restore_plane_in_time

__all__ = ["Piece", "PlaneInTime", "restore_plane_in_time"]
