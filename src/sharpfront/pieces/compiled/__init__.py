"""Inner loops of the march on a line, compiled by numba where it is installed.

Each does what NumPy does where it is called, to rounding, with one call in the place of dozens.
Machine code is kept on disk by file: who changes a loop that others call touches all files here.
"""

from sharpfront.pieces.compiled.functions import apart, transferred
from sharpfront.pieces.compiled.geometry import inverses, measures, scales
from sharpfront.pieces.compiled.matrices import factored, implicit
from sharpfront.pieces.compiled.meshes import followed, left_over, roughness
from sharpfront.pieces.compiled.newton import changed, largest, mixed, scattered, updated

__all__ = [
    "apart",
    "changed",
    "factored",
    "followed",
    "implicit",
    "inverses",
    "largest",
    "left_over",
    "measures",
    "mixed",
    "roughness",
    "scales",
    "scattered",
    "transferred",
    "updated",
]
