"""The constants of the adaptor on patches."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class PatchSettings:
    """Constants of the adaptation, with the reason for each.

    Parameters
    ----------
    base
        A patch begins with one function along an axis for every digit asked for and so many
        more: the cheapest number at a corner, where no number is enough.
    reach
        How many functions more a patch may take along every axis before it is split. A patch
        costs the third power of its functions, two halves the same each.
    reach_in_space
        The same in space.
    depth
        Layers are cut off at ln(1/tol) + depth widths, where e^-depth of the tolerance is left; its
        slope is what the patch beside it has to hold. With two thirds of it layers that meet in a
        corner took seven times the functions, with a third of it errors were underestimated 50 to
        170 times; a third more costs 7 to 17 % more functions.
    disturbed
        Tails shorter than this share of the longest one may be that one's doing, and wait. With a
        third of it a star with five corners that point inwards took 32 000 functions to 1e-5
        instead of 27 000 and a slit 31 700 to 1e-4 instead of 17 100; with a thirtieth the star
        43 000. On the line, which has no corners, it is a thirtieth.
    heavier
        Factor on the equation's rows of the norm that a solution is checked in. Over 60 drawn
        problems the change in it is 1e-4 to 20 times the error; with its square, for plates, 1 to
        600 times; with its root one plate in 30 was believed that should not be. That was asked of
        the solution itself; asked of the richer one, the estimates of 30 drawn systems, beams and
        plates are 0.4 to 49 times their errors.
    """

    base: int = 4
    reach: int = 10
    reach_in_space: int = 5
    depth: float = 6.0
    disturbed: float = 0.1
    heavier: float = 100.0

    def functions(self, tol: float) -> int:
        """Return how many functions along an axis a patch begins with."""
        return self.base + max(2, math.ceil(-math.log10(tol) - 0.01))

    def most(self, tol: float, dimension: int) -> int:
        """Return how many functions along every axis a patch may have."""
        return self.functions(tol) + (self.reach if dimension < 3 else self.reach_in_space)

    def layer(self, tol: float) -> float:
        """Return the depth of a layer's patch in widths."""
        return math.log(1.0 / tol) + self.depth
