"""Stiff differential equations without a mesh, by adaptive-kernel least squares."""

from sharpfront.adapt import Paper, Patches, Resolve, Uniform
from sharpfront.equation import delta, div, from_sympy, function, grad, laplacian
from sharpfront.errors import Outcome, SharpfrontError
from sharpfront.export import export
from sharpfront.fit.data import Data
from sharpfront.fit.fitting import fit
from sharpfront.fit.free import Free, Prior
from sharpfront.fit.functions import FreeFunction
from sharpfront.fit.sweep import sweep
from sharpfront.geometry import (
    Ball,
    Box,
    Cloud,
    Disk,
    Ellipse,
    HalfSpace,
    Implicit,
    Interval,
    Polygon,
    Solid,
    inside,
)
from sharpfront.plot import animate
from sharpfront.problem import Problem, at, integral, jump
from sharpfront.rivals import compare
from sharpfront.solution import Solution, load
from sharpfront.solve import solve
from sharpfront.spectrum import Spectrum, eigs
from sharpfront.symbolic import to_sympy

__version__ = "0.1.0"

__all__ = [
    "Ball",
    "Box",
    "Cloud",
    "Data",
    "Disk",
    "Ellipse",
    "Free",
    "FreeFunction",
    "HalfSpace",
    "Implicit",
    "Interval",
    "Outcome",
    "Paper",
    "Patches",
    "Polygon",
    "Prior",
    "Problem",
    "Resolve",
    "SharpfrontError",
    "Solid",
    "Solution",
    "Spectrum",
    "Uniform",
    "__version__",
    "animate",
    "at",
    "compare",
    "delta",
    "div",
    "eigs",
    "export",
    "fit",
    "from_sympy",
    "function",
    "grad",
    "inside",
    "integral",
    "jump",
    "laplacian",
    "load",
    "solve",
    "sweep",
    "to_sympy",
]
