"""Numbers that a solution is asked for: integrals, fluxes, extrema, roots."""

from sharpfront.solution.functionals.asked import Asked
from sharpfront.solution.functionals.extrema import Extremum
from sharpfront.solution.functionals.quantity import Known, over_space

__all__ = ["Asked", "Extremum", "Known", "over_space"]
