"""The march in time around a strategy for stationary problems."""

from sharpfront.evolve.rothe.evolve import evolve_around

__all__ = ["evolve_around"]
