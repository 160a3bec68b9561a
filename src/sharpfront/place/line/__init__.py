"""Placing on the line: breakpoints, features, a mixture, subintervals and the kernels of each."""
