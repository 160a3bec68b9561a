"""Stiff differential equations without a mesh, by adaptive-kernel least squares.

Names are fetched when they are first asked for, so that a program loads what it uses only.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from sharpfront.loading import fetcher

if TYPE_CHECKING:
    from sharpfront.adapt import Paper, Patches, Resolve, Uniform
    from sharpfront.equation import delta, div, from_sympy, function, grad, laplacian
    from sharpfront.errors import Outcome, SharpfrontError
    from sharpfront.fit.data import Data
    from sharpfront.fit.fitting import fit
    from sharpfront.fit.free_functions import FreeFunction
    from sharpfront.fit.free_parameters import Free, Prior
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
    from sharpfront.problem import Problem, at, integral, jump
    from sharpfront.problem.to_sympy import to_sympy
    from sharpfront.rivals import compare
    from sharpfront.show import animate
    from sharpfront.show.export import export
    from sharpfront.solution import Solution, load
    from sharpfront.solve import solve
    from sharpfront.spectrum import Spectrum, eigs

__version__ = "0.2.0"

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

# Where each name lives, as the type checker is told above.
_ROOMS = {
    "adapt": "Paper Patches Resolve Uniform",
    "equation": "delta div from_sympy function grad laplacian",
    "errors": "Outcome SharpfrontError",
    "show.export": "export",
    "fit.data": "Data",
    "fit.fitting": "fit",
    "fit.free_parameters": "Free Prior",
    "fit.free_functions": "FreeFunction",
    "fit.sweep": "sweep",
    "geometry": "Ball Box Cloud Disk Ellipse HalfSpace Implicit Interval Polygon Solid inside",
    "show": "animate",
    "problem": "Problem at integral jump",
    "rivals": "compare",
    "solution": "Solution load",
    "solve": "solve",
    "spectrum": "Spectrum eigs",
    "problem.to_sympy": "to_sympy",
}
__getattr__ = fetcher(__name__, _ROOMS)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """The module itself: a function keeps its name when a room of the same name is loaded."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in __all__ and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        # Functions of a script travel to workers with the modules that they name.
        return import_module, (self.__name__,)


sys.modules[__name__].__class__ = _Package
