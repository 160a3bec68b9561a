"""Problems in time in the plane."""

from sharpfront.evolve.plane.evolve import evolve_plane

__all__ = ["evolve_plane"]
