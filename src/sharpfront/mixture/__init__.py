"""Gaussian mixtures and the weighted EM that fits them."""

from sharpfront.mixture.bins import fit_bins, refit_bins, wrapped
from sharpfront.mixture.em import EMRecord, fit
from sharpfront.mixture.model import Mixture

__all__ = ["EMRecord", "Mixture", "fit", "fit_bins", "refit_bins", "wrapped"]
