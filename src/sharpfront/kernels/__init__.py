"""Kernels placed in space, and the rows of linear forms at points: the paper's functions."""

from sharpfront.kernels.profiles import Gaussian, Kernel, Orders, kernel_named

__all__ = ["Gaussian", "Kernel", "Orders", "kernel_named"]
