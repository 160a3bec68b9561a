"""What pictures are made of: places, values, kernels and mixtures, for figures and pages."""
