"""Numbers that a solution is asked for: integrals, fluxes, extrema, roots."""

from sharpfront.solution.functionals.extrema import Extremum
from sharpfront.solution.functionals.functional_methods import Functionals
from sharpfront.solution.functionals.quantity import Known, over_space

__all__ = ["Extremum", "Functionals", "Known", "over_space"]
