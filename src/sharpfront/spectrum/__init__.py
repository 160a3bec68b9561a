"""Eigenvalue problems: values of a spectral parameter, and the modes that go with them."""

from sharpfront.spectrum.eigenvalues import eigs
from sharpfront.spectrum.result import Eigenpair, Spectrum

__all__ = ["Eigenpair", "Spectrum", "eigs"]
