"""Data of a problem in time in the plane: where they are looked at, along which lines they jump."""

from __future__ import annotations

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.place.formula_features import crossings
from sharpfront.place.patches.first_patches import edges_of_data
from sharpfront.problem import Problem

# Points spread over the domain at which data are looked at besides those of patches or products.
EVENLY = 4096


def lines_of(problem: Problem) -> tuple[FloatArray, FloatArray]:
    """Return where formulas jump or bend along each axis."""
    out = []
    for name, (low, high) in zip(
        problem.domain.coordinates, problem.domain.bounds.T.tolist(), strict=True
    ):
        found = np.unique(edges_of_data(problem, name, low, high))
        out.append(found[(found > low) & (found < high)])
    return out[0], out[1]


def has_edges(problem: Problem) -> bool:
    """Tell whether formulas jump or bend along some line: patches end there, products do not."""
    return any(len(places) for places in lines_of(problem))


def looked_at_points(problem: Problem) -> FloatArray:
    """Return points at which states and data are looked at: spread, and where formulas tell."""
    told = crossings(problem)
    return np.concatenate([problem.domain.sample(EVENLY), told[problem.domain.contains(told)]])
