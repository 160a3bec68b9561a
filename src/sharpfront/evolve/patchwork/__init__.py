"""Problems in time in the plane on patches: systems, second order in time, periodic sides, fronts."""

from sharpfront.evolve.patchwork.evolve import evolve_patches
from sharpfront.evolve.patchwork.front_direction import begins_with_front
from sharpfront.evolve.patchwork.wellposed import needs_patches, settles

__all__ = ["begins_with_front", "evolve_patches", "needs_patches", "settles"]
