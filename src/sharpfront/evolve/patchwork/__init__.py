"""Problems in time in the plane on patches: systems, waves, periodic sides, thin fronts."""

from sharpfront.evolve.patchwork.evolve import evolve_patches
from sharpfront.evolve.patchwork.front_direction import begins_with_front
from sharpfront.evolve.patchwork.given_data import has_edges
from sharpfront.evolve.patchwork.wellposed import needs_patches, settles

__all__ = ["begins_with_front", "evolve_patches", "has_edges", "needs_patches", "settles"]
