"""Gaussian mixtures and the weighted EM that fits them."""

from sharpfront.mixture.em import fit
from sharpfront.mixture.histogram_em import fit_bins
from sharpfront.mixture.model import Mixture

__all__ = ["Mixture", "fit", "fit_bins"]
