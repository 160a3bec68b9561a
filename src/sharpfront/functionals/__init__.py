"""Numbers that a solution is asked for: integrals, fluxes, extrema, roots."""

from sharpfront.functionals.asked import Asked
from sharpfront.functionals.extrema import Extremum
from sharpfront.functionals.integrals import over_space
from sharpfront.functionals.quantity import Known

__all__ = ["Asked", "Extremum", "Known", "over_space"]
