"""Problems in time in the plane on patches: systems, second order in time, periodic sides."""

from sharpfront.evolve.patchwork.evolve import evolve_patches, leans
from sharpfront.evolve.patchwork.wellposed import needs_patches, settles

__all__ = ["evolve_patches", "leans", "needs_patches", "settles"]
